//! `compare`: two policies on the same seeds; is the new one better, worse, or no worse than a margin?
//!
//! Pair i plays both policies from the same initial condition, with the same randomness of the environment. After each
//! block of pairs somebody looks, and stops where the interval of the difference decides; it is valid at every number
//! of pairs, so looking costs nothing.
//!
//! | file         | content                                                        |
//! |--------------|----------------------------------------------------------------|
//! | [`mod@pair`] | a pair of episodes, and their anomalous ones                   |
//! | [`pairs`]    | the blocks of pairs that were played, in a journal             |
//! | [`quantity`] | what is compared: failure, return, wins, success, alarms       |
//! | [`verdict`]  | what the difference shows                                      |
//! | [`report`]   | what was found, as JSON and as text                            |
//!
//! The statistics are those of [`offnominal_stats::paired`].

pub mod pair;
pub mod pairs;
pub mod quantity;
pub mod report;
#[cfg(test)]
mod tests;
pub mod verdict;

use crate::request::LEVEL;
use crate::request::{self, within};
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_core::prelude::*;
use offnominal_engine::anomaly_request::AnomalyRequest;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_engine::request::EnvId;
use offnominal_engine::scenario::ScenarioRequest;
use offnominal_engine::subject::Subject;
use offnominal_files::lock::Lock;
use offnominal_files::provenance::Provenance;
use offnominal_stats::Level;
use offnominal_work::cli::{one_of, pair, word_of};
use pair::{Monitors, Pair, Players};
use pairs::Pairs;
use quantity::{Condition, Judged, Quantity};
use report::Report;
use std::path::PathBuf;
use verdict::{Gate, Requirement, Verdict};

/// Which policies are compared, and what is asked of the new one.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// Current policy, as for `evaluate --policy`
    pub old: String,
    /// New policy
    pub new: String,
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// Deciding metric [default: success if defined, else return]
    #[arg(long, value_parser = one_of::<Quantity>())]
    pub metric: Option<Quantity>,
    /// Tolerated loss of NEW, in the unit of the metric
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub margin: Option<f64>,
    /// Required verdict on NEW; exit code 1 without it
    #[arg(long, value_parser = word_of::<Requirement>())]
    pub require: Option<Requirement>,
    /// Smallest and largest possible return; makes its interval exact
    #[arg(long, value_name = "LOW,HIGH", value_parser = pair::<f64>, allow_hyphen_values = true)]
    pub return_range: Option<(f64, f64)>,
    /// Monitor file of `fit`; compares alarm rates too
    #[arg(long, value_name = "FILE")]
    pub monitor: Option<PathBuf>,
    /// Most pairs of episodes; a larger number continues a run
    #[arg(long, default_value_t = 2000)]
    pub episodes: u64,
    /// Pairs between two looks
    #[arg(long, value_name = "PAIRS", default_value_t = 25)]
    pub block: u64,
    /// Confidence level, valid at every look
    #[arg(long, default_value_t = LEVEL, allow_negative_numbers = true)]
    pub level: f64,
    /// Output folder; an interrupted run continues there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What is drawn for each episode, and by what one fails.
    #[command(flatten)]
    pub scenario: ScenarioRequest,
    /// Compare what the anomaly costs, against the nominal twins
    #[arg(long, requires = "anomaly", help_heading = "Anomaly")]
    pub twin: bool,
    /// What goes wrong, the same for both.
    // Last, for the heading of its options would hold for those behind it.
    #[command(flatten)]
    pub anomaly: Option<AnomalyRequest>,
}

/// The largest block of pairs, which is held in memory and written at once.
const LARGEST_BLOCK: u64 = 100_000;
/// Beyond so many blocks, one looks only after one more of so many pairs.
const RARELY: u64 = 50;

/// Plays pairs until they decide, or the last is played.
///
/// # Errors
/// If environment, policies or monitor cannot be had, the metric is not defined there, a setting is out of its range,
/// the output folder holds another comparison, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    request.check()?;
    let level = Level::try_from(request.level)?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let (old, new) = (request.subject(&request.old)?, request.subject(&request.new)?);
    // A strength is calibrated for a policy; both get the magnitude of the old one.
    let anomaly = old.anomaly_spec(request.anomaly.as_ref())?;
    let monitors = request.monitor.as_deref().map(|path| Monitors::open(path, &old)).transpose()?;
    let players = Players {
        subjects: [&old, &new],
        anomaly: anomaly.as_ref(),
        twin: request.twin,
        monitors: monitors.as_ref(),
        seed: Seed(context.seed).child("compare"),
        allow_diverged: context.allow_diverged,
    };
    let is_gate = request.require.is_some() && request.metric.is_none();
    if is_gate || request.metric == Some(Quantity::Failure) {
        old.knows_failure()?;
    }
    request.metric.map(|metric| request.judged(metric)).transpose()?;
    let gate = Gate { margin: request.margin, require: request.require, level };
    let mut pairs = Pairs::open(request.out.as_deref(), &players, request, context.seed)?;
    let first = pairs.next(&players, context)?;
    let judged = request.judged(request.metric.unwrap_or_else(|| default_metric(&players, &first)))?;
    let (played, verdict) = decide(request, &judged, &gate, (first, &mut pairs), &players, context)?;
    let made = request.made(&players, context)?;
    let report = Report { made, ..Report::new(request, &players, &judged, &played, verdict, level)? };
    request::write_json(request.out.as_deref(), "compare.json", &report)?;
    Ok(report)
}

/// Success where it is defined, else return. Which one it is hangs on no draw: the environment says it where an episode
/// starts, or in the first that does not fail.
fn default_metric(players: &Players<'_>, first: &[Pair]) -> Quantity {
    let mut episodes = first.iter().flat_map(Pair::episodes);
    let says = |played: pair::Played| !played.failed && played.success.is_some();
    let is_defined = knows_its_goal(players.subjects[0].env.as_ref()) || episodes.any(says);
    if is_defined { Quantity::Success } else { Quantity::Return }
}

/// Whether an environment says of an episode that begins whether its goal is met.
fn knows_its_goal(env: &dyn Env) -> bool {
    let Some(mut env) = env.checkout() else { return false };
    let (mut rng, mut world) = (Seed(0).child("start").rng(), Seed(0).child("world").rng());
    let x = env.draw(&mut rng);
    env.start(&x, &mut world);
    env.goal_met().is_some()
}

/// Plays block after block, of which the first was played, until the verdict is known.
fn decide(
    request: &Request,
    judged: &Judged,
    gate: &Gate,
    (mut block, pairs): (Vec<Pair>, &mut Pairs),
    players: &Players<'_>,
    context: &Context,
) -> Result<(Vec<Pair>, Verdict)> {
    let (mut played, mut gains) = (Vec::new(), judged.mean_of_gains());
    let (bar, mut look) = (context.task(request.episodes as usize, "pairs"), 0);
    loop {
        for (i, pair) in block.iter().enumerate() {
            if let Some(gain) = judged.gain(pair, played.len() + i)? {
                gains.push(gain);
            }
        }
        played.extend(block);
        pair::at_most(&played, context.allow_diverged)?;
        bar.set_position(played.len() as u64);
        let n = played.len() as u64;
        if n >= request.episodes {
            return Ok((played, gate.at_the_end(&gains)));
        }
        if n >= look {
            // A look reads all differences: among many pairs a few more change little.
            look = n + n / RARELY;
            if let Some(verdict) = gate.decided(&gains) {
                return Ok((played, verdict));
            }
        }
        block = pairs.next(players, context)?;
    }
}

impl Request {
    fn check(&self) -> Result<()> {
        within("episodes", self.episodes, 2..=offnominal_core::limits::EPISODES as u64)?;
        within("block", self.block, 1..=LARGEST_BLOCK)?;
        ensure!(
            !self.twin || self.anomaly.is_some(),
            "twin: expected an anomaly with it, as a twin is the nominal episode beside an anomalous one"
        );
        if let Some((low, high)) = self.return_range {
            let holds = low.is_finite() && high.is_finite() && low < high;
            ensure!(
                holds,
                "return-range: expected two finite numbers, the smaller one first, found {low}, {high}"
            );
        }
        if self.require == Some(Requirement::NoWorse) {
            ensure!(self.margin.is_some(), "require no-worse: expected a margin with it, found none");
        }
        let is_alarms = self.metric == Some(Quantity::Alarms);
        ensure!(
            !is_alarms || self.monitor.is_some(),
            "metric alarms: expected a monitor with it, found none"
        );
        ensure!(
            !is_alarms || self.anomaly.is_none(),
            "metric alarms: expected no anomaly with it, as an alarm that is due says nothing against a policy"
        );
        Ok(())
    }

    /// What made the result: the command, and what is played.
    fn made(&self, players: &Players<'_>, context: &Context) -> Result<Provenance> {
        let command = context.command.as_str();
        let config = serde_json::to_vec(&pairs::Spec::new(players, self, context.seed))?;
        let names = players.subjects.map(|subject| &subject.name);
        Ok(provenance::made(command, context.seed, &config, &[players.subjects[0].env.spec()], &names))
    }

    fn subject(&self, policy: &str) -> Result<Subject> {
        self.scenario.subject(&self.env, policy)
    }

    /// What decides, and where.
    fn judged(&self, quantity: Quantity) -> Result<Judged> {
        let condition = match (&self.anomaly, self.twin) {
            (None, _) => Condition::Nominal,
            (Some(_), false) => Condition::Anomalous,
            (Some(_), true) => Condition::Cost,
        };
        ensure!(
            quantity != Quantity::Wins || condition != Condition::Cost,
            "metric wins: expected no twin with it, as one cannot win by a cost; use return"
        );
        let judged =
            Judged { quantity, condition, return_range: self.return_range, env: self.env.to_string() };
        if let Some(margin) = self.margin {
            let most = judged.bound().unwrap_or(f64::MAX);
            let holds = margin > 0.0 && margin < most;
            ensure!(holds, "margin: expected a number above 0 and below {most}, found {margin}");
        }
        Ok(judged)
    }
}
