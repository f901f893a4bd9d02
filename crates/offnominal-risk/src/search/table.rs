//! What searches cost: for each strategy the spread over policies, and what it saves against random draws.

use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::search::{
    Search, expected_cost, restricted_cost, times_fewer, times_fewer_restricted,
};
use serde::Serialize;
use std::fmt::{self, Write};

/// The strategy with which others are compared.
const RANDOM: &str = "random";

/// What the searches for failures of one policy cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyCost {
    /// The policy.
    pub policy: String,
    /// Experiments to a failure; valid where no experiment changes what comes next.
    pub expected_cost: Option<Estimate>,
    /// Experiments of a search that gives up at the budget.
    pub restricted_cost: Estimate,
    /// Number of searches.
    pub searches: usize,
    /// What they found.
    pub failures: usize,
    /// Experiments of all searches.
    pub experiments: usize,
    /// How many times fewer experiments than random draws; null if these were not tried, or neither found a failure.
    pub times_fewer: Option<Estimate>,
    /// Each search up to its first failure.
    #[serde(skip)]
    first: Vec<Search>,
}

/// A strategy with its cost for each policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StrategyCost {
    /// The strategy.
    pub strategy: String,
    /// In the order of the policies.
    pub policies: Vec<PolicyCost>,
    /// Smallest, median and largest cost over policies.
    pub min_median_max: [f64; 3],
    /// How many times cheaper than random draws, over policies; null if these were not tried.
    pub acceleration: Option<[f64; 3]>,
}

impl PolicyCost {
    /// Of searches up to their first failures, with the number of all failures and experiments; `is_steady` where no
    /// experiment changes what comes next.
    ///
    /// # Errors
    /// If there are none.
    pub fn of(
        policy: &str,
        searches: Vec<Search>,
        (failures, experiments): (usize, usize),
        is_steady: bool,
        budget: usize,
        level: Level,
    ) -> Result<Self> {
        Ok(PolicyCost {
            policy: policy.to_string(),
            expected_cost: is_steady.then(|| expected_cost(&searches, level)).transpose()?,
            restricted_cost: restricted_cost(&searches, budget, level)?,
            searches: searches.len(),
            failures,
            experiments,
            times_fewer: None,
            first: searches,
        })
    }

    /// With what it saves against random draws: by the chances to fail where neither changes, else by what searches cost
    /// that give up.
    fn against(self, random: &PolicyCost, level: Level) -> PolicyCost {
        let times_fewer = match (&self.expected_cost, &random.expected_cost) {
            (Some(_), Some(_)) => times_fewer(&self.first, &random.first, level).ok(),
            _ => Some(times_fewer_restricted(&self.restricted_cost, &random.restricted_cost, level)),
        };
        PolicyCost { times_fewer, ..self }
    }

    /// The number that tables compare.
    fn value(&self) -> f64 {
        self.expected_cost.as_ref().unwrap_or(&self.restricted_cost).value
    }
}

/// Sets the costs of strategies for the same policies against one another.
pub fn compare(costs: Vec<(String, Vec<PolicyCost>)>, level: Level) -> Vec<StrategyCost> {
    let random = costs.iter().find(|(name, _)| name == RANDOM).map(|(_, costs)| costs.clone());
    let row = |(strategy, policies): (String, Vec<PolicyCost>)| match &random {
        Some(_) if strategy == RANDOM => StrategyCost::new(strategy, policies, Some([1.0; 3])),
        Some(random) => {
            let both = policies.into_iter().zip(random);
            let policies: Vec<PolicyCost> = both.map(|(own, random)| own.against(random, level)).collect();
            let faster = policies.iter().map(|own| own.times_fewer.as_ref().map_or(f64::NAN, |e| e.value));
            let faster = spread(faster);
            StrategyCost::new(strategy, policies, Some(faster))
        }
        None => StrategyCost::new(strategy, policies, None),
    };
    costs.into_iter().map(row).collect()
}

impl StrategyCost {
    fn new(strategy: String, policies: Vec<PolicyCost>, acceleration: Option<[f64; 3]>) -> StrategyCost {
        let min_median_max = spread(policies.iter().map(PolicyCost::value));
        StrategyCost { strategy, policies, min_median_max, acceleration }
    }
}

/// Writes the costs, and a summary if there is something to compare.
pub fn write(out: &mut impl Write, rows: &[StrategyCost]) -> fmt::Result {
    for row in rows {
        writeln!(out, "{}", row.strategy)?;
        for cost in &row.policies {
            let PolicyCost { policy, searches, failures, experiments, restricted_cost, .. } = cost;
            writeln!(
                out,
                "  {policy}: {failures} failures in {experiments} experiments, {searches} searches"
            )?;
            if let Some(e) = &cost.expected_cost {
                writeln!(out, "    experiments to a failure              {e:.1}")?;
            }
            writeln!(out, "    experiments of a search that gives up {restricted_cost:.1}")?;
            if let Some(e) = &cost.times_fewer {
                writeln!(out, "    times fewer than random               {e:.1}")?;
            }
        }
    }
    if rows.len() > 1 || rows.iter().any(|row| row.policies.len() > 1) { summary(out, rows) } else { Ok(()) }
}

fn summary(out: &mut impl Write, rows: &[StrategyCost]) -> fmt::Result {
    let three = |[a, b, c]: [f64; 3]| format!("{a:>9.1} {b:>9.1} {c:>9.1}");
    writeln!(
        out,
        "{:<16} {:>9} {:>9} {:>9}   times fewer than random",
        "experiments", "min", "median", "max"
    )?;
    for row in rows {
        let faster = row.acceleration.map_or(String::new(), three);
        writeln!(out, "{:<16} {}  {faster}", row.strategy, three(row.min_median_max))?;
    }
    Ok(())
}

/// Smallest, median and largest.
pub(crate) fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    let median = 0.5 * (values[(n - 1) / 2] + values[n / 2]);
    [values[0], median, values[n - 1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(values: &[f64]) -> Vec<PolicyCost> {
        let cost = |&value: &f64| {
            let e = Estimate { value, low: value, high: value, level: 0.95, n: 1, method: "m".into() };
            PolicyCost {
                policy: "p".into(),
                expected_cost: Some(e.clone()),
                restricted_cost: e,
                searches: 1,
                failures: 1,
                experiments: 1,
                times_fewer: None,
                first: vec![Search { experiments: value as usize, has_failed: true }],
            }
        };
        values.iter().map(cost).collect()
    }

    #[test]
    fn the_spread_of_several_policies_has_a_median() {
        let spread =
            |values: &[f64]| compare(vec![("a".into(), costs(values))], Level::P95)[0].min_median_max;
        assert_eq!(spread(&[3.0, 1.0, 2.0, 10.0]), [1.0, 2.5, 10.0]);
        assert_eq!(spread(&[3.0]), [3.0; 3]);
    }

    #[test]
    fn savings_are_those_of_each_policy() {
        let all = [("random", [100.0, 900.0]), ("argmax-10", [50.0, 9.0])];
        let rows = compare(all.map(|(name, values)| (name.into(), costs(&values))).into(), Level::P95);
        assert_eq!(rows[1].acceleration.unwrap().map(f64::round), [2.0, 51.0, 100.0]);
        assert_eq!(rows[0].acceleration, Some([1.0; 3]));
        let own = |row: &StrategyCost| row.policies[1].times_fewer.as_ref().map(|e| e.value);
        assert_eq!((own(&rows[0]), own(&rows[1]).map(f64::round)), (None, Some(100.0)));
        let mut text = String::new();
        write(&mut text, &rows).unwrap();
        assert!(
            text.contains("argmax-10              9.0      29.5      50.0        2.0      51.0     100.0"),
            "{text}"
        );
    }
}
