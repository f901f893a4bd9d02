//! A guess of the chance that an episode in progress fails, and the levels at which episodes are copied.
//!
//! The committor V(observation, time) is learned from all steps of episodes: first of plain ones, of the policy and of
//! weaker ones, then of pilot episodes of the policy alone, which are copied where V is high and so see what comes
//! shortly before failures. The estimate that follows is valid whatever V is worth.

use super::Asked;
use super::pilot::Pilot;
use super::reader::{Reader, width};
use super::root::Level;
use anyhow::Result;
use offnominal_core::prelude::*;
use offnominal_engine::subject::Subject;
use offnominal_risk::balanced::Network;
use offnominal_risk::balanced::rows::Rows;
use offnominal_risk::experimenter::Experimenter;
use serde::{Deserialize, Serialize};

/// A learned committor.
pub struct Committor {
    /// Where episodes are copied.
    pub levels: Vec<Level>,
    /// From what it was learned.
    pub learned: Learned,
    network: Network,
}

/// From what a committor was learned.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Learned {
    weaker: Vec<String>,
    seed: u64,
    levels: Vec<Level>,
    /// What each pilot saw; the last one set the levels.
    pilots: Vec<PilotReport>,
    /// Episodes that all of it took, and their steps.
    episodes: u64,
    steps: u64,
}

/// What a pilot saw.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PilotReport {
    /// Cross-entropy of the committor that led it, on held-out episodes; ln 2 is that of knowing nothing.
    cross_entropy: f64,
    failures: u64,
    /// A rough guess of the failure probability.
    guess: f64,
}

/// Failures of the policy itself from which a committor learns better than from those of other policies.
const ENOUGH: u64 = 50;

/// λ of the temporal differences, per step: 1 would learn from ends only, 0 from the next step only.
const LAMBDA: f64 = 0.95;

/// Fits by temporal differences after the one by ends.
const TRACES: usize = 2;

impl Committor {
    /// Learns one for a policy, at first from episodes of weaker ones too.
    ///
    /// # Errors
    /// If a policy cannot be had, the environment cannot be copied, or no plain episode fails.
    pub fn learn(asked: &Asked, subject: &Subject) -> Result<Committor> {
        let (by, n) = (Experimenter::new(subject, asked.pilot_seed)?, asked.pilot_episodes);
        let mut all = plain(asked, subject)?;
        let (mut rng, mut pilots) = (Seed(asked.pilot_seed).child("committor").rng(), Vec::new());
        let (mut network, mut cross_entropy) = fit(&mut all, subject, asked.steps, &mut rng)?;
        let levels = loop {
            let pilot = Pilot::with_levels(&by, &network, n, &format!("committor-{}", pilots.len()))?;
            let Pilot { failures, guess, .. } = pilot;
            pilots.push(PilotReport { cross_entropy, failures, guess });
            // What weaker policies did has served; from here on the policy's own episodes tell more.
            if pilots.len() == 1 && failures >= ENOUGH {
                all.forget();
            }
            all.learn_from(&pilot);
            if pilots.len() > asked.pilots {
                break pilot.levels;
            }
            (network, cross_entropy) = fit(&mut all, subject, asked.steps, &mut rng)?;
        };
        let (weaker, seed, episodes, steps) =
            (asked.weaker.clone(), asked.pilot_seed, all.episodes, all.steps);
        let learned = Learned { weaker, seed, levels: levels.clone(), pilots, episodes, steps };
        Ok(Committor { levels, learned, network })
    }

    /// The committor with buffers for one thread.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(&self.network)
    }
}

/// Plain episodes of the policy and of weaker ones.
fn plain(asked: &Asked, subject: &Subject) -> Result<Pilot> {
    let weaker = asked.weaker.iter().map(|name| asked.played.subject(name)).collect::<Result<Vec<_>>>()?;
    let mut all = Pilot::new(width(subject.env.as_ref()));
    for subject in std::iter::once(subject).chain(&weaker) {
        let by = Experimenter::new(subject, asked.pilot_seed)?;
        all.plain(&by, asked.pilot_episodes, &format!("committor-{}", subject.name.digest))?;
    }
    Ok(all)
}

/// Fits a network to how episodes ended, then to what it sees on the way.
fn fit(all: &mut Pilot, subject: &Subject, steps: usize, rng: &mut Rng) -> Result<(Network, f64)> {
    let (train, held, horizon) = (&mut all.train, &all.held, subject.trial().horizon);
    forget_traces(train);
    let (mut network, mut loss) = Network::fit(train, held, steps, rng)?;
    for _ in 0..TRACES {
        trace(train, &network, horizon);
        (network, loss) = Network::fit(train, held, steps, rng)?;
    }
    Ok((network, loss))
}

/// Makes the targets the ends of episodes again.
fn forget_traces(rows: &mut Rows) {
    let mut first = 0;
    for &(end, failed) in &rows.ends {
        rows.targets[first..end].fill(f32::from(u8::from(failed)));
        first = end;
    }
}

/// Makes the targets λ-returns (Sutton 1988): of a row, the chance that is seen in the next one, and for the rest what is
/// the next one's own target, which ends as the episode did. λ is that of one step, of which the horizon has so many.
fn trace(rows: &mut Rows, network: &Network, horizon: u32) {
    let (mut buffers, mut first) = (network.buffers(), 0);
    for at in 0..rows.ends.len() {
        let (end, failed) = rows.ends[at];
        let mut target = f64::from(u8::from(failed));
        for i in (first..end).rev() {
            rows.targets[i] = target as f32;
            if i > first {
                let time = |i: usize| *rows.row(i).last().expect("a row ends with the time");
                let steps = f64::from(time(i) - time(i - 1)) * f64::from(horizon);
                let (seen, kept) = (network.chance(rows.row(i), &mut buffers), LAMBDA.powf(steps));
                target = kept * target + (1.0 - kept) * seen;
            }
        }
        first = end;
    }
}
