//! What searches cost: a row for each strategy, with the spread over policies and what it saves against random draws.

use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_risk::search::Found;
use offnominal_stats::Level;
use offnominal_stats::risk::search::{Search, expected_cost, restricted_cost};
use serde_json::{Value, json};
use std::io::Write;

/// The row with which others are compared.
const RANDOM: &str = "random";

/// What the searches for failures of one policy cost.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The policy.
    pub policy: String,
    /// Experiments to a failure; valid where no experiment changes what comes next.
    pub expected: Option<Estimate>,
    /// Experiments of a search that gives up at the budget.
    pub restricted: Estimate,
    /// Number of searches.
    pub searches: usize,
    /// What they found.
    pub failures: usize,
    /// Experiments of all searches.
    pub experiments: usize,
}

/// A strategy with its cost for each policy.
#[derive(Debug, Clone)]
pub struct Row {
    /// The strategy.
    pub way: String,
    /// In the order of the policies.
    pub costs: Vec<Cost>,
}

/// All strategies.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// In the order in which they were asked for.
    pub rows: Vec<Row>,
}

impl Cost {
    /// Of searches; `is_steady` where no experiment changes what comes next.
    ///
    /// # Errors
    /// If there are none.
    pub fn of(policy: &str, found: &[Found], is_steady: bool, budget: usize, level: Level) -> Result<Cost> {
        let first = |f: &Found| {
            let failure = f.failures.first();
            let experiments = failure.map_or(f.experiments, |first| first.index as usize + 1);
            Search { experiments, failure: failure.map(|first| first.x.clone()) }
        };
        let searches: Vec<Search> = found.iter().map(first).collect();
        Ok(Cost {
            policy: policy.to_string(),
            expected: is_steady.then(|| expected_cost(&searches, level)).transpose()?,
            restricted: restricted_cost(&searches, budget, level)?,
            searches: searches.len(),
            failures: found.iter().map(|f| f.failures.len()).sum(),
            experiments: found.iter().map(|f| f.experiments).sum(),
        })
    }

    /// The number that tables compare.
    fn estimate(&self) -> &Estimate {
        self.expected.as_ref().unwrap_or(&self.restricted)
    }

    fn as_json(&self) -> Value {
        json!({
            "policy": self.policy,
            "expected_cost": self.expected,
            "restricted_cost": self.restricted,
            "searches": self.searches,
            "failures": self.failures,
            "experiments": self.experiments,
        })
    }
}

impl Row {
    /// Smallest, median and largest cost over policies.
    fn spread(&self) -> [f64; 3] {
        spread(self.costs.iter().map(|c| c.estimate().value))
    }

    /// How many times cheaper than another strategy, over policies.
    fn acceleration(&self, than: &Row) -> [f64; 3] {
        let ratio = |(own, other): (&Cost, &Cost)| other.estimate().value / own.estimate().value;
        spread(self.costs.iter().zip(&than.costs).map(ratio))
    }
}

impl Table {
    fn random(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.way == RANDOM)
    }

    /// For programs.
    pub fn as_json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "strategy": row.way,
                "policies": row.costs.iter().map(Cost::as_json).collect::<Vec<_>>(),
                "min_median_max": row.spread(),
                "acceleration": self.random().map(|random| row.acceleration(random)),
            })
        };
        self.rows.iter().map(row).collect()
    }

    /// For readers.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn print(&self, out: &mut impl Write) -> Result<()> {
        for row in &self.rows {
            writeln!(out, "{}", row.way)?;
            for cost in &row.costs {
                let Cost { policy, searches, failures, experiments, restricted, .. } = cost;
                writeln!(
                    out,
                    "  {policy}: {failures} failures in {experiments} experiments, {searches} searches"
                )?;
                if let Some(e) = &cost.expected {
                    writeln!(out, "    experiments to a failure              {e:.1}")?;
                }
                writeln!(out, "    experiments of a search that gives up {restricted:.1}")?;
            }
        }
        if self.rows.len() > 1 || self.rows.iter().any(|row| row.costs.len() > 1) {
            self.summary(out)?;
        }
        Ok(())
    }

    fn summary(&self, out: &mut impl Write) -> Result<()> {
        let three = |[a, b, c]: [f64; 3]| format!("{a:>9.1} {b:>9.1} {c:>9.1}");
        writeln!(
            out,
            "{:<16} {:>9} {:>9} {:>9}   times fewer than random",
            "experiments", "min", "median", "max"
        )?;
        for row in &self.rows {
            let faster = self.random().map_or(String::new(), |r| three(row.acceleration(r)));
            writeln!(out, "{:<16} {}  {faster}", row.way, three(row.spread()))?;
        }
        Ok(())
    }
}

/// Smallest, median and largest.
fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    let median = 0.5 * (values[(n - 1) / 2] + values[n / 2]);
    [values[0], median, values[n - 1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(way: &str, values: &[f64]) -> Row {
        let cost = |&value: &f64| {
            let e = Estimate { value, low: value, high: value, level: 0.95, n: 1, method: "m".into() };
            let policy = "p".to_string();
            Cost {
                policy,
                expected: Some(e.clone()),
                restricted: e,
                searches: 1,
                failures: 1,
                experiments: 1,
            }
        };
        Row { way: way.into(), costs: values.iter().map(cost).collect() }
    }

    #[test]
    fn the_spread_of_several_policies_has_a_median() {
        assert_eq!(row("a", &[3.0, 1.0, 2.0, 10.0]).spread(), [1.0, 2.5, 10.0]);
        assert_eq!(row("a", &[3.0]).spread(), [3.0; 3]);
    }

    #[test]
    fn savings_are_those_of_each_policy() {
        let table = Table { rows: vec![row("random", &[100.0, 900.0]), row("argmax-10", &[50.0, 9.0])] };
        assert_eq!(table.rows[1].acceleration(table.random().unwrap()), [2.0, 51.0, 100.0]);
        let mut text = Vec::new();
        table.print(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(
            text.contains("argmax-10              9.0      29.5      50.0        2.0      51.0     100.0"),
            "{text}"
        );
    }
}
