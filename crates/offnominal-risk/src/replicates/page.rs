//! What replicates say of a method, as a self-contained page.

use super::{Report, Spread, chart};
use crate::estimate::document::probability;
use anyhow::Result;
use minijinja::Value;
use offnominal_core::estimate::Estimate;
use offnominal_files::provenance::Provenance;
use serde::Serialize;

/// What the template sees.
#[derive(Serialize)]
struct Page<'r> {
    environment: &'r str,
    policy: &'r str,
    facts: Vec<(&'static str, String)>,
    tiles: Vec<(String, String, &'static str)>,
    lede: String,
    curves: Vec<(Value, String)>,
    made: &'r Provenance,
}

/// The page.
///
/// # Errors
/// If the template cannot be filled, which is a mistake of ours.
pub fn render(report: &Report) -> Result<String> {
    let templates = [("replicates.html", include_str!("../../templates/replicates.html"))];
    let drawn =
        |curve| (Value::from_safe_string(chart::draw(curve)), format!("{curve}.").replacen('w', "W", 1));
    let page = Page {
        environment: &report.env,
        policy: &report.policy,
        facts: report.facts(),
        tiles: report.tiles(),
        lede: report.lede(),
        curves: report.curves.iter().map(drawn).collect(),
        made: &report.made,
    };
    offnominal_report::page::render(&templates, page)
}

impl Report {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("Environment", self.env.clone()),
            ("Policy", self.policy.clone()),
            ("Method", self.method.clone()),
            ("Replicates", self.replicates.to_string()),
            ("Experiments of each", format!("{:.0}", self.experiments_each)),
            ("Cost of each, in plain episodes", format!("{:.0}", self.cost_each)),
        ]
    }

    fn tiles(&self) -> Vec<(String, String, &'static str)> {
        let tile = |e: &Estimate, digits: fn(f64) -> String, what| {
            (digits(e.value), format!("{} to {}", digits(e.low), digits(e.high)), what)
        };
        let mean = format!("standard error {}", probability(self.standard_error));
        vec![
            tile(&self.gain, |v| format!("{v:.2}"), "gain in variance times cost"),
            tile(&self.truth, probability, "failure probability by plain episodes"),
            (probability(self.mean), mean, "mean of the replicates"),
            tile(&self.covered, |v| format!("{v:.3}"), "intervals that hold the truth"),
        ]
    }

    fn lede(&self) -> String {
        let Spread { failed, half, share_of_estimate } = self.spread;
        let Estimate { low, high, .. } = self.gain;
        let verdict = match (low > 1.0, high < 1.0) {
            (true, _) => "The method saves episodes",
            (_, true) => "The method costs more than counting",
            _ => "The method cannot be told from counting",
        };
        format!(
            "{verdict}. {half} of {failed} experiments with a failure make up half of the sum of squares, and {:.0} % of \
             the estimate.",
            100.0 * share_of_estimate
        )
    }
}
