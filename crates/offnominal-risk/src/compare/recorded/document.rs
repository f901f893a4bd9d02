//! What recorded outcomes show, as JSON and as text.

use super::matching::By;
use crate::compare::quantity::Condition;
use crate::compare::verdict::{Requirement, Verdict};
use offnominal_core::estimate::Estimate;
use offnominal_files::provenance::Provenance;
use offnominal_stats::paired::needed::MOST;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// How a comparison of recorded outcomes ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recorded {
    /// What made it.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub made: Provenance,
    /// The policies and where their outcomes come from; the first is OLD.
    pub policies: Vec<Source>,
    /// `success`, or `score` where there is partial credit.
    pub metric: String,
    /// How much worse a new policy may be.
    pub margin: Option<f64>,
    /// What had to be shown.
    pub require: Option<Requirement>,
    /// The confidence level: of all that decides together, and of all tasks together.
    pub level: f64,
    /// Of what decides: worse if anything is, better or no worse if everything is.
    pub verdict: Verdict,
    /// What decides: each new policy against OLD; with benign arms, what each perturbation costs.
    pub decides: Vec<Row>,
    /// Each task, and with benign arms each condition for itself; with an error of their own.
    pub details: Vec<Row>,
    /// What was assumed or left out.
    pub remarks: Vec<String>,
    /// The page, if one was written.
    #[serde(skip)]
    pub page: Option<PathBuf>,
}

/// A policy and where its outcomes come from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// Its name.
    pub policy: String,
    /// The file, or the counts.
    pub from: String,
    /// Its format, in words.
    pub format: String,
    /// Trials in it.
    pub trials: u64,
}

/// One comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The new policy.
    pub policy: String,
    /// Outcomes without a perturbation, with it, or what it costs.
    pub condition: Condition,
    /// What was perturbed.
    pub perturbation: Option<String>,
    /// One task; all if there is none.
    pub task: Option<String>,
    /// Pairs of trials.
    pub pairs: u64,
    /// By what they were matched.
    pub matched: By,
    /// The mean of OLD.
    pub old: Estimate,
    /// The mean of the new policy.
    pub new: Estimate,
    /// The new one minus the old one; the intervals of comparisons with one error hold together.
    pub difference: Estimate,
    /// Evidence against no difference, adjusted for all comparisons with one error; 2 / (1 − level) decides.
    pub e_value: f64,
    /// What was shown.
    pub verdict: Verdict,
    /// Trials of each policy that were planned, where a plan decides.
    pub planned: Option<u64>,
    /// The trial after which the plan decided.
    pub decided_after: Option<u64>,
    /// Pairs that would decide with probability 0.8 if the difference is real; none where it is decided or zero.
    pub needed: Option<u64>,
}

impl Recorded {
    /// Why a new policy is not acceptable, if one is not.
    pub fn unacceptable(&self) -> Option<String> {
        let fails = |row: &&Row| match self.require {
            _ if row.verdict == Verdict::Worse => true,
            Some(require) => !require.is_met(row.verdict),
            None => false,
        };
        let row = self.decides.iter().find(fails)?;
        Some(format!("{}: {}", row.name(), row.sentence(&self.metric)))
    }

    /// When the intervals hold: counts have no order in which somebody may have looked.
    pub fn when(&self) -> &'static str {
        let is_counted = self.decides.iter().any(|row| row.matched == By::Counts);
        if is_counted {
            ", for numbers of trials that were fixed beforehand"
        } else {
            ", at every number of pairs"
        }
    }

    /// The decision in one sentence for each comparison that decides.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let one = self.decides.len() == 1;
        let name = move |row: &Row| if one { String::new() } else { format!("{}: ", row.name()) };
        self.decides.iter().map(move |row| name(row) + &row.sentence(&self.metric))
    }
}

impl Row {
    /// Of what it is.
    pub fn name(&self) -> String {
        let perturbation = self.perturbation.as_ref().map(|p| match self.condition {
            Condition::Cost => format!(", cost of {p}"),
            _ => format!(", under {p}"),
        });
        let task = self.task.as_ref().map(|task| format!(", task {task}"));
        format!("{}{}{}", self.policy, perturbation.unwrap_or_default(), task.unwrap_or_default())
    }

    /// What was shown, in a sentence.
    pub fn sentence(&self, metric: &str) -> String {
        let by = if self.condition == Condition::Cost {
            format!("what it costs in {metric}")
        } else {
            metric.into()
        };
        let after = match self.decided_after {
            Some(n) => format!("shown after {n} of {} planned trials", self.planned.unwrap_or(n)),
            None => format!("{} pairs", self.pairs),
        };
        match self.verdict {
            Verdict::Better => format!("NEW is better by {by}, {after}"),
            Verdict::Worse => format!("NEW is worse by {by}, {after}"),
            Verdict::NoWorse => format!("NEW is no worse than the margin by {by}, {after}"),
            Verdict::Undecided => undecided(self.pairs, self.needed, &self.difference),
        }
    }
}

/// What is said where nothing is decided.
pub fn undecided(pairs: u64, needed: Option<u64>, difference: &Estimate) -> String {
    let would = match needed {
        Some(n) => format!("; about {n} would if the difference is real"),
        None if difference.value == 0.0 => ", and no difference was seen".into(),
        None if difference.method.starts_with("betting") => {
            format!("; if the difference is real, more than {MOST} would be needed")
        }
        None => String::new(),
    };
    format!("no decision yet: {pairs} pairs do not separate them{would}")
}

impl Display for Recorded {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (i, source) in self.policies.iter().enumerate() {
            let label = if i == 0 { "OLD" } else { "NEW" };
            writeln!(out, "{label} {}: {} trials, {}", source.policy, source.trials, source.format)?;
        }
        let level = 100.0 * self.level;
        writeln!(out, "{level} % intervals that hold together{}", self.when())?;
        for row in self.decides.iter().chain(&self.details) {
            writeln!(
                out,
                "  {} ({} pairs, matched by {})",
                row.name(),
                row.pairs,
                <&str>::from(row.matched)
            )?;
            writeln!(
                out,
                "    OLD        {}\n    NEW        {}\n    NEW − OLD  {}",
                row.old, row.new, row.difference
            )?;
        }
        for row in &self.details {
            writeln!(out, "  {}: {}", row.name(), row.sentence(&self.metric))?;
        }
        self.remarks.iter().try_for_each(|remark| writeln!(out, "remark: {remark}"))?;
        self.page.iter().try_for_each(|page| writeln!(out, "page: {}", page.display()))?;
        self.sentences().try_for_each(|sentence| writeln!(out, "{sentence}"))
    }
}
