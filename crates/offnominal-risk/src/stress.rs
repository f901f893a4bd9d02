//! `risk stress`: the most likely failure under the declared noise of sensors and actuators (adaptive stress testing).
//!
//! An episode is a function of where it begins, of the random numbers of environment and policy, and of the standard
//! normal numbers z that its nominal noise takes. Here the first two stay, and z is searched: for a failure first, and
//! then for the likeliest one near it. The density of z relative to that of no disturbance is exp(−|z|²/2), so the
//! likeliest failure is the one with the smallest |z|, which is also called its distance, in standard deviations.
//!
//! | strategy        | z that it plays                                                                       |
//! |-----------------|---------------------------------------------------------------------------------------|
//! | `random`        | draws of the noise itself                                                             |
//! | `climb`         | the z nearest to failure so far, with a window of it drawn anew; at first z = 0       |
//! | `cross-entropy` | a few values, each held for a part of the episode, from a normal distribution that follows those nearest to failure |
//!
//! Promise: it finds failures and their exact likelihood. It is no estimate of how often a policy fails, and no proof that
//! there is no likelier failure.
//!
//! | file         | content                                                    |
//! |--------------|------------------------------------------------------------|
//! | [`series`]   | the numbers z of an episode, and how likely they are       |
//! | [`mod@refine`]   | from a failure to a likelier one                           |
//! | [`hunt`]     | searches, and their journal                                |
//! | [`report`]   | what they found, as JSON and as text                       |
//! | [`again`]    | a failure once more                                        |
//!
//! References: Lee et al., "Adaptive stress testing: finding likely failure events with reinforcement learning", JAIR 69,
//! 2020; Koren et al., "Adaptive stress testing for autonomous vehicles", IEEE Intelligent Vehicles Symposium 2018;
//! Hasofer and Lind, "Exact and invariant second-moment code format", Journal of the Engineering Mechanics Division 100,
//! 1974, for the distance. Deviates: no tree search; the likelihood of a failure is raised after it was found.

pub mod again;
mod chart;
pub mod hunt;
mod page;
pub mod refine;
pub mod report;
pub mod series;
#[cfg(test)]
mod tests;

use crate::experimenter::Experimenter;
use crate::request::LEVEL;
use crate::request::within;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use hunt::{Hunt, Strategy, StressRun, StressSpec};
use offnominal_engine::context::Context;
use offnominal_engine::noise;
use offnominal_engine::provenance;
use offnominal_engine::request::{EnvId, POLICY};
use offnominal_engine::scenario::{Scenario, ScenarioRequest};
use offnominal_engine::subject::Subject;
use offnominal_files::lock::Lock;
use offnominal_files::write;
use offnominal_stats::Level;
use offnominal_work::cli::one_of;
use report::Report;
use std::path::PathBuf;
use strum::VariantArray;

/// Whose failures are searched for, and how.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// Noise to search, if --env does not name one: a level or file
    #[arg(long, value_name = "NOISE")]
    pub noise: Option<String>,
    /// The policy.
    #[arg(long, help = POLICY)]
    pub policy: String,
    /// Search strategy; repeatable; `random` always runs as the baseline [default: all]
    #[arg(long = "strategy", value_parser = one_of::<Strategy>())]
    pub strategies: Vec<Strategy>,
    /// Searches per strategy, each from its own initial condition
    #[arg(long, default_value_t = 20)]
    pub searches: u64,
    /// Most experiments per search
    #[arg(long, default_value_t = 1000)]
    pub budget: usize,
    /// Episodes spent on making a found failure likelier
    #[arg(long, value_name = "EPISODES", default_value_t = 500)]
    pub refine: usize,
    /// Parts of an episode with a constant disturbance, for cross-entropy
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub parts: usize,
    /// Begin all searches at the initial condition of search N
    #[arg(long, value_name = "N")]
    pub start: Option<u64>,
    /// Confidence level of the intervals
    #[arg(long, default_value_t = LEVEL, allow_negative_numbers = true)]
    pub level: f64,
    /// Output folder; an interrupted run continues there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What is drawn for each episode, and by what one fails.
    #[command(flatten)]
    pub scenario: ScenarioRequest,
}

/// The most parts of an episode, and the most episodes of a search.
const MOST_PARTS: usize = 10_000;
const MOST_EPISODES: usize = 100_000_000;

/// Searches with every strategy, and makes what they find likelier.
///
/// # Errors
/// If the environment declares no noise or cannot be copied, a strategy needs a margin and there is none, a setting is out
/// of its range, the output folder holds another run, an episode has no outcome, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    let level = Level::try_from(request.level)?;
    request.check()?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let subject = request.subject()?;
    let by = Experimenter::new(&subject, context.seed)?.allowing(context.allow_diverged);
    let mut all: Vec<(StressSpec, Vec<StressRun>)> = Vec::new();
    for strategy in request.strategies() {
        let spec = request.spec(&subject, strategy, context.seed)?;
        let folder = request.out.as_ref().map(|out| out.join(strategy.name()));
        let found = Hunt::new(by, &spec)?.run(folder.as_deref(), request.searches, context)?;
        all.push((spec, found));
    }
    by.at_most(all.iter().flat_map(|(_, found)| found).map(|f| f.diverged).sum())?;
    let report = Report::new((request, &context.command), &subject, all, level)?;
    if let Some(out) = &request.out {
        write::atomically(&out.join(report::FILE), report.json()?.as_bytes())?;
        write::atomically(&out.join("stress.html"), page::render(&report, by, out)?.as_bytes())?;
    }
    Ok(report)
}

impl Request {
    fn check(&self) -> Result<()> {
        within("searches", self.searches, 1..=1_000_000)?;
        within("budget", self.budget, 1..=MOST_EPISODES)?;
        within("refine", self.refine, 0..=MOST_EPISODES)?;
        within("parts", self.parts, 1..=MOST_PARTS)
    }

    fn subject(&self) -> Result<Subject> {
        let subject = noisy(&self.env, self.noise.as_deref(), &self.policy)?;
        let scenario = self.scenario.resolve(subject.env.spec())?;
        subject.under(scenario)
    }

    /// The strategies, each once, `random` first.
    fn strategies(&self) -> Vec<Strategy> {
        let asked = |s: &&Strategy| self.strategies.is_empty() || self.strategies.contains(s);
        let others = Strategy::VARIANTS.iter().filter(|s| **s != Strategy::Random).filter(asked);
        std::iter::once(&Strategy::Random).chain(others).copied().collect()
    }

    fn spec(&self, subject: &Subject, strategy: Strategy, seed: u64) -> Result<StressSpec> {
        Ok(StressSpec {
            env: self.env.to_string(),
            simulator: provenance::hosted(subject.env.spec()),
            noise: self.noise.as_deref().map(noise::canonical).transpose()?,
            policy: subject.name.clone(),
            seed,
            strategy,
            budget: self.budget,
            refine: self.refine,
            parts: self.parts,
            start: self.start,
            scenario: subject.scenario.clone(),
        })
    }
}

/// An environment with noise and a policy; the noise is that of the id or, where the id says none, that of the level.
///
/// # Errors
/// If either cannot be had, both say a noise, or none.
fn noisy(env: &str, level: Option<&str>, policy: &str) -> Result<Subject> {
    let subject = Subject::new(env, policy)?;
    let subject = match level {
        None => subject,
        Some(level) => {
            ensure!(
                subject.env.noise_numbers().is_none(),
                "noise: expected none beside that of {env}, found {level}"
            );
            Subject { env: noise::apply(subject.env, level)?, ..subject }
        }
    };
    let is_noisy = |n: &offnominal_core::noisy::NoiseNumbers| !n.step.is_empty() || !n.start.is_empty();
    subject.env.noise_numbers().filter(|n| is_noisy(n)).with_context(|| {
        format!("environment {env}: expected nominal noise to search, found none; say --env {env}?noise=LEVEL, or --noise")
    })?;
    Ok(subject)
}

/// The same in a scenario, as a result names them.
///
/// # Errors
/// As [`noisy`], or if the scenario cannot be had.
fn subject_of(env: &str, level: Option<&str>, policy: &str, scenario: Option<Scenario>) -> Result<Subject> {
    noisy(env, level, policy)?.under(scenario)
}
