//! What do copies of episodes in progress gain, and what thinned draws? The failure probability by either.
//!
//! `cargo run --release -p studies -- risk-fork --env ENV --policy POLICY --weaker OTHER --episodes 60000 --seed 5 --out RUN`
//!
//! A root is an episode from a draw; its total T is the weight of its copies that fail (see [`root`]). Roots do not depend
//! on one another and 0 ≤ T ≤ 1, so that the mean of totals has a valid interval by betting, at any number of roots, with
//! any committor. With a predictor of initial conditions, a root is tried with a chance a(x), and T / a takes its place.
//! RUN gets `fork.json` and `roots.json`, which `risk-replicates` judges.
//!
//! Assumes: random numbers that come after a copy was made, such as those of nominal noise; in a deterministic environment
//! copies are equal, and nothing is gained. Blind to: failures that no root saw; no valid upper end lies below
//! 1 − δ^(1/n) for n roots, however many copies they had.

mod committor;
mod pilot;
mod reader;
pub mod root;
pub mod roots;

use crate::played::{Played, context};
use anyhow::{Context as _, Result};
use clap::Parser;
use committor::{Committor, Learned};
use offnominal_core::estimate::Estimate;
use offnominal_core::run::Branch;
use offnominal_files::write;
use offnominal_risk::estimate::block::ExperimentSpec;
use offnominal_risk::estimate::estimation::Estimation;
use offnominal_risk::experimenter::Experimenter;
use offnominal_risk::guide::Guide;
use offnominal_risk::predictors::predictor;
use offnominal_stats::Level;
use offnominal_stats::risk::{PLAIN_SHARE, Proposal, Thinning};
use roots::{BLOCK, Roots};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How often does a policy fail, by copies of episodes in progress or by thinned draws?
#[derive(Debug, Parser)]
#[command(name = "risk-fork", no_binary_name = true)]
struct Asked {
    #[command(flatten)]
    played: Played,
    /// A policy that fails more often, from whose episodes a committor is learned too; without one no episode is copied
    #[arg(long)]
    weaker: Vec<String>,
    /// Plain episodes of each policy, and episodes of each stage of a pilot
    #[arg(long, default_value_t = 1000)]
    pilot_episodes: u64,
    /// Pilots that the committor is learned from; one more sets the levels
    #[arg(long, default_value_t = 2)]
    pilots: usize,
    /// Gradient steps of a fit of the committor
    #[arg(long, default_value_t = 4000)]
    steps: usize,
    /// Seed of the committor
    #[arg(long, default_value_t = 0)]
    pilot_seed: u64,
    /// The predictor that `risk learn` wrote, by which roots are thinned
    #[arg(long)]
    predictor: Option<PathBuf>,
    /// How much the predictor is trusted [default: as learned]
    #[arg(long)]
    exponent: Option<f64>,
    /// Number of roots, each an episode with its copies
    #[arg(long, default_value_t = 1000)]
    episodes: u64,
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[arg(long)]
    out: PathBuf,
}

/// What was estimated.
#[derive(Serialize, Deserialize)]
pub struct Report {
    /// Which run it was.
    pub run: ExperimentSpec,
    /// From what the committor was learned, if there is one.
    pub committor: Option<Learned>,
    /// The failure probability.
    pub risk: Estimate,
    /// Draws behind it.
    pub draws: u64,
    /// Roots that were tried.
    pub roots: u64,
    /// Roots of which a copy failed.
    pub failed_roots: u64,
    /// Copies that came to an end, the roots' own among them.
    pub ends: u64,
    /// Steps of everything.
    pub steps: u64,
    /// The same in plain episodes.
    pub episodes_worth: f64,
}

/// Runs the study.
///
/// # Errors
/// If environment, policy or predictor cannot be had or copied, an episode has no outcome, or a file cannot be written.
pub fn run(args: &[String]) -> Result<()> {
    let asked = Asked::parse_from(args);
    let subject = asked.played.subject(&asked.played.policy)?;
    let by = Experimenter::new(&subject, asked.seed)?;
    let committor = (!asked.weaker.is_empty()).then(|| Committor::learn(&asked, &subject)).transpose()?;
    let guide = asked.predictor.as_deref().map(|path| Guide::open(path, &subject)).transpose()?;
    let estimation = asked.estimation(by, guide.as_ref())?;
    let thinning = estimation.spec.method.thinning()?;
    let forest = Forest { by, committor: committor.as_ref(), guide: guide.as_ref(), thinning };
    let blocks = estimation.draws_for(asked.episodes).div_ceil(BLOCK);
    let found = context(asked.seed).map(blocks as usize, "blocks of roots", |i| forest.block(i as u64))?;
    let learned = committor.as_ref().map(|committor| committor.learned.clone());
    let report = Report::of(estimation.spec, learned, &found)?;
    let save = |name: &str, text: String| write::atomically(&asked.out.join(name), text.as_bytes());
    save("roots.json", serde_json::to_string(&found)?)?;
    let text = format!("{:#}\n", serde_json::to_value(&report)?);
    print!("{text}");
    save("fork.json", text)
}

impl Asked {
    /// How roots are chosen.
    fn estimation<'c>(&self, by: Experimenter<'c>, guide: Option<&'c Guide>) -> Result<Estimation<'c>> {
        let Some(guide) = guide else { return Ok(Estimation::plain(by)) };
        let exponent = self.exponent.unwrap_or(guide.exponent());
        let proposal = Proposal { plain_share: PLAIN_SHARE, exponent };
        Estimation::thinned(by, guide, proposal, (None, None), &context(self.seed))
    }
}

/// All roots of a run.
struct Forest<'r> {
    by: Experimenter<'r>,
    committor: Option<&'r Committor>,
    guide: Option<&'r Guide>,
    thinning: Option<Thinning>,
}

impl Forest<'_> {
    /// The roots of one block.
    fn block(&self, number: u64) -> Result<Roots> {
        let mut found = Roots::default();
        let mut committor = self.committor.map(Committor::reader);
        let mut predictor = self.guide.map(Guide::reader);
        for i in number * BLOCK..(number + 1) * BLOCK {
            let key = self.by.key("experiment", i);
            let x = self.by.draw(key);
            let chance = self.chance(&x, predictor.as_mut())?;
            if chance < 1.0 && key.child("thinning").rng().uniform() >= chance {
                continue;
            }
            let root = self.by.branch(key, &x).context("experiments need copies of the environment")?;
            let total = match (self.committor, &mut committor) {
                (Some(of), Some(reader)) => root::play(root, key.child("forks"), &of.levels, reader),
                _ => root::play(root, key, &[], &mut |_: &Branch| 0.0),
            };
            found.add(chance, &total?);
        }
        self.by.at_most(found.diverged)?;
        Ok(found)
    }

    fn chance(&self, x: &[f64], predictor: Option<&mut predictor::Reader<'_>>) -> Result<f64> {
        match (self.guide, predictor, &self.thinning) {
            (Some(guide), Some(reader), Some(rule)) => Ok(rule.chance(guide.predict(reader, x)?)),
            _ => Ok(1.0),
        }
    }
}

impl Report {
    fn of(run: ExperimentSpec, committor: Option<Learned>, found: &[Roots]) -> Result<Report> {
        let sum = |of: fn(&Roots) -> u64| found.iter().map(of).sum::<u64>();
        let (roots, steps, plain_steps) = (sum(|f| f.roots), sum(|f| f.steps), sum(|f| f.plain_steps));
        Ok(Report {
            risk: roots::risk(found, 1.0 / run.method.floor()?, Level::P95)?,
            run,
            committor,
            draws: BLOCK * found.len() as u64,
            roots,
            failed_roots: sum(|f| f.totals.len() as u64),
            ends: sum(|f| f.ends),
            steps,
            episodes_worth: if plain_steps == 0 { 0.0 } else { (roots * steps) as f64 / plain_steps as f64 },
        })
    }

    /// The report and the roots in the folder of a finished run.
    ///
    /// # Errors
    /// If there are none.
    pub fn read(folder: &Path) -> Result<(Report, Vec<Roots>)> {
        let read = |name: &str| folder.join(name);
        Ok((
            offnominal_files::read::json(&read("fork.json"))?,
            offnominal_files::read::json(&read("roots.json"))?,
        ))
    }
}
