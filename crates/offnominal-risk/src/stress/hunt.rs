//! Many searches for disturbances beside one another, each with randomness of its own.

use super::refine::Refinement;
use super::series::{Likelihood, Shape, square};
use crate::experimenter::{Experiment, Experimenter};
use crate::record::{Numbered, Piece};
use crate::search::hunt::CROSS_ENTROPY;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::scenario::Scenario;
use offnominal_files::dataset::PolicyName;
use offnominal_stats::risk::sampler::climb::Climb;
use offnominal_stats::risk::sampler::cross_entropy::CrossEntropy;
use offnominal_stats::risk::sampler::{Outcome, Plain, Sampler};
use offnominal_stats::risk::search::Search;
use serde::{Deserialize, Serialize};
use std::path::Path;
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// How disturbances are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr, EnumMessage)]
#[strum(serialize_all = "kebab-case")]
pub enum Strategy {
    /// Plain sampling of the noise
    Random,
    /// Resample a window of the disturbances nearest to failure
    Climb,
    /// Constant disturbances per part, from a normal distribution
    CrossEntropy,
}

/// What is searched, and how; a journal belongs to one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StressSpec {
    /// The environment.
    pub env: String,
    /// What simulates an environment that Python hosts: versions, and digests of the user's modules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// Its noise, where the id does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<String>,
    /// The policy.
    pub policy: PolicyName,
    /// The seed.
    pub seed: u64,
    /// How to search.
    pub strategy: Strategy,
    /// Experiments after which a search gives up.
    pub budget: usize,
    /// Episodes for making a failure likelier.
    pub refine: usize,
    /// Parts of an episode in each of which a disturbance is held.
    pub parts: usize,
    /// The search from whose initial condition all begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// What is drawn for each episode, and by what one fails, where something is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
}

/// One search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StressRun {
    /// The key of the randomness of environment and policy.
    pub key: Seed,
    /// The initial condition.
    pub x: Vec<f64>,
    /// Whether the episode fails, or has no outcome, without any disturbance: then nothing was searched.
    pub fails_undisturbed: bool,
    /// Experiments that were made.
    pub experiments: usize,
    /// What failed, if anything did.
    pub failure: Option<Disturbed>,
    /// Steps of all episodes.
    pub steps: u64,
    /// Episodes without an outcome: they are no failures.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub diverged: u64,
}

/// A failure under disturbances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disturbed {
    /// How likely it was when it was found.
    pub first: Likelihood,
    /// The likeliest disturbances that were found from there.
    pub z: Vec<f64>,
    /// Steps until it failed under them.
    pub steps: usize,
    /// Episodes that were played to make it likelier.
    pub refinement: usize,
}

impl StressRun {
    /// The search as its cost sees it.
    pub fn search(&self) -> Search {
        Search { experiments: self.experiments, has_failed: self.failure.is_some() }
    }
}

/// Searches that are ready.
pub struct Hunt<'c> {
    by: Experimenter<'c>,
    spec: &'c StressSpec,
    shape: Shape,
    horizon: usize,
}

/// Experiments up to the first failure, if there was one, with its series and its steps.
struct Searched {
    experiments: usize,
    failed: Option<(Vec<f64>, usize)>,
}

/// Where an episode begins, with its randomness, and an environment whose noise can be chosen.
struct Case<'c> {
    by: Experimenter<'c>,
    env: Box<dyn Env>,
    key: Seed,
    x: Vec<f64>,
    steps: u64,
    diverged: u64,
}

impl<'c> Hunt<'c> {
    /// Searches as the specification says.
    ///
    /// # Errors
    /// If the strategy needs a margin and there is none, or an episode has too many numbers.
    pub fn new(by: Experimenter<'c>, spec: &'c StressSpec) -> Result<Hunt<'c>> {
        let env = by.subject.env.as_ref();
        let shape = Shape::of(env.noise_numbers().context("noise: expected some, found none")?);
        let (name, horizon) = (spec.strategy.name(), env.spec().horizon as usize);
        ensure!(
            spec.strategy == Strategy::Random || env.failure_search().margin().is_some(),
            "strategy {name}: expected an environment with a margin, and {} has none; --stl FORMULA gives it one",
            env.spec().id
        );
        let numbers = shape.step.saturating_mul(horizon.max(spec.parts));
        let most = offnominal_core::limits::DISTURBANCES;
        ensure!(numbers <= most, "noise of an episode: expected at most {most} numbers, found {numbers}");
        Ok(Hunt { by, spec, shape, horizon })
    }

    /// Makes the searches that the journal in the folder, if there is one, does not hold yet, and returns all.
    ///
    /// # Errors
    /// If the folder holds other searches, an episode has no outcome, or a file cannot be written.
    pub fn run(&self, folder: Option<&Path>, searches: u64, context: &Context) -> Result<Vec<StressRun>> {
        let work = Numbered { folder, journal: JOURNAL, what: self.spec.strategy.name(), run: self.spec };
        let found = work.all(searches, context, |number| Ok((number, self.one(number)?)))?;
        self.by.at_most(found.iter().map(|f| f.1.diverged).sum())?;
        Ok(found.into_iter().map(|f| f.1).collect())
    }

    /// One search from its beginning to its end.
    fn one(&self, number: u64) -> Result<StressRun> {
        let mut case = Case::new(self.by, self.by.key("stress", self.spec.start.unwrap_or(number)))?;
        let own = self.by.key("disturbances", number).child(self.spec.strategy.name());
        let undisturbed = case.play(vec![])?;
        let (mut experiments, mut failure) = (0, None);
        let fails_undisturbed = undisturbed.failed || undisturbed.divergence.is_some();
        if !fails_undisturbed {
            let mut rng = own.child("proposal").rng();
            let found = self.search(&mut case, undisturbed.steps, &mut rng)?;
            experiments = found.experiments;
            failure = found
                .failed
                .map(|(z, steps)| self.refined(&mut case, z, (steps, undisturbed.steps), own))
                .transpose()?;
        }
        let Case { key, x, steps, diverged, .. } = case;
        Ok(StressRun { key, x, fails_undisturbed, experiments, failure, steps, diverged })
    }

    /// Experiments up to a failure, with its series and its steps.
    fn search(&self, case: &mut Case<'_>, undisturbed: usize, rng: &mut Rng) -> Result<Searched> {
        let n = self.proposed(undisturbed);
        let mut sampler = self.sampler(n);
        for experiment in 1..=self.spec.budget {
            let x = sampler.propose(&mut |rng| (0..n).map(|_| rng.normal()).collect(), rng);
            let z = self.series(&x, undisturbed);
            let came = case.play(z.clone())?;
            if came.failed {
                return Ok(Searched { experiments: experiment, failed: Some((z, came.steps)) });
            }
            sampler.learn(&x, Outcome { failed: false, margin: came.margin, nearest: Some(came.nearest) });
        }
        Ok(Searched { experiments: self.spec.budget, failed: None })
    }

    /// How many numbers a strategy proposes: `random` disturbs as the noise does, to the horizon; the others only steps that
    /// the undisturbed episode has.
    fn proposed(&self, undisturbed: usize) -> usize {
        self.shape.len(match self.spec.strategy {
            Strategy::Random => self.horizon,
            Strategy::Climb => undisturbed,
            Strategy::CrossEntropy => self.spec.parts,
        })
    }

    fn sampler(&self, n: usize) -> Box<dyn Sampler> {
        match self.spec.strategy {
            Strategy::Random => Box::new(Plain),
            Strategy::Climb => Box::new(Climb::new(self.shape.step.max(1), &|_| 0.0)),
            Strategy::CrossEntropy => {
                Box::new(CrossEntropy::new(&vec![HELD; n], CROSS_ENTROPY.0, CROSS_ENTROPY.1, &|_| 0.0))
            }
        }
    }

    /// The series that is proposed.
    fn series(&self, x: &[f64], undisturbed: usize) -> Vec<f64> {
        match self.spec.strategy {
            Strategy::CrossEntropy => self.shape.held(x, self.spec.parts, undisturbed),
            Strategy::Random | Strategy::Climb => self.shape.start_first(x),
        }
    }

    /// The likeliest failure that is found from one.
    fn refined(
        &self,
        case: &mut Case<'_>,
        z: Vec<f64>,
        steps: (usize, usize),
        key: Seed,
    ) -> Result<Disturbed> {
        let first = Likelihood::of(&self.shape.cut(z.clone(), steps.0), self.shape);
        let mut fails = |z: &[f64]| {
            let came = case.play(z.to_vec())?;
            Ok(came.failed.then_some(came.steps))
        };
        let mut refinement = Refinement::new(self.shape, z, steps, self.spec.refine, &mut fails);
        refinement.run(&mut key.child("refinement").rng())?;
        let Refinement { z, steps, played, .. } = refinement;
        Ok(Disturbed { first, z, steps, refinement: played })
    }
}

// Serde hands the field over by reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
pub(super) fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl<'c> Case<'c> {
    fn new(by: Experimenter<'c>, key: Seed) -> Result<Case<'c>> {
        let env = by.subject.env.fork().context("expected an environment that can be copied")?;
        Ok(Case { by, env, key, x: by.draw(key), steps: 0, diverged: 0 })
    }

    /// The episode under disturbances. One without an outcome does not count as a failure: it is the simulator that broke, and
    /// who looks for failures of the policy did not find one.
    fn play(&mut self, z: Vec<f64>) -> Result<Experiment> {
        self.env.choose_noise(&z.into());
        let came = self.by.play_in(self.env.as_ref(), self.key, &self.x)?;
        self.steps += came.steps as u64;
        if came.divergence.is_none() {
            return Ok(came);
        }
        self.diverged += 1;
        Ok(Experiment { failed: false, margin: None, ..came })
    }
}

/// Where a value that is held for a part of an episode is searched, in standard deviations.
const HELD: (f64, f64) = (-5.0, 5.0);

/// Name of the journal in a strategy's folder.
const JOURNAL: &str = "searches.jsonl";

impl Piece for (u64, StressRun) {
    fn number(&self) -> u64 {
        self.0
    }

    fn check(&self) -> Result<()> {
        let StressRun { fails_undisturbed, failure, .. } = &self.1;
        let Some(Disturbed { first, z, .. }) = failure else { return Ok(()) };
        ensure!(!fails_undisturbed, "fails undisturbed: expected no failure under disturbances, found one");
        let (most, found) = (first.distance, square(z).sqrt());
        ensure!(found <= most, "distance: expected at most that of the first failure, {most}, found {found}");
        Ok(())
    }
}

impl Strategy {
    /// The strategy as requests write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
