//! `risk search`: what finding one failure costs, by strategy and policy.

pub(crate) mod hunt;
mod order;
pub(crate) mod table;

use crate::estimate::block::Failure;
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::learning;
use crate::request::LEVEL;
use crate::request::{self, within};
use anyhow::{Result, ensure};
use clap::Args;
pub use hunt::{Aids, Hunt, SearchRun, SearchSpec, Strategy};
use offnominal_core::estimate::Estimate;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_engine::request::EnvId;
use offnominal_engine::scenario::ScenarioRequest;
use offnominal_engine::subject::Subject;
use offnominal_files::lock::Lock;
use offnominal_stats::Level;
use offnominal_stats::proportion::clopper_pearson;
use offnominal_work::cli::one_of;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;
pub use table::{PolicyCost, StrategyCost};

/// Whose failures are searched for, and how.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// Policy, or folder of policies (`train --checkpoints`); repeatable
    #[arg(long = "policy", required = true)]
    pub policies: Vec<String>,
    /// Search strategy; repeatable
    #[arg(long = "strategy", value_parser = one_of::<Strategy>(), required = true)]
    pub strategies: Vec<Strategy>,
    /// Predictor of `risk learn`
    #[arg(long, value_name = "FILE")]
    pub predictor: Option<PathBuf>,
    /// History of `train --history` or `risk learn`
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Searches per policy
    #[arg(long, default_value_t = 20)]
    pub searches: u64,
    /// Most experiments per search
    #[arg(long, default_value_t = 10_000)]
    pub budget: usize,
    /// Candidates per experiment of argmax; repeatable
    #[arg(long, value_name = "N", default_value = "1000")]
    pub of: Vec<usize>,
    /// Do not stop at the first failure: spend the budget
    #[arg(long)]
    pub all: bool,
    /// Confidence level of the intervals
    #[arg(long, default_value_t = LEVEL, allow_negative_numbers = true)]
    pub level: f64,
    /// Output folder; an interrupted run continues there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What is drawn for each episode, and by what one fails.
    #[command(flatten)]
    pub scenario: ScenarioRequest,
}

/// What the searches cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Id of the environment.
    pub env: String,
    /// What simulates it, if Python hosts it, and by what its episodes fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// Experiments after which a search gave up.
    pub budget: usize,
    /// The strategies in the order in which they were asked for.
    pub strategies: Vec<StrategyCost>,
    /// What broke each requirement, where several are told apart; what searches cost is then up to a failure of the most
    /// important one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<RequirementFound>,
    /// What is doubtful.
    pub warnings: Vec<String>,
}

/// How many searches of a strategy broke a requirement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequirementFound {
    /// The strategy.
    pub strategy: String,
    /// The policy.
    pub policy: String,
    /// Its number, from 1; the most important one has 1.
    pub number: u64,
    /// What is required.
    pub requirement: String,
    /// The share of the searches that broke it before they ended.
    pub found: Estimate,
}

/// A strategy with its number of draws.
#[derive(Debug, Clone, Copy, PartialEq)]
struct StrategySetting {
    strategy: Strategy,
    of: usize,
}

/// Searches with every strategy for failures of every policy.
///
/// # Errors
/// If something that a strategy needs is missing or wrong, a setting is out of its range, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    let level = Level::try_from(request.level)?;
    request.check()?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let (policies, settings) = (request::policies(&request.policies)?, request.settings());
    let (mut costs, mut secs, mut requirements) = (Vec::new(), Vec::new(), Vec::new());
    let first = request.scenario.subject_of_several(&request.env, &policies[0])?;
    let names = first.env.failure_search().requirements();
    for setting in &settings {
        let folder = inside(request.out.as_deref(), settings.len(), || setting.name());
        let mut of_each = Vec::new();
        for (i, policy) in policies.iter().enumerate() {
            let folder = inside(folder.as_deref(), policies.len(), || format!("policy-{i}"));
            let begun = Instant::now();
            let found = request.search(policy, *setting, folder.as_deref(), context)?;
            let spent = begun.elapsed().as_secs_f64();
            secs.push(json!({ "strategy": setting.name(), "policy": policy, "secs": spent }));
            write_failures(folder.as_deref(), &found)?;
            requirements.extend(broken(names, (&setting.name(), policy), &found, level)?);
            let is_steady = matches!(setting.strategy, Strategy::Random | Strategy::Argmax);
            let first = found.iter().map(SearchRun::first).collect();
            let all =
                (found.iter().map(|f| f.failures.len()).sum(), found.iter().map(|f| f.experiments).sum());
            of_each.push(PolicyCost::of(policy, first, all, is_steady, request.budget, level)?);
        }
        costs.push((setting.name(), of_each));
    }
    let report = Report {
        env: request.env.to_string(),
        simulator: provenance::hosted(first.env.spec()),
        budget: request.budget,
        strategies: table::compare(costs, level),
        requirements,
        warnings: request.warnings(&policies)?,
    };
    request::write_json(request.out.as_deref(), "search.json", &report)?;
    // Times differ from run to run, so they have a file of their own.
    request::write_json(request.out.as_deref(), "timing.json", &secs)?;
    Ok(report)
}

/// The folder of one of several parts; a single part has the whole folder.
fn inside(folder: Option<&Path>, parts: usize, name: impl Fn() -> String) -> Option<PathBuf> {
    folder.map(|folder| if parts == 1 { folder.to_path_buf() } else { folder.join(name()) })
}

impl StrategySetting {
    /// Its name in tables, which is also that of its folder.
    fn name(self) -> String {
        let name = self.strategy.name();
        if self.strategy == Strategy::Argmax { format!("{name}-{}", self.of) } else { name.into() }
    }
}

impl Request {
    fn check(&self) -> Result<()> {
        within("searches", self.searches, 1..=1_000_000)?;
        within("budget", self.budget, 1..=u32::MAX as usize)?;
        ensure!(!self.strategies.is_empty(), "strategies: expected at least 1, found none");
        ensure!(!self.of.is_empty(), "of: expected at least 1, found none");
        self.of.iter().try_for_each(|&of| within("of", of, 1..=10_000_000))
    }

    /// What is doubtful: a predictor that told nothing of later episodes, failures in single precision.
    fn warnings(&self, policies: &[String]) -> Result<Vec<String>> {
        let subject = self.scenario.subject_of_several(&self.env, &policies[0])?;
        let guide = self.predictor.as_deref().map(|path| Guide::open(path, &subject)).transpose()?;
        let is_replayed = self.strategies.contains(&Strategy::Replay);
        let history = self.history.as_deref().filter(|_| is_replayed);
        let history = history.map(|path| learning::read(path, subject.env.spec())).transpose()?;
        let rounded = history.filter(|history| history.is_rounded).map(|_| {
            "the history holds initial conditions in single precision, from which few failures may fail again".into()
        });
        Ok(guide.as_ref().and_then(Guide::warning).into_iter().chain(rounded).collect())
    }

    /// The strategies, argmax once for each number of draws.
    fn settings(&self) -> Vec<StrategySetting> {
        let each = |&strategy: &Strategy| {
            let n = if strategy == Strategy::Argmax { self.of.len() } else { 1 };
            self.of[..n].iter().map(move |&of| StrategySetting { strategy, of })
        };
        self.strategies.iter().flat_map(each).collect()
    }

    fn search(
        &self,
        policy: &str,
        StrategySetting { strategy, of }: StrategySetting,
        folder: Option<&Path>,
        context: &Context,
    ) -> Result<Vec<SearchRun>> {
        let subject = self.scenario.subject_of_several(&self.env, policy)?;
        let experimenter = Experimenter::new(&subject, context.seed)?.allowing(context.allow_diverged);
        let predictor = self.predictor.as_deref().filter(|_| reads_predictor(strategy, &subject));
        let guide = predictor.map(|path| Guide::open(path, &subject)).transpose()?;
        let history = self.history.as_deref().filter(|_| strategy == Strategy::Replay);
        let history = history.map(|path| learning::read(path, subject.env.spec())).transpose()?;
        if let Some(history) = &history {
            ensure!(history.failures() > 0, "history: expected failures to replay, found none");
        }
        let spec = SearchSpec {
            env: self.env.to_string(),
            simulator: provenance::hosted(subject.env.spec()),
            policy: subject.name.clone(),
            seed: context.seed,
            strategy,
            of,
            budget: self.budget,
            all: self.all,
            predictor: guide.as_ref().map(|g| g.digest.clone()),
            past_failures: history.as_ref().map(offnominal_agents::History::failures),
            scenario: subject.scenario.clone(),
        };
        let aids = Aids { guide: guide.as_ref(), history: history.as_ref() };
        Hunt::new(experimenter, aids, spec)?.run(folder, self.searches, context)
    }
}

/// How many searches broke each requirement.
fn broken(
    names: &[String],
    (strategy, policy): (&str, &str),
    searches: &[SearchRun],
    level: Level,
) -> Result<Vec<RequirementFound>> {
    let one = |(number, name): (u64, &String)| {
        let breaks = |search: &&SearchRun| search.failures.iter().any(|f| f.broken.contains(&number));
        let found = clopper_pearson(searches.iter().filter(breaks).count(), searches.len(), level)?;
        let (strategy, policy, requirement) = (strategy.into(), policy.into(), name.clone());
        Ok(RequirementFound { strategy, policy, number, requirement, found })
    };
    (1..).zip(names).map(one).collect()
}

/// Whether a strategy reads a predictor in this environment.
fn reads_predictor(strategy: Strategy, subject: &Subject) -> bool {
    match strategy {
        Strategy::Random | Strategy::Replay => false,
        Strategy::Argmax => true,
        Strategy::CrossEntropy | Strategy::Elites => subject.env.failure_search().margin().is_none(),
    }
}

/// Writes the initial conditions that failed, with the number of their search.
fn write_failures(folder: Option<&Path>, found: &[SearchRun]) -> Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    let of_one = |(i, f): (usize, &SearchRun)| -> Vec<Value> {
        let mut one = |f: &Failure| {
            let mut about = json!({ "search": i, "key": f.key, "initial": f.x });
            if !f.broken.is_empty() {
                about["broken"] = json!(f.broken);
            }
            about
        };
        f.failures.iter().map(&mut one).collect()
    };
    let all: Vec<Value> = found.iter().enumerate().flat_map(of_one).collect();
    offnominal_files::write::atomically(&folder.join("failures.json"), &serde_json::to_vec_pretty(&all)?)
}

/// What a search of several requirements means.
const ORDER: &str = "The first requirement is the most important one: a search ends with its failure, and costs are those of \
    finding it. Experiments are compared by its margin, and by those of the next ones where it is the same or used up.";

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, searches of up to {} experiments", self.env, self.budget)?;
        self.simulator.iter().try_for_each(|simulator| writeln!(f, "  {simulator}"))?;
        table::write(f, &self.strategies)?;
        for RequirementFound { strategy, policy, number, requirement, found } in &self.requirements {
            let of = format!("{strategy} of {policy}");
            writeln!(f, "{of}: {found:.2} of the searches broke {number}. {requirement}")?;
        }
        if !self.requirements.is_empty() {
            writeln!(f, "{ORDER}")?;
        }
        self.warnings.iter().try_for_each(|warning| writeln!(f, "warning: {warning}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_work::cli;

    #[test]
    fn argmax_is_compared_with_itself_and_other_strategies_stand_once() {
        let request =
            json!({ "env": "w", "policies": ["p"], "strategies": ["random", "argmax"], "of": [10, 100] });
        let request: Request = cli::request(&request).unwrap();
        let names: Vec<String> = request.settings().into_iter().map(StrategySetting::name).collect();
        assert_eq!(names, ["random", "argmax-10", "argmax-100"]);
    }
}
