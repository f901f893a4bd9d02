//! `risk split`: how often a policy fails in an environment with a margin, by subset simulation: swarms of particles that
//! move towards failure.
//!
//! Where the distribution of what is drawn is stated, particles are standard normal numbers that stand for an initial
//! condition, and moves are those of [`offnominal_stats::risk::subset`]; elsewhere the environment names neighbours.

use crate::estimate::answer::probability;
use crate::experimenter::Experimenter;
use crate::record::{Numbered, Piece};
use crate::request::LEVEL;
use crate::request::{self, within};
use anyhow::{Result, anyhow, ensure};
use clap::Args;
use offnominal_core::estimate::Estimate;
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_engine::request::{EnvId, POLICY};
use offnominal_engine::scenario::{Scenario, ScenarioRequest};
use offnominal_engine::subject::Subject;
use offnominal_files::dataset::PolicyName;
use offnominal_files::lock::Lock;
use offnominal_stats::Level;
use offnominal_stats::risk::subset::{self, Margin, Subset};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// Whose failures are counted, and by how many particles.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// The policy.
    #[arg(long, help = POLICY)]
    pub policy: String,
    /// Independent swarms, whose spread gives the interval
    #[arg(long, default_value_t = 6)]
    pub swarms: u64,
    /// Particles per swarm and level
    #[arg(long, default_value_t = 1000)]
    pub particles: usize,
    /// Markov moves per particle
    #[arg(long, default_value_t = 1)]
    pub moves: usize,
    /// Most experiments per swarm
    #[arg(long, default_value_t = 20_000)]
    pub budget: usize,
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

/// What was estimated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Which run it was.
    pub run: SubsetSpec,
    /// The failure probability.
    pub risk: Estimate,
    /// The failure probability by each swarm alone.
    pub of_each: Vec<f64>,
    /// Swarms whose budget ended before they reached failure: with any, the estimate is an upper bound.
    pub unfinished: u64,
    /// Experiments without an outcome, which count as failures.
    pub diverged: u64,
}

/// Runs the swarms and judges them.
///
/// # Errors
/// If the environment has no margin, or one that contradicts its failures; if there are no neighbours; if margins tie, chains
/// stick or swarms disagree; if a setting is out of its range; if a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    let level = Level::try_from(request.level)?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let subject = request.scenario.subject(&request.env, &request.policy)?;
    let (experimenter, run) = (
        Experimenter::new(&subject, context.seed)?.allowing(context.allow_diverged),
        request.spec(&subject, context)?,
    );
    experimenter.differ()?;
    let (swarms, diverged) = all(&experimenter, &run, request.swarms, request.out.as_deref(), context)?;
    let risk = Subset::pooled(&swarms, level)?;
    let of_each = swarms.iter().map(|swarm| swarm.value).collect();
    let unfinished = swarms.iter().filter(|swarm| !swarm.has_failed).count() as u64;
    let report = Report { run, risk, of_each, unfinished, diverged };
    request::write_json(request.out.as_deref(), "split.json", &report)?;
    Ok(report)
}

impl Request {
    fn spec(&self, subject: &Subject, context: &Context) -> Result<SubsetSpec> {
        // Fewer cannot show that they disagree.
        within("swarms", self.swarms, 4..=10_000)?;
        within("particles", self.particles, 10..=100_000)?;
        within("moves", self.moves, 1..=100_000)?;
        within("budget", self.budget, 1..=u32::MAX as usize)?;
        Ok(SubsetSpec {
            env: self.env.to_string(),
            simulator: provenance::hosted(subject.env.spec()),
            policy: subject.name.clone(),
            seed: context.seed,
            particles: self.particles,
            moves: self.moves,
            budget: self.budget,
            scenario: subject.scenario.clone(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { run, risk, of_each, unfinished, diverged } = self;
        let [value, low, high] = [risk.value, risk.low, risk.high].map(probability);
        let (policy, env, n) = (&run.policy.id, &run.env, risk.n);
        writeln!(f, "{policy} in {env}: {n} experiments in {} swarms", of_each.len())?;
        run.simulator.iter().try_for_each(|simulator| writeln!(f, "  {simulator}"))?;
        if *unfinished == 0 {
            writeln!(f, "  failure probability  {value} [{low}, {high}]  {}", risk.method)?;
        } else {
            writeln!(f, "  failure probability  at most {high}  {}", risk.method)?;
            let (all, budget) = (of_each.len(), run.budget);
            writeln!(
                f,
                "  {unfinished} of {all} swarms spent their {budget} experiments before a failure: a larger --budget goes on"
            )?;
        }
        if *diverged > 0 {
            writeln!(f, "  {diverged} experiments diverged and have no outcome; they count as failures")?;
        }
        let values: Vec<String> = of_each.iter().map(|p| probability(*p)).collect();
        writeln!(f, "  of each swarm        {}", values.join(" "))?;
        writeln!(f, "  assumes that swarms reach all failures; more particles or moves must give the same")
    }
}

/// What is estimated, and how; a journal belongs to one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubsetSpec {
    /// The environment.
    pub env: String,
    /// What simulates an environment that Python hosts: versions, and digests of the user's modules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// The policy.
    pub policy: PolicyName,
    /// The seed.
    pub seed: u64,
    /// Particles per swarm and level.
    pub particles: usize,
    /// Moves per particle.
    pub moves: usize,
    /// Experiments after which a swarm gives up.
    pub budget: usize,
    /// What is drawn for each episode, and by what one fails, where something is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
}

impl SubsetSpec {
    /// The plan of a swarm.
    pub fn plan(&self) -> Subset {
        Subset { particles: self.particles, moves: self.moves, budget: self.budget }
    }
}

/// A swarm as the journal keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Swarm {
    number: u64,
    value: f64,
    levels: usize,
    experiments: usize,
    has_failed: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    diverged: u64,
}

// Serde hands the field over by reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// An initial condition, the standard normal numbers that it is made of where that is stated, and the key of all other
/// randomness.
#[derive(Clone)]
struct Particle {
    z: Vec<f64>,
    x: Vec<f64>,
    key: Seed,
}

/// The experiments of one swarm.
struct Experiments<'e> {
    experimenter: &'e Experimenter<'e>,
    key: Seed,
    made: u64,
    diverged: u64,
    error: Option<anyhow::Error>,
}

/// Runs the swarms that the journal in the folder, if there is one, does not hold yet, and returns all, with the number
/// of experiments without an outcome.
///
/// # Errors
/// As [`run`], but for disagreement.
pub fn all(
    by: &Experimenter<'_>,
    run: &SubsetSpec,
    swarms: u64,
    folder: Option<&Path>,
    context: &Context,
) -> Result<(Vec<subset::Swarm>, u64)> {
    check(by)?;
    let work = Numbered { folder, journal: JOURNAL, what: "swarms", run };
    let found = work.all(swarms, context, |number| one(by, run, number))?;
    let diverged = found.iter().map(|f| f.diverged).sum();
    by.at_most(diverged)?;
    let swarm = |&Swarm { value, levels, experiments, has_failed, .. }: &Swarm| subset::Swarm {
        value,
        levels,
        experiments,
        has_failed,
    };
    Ok((found.iter().map(swarm).collect(), diverged))
}

impl Piece for Swarm {
    fn number(&self) -> u64 {
        self.number
    }

    fn check(&self) -> Result<()> {
        let is_probability = (0.0..=1.0).contains(&self.value);
        ensure!(is_probability, "value: expected a number from 0 to 1, found {}", self.value);
        Ok(())
    }
}

/// Name of the journal in a run's folder.
const JOURNAL: &str = "swarms.jsonl";

fn check(experimenter: &Experimenter<'_>) -> Result<()> {
    let env = &experimenter.subject.env;
    let (id, key) = (&env.spec().id, experimenter.key("check", 0));
    let x = experimenter.draw(key);
    let has_margin = experimenter.play(key, &x)?.margin.is_some();
    ensure!(
        has_margin,
        "environment {id} does not say how far it is from failing, which subset simulation needs"
    );
    let has_neighbours =
        experimenter.normals() > 0 || env.failure_search().vary(&x, &mut Rng::new(0)).is_some();
    ensure!(
        has_neighbours,
        "environment {id} offers no neighbours of an initial condition, and no density of what is drawn is stated \
         (--distribution, --randomise): subset simulation needs one of both"
    );
    Ok(())
}

fn one(experimenter: &Experimenter<'_>, spec: &SubsetSpec, number: u64) -> Result<Swarm> {
    let key = experimenter.key("swarm", number);
    let mut experiments = Experiments { experimenter, key, made: 0, diverged: 0, error: None };
    let came = spec.plan().swarm(&mut experiments, &mut key.child("moves").rng());
    if let Some(why) = experiments.error {
        return Err(why);
    }
    let came = came.map_err(|why| anyhow!("swarm {number}: {why}"))?;
    let diverged = experiments.diverged;
    let subset::Swarm { value, levels, experiments, has_failed } = came;
    Ok(Swarm { number, value, levels, experiments, has_failed, diverged })
}

impl Margin for Experiments<'_> {
    type X = Particle;

    fn draw(&mut self, rng: &mut Rng) -> Particle {
        let key = self.next_key();
        if self.experimenter.normals() == 0 {
            return Particle { z: vec![], x: self.experimenter.subject.env.draw(rng), key };
        }
        let found = self.experimenter.draw_normals(key, rng);
        let (z, x) = found.unwrap_or_else(|why| {
            self.error.get_or_insert(why);
            (vec![], vec![])
        });
        Particle { z, x, key }
    }

    /// All other randomness is drawn anew, as independent of x as before.
    fn vary(&mut self, from: &Particle, step: f64, rng: &mut Rng) -> Option<Particle> {
        let key = self.next_key();
        if from.z.is_empty() {
            let x = self.experimenter.subject.env.failure_search().vary(&from.x, rng)?;
            return Some(Particle { z: vec![], x, key });
        }
        let z: Vec<f64> =
            from.z.iter().map(|z| (1.0 - step * step).sqrt() * z + step * rng.normal()).collect();
        let x = self.experimenter.of_normals(key, &z)?;
        Some(Particle { z, x, key })
    }

    fn covariates<'p>(&self, at: &'p Particle) -> &'p [f64] {
        if at.z.is_empty() { &at.x } else { &at.z }
    }

    fn margin(&mut self, at: &Particle) -> f64 {
        if self.error.is_some() {
            return -1.0;
        }
        match self.experimenter.play(at.key, &at.x) {
            Ok(found) if found.divergence.is_some() => {
                self.diverged += 1;
                // A failure, at a margin of its own: margins must not tie.
                -1.0 - self.made as f64
            }
            Ok(found) => found.margin.unwrap_or(f64::INFINITY),
            Err(why) => {
                self.error.get_or_insert(why);
                -1.0
            }
        }
    }
}

impl Experiments<'_> {
    fn next_key(&mut self) -> Seed {
        self.made += 1;
        self.key.child(self.made)
    }
}
