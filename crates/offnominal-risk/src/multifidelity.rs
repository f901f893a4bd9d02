//! `risk multifidelity`: how often a policy fails in a dear simulator, of few episodes, helped by many in a cheap one.
//!
//! Pair i plays the policy in both simulators from the same initial condition with the same random numbers, and K times
//! more in the cheap one from elsewhere. After each block somebody looks, and stops where the interval is as narrow as was
//! asked for, or tells on which side of the largest acceptable risk the failure probability lies. It is valid at every
//! number of pairs, whatever the cheap simulator is worth.
//!
//! | file           | content                                                        |
//! |----------------|----------------------------------------------------------------|
//! | [`simulators`] | the dear and the cheap environment with the policy             |
//! | [`pairs`]      | pairs, and the blocks of them that were played, in a journal   |
//! | [`ending`]     | when to stop                                                   |
//! | [`report`]     | what was found, as JSON and as text                            |
//!
//! The statistics are those of [`offnominal_stats::risk::multifidelity`].

pub mod ending;
pub mod pairs;
pub mod report;
pub mod simulators;
#[cfg(test)]
mod tests;

use crate::request::{self, defaults, within};
use anyhow::{Result, ensure};
use ending::{Ending, Stop};
use offnominal_engine::context::Context;
use offnominal_files::lock::Lock;
use offnominal_stats::Level;
use offnominal_stats::risk::Multifidelity;
use pairs::{Pair, Pairs};
use report::Report;
use serde::Deserialize;
use simulators::Simulators;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Which simulators play which policy, and when it is enough.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Id of the dear environment, in which the failure probability is wanted.
    pub env: String,
    /// Id of the cheap environment, with the same channels and initial conditions.
    pub cheap: String,
    /// The policy, as it is found for the dear environment.
    pub policy: String,
    /// Parameters of the dear environment that differ from nominal, in all episodes.
    #[serde(default)]
    pub parameters: BTreeMap<String, f64>,
    /// Parameters of the cheap environment that differ from nominal, in all episodes.
    #[serde(default)]
    pub cheap_parameters: BTreeMap<String, f64>,
    /// Fresh cheap episodes per dear one, beside the one of the pair.
    #[serde(default = "per_dear")]
    pub per_dear: u64,
    /// Pairs after which it ends; rounded up to whole blocks.
    #[serde(default = "episodes")]
    pub episodes: u64,
    /// Full width of the interval that is narrow enough.
    pub width: Option<f64>,
    /// Largest acceptable failure probability; it is enough to know on which side of it the interval lies.
    pub max_risk: Option<f64>,
    /// Pairs between two looks.
    #[serde(default = "block")]
    pub block: u64,
    /// Confidence level of every interval.
    #[serde(default = "request::level")]
    pub level: f64,
    /// Folder for journal and result; if absent, nothing is written and the run cannot be continued.
    pub out: Option<PathBuf>,
    /// The command that the result names as its origin.
    pub command: Option<String>,
}

defaults! {
    per_dear: u64 = 5;
    episodes: u64 = 1000;
    block: u64 = 25;
}

/// The largest block of pairs, which is held in memory and written at once.
const LARGEST_BLOCK: u64 = 100_000;
/// Most fresh cheap episodes per dear one; beyond ten hardly anything is gained.
const MOST_PER_DEAR: u64 = 1000;
/// Beyond so many blocks, one looks only after one more of so many pairs.
const RARELY: u64 = 50;

/// Plays pairs until it is enough, or the last is played.
///
/// # Errors
/// If environments or policy cannot be had, the environments do not belong together, a parameter does not exist, a setting
/// is out of its range, the output folder holds another run, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    request.check()?;
    let level = Level::try_from(request.level)?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let simulators = Simulators::open(request)?;
    let players = simulators.players(context)?;
    let mut pairs = Pairs::open(request, &players, context.seed)?;
    let ending = Ending::of(request, level);
    let (mut played, mut found) = (Vec::new(), Multifidelity::new(request.per_dear as usize));
    let (bar, mut look) = (context.task(request.episodes as usize, "pairs"), 0);
    let stop = loop {
        let block = pairs.next(&players, context)?;
        block.iter().for_each(|pair| pair.push(request.per_dear, &mut found));
        played.extend(block);
        players.at_most(&played)?;
        let n = played.len() as u64;
        bar.set_position(n);
        if n >= request.episodes {
            break ending.at_the_end(&found);
        }
        if n >= look {
            // A look reads all pairs: among many pairs a few more change little.
            look = n + n / RARELY;
            if let Some(stop) = ending.reached(&found) {
                break stop;
            }
        }
    };
    finish(request, &players, &played, &found, stop, level, context)
}

/// Says and writes what pairs show.
fn finish(
    request: &Request,
    players: &pairs::Players<'_>,
    played: &[Pair],
    found: &Multifidelity,
    stop: Stop,
    level: Level,
    context: &Context,
) -> Result<Report> {
    let report = Report::new(request, players, played, found, stop, level, context.seed)?;
    request::write_json(request.out.as_deref(), "multifidelity.json", &report)?;
    Ok(report)
}

impl Request {
    fn check(&self) -> Result<()> {
        within("episodes", self.episodes, 2..=offnominal_core::limits::EPISODES as u64)?;
        within("block", self.block, 1..=LARGEST_BLOCK)?;
        within("per-dear", self.per_dear, 1..=MOST_PER_DEAR)?;
        ensure!(
            self.width.is_none() || self.max_risk.is_none(),
            "width: expected no max-risk with it, as either says when to stop, found both"
        );
        for (name, given) in [("width", self.width), ("max-risk", self.max_risk)] {
            let holds = given.is_none_or(|x| x > 0.0 && x < 1.0);
            ensure!(holds, "{name}: expected a number between 0 and 1, found {}", given.unwrap_or_default());
        }
        Ok(())
    }
}
