//! `risk fork`: how often a policy fails, by episodes whose copies go on with random numbers of their own where a learned
//! committor rises.
//!
//! A root is an episode from a draw; its total T is the weight of its copies that fail (see [`root`]). Roots do not depend
//! on one another and 0 ≤ T ≤ 1, so that the mean of totals has a valid interval by betting, at any number of roots, with
//! any committor. With a predictor of initial conditions, a root is tried with a chance a(x), and T / a takes its place.
//!
//! Assumes: random numbers that come after a copy was made, such as those of nominal noise; in a deterministic environment
//! copies are equal, and nothing is gained. Blind to: failures that no root saw; no valid upper end lies below
//! 1 − δ^(1/n) for n roots, however many copies they had.

pub mod root;
pub(crate) mod roots;

use crate::committor::Committor;
use crate::estimate::document::probability;
use crate::estimate::estimation::Estimation;
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::predictors::predictor;
use crate::record::Numbered;
use crate::request::{self, defaults, positive, within};
use anyhow::{Context as _, Result, ensure};
use offnominal_core::estimate::Estimate;
use offnominal_core::run::Branch;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_engine::scenario::{Scenario, ScenarioRequest};
use offnominal_files::dataset::PolicyName;
use offnominal_files::lock::Lock;
use offnominal_files::provenance::Provenance;
use offnominal_files::store::hex;
use offnominal_stats::Level as Confidence;
use offnominal_stats::risk::{Bounded, PLAIN_SHARE, Proposal, Thinning};
use roots::{BLOCK, JOURNAL, Roots};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::PathBuf;

/// Name of the result in a run's folder.
pub(crate) const FILE: &str = "fork.json";

/// Whose failures are counted, and where episodes are copied.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Id of the environment.
    pub env: String,
    /// The policy, as for [`estimate`](crate::estimate).
    pub policy: String,
    /// The committor that [`committor`](crate::committor) wrote; without one no episode is copied.
    pub committor: Option<PathBuf>,
    /// The predictor that [`learning`](crate::learning) wrote, by which roots are thinned.
    pub predictor: Option<PathBuf>,
    /// Number of roots, each an episode with its copies; a run in the output folder is continued to so many.
    #[serde(default = "episodes")]
    pub episodes: u64,
    /// How much the predictor is trusted; if absent, as learned.
    pub exponent: Option<f64>,
    /// Share of the roots that ignores the predictor, above 0, at most 1.
    #[serde(default = "plain_share")]
    pub plain_share: f64,
    /// Roots per draw with a predictor, above 0, at most 1; if absent, as few as the predictor can use.
    pub rate: Option<f64>,
    /// What is drawn for each episode, and by what one fails.
    #[serde(default)]
    pub scenario: ScenarioRequest,
    /// Confidence level of the interval, between 0 and 1.
    #[serde(default = "request::level")]
    pub level: f64,
    /// Largest acceptable failure probability (see [`Report::unacceptable`]).
    pub max_risk: Option<f64>,
    /// Folder for journal and result; if absent, nothing is written and the run cannot be continued.
    pub out: Option<PathBuf>,
    /// The command that the result names as its origin.
    pub command: Option<String>,
}

defaults! {
    episodes: u64 = 1000;
    plain_share: f64 = PLAIN_SHARE;
}

/// What was estimated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Which run it was.
    pub run: ForkSpec,
    /// The failure probability.
    pub risk: Estimate,
    /// Draws behind it.
    pub draws: u64,
    /// Roots that were tried.
    pub roots: u64,
    /// Roots of which a copy failed.
    pub failed_roots: u64,
    /// Copies that came to an end, the roots' own among them.
    pub ends: u64,
    /// Steps of everything.
    pub steps: u64,
    /// The same in plain episodes.
    pub episodes_worth: f64,
    /// Copies without an outcome, which count as failures.
    pub diverged: u64,
    /// What is doubtful.
    pub warnings: Vec<String>,
    /// What made it.
    pub made: Provenance,
}

/// What is estimated, and how; a journal belongs to one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForkSpec {
    /// The environment.
    pub env: String,
    /// What simulates an environment that Python hosts: versions, and digests of the user's modules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// The policy.
    pub policy: PolicyName,
    /// The seed.
    pub seed: u64,
    /// Digest of the committor, if there is one.
    pub committor: Option<String>,
    /// How roots are chosen.
    pub method: crate::estimate::block::Method,
    /// What is drawn for each episode, and by what one fails, where something is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
}

/// Plays the roots and judges them.
///
/// # Errors
/// If environment, policy, committor or predictor cannot be had, a setting is out of its range, the output folder holds
/// another run, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    request.check()?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let subject = request.scenario.subject(&request.env, &request.policy)?;
    let by = Experimenter::new(&subject, context.seed)?.allowing(context.allow_diverged);
    let committor = request.committor.as_deref().map(|path| Committor::open(path, &subject)).transpose()?;
    let guide = request.predictor.as_deref().map(|path| Guide::open(path, &subject)).transpose()?;
    let report = estimate(request, by, (committor.as_ref(), guide.as_ref()), context)?;
    request::write_json(request.out.as_deref(), FILE, &report)?;
    Ok(report)
}

/// Plays the roots of a subject and judges them.
pub(crate) fn estimate(
    request: &Request,
    by: Experimenter<'_>,
    (committor, guide): (Option<&Committor>, Option<&Guide>),
    context: &Context,
) -> Result<Report> {
    let level = Confidence::try_from(request.level)?;
    let estimation = request.estimation(by, guide, context)?;
    let forest = Forest::new(by, committor, guide, &estimation)?;
    forest.report(request, estimation.draws_for(request.episodes), level, context)
}

impl Request {
    fn check(&self) -> Result<()> {
        within("episodes", self.episodes, 1..=100_000_000)?;
        positive("exponent", self.exponent.unwrap_or(1.0), 4.0)?;
        positive("plain share", self.plain_share, 1.0)?;
        let is_sound = self.max_risk.is_none_or(|p| (0.0..=1.0).contains(&p));
        ensure!(is_sound, "max risk: expected a number from 0 to 1");
        Ok(())
    }

    /// How roots are chosen.
    fn estimation<'c>(
        &self,
        by: Experimenter<'c>,
        guide: Option<&'c Guide>,
        context: &Context,
    ) -> Result<Estimation<'c>> {
        let Some(guide) = guide else { return Ok(Estimation::plain(by)) };
        let exponent = self.exponent.unwrap_or(guide.exponent());
        let proposal = Proposal { plain_share: self.plain_share, exponent };
        Estimation::thinned(by, guide, proposal, (self.rate, None), context)
    }
}

/// The digest by which a run names its committor.
pub(crate) fn digest(committor: &Committor) -> String {
    hex(&Sha256::digest(committor.to_bytes()))
}

/// All roots of a run.
pub(crate) struct Forest<'r> {
    by: Experimenter<'r>,
    committor: Option<&'r Committor>,
    guide: Option<&'r Guide>,
    thinning: Option<Thinning>,
    spec: ForkSpec,
}

impl<'r> Forest<'r> {
    fn new(
        by: Experimenter<'r>,
        committor: Option<&'r Committor>,
        guide: Option<&'r Guide>,
        estimation: &Estimation<'_>,
    ) -> Result<Forest<'r>> {
        let subject = by.subject;
        let spec = ForkSpec {
            env: subject.env.spec().id.clone(),
            simulator: provenance::hosted(subject.env.spec()),
            policy: subject.name.clone(),
            seed: by.run,
            committor: committor.map(digest),
            method: estimation.spec.method.clone(),
            scenario: subject.scenario.clone(),
        };
        Forest::again(by, committor, guide, spec)
    }

    /// The roots of a run that was made before, with what it was made of.
    pub(crate) fn again(
        by: Experimenter<'r>,
        committor: Option<&'r Committor>,
        guide: Option<&'r Guide>,
        spec: ForkSpec,
    ) -> Result<Forest<'r>> {
        let thinning = spec.method.thinning()?;
        Ok(Forest { by, committor, guide, thinning, spec })
    }

    /// Plays the roots of so many draws, as far as the journal does not hold them, and judges them.
    fn report(self, request: &Request, draws: u64, level: Confidence, context: &Context) -> Result<Report> {
        let draws = draws.next_multiple_of(BLOCK);
        let folder = request.out.as_deref();
        let work = Numbered { folder, journal: JOURNAL, what: "blocks of roots", run: &self.spec };
        let found = work.all(draws / BLOCK, context, |number| self.block(number))?;
        self.by.at_most(found.iter().map(|f| f.diverged).sum())?;
        let config = serde_json::to_vec(&self.spec)?;
        let command = request.command.as_deref().unwrap_or_default();
        let subject = self.by.subject;
        let made = provenance::made(command, context.seed, &config, &[subject.env.spec()], &[&subject.name]);
        let risk = self.judge(&found, draws, level)?;
        let warnings = self.guide.and_then(Guide::warning).into_iter().collect();
        Ok(Report { warnings, ..Report::of(self.spec, risk, draws, &found, made) })
    }

    /// The roots of one block.
    ///
    /// # Errors
    /// If the environment cannot be copied while it plays, or too many copies have no outcome.
    pub(crate) fn block(&self, number: u64) -> Result<Roots> {
        let mut found = Roots::none(number);
        let mut committor = self.committor.map(Committor::reader);
        let mut predictor = self.guide.map(Guide::reader);
        for i in number * BLOCK..(number + 1) * BLOCK {
            let key = self.by.key("experiment", i);
            let x = self.by.draw(key);
            let chance = self.chance(&x, predictor.as_mut())?;
            if chance < 1.0 && key.child("thinning").rng().uniform() >= chance {
                continue;
            }
            let root = self.by.branch(key, &x).context("experiments need copies of the environment")?;
            let total = match (self.committor, &mut committor) {
                (Some(of), Some(reader)) => root::play(root, key.child("forks"), &of.about.levels, reader),
                _ => root::play(root, key, &[], &mut |_: &Branch| 0.0),
            };
            found.add(chance, &total?);
        }
        self.by.at_most(found.diverged)?;
        Ok(found)
    }

    fn chance(&self, x: &[f64], predictor: Option<&mut predictor::Reader<'_>>) -> Result<f64> {
        match (self.guide, predictor, &self.thinning) {
            (Some(guide), Some(reader), Some(rule)) => Ok(rule.chance(guide.predict(reader, x)?)),
            _ => Ok(1.0),
        }
    }

    /// The failure probability with its interval.
    ///
    /// # Errors
    /// If there is no draw.
    pub(crate) fn judge(&self, found: &[Roots], draws: u64, level: Confidence) -> Result<Estimate> {
        let mut terms = Bounded::new(1.0 / self.thinning.map_or(1.0, |rule| rule.floor()));
        let totals = found.iter().flat_map(|roots| &roots.totals);
        totals.for_each(|(chance, total)| terms.push(total / chance));
        terms.push_zeros(draws as usize - terms.len());
        Ok(terms.estimate(level)?)
    }
}

impl Report {
    fn of(run: ForkSpec, risk: Estimate, draws: u64, found: &[Roots], made: Provenance) -> Report {
        let sum = |of: fn(&Roots) -> u64| found.iter().map(of).sum::<u64>();
        let (roots, steps, plain_steps) = (sum(|f| f.roots), sum(|f| f.steps), sum(|f| f.plain_steps));
        Report {
            run,
            risk,
            draws,
            roots,
            failed_roots: sum(|f| f.totals.len() as u64),
            ends: sum(|f| f.ends),
            steps,
            episodes_worth: if plain_steps == 0 { 0.0 } else { (roots * steps) as f64 / plain_steps as f64 },
            diverged: sum(|f| f.diverged),
            warnings: vec![],
            made,
        }
    }

    /// Why the estimate is not acceptable: its whole interval must be at most `most`.
    pub fn unacceptable(&self, most: f64) -> Option<String> {
        let high = self.risk.high;
        // What is no number is not at most anything.
        let met = high <= most;
        (!met).then(|| format!("risk: expected at most {most}, found up to {}", probability(high)))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [value, low, high] = [self.risk.value, self.risk.low, self.risk.high].map(probability);
        let Report { run, roots, failed_roots, ends, episodes_worth, diverged, .. } = self;
        let (policy, env) = (&run.policy.id, &run.env);
        writeln!(
            f,
            "{policy} in {env}: {roots} roots with {ends} ends, which cost as much as {episodes_worth:.0} episodes"
        )?;
        writeln!(f, "  failure probability  {value} [{low}, {high}]  {}", self.risk.method)?;
        writeln!(f, "  copies of {failed_roots} roots failed")?;
        if *diverged > 0 {
            writeln!(f, "  {diverged} copies diverged and have no outcome; they count as failures")?;
        }
        self.warnings.iter().try_for_each(|warning| writeln!(f, "  warning: {warning}"))
    }
}
