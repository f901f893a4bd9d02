//! `risk search`: what finding one failure costs.

use super::{Common, Outcome};
use crate::cast::Cast;
use crate::cli::shifts::Below;
use crate::risk::search::{self, Aids, Found, Hunt, Spec, Strategy};
use crate::risk::{Guide, Lab, learning};
use crate::write;
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::search::{Search, expected_cost, restricted_cost};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `risk search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    /// A policy, as for `risk estimate`; may be repeated, to compare agents
    #[arg(long, required = true)]
    policy: Vec<String>,
    #[command(flatten)]
    below: Below,
    /// Where to look
    #[arg(long, value_enum)]
    strategy: Strategy,
    /// The predictor that `risk learn` wrote
    #[arg(long, value_name = "FILE")]
    predictor: Option<PathBuf>,
    /// The history that `train --history` wrote
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Number of searches per policy
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    searches: u32,
    /// Experiments after which a search gives up
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    budget: u32,
    /// Draws of which argmax takes the most dangerous
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    of: u32,
    /// Spend the whole budget of each search, to find many failures and not only the first
    #[arg(long)]
    all: bool,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = 0.95)]
    level: f64,
}

/// What the searches for failures of one policy cost.
struct Cost {
    policy: String,
    /// Experiments to a failure; valid where no experiment changes what comes next.
    expected: Option<Estimate>,
    /// Experiments of a search that gives up at the budget.
    restricted: Option<Estimate>,
    searches: usize,
    failures: usize,
    experiments: usize,
}

impl SearchArgs {
    /// Searches, writes what was found, and prints what it cost.
    ///
    /// # Errors
    /// If something the strategy needs is missing or wrong, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let level = Level::try_from(self.level)?;
        let mut costs = Vec::new();
        for (i, policy) in self.policy.iter().enumerate() {
            let folder = self.folder(i, common);
            let found = self.of_one(policy, &folder, common)?;
            write::atomically(&folder.join("failures.json"), &failures(&found)?)?;
            costs.push(self.cost(policy, &found, level)?);
        }
        let mut out = std::io::stdout().lock();
        let value = self.as_json(&costs);
        write::atomically(
            &common.out_or("risk-search").join("search.json"),
            format!("{value:#}\n").as_bytes(),
        )?;
        if common.json {
            writeln!(out, "{value:#}")?;
        } else {
            self.print(&mut out, &costs)?;
        }
        Ok(Outcome::Done)
    }

    /// One folder per policy if there are several.
    fn folder(&self, number: usize, common: &Common) -> PathBuf {
        let folder = common.out_or("risk-search");
        if self.policy.len() == 1 { folder } else { folder.join(format!("policy-{number}")) }
    }

    fn of_one(&self, policy: &str, folder: &Path, common: &Common) -> Result<Vec<Found>> {
        let cast = Cast::new(&self.env, policy)?;
        let change = self.below.change(cast.env.spec())?;
        let cast = cast.shifted_by(change)?;
        let lab = Lab::new(&cast, common.seed)?;
        let guide = self.predictor.as_deref().map(|path| Guide::open(path, &cast)).transpose()?;
        let history = self.history.as_deref().map(|p| learning::read(p, cast.env.spec())).transpose()?;
        if let (Strategy::Replay, Some(history)) = (self.strategy, &history) {
            ensure!(history.failures() > 0, "--history: expected failures to replay, found none");
        }
        let spec = Spec {
            env: self.env.clone(),
            policy: cast.name.clone(),
            seed: common.seed,
            strategy: self.strategy,
            of: self.of as usize,
            budget: self.budget as usize,
            all: self.all,
            predictor: guide.as_ref().map(|g| g.digest.clone()),
            past_failures: history.as_ref().map(offnominal_agents::History::failures),
            shifted: cast.shifted.clone(),
        };
        let aids = Aids { guide: guide.as_ref(), history: history.as_ref() };
        Hunt::new(lab, aids, spec)?.run(folder, self.searches as usize, common)
    }

    fn cost(&self, policy: &str, found: &[Found], level: Level) -> Result<Cost> {
        let first = |f: &Found| {
            let failure = f.failures.first();
            let experiments = failure.map_or(f.experiments, |first| first.index as usize + 1);
            Search { experiments, failure: failure.map(|first| first.x.clone()) }
        };
        let searches: Vec<Search> = found.iter().map(first).collect();
        let is_steady = matches!(self.strategy, Strategy::Random | Strategy::Argmax);
        Ok(Cost {
            policy: policy.to_string(),
            expected: is_steady.then(|| expected_cost(&searches, level)).transpose()?,
            restricted: Some(restricted_cost(&searches, self.budget as usize, level)?),
            searches: searches.len(),
            failures: found.iter().map(|f| f.failures.len()).sum(),
            experiments: found.iter().map(|f| f.experiments).sum(),
        })
    }

    fn as_json(&self, costs: &[Cost]) -> Value {
        let one = |c: &Cost| {
            json!({
                "policy": c.policy,
                "expected_cost": c.expected,
                "restricted_cost": c.restricted,
                "searches": c.searches,
                "failures": c.failures,
                "experiments": c.experiments,
            })
        };
        json!({
            "env": self.env,
            "strategy": search::name(self.strategy),
            "budget": self.budget,
            "policies": costs.iter().map(one).collect::<Vec<_>>(),
            "min_median_max": spread(costs).map(|s| s.to_vec()),
        })
    }

    fn print(&self, out: &mut impl Write, costs: &[Cost]) -> Result<()> {
        let (strategy, budget) = (search::name(self.strategy), self.budget);
        writeln!(out, "{strategy} in {}, searches of up to {budget} experiments", self.env)?;
        for cost in costs {
            let Cost { policy, searches, failures, experiments, .. } = cost;
            writeln!(out, "{policy}: {failures} failures in {experiments} experiments, {searches} searches")?;
            if let Some(e) = &cost.expected {
                writeln!(out, "  experiments to a failure              {e:.1}")?;
            }
            if let Some(e) = &cost.restricted {
                writeln!(out, "  experiments of a search that gives up {e:.1}")?;
            }
        }
        if let Some([least, median, most]) = spread(costs) {
            writeln!(out, "over policies: min {least:.1}, median {median:.1}, max {most:.1}")?;
        }
        Ok(())
    }
}

/// Smallest, median and largest cost of several policies.
fn spread(costs: &[Cost]) -> Option<[f64; 3]> {
    let value = |c: &Cost| c.expected.as_ref().or(c.restricted.as_ref()).map(|e| e.value);
    let mut values: Vec<f64> = costs.iter().filter_map(value).collect();
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    let median = || 0.5 * (values[(n - 1) / 2] + values[n / 2]);
    (n > 1).then(|| [values[0], median(), values[n - 1]])
}

/// The initial conditions that failed, with the number of their search.
fn failures(found: &[Found]) -> Result<Vec<u8>> {
    let of_one = |(i, f): (usize, &Found)| {
        let one =
            |failure: &crate::risk::Failure| json!({ "search": i, "key": failure.key, "initial": failure.x });
        f.failures.iter().map(one).collect::<Vec<_>>()
    };
    let all: Vec<Value> = found.iter().enumerate().flat_map(of_one).collect();
    Ok(serde_json::to_vec_pretty(&all)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_several_policies_has_a_median() {
        let cost = |value: f64| {
            let estimate = Estimate { value, low: value, high: value, level: 0.95, n: 1, method: "m".into() };
            let (policy, expected) = (String::new(), Some(estimate));
            Cost { policy, expected, restricted: None, searches: 1, failures: 1, experiments: 1 }
        };
        assert_eq!(spread(&[cost(3.0), cost(1.0), cost(2.0), cost(10.0)]), Some([1.0, 2.5, 10.0]));
        assert_eq!(spread(&[cost(3.0)]), None);
    }
}
