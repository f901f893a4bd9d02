//! How often a policy fails in a world with a margin: swarms of particles that move towards failure, beside one another.

use crate::Lab;
use anyhow::{Result, anyhow, ensure};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_files::dataset::PolicyName;
use offnominal_files::journal::Journal;
use offnominal_stats::risk::splitting::{Margin, Rounds, Splitting};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Mutex;

/// What is estimated, and how; a journal belongs to one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The world.
    pub env: String,
    /// The policy.
    pub policy: PolicyName,
    /// The seed.
    pub seed: u64,
    /// Particles per swarm.
    pub particles: usize,
    /// Moves per replaced particle.
    pub moves: usize,
    /// Experiments after which a swarm gives up.
    pub budget: usize,
}

impl Spec {
    /// The plan of a swarm.
    pub fn plan(&self) -> Splitting {
        Splitting { particles: self.particles, moves: self.moves, budget: self.budget }
    }
}

/// A swarm as the journal keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Swarm {
    number: u64,
    rounds: usize,
    experiments: usize,
    has_failed: bool,
}

/// An initial condition with the key of all other randomness.
#[derive(Clone)]
struct Particle {
    x: Vec<f64>,
    key: Seed,
}

/// The experiments of one swarm.
struct Experiments<'l> {
    lab: &'l Lab<'l>,
    key: Seed,
    made: u64,
    trouble: Option<anyhow::Error>,
}

/// Runs the swarms that the journal in a folder does not hold yet, and returns all.
///
/// # Errors
/// If the world has no margin or no neighbours, margins tie, particles are stuck, or a file cannot be written.
pub fn run(lab: &Lab<'_>, spec: &Spec, swarms: u64, folder: &Path, context: &Context) -> Result<Vec<Rounds>> {
    check(lab)?;
    let (journal, mut found) = Journal::open::<Spec, Swarm>(&folder.join(JOURNAL), spec)?;
    let journal = Mutex::new(journal);
    let open: Vec<u64> = (0..swarms).filter(|&i| found.iter().all(|f| f.number != i)).collect();
    let bar = context.task(open.len(), "swarms");
    found.extend(parallel::map(context.jobs, open.len(), &bar, |k| {
        let swarm = one(lab, spec, open[k])?;
        journal.lock().expect("no swarm panics").push(&swarm)?;
        anyhow::Ok(swarm)
    })?);
    found.sort_by_key(|f| f.number);
    let rounds =
        |f: &Swarm| Rounds { rounds: f.rounds, experiments: f.experiments, has_failed: f.has_failed };
    Ok(found.iter().filter(|f| f.number < swarms).map(rounds).collect())
}

/// Name of the journal in a run's folder.
const JOURNAL: &str = "swarms.jsonl";

fn check(lab: &Lab<'_>) -> Result<()> {
    let env = &lab.cast.env;
    let (id, key) = (&env.spec().id, lab.key("check", 0));
    let x = lab.draw(key);
    let has_margin = lab.play(key, &x)?.margin.is_some();
    ensure!(has_margin, "world {id} does not say how far it is from failing, which splitting needs");
    let has_neighbours = env.failure_search().vary(&x, &mut Rng::new(0)).is_some();
    ensure!(has_neighbours, "world {id} offers no neighbours of an initial condition, which splitting needs");
    Ok(())
}

fn one(lab: &Lab<'_>, spec: &Spec, number: u64) -> Result<Swarm> {
    let key = lab.key("swarm", number);
    let mut experiments = Experiments { lab, key, made: 0, trouble: None };
    let came = spec.plan().rounds(&mut experiments, &mut key.child("moves").rng());
    if let Some(why) = experiments.trouble {
        return Err(why);
    }
    let came = came.map_err(|why| anyhow!("swarm {number}: {why}"))?;
    Ok(Swarm { number, rounds: came.rounds, experiments: came.experiments, has_failed: came.has_failed })
}

impl Margin for Experiments<'_> {
    type X = Particle;

    fn draw(&mut self, rng: &mut Rng) -> Particle {
        Particle { x: self.lab.cast.env.draw(rng), key: self.next_key() }
    }

    /// All other randomness is drawn anew, as independent of x as before.
    fn vary(&mut self, from: &Particle, rng: &mut Rng) -> Particle {
        let near = self.lab.cast.env.failure_search().vary(&from.x, rng);
        let x = near.unwrap_or_else(|| from.x.clone());
        Particle { x, key: self.next_key() }
    }

    fn margin(&mut self, at: &Particle) -> f64 {
        match self.lab.play(at.key, &at.x) {
            Ok(found) => found.margin.unwrap_or(f64::INFINITY),
            Err(why) => {
                self.trouble.get_or_insert(why);
                f64::INFINITY
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
