//! `compare`: is the new policy better, worse, or no worse than a margin? Two policies are played on the same seeds, or
//! their outcomes were recorded elsewhere ([`recorded`]).
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
//! | [`page`]     | the same as a page                                             |
//! | [`recorded`] | outcomes that others recorded, in place of pairs that are played |
//!
//! The statistics are those of [`offnominal_stats::paired`].

pub mod page;
pub mod pair;
pub mod pairs;
pub mod quantity;
pub mod recorded;
pub mod report;
#[cfg(test)]
mod tests;
pub mod verdict;

use crate::request::LEVEL;
use crate::request::{self, within};
use anyhow::{Context as _, Result, bail, ensure};
use clap::{ArgMatches, Args, FromArgMatches};
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
use offnominal_work::cli::{self, one_of, pair, word_of};
use pair::{Monitors, Pair, Players};
use pairs::Pairs;
use quantity::{Condition, Judged, Quantity};
use recorded::Question;
use recorded::document::Recorded;
use report::Report;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use verdict::{Gate, Requirement, Verdict};

/// Which policies are compared, and what is asked of the new one.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// Current policy, as for `evaluate --policy`; without --env, recorded outcomes, or counts (37/50)
    pub old: String,
    /// New policy; none if OLD is a table of several
    pub new: Option<String>,
    /// More recorded outcomes, each compared with OLD
    #[arg(requires = "new")]
    pub more: Vec<String>,
    /// The environment; without one, outcomes were recorded.
    #[command(flatten)]
    pub env: Place,
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
    /// Most pairs of episodes [default: 2000]; planned trials of recorded outcomes
    #[arg(long)]
    pub episodes: Option<u64>,
    /// Pairs between two looks [default: 25]
    #[arg(long, value_name = "PAIRS")]
    pub block: Option<u64>,
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

/// Where policies are played: in an environment, or nowhere, as their outcomes were recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place(pub Option<EnvId>);

impl FromArgMatches for Place {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Place, clap::Error> {
        let is_given = ["env", "failure", "failure_margin"].iter().any(|option| matches.contains_id(option));
        Ok(Place(if is_given { Some(EnvId::from_arg_matches(matches)?) } else { None }))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Place::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Place {
    fn augment_args(line: clap::Command) -> clap::Command {
        EnvId::augment_args(line).mut_arg("env", |env| env.required(false))
    }

    fn augment_args_for_update(line: clap::Command) -> clap::Command {
        Place::augment_args(line)
    }
}

/// How a comparison ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Compared {
    /// Of pairs that were played.
    Played(Box<Report>),
    /// Of outcomes that were recorded.
    Recorded(Recorded),
}

impl Compared {
    /// Why the new policy is not acceptable, if it is not.
    pub fn unacceptable(&self) -> Option<String> {
        match self {
            Compared::Played(report) => report.unacceptable(),
            Compared::Recorded(found) => found.unacceptable(),
        }
    }
}

impl Display for Compared {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Compared::Played(report) => report.fmt(out),
            Compared::Recorded(found) => found.fmt(out),
        }
    }
}

/// Pairs if a request does not say how many, and pairs between two looks.
const PAIRS: u64 = 2000;
const BLOCK: u64 = 25;
/// The largest block of pairs, which is held in memory and written at once.
const LARGEST_BLOCK: u64 = 100_000;
/// Beyond so many blocks, one looks only after one more of so many pairs.
const RARELY: u64 = 50;

/// Plays pairs, or reads outcomes, and says what they show.
///
/// # Errors
/// As [`play`] and [`recorded::run`].
pub fn run(request: &Request, context: &Context) -> Result<Compared> {
    if request.env.0.is_some() {
        return Ok(Compared::Played(Box::new(play(request, context)?)));
    }
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let mut found = recorded::run(&request.question()?, context)?;
    if let Some(folder) = request.out.as_deref() {
        request::write_json(Some(folder), "compare.json", &found)?;
        found.page = Some(page::write(folder, &page::of_recorded(&found)?)?);
    }
    Ok(Compared::Recorded(found))
}

/// Plays pairs until they decide, or the last is played.
///
/// # Errors
/// If environment, policies or monitor cannot be had, the metric is not defined there, a setting is out of its range,
/// the output folder holds another comparison, or a file cannot be written.
pub fn play(request: &Request, context: &Context) -> Result<Report> {
    request.check()?;
    let level = Level::try_from(request.level)?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let (old, new) = (request.subject(&request.old)?, request.subject(request.new()?)?);
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
    request.out.as_deref().map(|folder| page::write(folder, &page::of_played(&report)?)).transpose()?;
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
    let (bar, mut look) = (context.task(request.most() as usize, "pairs"), 0);
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
        if n >= request.most() {
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
        ensure!(
            self.more.is_empty(),
            "expected two policies in an environment, found {}",
            self.more.len() + 2
        );
        within("episodes", self.most(), 2..=offnominal_core::limits::EPISODES as u64)?;
        within("block", self.pairs_of_block(), 1..=LARGEST_BLOCK)?;
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
        self.check_requirement()?;
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

    fn check_requirement(&self) -> Result<()> {
        let holds = self.require != Some(Requirement::NoWorse) || self.margin.is_some();
        ensure!(holds, "require no-worse: expected a margin with it, found none");
        Ok(())
    }

    /// What is asked of outcomes that were recorded.
    fn question(&self) -> Result<Question<'_>> {
        let played = [
            ("metric", self.metric.is_some()),
            ("return-range", self.return_range.is_some()),
            ("monitor", self.monitor.is_some()),
            ("block", self.block.is_some()),
            ("twin", self.twin),
            ("anomaly", self.anomaly.is_some()),
            ("what is drawn for each episode", self.scenario != cli::defaults()),
        ];
        if let Some((name, _)) = played.iter().find(|(_, is_given)| *is_given) {
            bail!("{name}: expected it with --env, as outcomes that were recorded are not played again");
        }
        self.check_requirement()?;
        let more = self.new.iter().chain(&self.more).map(String::as_str);
        Ok(Question {
            named: std::iter::once(self.old.as_str()).chain(more).collect(),
            margin: self.margin,
            require: self.require,
            most: self.episodes,
            level: Level::try_from(self.level)?,
        })
    }

    fn new(&self) -> Result<&str> {
        self.new.as_deref().context("expected a new policy to compare with, found none")
    }

    /// The environment in which policies are played.
    pub(crate) fn place(&self) -> String {
        self.env.0.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// Most pairs.
    pub(crate) fn most(&self) -> u64 {
        self.episodes.unwrap_or(PAIRS)
    }

    /// Pairs between two looks.
    pub(crate) fn pairs_of_block(&self) -> u64 {
        self.block.unwrap_or(BLOCK)
    }

    /// What made the result: the command, and what is played.
    fn made(&self, players: &Players<'_>, context: &Context) -> Result<Provenance> {
        let command = context.command.as_str();
        let config = serde_json::to_vec(&pairs::Spec::new(players, self, context.seed))?;
        let names = players.subjects.map(|subject| &subject.name);
        Ok(provenance::made(command, context.seed, &config, &[players.subjects[0].env.spec()], &names))
    }

    fn subject(&self, policy: &str) -> Result<Subject> {
        self.scenario.subject(&self.place(), policy)
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
        let judged = Judged { quantity, condition, return_range: self.return_range, env: self.place() };
        if let Some(margin) = self.margin {
            let most = judged.bound().unwrap_or(f64::MAX);
            let holds = margin > 0.0 && margin < most;
            ensure!(holds, "margin: expected a number above 0 and below {most}, found {margin}");
        }
        Ok(judged)
    }
}
