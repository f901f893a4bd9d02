//! The report of an estimate: one self-contained page with the number, its doubts and the atlas of failures.

use super::answer::{Answer, probability};
use super::atlas::{FailureKind, Sign};
use super::block::Method;
use super::document::{Counting, Document, StoredFailure};
use super::requirement::Requirement;
use crate::experimenter::Experimenter;
use crate::replay::embedded_video;
use anyhow::Result;
use minijinja::Value;
use offnominal_core::estimate::Estimate;
use offnominal_files::provenance::Provenance;
use serde::Serialize;
use std::path::Path;

/// What the page is made of.
pub struct Content<'a> {
    /// Who plays failures again for their videos.
    pub by: Experimenter<'a>,
    /// What `risk.json` holds.
    pub document: &'a Document,
    /// The run's folder as the reader will name it.
    pub folder: &'a Path,
}

/// What the template sees.
#[derive(Serialize)]
struct Page {
    environment: String,
    policy: String,
    facts: Vec<(&'static str, String)>,
    tiles: Vec<(String, String, &'static str)>,
    lede: String,
    warnings: Vec<String>,
    answers: Vec<(String, String, String, String)>,
    /// What the intervals of requirements promise, where several are told apart.
    promise: String,
    requirements: Vec<(String, String, String, String)>,
    diagnostics: Vec<(&'static str, String)>,
    kinds: Vec<Shown>,
    made: Provenance,
}

/// A kind of failure as the page shows it.
#[derive(Serialize)]
struct Shown {
    share: String,
    mass: String,
    failures: usize,
    signs: Vec<String>,
    video: Option<Value>,
    replay: String,
    initial: String,
}

/// The page.
///
/// # Errors
/// If a video cannot be made, or the template cannot be filled, which is a mistake of ours.
pub fn render(content: &Content<'_>) -> Result<String> {
    let templates = [("risk.html", include_str!("../../templates/risk.html"))];
    offnominal_report::page::render(&templates, content.page()?)
}

impl Content<'_> {
    fn page(&self) -> Result<Page> {
        let run = &self.document.run;
        let kinds: Result<Vec<Shown>> = self.document.kinds.iter().map(|k| self.shown(k)).collect();
        Ok(Page {
            environment: run.env.clone(),
            policy: run.policy.label(),
            facts: self.facts(),
            tiles: self.tiles(),
            lede: self.lede(),
            warnings: self.document.warnings.clone(),
            answers: self.document.answers().map(row).collect(),
            promise: self.document.requirements.as_ref().map_or(String::new(), |all| all.promise.clone()),
            requirements: self.requirements(),
            diagnostics: self.diagnostics(),
            kinds: kinds?,
            made: self.document.made.clone(),
        })
    }

    fn method(&self) -> &'static str {
        match &self.document.run.method {
            Method::Plain => "plain",
            Method::Thinned { .. } => "thinned",
            Method::Adaptive { .. } => "adaptive",
            Method::Importance { .. } => "importance",
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let run = &self.document.run;
        let mut facts = vec![("Environment", run.env.clone()), ("Policy", run.policy.label())];
        facts.extend(self.document.made.rules.values().map(|rule| ("Failure", rule.clone())));
        facts.extend(run.scenario.as_ref().map(|scenario| ("Scenario", scenario.to_string())));
        facts.extend(run.anomaly_spec.as_ref().map(|_| ("Anomaly", self.document.anomaly())));
        facts.extend([
            ("Method", self.method().to_string()),
            ("Draws", self.document.draws.to_string()),
            ("Experiments", self.document.experiments.to_string()),
        ]);
        facts
    }

    fn tiles(&self) -> Vec<(String, String, &'static str)> {
        let mut tiles = Vec::new();
        if let Some(risk) = &self.document.risk.risk {
            let interval = format!("{} to {}", probability(risk.low), probability(risk.high));
            tiles.push((probability(risk.value), interval, "failure probability"));
        }
        let (failures, experiments) = (self.document.failures.len(), self.document.experiments);
        tiles.push((failures.to_string(), format!("in {experiments} experiments"), "failures seen"));
        if let Some(Counting { factor, episodes }) = self.document.counting {
            let needed = format!("within a factor of {factor} in 95 % of runs");
            tiles.push((episodes.to_string(), needed, "episodes that plain counting needs"));
        }
        tiles
    }

    fn lede(&self) -> String {
        match (&self.document.risk.risk, &self.document.risk.refused) {
            (Some(risk), _) if self.document.failures.is_empty() => format!(
                "No failure was seen: the failure probability is below {} with {:.0} % confidence.",
                probability(risk.high),
                100.0 * risk.level
            ),
            (Some(risk), _) => format!(
                "Of a million episodes about {:.0} fail; with {:.0} % confidence between {:.0} and {:.0}.",
                1e6 * risk.value,
                100.0 * risk.level,
                1e6 * risk.low,
                1e6 * risk.high
            ),
            (None, Some(why)) => format!("There is no number: {why}."),
            (None, None) => String::new(),
        }
    }

    fn diagnostics(&self) -> Vec<(&'static str, String)> {
        let Some(found) = &self.document.diagnostics else { return vec![] };
        let optional = |v: Option<f64>| v.map_or("–".to_string(), |v| format!("{v:.2}"));
        vec![
            ("Failures", found.failures.to_string()),
            ("Failures of equal weight that would say as much", format!("{:.1}", found.effective_failures)),
            ("Largest share of one failure", format!("{:.1} %", 100.0 * found.largest_share)),
            ("Largest share of one weight", format!("{:.2} %", 100.0 * found.largest_weight)),
            ("Mean weight, expected 1", format!("{:.3}", found.mean_weight)),
            ("Pareto shape of the failing weights, at most 0.7", optional(found.pareto_shape)),
            ("Difference of both halves in standard errors", optional(found.drift)),
        ]
    }

    /// Each requirement with the interval for it alone, and the one for all at once.
    fn requirements(&self) -> Vec<(String, String, String, String)> {
        let each = self.document.requirements.iter().flat_map(|all| &all.each);
        let interval = |e: &Estimate| format!("{} to {}", probability(e.low), probability(e.high));
        let one = |found: &Requirement| {
            let (name, value, alone, _) = row(&found.alone);
            (name, value, alone, found.together.as_ref().map_or("refused".into(), interval))
        };
        each.map(one).collect()
    }

    fn shown(&self, kind: &FailureKind) -> Result<Shown> {
        let total: f64 = self.document.kinds.iter().map(|k| k.mass).sum();
        let sign =
            |s: &Sign| format!("{} {:.3} {} (all failures {:.3})", s.channel, s.here, s.unit, s.overall);
        let failure = &self.document.failures[kind.example];
        Ok(Shown {
            share: format!("{:.1} %", 100.0 * kind.mass / total),
            mass: probability(kind.mass),
            failures: kind.failures,
            signs: kind.signs.iter().map(sign).collect(),
            video: self.video(failure)?,
            replay: format!("offnominal render {} --number {}", self.folder.display(), kind.example),
            initial: self.initial(&failure.x),
        })
    }

    /// The episode, if the environment has a camera.
    fn video(&self, failure: &StoredFailure) -> Result<Option<Value>> {
        let subject = self.by.subject;
        embedded_video(subject, subject.env.as_ref(), failure.key, &failure.x)
    }

    fn initial(&self, x: &[f64]) -> String {
        let names = &self.by.subject.env.spec().initial;
        names.iter().zip(x).map(|(name, v)| format!("{name} {v:.4}")).collect::<Vec<_>>().join(", ")
    }
}

/// Name, value, interval and method of an answer; of one that was refused the reason.
fn row(answer: &Answer) -> (String, String, String, String) {
    match (&answer.risk, &answer.refused) {
        (Some(e), _) => {
            let interval = format!("{} to {}", probability(e.low), probability(e.high));
            (answer.name.clone(), probability(e.value), interval, e.method.clone())
        }
        (None, why) => {
            let why = why.clone().unwrap_or_default();
            (answer.name.clone(), "–".into(), "refused".into(), why)
        }
    }
}
