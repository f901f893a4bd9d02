//! Levels of a committor, from pilot episodes, and the steps of these from which it learns better.
//!
//! A stage plays so many episodes to their end: the first one from draws of the environment, the others as copies of
//! episodes at the moment at which they first reached the last level. The next level is what a share of them reaches.
//! With equal shares of a fifth and five copies the work for a given error is about the least that equal levels allow
//! (Lagnoux, "Rare event simulation", 2006).

use super::reader::{Reader, read, width};
use super::root::{Importance, Level, NO_COPIES};
use crate::played::context;
use anyhow::{Context as _, Result};
use offnominal_core::prelude::*;
use offnominal_core::run::Branch;
use offnominal_risk::balanced::Network;
use offnominal_risk::balanced::rows::Rows;
use offnominal_risk::experimenter::Experimenter;
use std::sync::Mutex;

/// Stages after which a pilot ends, whatever it has seen.
const STAGES: usize = 16;
/// Share of a stage's episodes that reach the next level.
const SHARE: f64 = 0.2;
/// Steps between those that are kept to learn from.
const STRIDE: usize = 4;
/// Every so manyth episode is held out.
const HELD: u64 = 5;

/// What a pilot found.
pub struct Pilot {
    /// Where episodes are to be copied.
    pub levels: Vec<Level>,
    /// Steps to learn from.
    pub train: Rows,
    /// Steps of other episodes, to validate on.
    pub held: Rows,
    /// Episodes that were played.
    pub episodes: u64,
    /// Those of them that failed.
    pub failures: u64,
    /// Steps of all episodes.
    pub steps: u64,
    /// A rough guess of the failure probability.
    pub guess: f64,
}

/// One episode of a stage.
#[derive(Clone)]
struct Played {
    rows: Vec<f32>,
    highest: f64,
    failed: bool,
    steps: u64,
}

/// Where the episodes of a stage begin: from draws, or as copies of episodes in progress.
struct Stage<'p> {
    by: &'p Experimenter<'p>,
    network: Option<&'p Network>,
    name: String,
    from: Mutex<Vec<Branch>>,
}

impl Pilot {
    /// None yet.
    pub fn new(width: usize) -> Pilot {
        let (train, held) = (Rows::new(width), Rows::new(width));
        Pilot { levels: vec![], train, held, episodes: 0, failures: 0, steps: 0, guess: 0.0 }
    }

    /// Drops the steps that were to be learned from.
    pub fn forget(&mut self) {
        let width = self.train.width();
        (self.train, self.held) = (Rows::new(width), Rows::new(width));
    }

    /// Adds what another pilot played.
    pub fn learn_from(&mut self, other: &Pilot) {
        self.train.extend(&other.train);
        self.held.extend(&other.held);
        self.episodes += other.episodes;
        self.failures += other.failures;
        self.steps += other.steps;
    }

    /// Plays one stage from draws only, without levels.
    ///
    /// # Errors
    /// If the environment cannot be copied.
    pub fn plain(&mut self, by: &Experimenter<'_>, n: u64, name: &str) -> Result<()> {
        let stage = Stage { by, network: None, name: name.into(), from: Mutex::default() };
        let played = stage.play(n)?;
        self.take(&played);
        Ok(())
    }

    /// Finds levels, stage by stage, until a share of a stage fails.
    ///
    /// # Errors
    /// As [`Pilot::plain`].
    pub fn with_levels(by: &Experimenter<'_>, network: &Network, n: u64, name: &str) -> Result<Pilot> {
        let mut pilot = Pilot::new(width(by.subject.env.as_ref()));
        let (mut from, mut reach) = (Vec::new(), 1.0);
        for number in 0..STAGES {
            let stage = Stage {
                by,
                network: Some(network),
                name: format!("{name}-{number}"),
                from: Mutex::new(from),
            };
            let played = stage.play(n)?;
            pilot.take(&played);
            let share =
                |of: &dyn Fn(&Played) -> bool| played.iter().filter(|p| of(p)).count() as f64 / n as f64;
            let failed = share(&|p| p.failed);
            let Some(level) = next_level(&played).filter(|level| failed < SHARE && pilot.is_above(*level))
            else {
                pilot.guess += reach * failed;
                break;
            };
            let reached: Vec<u64> = (0..n).filter(|&i| played[i as usize].highest >= level).collect();
            // Those that fail without having reached it are seen in no later stage.
            pilot.guess += reach * share(&|p| p.failed && p.highest < level);
            reach *= share(&|p| p.highest >= level);
            pilot.levels.push(Level { importance: level, copies: (1.0 / SHARE).round() as u32 });
            from = stage.at(level, &reached)?;
        }
        Ok(pilot)
    }

    fn is_above(&self, importance: f64) -> bool {
        self.levels.last().is_none_or(|last| importance > last.importance)
    }

    fn take(&mut self, played: &[Played]) {
        for (i, episode) in played.iter().enumerate() {
            let rows = if (i as u64).is_multiple_of(HELD) { &mut self.held } else { &mut self.train };
            rows.push(&episode.rows, episode.failed);
            self.failures += u64::from(episode.failed);
            self.steps += episode.steps;
        }
        self.episodes += played.len() as u64;
    }
}

/// What a share of the episodes reaches.
fn next_level(played: &[Played]) -> Option<f64> {
    let mut highest: Vec<f64> = played.iter().map(|p| p.highest).collect();
    highest.sort_unstable_by(f64::total_cmp);
    let at = ((1.0 - SHARE) * highest.len() as f64) as usize;
    highest.get(at).copied().filter(|level| level.is_finite())
}

impl Stage<'_> {
    fn play(&self, n: u64) -> Result<Vec<Played>> {
        context(0).map(n as usize, "episodes", |i| self.one(i as u64, self.network.map(Reader::new)))
    }

    /// Episode i of the stage, before its first step.
    fn begin(&self, i: u64) -> Result<Branch> {
        let key = self.by.key(&self.name, i);
        let from = self.from.lock().expect("no thread panics while it copies");
        match from.len() as u64 {
            0 => {
                self.by.branch(key, &self.by.draw(key)).context("experiments need copies of the environment")
            }
            n => from[(i % n) as usize].fork(key).context(NO_COPIES),
        }
    }

    fn one(&self, i: u64, mut importance: Option<Reader<'_>>) -> Result<Played> {
        let mut branch = self.begin(i)?;
        let (first, mut rows, mut highest) = (branch.steps(), Vec::new(), f64::NEG_INFINITY);
        let end = loop {
            if ((branch.steps() - first) as usize).is_multiple_of(STRIDE) {
                read(&branch, &mut rows);
            }
            if let Some(importance) = importance.as_mut() {
                highest = highest.max(importance.value(&branch));
            }
            if let Some(end) = branch.step() {
                break end;
            }
        };
        Ok(Played { rows, highest, failed: end == End::Failed, steps: u64::from(branch.steps() - first) })
    }

    /// The episodes of the stage with these numbers, at the moment at which they first reach a level.
    fn at(&self, level: f64, numbers: &[u64]) -> Result<Vec<Branch>> {
        let network = self.network;
        context(0).map(numbers.len(), "episodes", |k| {
            let mut branch = self.begin(numbers[k])?;
            let mut importance = network.map(Reader::new).context("levels need a committor")?;
            loop {
                if importance.value(&branch) >= level || branch.step().is_some() {
                    break Ok(branch);
                }
            }
        })
    }
}
