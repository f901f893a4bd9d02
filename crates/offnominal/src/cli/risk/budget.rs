//! `risk budget`: episodes that plain counting needs.

use crate::cli::Common;
use crate::cli::risk::Outcome;
use anyhow::Result;
use clap::Args;
use offnominal_stats::Level;
use offnominal_stats::risk::{self, Budget};
use serde_json::json;
use std::io::Write;

/// Arguments of `risk budget`.
#[derive(Debug, Args)]
pub struct BudgetArgs {
    /// Failure probability, above 0 and below 1
    #[arg(long, value_name = "P")]
    p: f64,
    /// The estimate is to lie between P / D and D P; at least 1.01
    #[arg(long, default_value_t = 3.0, value_name = "D")]
    delta: f64,
    /// Probability with which it is to, between 0 and 1
    #[arg(long, default_value_t = 0.95, value_name = "C")]
    confidence: f64,
}

impl BudgetArgs {
    /// Computes the budget and prints it.
    ///
    /// # Errors
    /// If a number is out of its range.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let budget = risk::budget(self.p, self.delta, Level::try_from(self.confidence)?)?;
        let text = if common.json { format!("{:#}", json!(budget)) } else { self.as_text(budget) };
        writeln!(std::io::stdout().lock(), "{text}")?;
        Ok(Outcome::Done)
    }

    fn as_text(&self, Budget { first_reached, always_holds }: Budget) -> String {
        let in_units = |episodes: u64| format!("{episodes} episodes ({:.2} / p)", episodes as f64 * self.p);
        let goal = format!("within a factor of {} in {} % of all runs", self.delta, 100.0 * self.confidence);
        let (first, always) = (in_units(first_reached), in_units(always_holds));
        format!("{goal}:\n  first reached after {first}\n  always holds from {always}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_both_numbers_and_their_multiples_of_one_over_p() {
        let args = BudgetArgs { p: 1e-3, delta: 3.0, confidence: 0.95 };
        let text = args.as_text(Budget { first_reached: 4750, always_holds: 6300 });
        assert!(text.contains("factor of 3 in 95 %"), "{text}");
        assert!(
            text.contains("4750 episodes (4.75 / p)") && text.contains("6300 episodes (6.30 / p)"),
            "{text}"
        );
    }

    #[test]
    fn the_json_has_two_counts() {
        let found = json!(Budget { first_reached: 1, always_holds: 2 });
        assert_eq!(found, json!({ "first_reached": 1, "always_holds": 2 }));
    }
}
