//! What may be asked of `compare`: with an environment, of policies; without one, of outcomes that were recorded.

use super::quantity::{Condition, Judged, Quantity};
use super::recorded::Question;
use super::verdict::Requirement;
use crate::request::{LEVEL, within};
use anyhow::{Context as _, Result, bail, ensure};
use clap::{ArgMatches, Args, FromArgMatches};
use offnominal_engine::anomaly_request::AnomalyRequest;
use offnominal_engine::request::EnvId;
use offnominal_engine::scenario::ScenarioRequest;
use offnominal_engine::subject::Subject;
use offnominal_stats::Level;
use offnominal_work::cli::{self, one_of, pair, word_of};
use std::path::PathBuf;

/// Pairs if a request does not say how many, and pairs between two looks.
const PAIRS: u64 = 2000;
const BLOCK: u64 = 25;
/// The largest block of pairs, which is held in memory and written at once.
const LARGEST_BLOCK: u64 = 100_000;

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

impl Request {
    pub(super) fn check(&self) -> Result<()> {
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
    pub(super) fn question(&self) -> Result<Question<'_>> {
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

    pub(super) fn newer(&self) -> Result<&str> {
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

    pub(super) fn subject(&self, policy: &str) -> Result<Subject> {
        self.scenario.subject(&self.place(), policy)
    }

    /// What decides, and where.
    pub(super) fn judged(&self, quantity: Quantity) -> Result<Judged> {
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
