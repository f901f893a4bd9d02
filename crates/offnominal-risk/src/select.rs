//! `risk select`: which of several policies fails least.
//!
//! | file         | content                                                        |
//! |--------------|----------------------------------------------------------------|
//! | [`elimination`] | rounds on the same draws, in which those leave that are worse  |
//! | [`heats`]    | the rounds that were run                                       |
//! | [`episodes`] | the episodes of a selection as a history                            |

pub mod elimination;
pub mod episodes;
pub mod heats;
#[cfg(test)]
mod tests;

use crate::estimate::answer::probability;
use crate::estimate::block::Method;
use crate::estimate::estimation::{Estimation, Proposal};
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::history::step_of;
use crate::request::LEVEL;
use crate::request::{self, positive, within};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use elimination::{Contender, Finish, Rules};
use heats::SelectionSpec;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_engine::request::EnvId;
use offnominal_engine::scenario::ScenarioRequest;
use offnominal_engine::subject::Subject;
use offnominal_files::lock::Lock;
use offnominal_files::write;
use offnominal_stats::Level;
use offnominal_stats::risk::selection::Standing;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// Which policies are compared, and how.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// Policy, or folder of policies (`train --checkpoints`); repeatable
    #[arg(long = "policy", required = true)]
    pub policies: Vec<String>,
    /// Predictor of `risk learn` [default: plain sampling]
    #[arg(long, value_name = "FILE")]
    pub predictor: Option<PathBuf>,
    /// Most experiments per policy
    #[arg(long, default_value_t = 5000)]
    pub budget: u64,
    /// Experiments per policy and round, about
    #[arg(long, default_value_t = 100)]
    pub round: u64,
    /// Exponent of the predictor in the sampling density [default: as learned]
    #[arg(long, value_name = "A")]
    pub exponent: Option<f64>,
    /// Experiments per draw, with a predictor
    #[arg(long, value_name = "R", default_value_t = 0.05, allow_negative_numbers = true)]
    pub rate: f64,
    /// Probability of never eliminating the best policy
    #[arg(long, default_value_t = LEVEL, allow_negative_numbers = true)]
    pub level: f64,
    /// Also write the episodes as a history for `risk learn`
    #[arg(long, conflicts_with = "predictor")]
    pub history: bool,
    /// Output folder; an interrupted run continues there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What is drawn for each episode, and by what one fails.
    #[command(flatten)]
    pub scenario: ScenarioRequest,
}

/// How a selection ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Id of the environment.
    pub env: String,
    /// What simulates it, if Python hosts it, and by what its episodes fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// Which draws were tried: `plain`, all; `thinned`, those that the predictor chose.
    pub method: &'static str,
    /// The policy that fails least, if only one is left.
    pub best: Option<String>,
    /// Where each policy ended.
    pub policies: Vec<Contender>,
    /// What one would have chosen after each round.
    pub choices: Vec<RoundChoice>,
    /// What is doubtful.
    pub warnings: Vec<String>,
}

/// What one would have chosen after a round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundChoice {
    /// Experiments that were made by then, with all policies.
    pub experiments: u64,
    /// The policies with the lowest estimate; one of them by lot.
    pub lowest: Vec<String>,
}

/// Runs the selection.
///
/// # Errors
/// If a policy or the predictor cannot be had, a setting is out of its range, the output folder holds another selection, or a
/// file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    let subjects = request.subjects()?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let guides = request.guides(&subjects)?;
    let spec = request.spec(&subjects, &guides, context)?;
    let level = Level::try_from(request.level)?;
    let rules = Rules { spec, guides: &guides, budget: request.budget, level };
    let out = request.out.as_deref();
    let finish = elimination::eliminate(&subjects, &rules, out, context)?;
    if request.history {
        let folder = out.context("history: expected an output folder, found none")?;
        let history = episodes::history(&subjects, &rules.spec, folder)?;
        write::atomically(&folder.join("history.safetensors"), &history.to_bytes())?;
    }
    let report = request.report(&subjects, finish);
    // The policies share one predictor.
    let report = Report { warnings: guides.first().and_then(Guide::warning).into_iter().collect(), ..report };
    request::write_json(out, "select.json", &report)?;
    Ok(report)
}

impl Request {
    /// All policies, in the order of the request.
    fn subjects(&self) -> Result<Vec<Subject>> {
        within("budget", self.budget, 1..=u64::MAX)?;
        within("round", self.round, 1..=1_000_000)?;
        positive("rate", self.rate, 1.0)?;
        ensure!(
            !self.history || self.predictor.is_none(),
            "history: expected no predictor with it, found one"
        );
        ensure!(!self.history || self.out.is_some(), "history: expected an output folder, found none");
        let subjects = request::subjects(&self.scenario, &self.env, &self.policies)?;
        ensure!(subjects.len() > 1, "expected at least 2 policies, found {}", subjects.len());
        if self.history {
            // Said before the selection rather than after it.
            subjects.iter().try_for_each(|subject| step_of(subject).map(drop))?;
        }
        Ok(subjects)
    }

    /// The predictor, opened for each policy.
    fn guides(&self, subjects: &[Subject]) -> Result<Vec<Guide>> {
        let Some(path) = &self.predictor else { return Ok(vec![]) };
        subjects.iter().map(|subject| Guide::open(path, subject)).collect()
    }

    fn spec(&self, subjects: &[Subject], guides: &[Guide], context: &Context) -> Result<SelectionSpec> {
        let rate = if guides.is_empty() { 1.0 } else { self.rate };
        let method = |(i, subject): (usize, &Subject)| match guides.get(i) {
            Some(guide) => self.thinned(guide, subject, context),
            None => Ok(Method::Plain),
        };
        Ok(SelectionSpec {
            env: self.env.to_string(),
            simulator: provenance::hosted(subjects[0].env.spec()),
            policies: subjects.iter().map(|subject| subject.name.clone()).collect(),
            seed: context.seed,
            methods: subjects.iter().enumerate().map(method).collect::<Result<_>>()?,
            round: (self.round as f64 / rate).ceil() as u64,
            scenario: subjects[0].scenario.clone(),
        })
    }

    fn thinned(&self, guide: &Guide, subject: &Subject, context: &Context) -> Result<Method> {
        let exponent = self.exponent.unwrap_or(guide.exponent());
        ensure!(exponent > 0.0, "exponent: expected a number above 0, found {exponent}");
        let proposal = Proposal { exponent, ..Proposal::default() };
        let by = Experimenter::new(subject, context.seed)?;
        Ok(Estimation::thinned(by, guide, proposal, (Some(self.rate), None), context)?.spec.method)
    }

    fn report(&self, subjects: &[Subject], finish: Finish) -> Report {
        let name = |i: usize| subjects[i].name.id.clone();
        let choices = finish.choices.iter().map(|choice| RoundChoice {
            experiments: choice.experiments,
            lowest: choice.policies.iter().map(|&i| name(i)).collect(),
        });
        let best = match finish.standing {
            Standing::Resolved { best } => Some(name(best)),
            Standing::Unresolved { .. } => None,
        };
        let method = if self.predictor.is_some() { "thinned" } else { "plain" };
        let choices = choices.collect();
        let (env, simulator) = (self.env.to_string(), provenance::hosted(subjects[0].env.spec()));
        Report { env, simulator, method, best, policies: finish.contenders, choices, warnings: vec![] }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.simulator.iter().try_for_each(|simulator| writeln!(f, "{simulator}"))?;
        for Contender { policy, risk, experiments, may_be_best, diverged, .. } in &self.policies {
            if *diverged > 0 {
                writeln!(
                    f,
                    "  {policy}: {diverged} experiments diverged and have no outcome; they count as failures"
                )?;
            }
            let mark = if *may_be_best { "may be best" } else { "" };
            let risk = risk.as_ref().map_or("–".into(), |e| {
                format!("{} [{}, {}]", probability(e.value), probability(e.low), probability(e.high))
            });
            writeln!(f, "  {policy:<44} {risk:<32} {experiments:>7} experiments  {mark}")?;
        }
        match &self.best {
            Some(best) => writeln!(f, "fails least: {best}")?,
            None => {
                let (left, n) = (self.policies.iter().filter(|p| p.may_be_best).count(), self.policies.len());
                writeln!(f, "unresolved: {left} of {n} policies may be the best")?;
            }
        }
        self.warnings.iter().try_for_each(|warning| writeln!(f, "warning: {warning}"))
    }
}
