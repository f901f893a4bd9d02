//! What searches for disturbances found, as a self-contained page.

use super::chart;
use super::report::{Failure, Report, StrategyRow};
use crate::experimenter::Experimenter;
use crate::replay::embedded_video;
use anyhow::Result;
use minijinja::Value;
use offnominal_core::estimate::Estimate;
use offnominal_files::provenance::Provenance;
use serde::Serialize;
use std::path::Path;

/// Failures that are shown, the likeliest of each strategy.
const MOST_SHOWN: usize = 3;

/// What the template sees.
#[derive(Serialize)]
struct Page<'r> {
    environment: &'r str,
    policy: String,
    facts: Vec<(&'static str, String)>,
    tiles: Vec<(String, String, &'static str)>,
    lede: String,
    warnings: &'r [String],
    rows: Vec<[String; 5]>,
    failures: Vec<Shown>,
    made: &'r Provenance,
}

/// A failure as the page shows it.
#[derive(Serialize)]
struct Shown {
    title: String,
    says: String,
    chart: Value,
    video: Option<Value>,
    initial: String,
    start: String,
    replay: String,
}

/// The page; `folder` is that of the run as the reader will name it.
///
/// # Errors
/// If a video cannot be made, or the template cannot be filled, which is a mistake of ours.
pub fn render(report: &Report, by: Experimenter<'_>, folder: &Path) -> Result<String> {
    let templates = [("stress.html", include_str!("../../templates/stress.html"))];
    let shown: Result<Vec<Shown>> = report.shown().map(|i| report.show(i, by, folder)).collect();
    let page = Page {
        environment: &report.played.env,
        policy: report.played.policy.label(),
        facts: report.facts(),
        tiles: report.tiles(),
        lede: report.lede(),
        warnings: &report.warnings,
        rows: report.strategies.iter().map(cells).collect(),
        failures: shown?,
        made: &report.made,
    };
    offnominal_report::page::render(&templates, page)
}

/// The cells of a strategy's row.
fn cells(row: &StrategyRow) -> [String; 5] {
    let short = |e: &Estimate, digits: usize| {
        format!("{:.digits$} ({:.digits$} to {:.digits$})", e.value, e.low, e.high)
    };
    let none = || "–".to_string();
    let cost = row.cost.as_ref().map(|cost| &cost.policies[0]);
    let times = cost.and_then(|cost| cost.times_fewer.as_ref());
    [
        row.strategy.name().into(),
        row.found.as_ref().map_or_else(none, |e| short(e, 2)),
        cost.map_or_else(none, |cost| short(&cost.restricted_cost, 0)),
        times.map_or_else(none, |e| short(e, 1)),
        row.distance.map_or_else(none, |[least, median, _]| format!("{least:.2}, median {median:.2}")),
    ]
}

impl Report {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts =
            vec![("Environment", self.played.env.clone()), ("Policy", self.played.policy.label())];
        facts.extend(self.played.noise.clone().map(|noise| ("Noise", noise)));
        facts.extend(self.scenario_in_words.clone().map(|scenario| ("Scenario", scenario)));
        let numbers =
            format!("{} at the start, {} in each step", self.start_numbers.len(), self.step_numbers.len());
        facts.extend([
            ("Numbers of the noise", numbers),
            ("Searches of each strategy", self.searches.to_string()),
            ("Experiments of a search, at most", self.budget.to_string()),
        ]);
        facts
    }

    fn tiles(&self) -> Vec<(String, String, &'static str)> {
        let of = format!("of {} searches", self.searches as usize * self.strategies.len());
        let mut tiles = vec![(self.failures.len().to_string(), of, "found a failure")];
        if let Some(likeliest) = self.failures.first() {
            let own = &likeliest.likelihood;
            let log = format!("log-likelihood {:.1}", own.log_likelihood);
            tiles.push((format!("{:.2}", own.distance), log, "standard deviations to the likeliest failure"));
            let largest = format!("at most {:.1}", own.largest);
            tiles.push((format!("{:.2}", own.rms), largest, "standard deviations in each of its numbers"));
        }
        tiles.push((
            self.fail_undisturbed.len().to_string(),
            format!("of {}", self.searches),
            "initial conditions fail undisturbed",
        ));
        tiles
    }

    fn lede(&self) -> String {
        let Some(failure) = self.failures.first() else {
            return "No disturbance was found under which the policy fails.".into();
        };
        let (own, secs) = (&failure.likelihood, self.secs(failure));
        let against = if own.rms < 1.0 { "less" } else { "more" };
        format!(
            "The likeliest failure that was found disturbs {} of {} steps, by {:.2} standard deviations of the noise in the root \
             mean square: {against} than the noise does by itself, which is 1. It fails after {secs:.2} s.",
            own.disturbed_steps, failure.steps, own.rms
        )
    }

    /// The failures that are shown.
    fn shown(&self) -> impl Iterator<Item = usize> {
        let rank = |i: usize| {
            let same = |f: &&Failure| f.strategy == self.failures[i].strategy;
            self.failures[..i].iter().filter(same).count()
        };
        (0..self.failures.len()).filter(move |i| rank(*i) < MOST_SHOWN)
    }

    fn show(&self, number: usize, by: Experimenter<'_>, folder: &Path) -> Result<Shown> {
        let failure = &self.failures[number];
        let names = &by.subject.env.spec().initial;
        // One video, that of the likeliest failure.
        let video = if number == 0 { self.video(failure, by)? } else { None };
        Ok(Shown {
            title: format!("Failure {number}, found by {} in search {}", failure.found_by(), failure.search),
            says: format!(
                "Found after {} experiments at {:.1} standard deviations, and made likelier in {} more: {}",
                failure.experiments,
                failure.first.distance,
                failure.refinement,
                self.describe(failure)
            ),
            chart: Value::from_safe_string(chart::draw(self, failure)),
            video,
            initial: named(names, &failure.initial, 4),
            start: named(&self.start_numbers, &failure.start, 3),
            replay: format!("offnominal render {} --number {number}", folder.display()),
        })
    }

    fn video(&self, failure: &Failure, by: Experimenter<'_>) -> Result<Option<Value>> {
        let Some(mut env) = by.subject.env.fork() else { return Ok(None) };
        env.choose_noise(&failure.series().into());
        embedded_video(by.subject, env.as_ref(), failure.key, &failure.initial)
    }
}

fn named(names: &[String], values: &[f64], digits: usize) -> String {
    names.iter().zip(values).map(|(name, v)| format!("{name} {v:.digits$}")).collect::<Vec<_>>().join(", ")
}
