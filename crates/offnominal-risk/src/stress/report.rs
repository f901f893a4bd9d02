//! What searches for disturbances found: `stress.json`, which the page shows and from which failures are replayed.

use super::Request;
use super::hunt::{Disturbed, Strategy, StressRun, StressSpec, is_zero};
use super::series::{Likelihood, Shape};
use crate::search::table::{self, PolicyCost, StrategyCost};
use anyhow::{Context as _, Result};
use offnominal_core::prelude::*;
use offnominal_engine::provenance;
use offnominal_engine::subject::Subject;
use offnominal_files::provenance::Provenance;
use offnominal_stats::Level;
use offnominal_stats::proportion::clopper_pearson;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// Name of the file in a run's folder.
pub const FILE: &str = "stress.json";

/// What searches for disturbances found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Where and by whom it was played, for whoever plays it again.
    #[serde(flatten)]
    pub played: PlayedIn,
    /// The scenario in words, where there is one.
    pub scenario_in_words: Option<String>,
    /// Names of the numbers that the noise takes when an episode begins.
    pub start_numbers: Vec<String>,
    /// Names of the numbers that the noise takes in each step.
    pub step_numbers: Vec<String>,
    /// Seconds of a step.
    pub dt_secs: f64,
    /// Searches of each strategy.
    pub searches: u64,
    /// Experiments after which a search gave up.
    pub budget: usize,
    /// Episodes that could be played to make a failure likelier.
    pub refine: usize,
    /// Episodes without an outcome, which are no failures; absent where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub diverged: u64,
    /// Searches whose episode fails without any disturbance: they are no part of the strategies' numbers.
    pub fail_undisturbed: Vec<u64>,
    /// One row for each strategy.
    pub strategies: Vec<StrategyRow>,
    /// What failed under disturbances, the likeliest first.
    pub failures: Vec<Failure>,
    /// What is doubtful.
    pub warnings: Vec<String>,
    /// What made it.
    pub made: Provenance,
}

/// Where and by whom failures were played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlayedIn {
    /// Id of the environment.
    pub env: String,
    /// Its noise, where the id does not say it.
    pub noise: Option<String>,
    /// The policy.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub policy: offnominal_files::dataset::PolicyName,
    /// What was drawn for each episode, and by what one failed.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub scenario: Option<offnominal_engine::scenario::Scenario>,
    /// The seed.
    pub seed: u64,
}

/// What a strategy found and at what cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StrategyRow {
    /// Share of the searches that found a failure; null where all fail undisturbed.
    pub found: Option<Estimate>,
    /// Experiments to a failure, compared with random draws; null where all fail undisturbed.
    pub cost: Option<StrategyCost>,
    /// The strategy.
    pub strategy: Strategy,
    /// Smallest, median and largest distance of its failures, once made likelier; null without any.
    pub distance: Option<[f64; 3]>,
    /// Episodes that were played to make its failures likelier.
    pub refinement: usize,
    /// Steps of all its episodes.
    pub steps: u64,
}

/// A failure under disturbances, which can be replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The strategy that found it.
    pub strategy: Strategy,
    /// The search.
    pub search: u64,
    /// The key of the randomness of environment and policy.
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub key: Seed,
    /// The initial condition.
    pub initial: Vec<f64>,
    /// Experiments until it was found.
    pub experiments: usize,
    /// Episodes that were then played to make it likelier.
    pub refinement: usize,
    /// Steps until it fails.
    pub steps: usize,
    /// How likely it was when it was found.
    pub first: Likelihood,
    /// How likely it is.
    pub likelihood: Likelihood,
    /// The numbers of the start, in standard deviations.
    pub start: Vec<f64>,
    /// The numbers of each step.
    pub disturbances: Vec<Vec<f64>>,
}

impl Failure {
    fn of(
        (strategy, search): (Strategy, u64),
        found: &StressRun,
        failed: &Disturbed,
        shape: Shape,
    ) -> Failure {
        let (start, rows) = failed.z.split_at(shape.start);
        Failure {
            strategy,
            search,
            key: found.key,
            initial: found.x.clone(),
            experiments: found.experiments,
            refinement: failed.refinement,
            steps: failed.steps,
            first: failed.first,
            likelihood: Likelihood::of(&failed.z, shape),
            start: start.to_vec(),
            disturbances: rows.chunks(shape.step.max(1)).map(<[f64]>::to_vec).collect(),
        }
    }

    /// All numbers as one series.
    pub fn series(&self) -> Vec<f64> {
        self.start.iter().chain(self.disturbances.iter().flatten()).copied().collect()
    }
}

impl Report {
    pub(super) fn new(
        (request, command): (&Request, &str),
        subject: &Subject,
        all: Vec<(StressSpec, Vec<StressRun>)>,
        level: Level,
    ) -> Result<Report> {
        let spec = subject.env.spec();
        let numbers = subject.env.noise_numbers().context("noise: expected some, found none")?;
        let first = &all.first().context("strategies: expected at least 1, found none")?.0;
        let config = serde_json::to_vec(first)?;
        let undisturbed = |(i, f): (usize, &StressRun)| f.fails_undisturbed.then_some(i as u64);
        let mut report = Report {
            played: PlayedIn {
                env: first.env.clone(),
                noise: first.noise.clone(),
                policy: first.policy.clone(),
                scenario: first.scenario.clone(),
                seed: first.seed,
            },
            scenario_in_words: first.scenario.as_ref().map(ToString::to_string),
            start_numbers: numbers.start.clone(),
            step_numbers: numbers.step.clone(),
            dt_secs: spec.dt_secs,
            searches: request.searches,
            budget: request.budget,
            refine: request.refine,
            diverged: all.iter().flat_map(|(_, found)| found).map(|f| f.diverged).sum(),
            fail_undisturbed: all[0].1.iter().enumerate().filter_map(undisturbed).collect(),
            strategies: rows(&all, &subject.name.label(), request.budget, level)?,
            failures: failures(&all, Shape::of(numbers)),
            warnings: vec![],
            made: provenance::made(command, first.seed, &config, &[spec], &[&subject.name]),
        };
        report.warnings = report.doubts();
        Ok(report)
    }

    /// What is doubtful.
    fn doubts(&self) -> Vec<String> {
        let (all, undisturbed) = (self.searches as usize, self.fail_undisturbed.len());
        let own = (undisturbed > 0).then(|| {
            format!(
                "{undisturbed} of {all} searches begin where the episode fails without any disturbance: these failures are \
                 due to the initial condition, and the strategies are compared without them"
            )
        });
        let none = (self.failures.is_empty() && undisturbed < all).then(|| {
            "no search found a failure: this shows neither that there is none nor that it is rare".to_string()
        });
        let diverged = (self.diverged > 0).then(|| {
            format!("{} episodes diverged and have no outcome; they do not count as failures", self.diverged)
        });
        own.into_iter().chain(none).chain(diverged).collect()
    }

    /// The file: each row of numbers is one line of it.
    ///
    /// # Errors
    /// If it cannot be written as JSON, which is a mistake of ours.
    pub fn json(&self) -> Result<String> {
        Ok(rows_as_lines(&format!("{:#}\n", serde_json::to_value(self)?)))
    }

    /// When a failure happens, in seconds.
    pub fn secs(&self, failure: &Failure) -> f64 {
        failure.steps as f64 * self.dt_secs
    }
}

/// What each strategy found, and at what cost, where the episode does not fail undisturbed.
fn rows(
    all: &[(StressSpec, Vec<StressRun>)],
    policy: &str,
    budget: usize,
    level: Level,
) -> Result<Vec<StrategyRow>> {
    let open = |found: &[StressRun]| -> Vec<StressRun> {
        found.iter().filter(|f| !f.fails_undisturbed).cloned().collect()
    };
    let searched: Vec<Vec<StressRun>> = all.iter().map(|(_, found)| open(found)).collect();
    let cost = |((spec, _), open): (&(StressSpec, _), &Vec<StressRun>)| {
        let failures = open.iter().filter(|f| f.failure.is_some()).count();
        let experiments = open.iter().map(|f| f.experiments).sum();
        let searches = open.iter().map(StressRun::search).collect();
        let one = PolicyCost::of(policy, searches, (failures, experiments), false, budget, level)?;
        anyhow::Ok((spec.strategy.name().to_string(), vec![one]))
    };
    let is_open = searched.iter().all(|open| !open.is_empty());
    let costs = if is_open {
        let all = all.iter().zip(&searched).map(cost).collect::<Result<_>>()?;
        table::compare(all, level).into_iter().map(Some).collect()
    } else {
        vec![None; all.len()]
    };
    all.iter()
        .zip(searched)
        .zip(costs)
        .map(|(((spec, _), open), cost)| row(spec, &open, cost, level))
        .collect()
}

fn row(
    spec: &StressSpec,
    open: &[StressRun],
    cost: Option<StrategyCost>,
    level: Level,
) -> Result<StrategyRow> {
    let failed: Vec<&Disturbed> = open.iter().filter_map(|f| f.failure.as_ref()).collect();
    let found = cost.is_some().then(|| clopper_pearson(failed.len(), open.len(), level)).transpose()?;
    let distances = failed.iter().map(|f| super::series::square(&f.z).sqrt());
    Ok(StrategyRow {
        found,
        cost,
        strategy: spec.strategy,
        distance: (!failed.is_empty()).then(|| table::spread(distances)),
        refinement: failed.iter().map(|f| f.refinement).sum(),
        steps: open.iter().map(|f| f.steps).sum(),
    })
}

/// All failures, the likeliest first.
fn failures(all: &[(StressSpec, Vec<StressRun>)], shape: Shape) -> Vec<Failure> {
    let of_one = |(spec, found): &(StressSpec, Vec<StressRun>)| -> Vec<Failure> {
        let failed = |(i, f): (usize, &StressRun)| {
            f.failure.as_ref().map(|failed| Failure::of((spec.strategy, i as u64), f, failed, shape))
        };
        found.iter().enumerate().filter_map(failed).collect()
    };
    let mut failures: Vec<Failure> = all.iter().flat_map(of_one).collect();
    failures.sort_by(|a, b| a.likelihood.distance.total_cmp(&b.likelihood.distance));
    failures
}

/// JSON in which an array of numbers is one line, as long as it may be.
fn rows_as_lines(pretty: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut open: Option<usize> = None;
    for line in pretty.lines() {
        let (word, last) = (line.trim(), lines.len());
        lines.push(line.into());
        match (word, open) {
            ("]" | "],", Some(from)) => {
                let row: String = lines.drain(from + 1..).map(|l| l.trim().replace(',', ", ")).collect();
                // A comma behind the bracket ends the line.
                lines[from] += row.trim_end().trim_start();
                open = None;
            }
            _ if word.ends_with('[') => open = Some(last),
            _ if word.trim_end_matches(',').parse::<f64>().is_err() => open = None,
            _ => {}
        }
    }
    lines.join("\n") + "\n"
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let PlayedIn { env, policy, .. } = &self.played;
        writeln!(
            f,
            "{} in {env}: disturbances of its nominal noise, in up to {} experiments",
            policy.label(),
            self.budget
        )?;
        let costs: Vec<StrategyCost> = self.strategies.iter().filter_map(|row| row.cost.clone()).collect();
        table::write(f, &costs)?;
        for StrategyRow { found, strategy, distance, .. } in &self.strategies {
            let Some(found) = found else { continue };
            let name = strategy.name();
            write!(f, "{name:<16} found a failure in {found:.2} of the searches")?;
            match distance {
                Some([least, median, _]) => writeln!(f, "; distance {least:.2}, median {median:.2}")?,
                None => writeln!(f)?,
            }
        }
        if let Some(failure) = self.failures.first() {
            write!(f, "likeliest failure: by {}, {}", failure.strategy.name(), self.describe(failure))?;
        }
        self.warnings.iter().try_for_each(|warning| writeln!(f, "warning: {warning}"))
    }
}

impl Report {
    /// How likely a failure is and when it happens, in words.
    pub(super) fn describe(&self, failure: &Failure) -> String {
        let (own, secs) = (&failure.likelihood, self.secs(failure));
        format!(
            "{:.2} standard deviations from no disturbance (log-likelihood {:.1}, of a draw about {:.0}); {:.2} per number, at \
             most {:.1}; {} of {} steps disturbed; fails after {secs:.2} s\n",
            own.distance,
            own.log_likelihood,
            own.log_likelihood_of_a_draw,
            own.rms,
            own.largest,
            own.disturbed_steps,
            failure.steps
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_numbers_are_lines_and_the_same_json() {
        let value = serde_json::json!({
            "rows": [[0.5, -1e-7, 3], [], [1.0]], "names": ["a", "b"], "one": [{ "x": [2.5, 0.0] }], "last": 1
        });
        let text = rows_as_lines(&format!("{value:#}\n"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        assert!(text.contains("\n    [0.5, -1e-7, 3],\n"), "{text}");
        assert!(text.contains("\"x\": [2.5, 0.0]\n"), "{text}");
    }
}
