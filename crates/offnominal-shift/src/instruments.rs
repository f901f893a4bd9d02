//! What looks at a run without seeing its reward: two internal models, and detectors, all of which know home alone.

use crate::plan::Plan;
use crate::play::{self, Played, median};
use crate::{Body, InternalModel, Learning, Recipe, Sees, Stream};
use anyhow::{Context as _, Result};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::policies::bodies::Agent;
use offnominal_engine::progress::Task;
use offnominal_engine::{catalogues, parallel};
use offnominal_files::write::atomically;
use offnominal_nets::Tensors;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// How many of the first episodes a score may look at, at most; its name says so: `knn@10`.
const COSTS: [usize; 3] = [1, 10, 100];
/// Episodes at home to which detectors are fitted, and others for what they hold back.
const FITTED: (usize, usize) = (16, 4);
/// Steps of such an episode; more of the same say little.
const FITTED_STEPS: u32 = 500;

/// The internal models of a world: with commands and without.
#[derive(Clone)]
pub struct Models([InternalModel; 2]);

const SEES: [(Sees, &str); 2] = [(Sees::StatesAndActions, "tpr"), (Sees::States, "tpr-states")];

impl Models {
    /// Learns both from the runs of all policies at home; what is half learned is kept in a folder.
    ///
    /// # Errors
    /// If a run cannot be played, there are too few, or what was kept is damaged.
    pub fn learn(plan: &Plan, agents: &[Agent], folder: &Path, context: &Context) -> Result<Models> {
        let streams = home_streams(plan, agents, context)?;
        let one = |i: usize| {
            let (sees, name) = SEES[i];
            let recipe =
                Recipe { sees, updates: plan.updates, length: 500.min(plan.steps), ..Recipe::default() };
            let bar = context.task(plan.updates as usize, &format!("internal model ({name})"));
            let seed = plan.root().child("model").child(name);
            let model = learned(&streams, &recipe, seed, &folder.join(name), &bar)?;
            Ok::<_, anyhow::Error>(model)
        };
        let hidden = Task::hidden();
        let models = parallel::map(context.jobs, 2, &hidden, one)?;
        Ok(Models(models.try_into().unwrap_or_else(|_| unreachable!("two models were learned"))))
    }

    /// The models as files.
    pub fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        ["with-actions.safetensors", "states.safetensors"]
            .into_iter()
            .zip(&self.0)
            .map(|(name, m)| (name, m.tensors().to_bytes()))
            .collect()
    }

    /// The models of these files.
    ///
    /// # Errors
    /// If one is damaged.
    pub fn read(files: [Vec<u8>; 2]) -> Result<Models> {
        let mut models = files.iter().zip(SEES).map(|(bytes, (sees, _))| {
            let kept = Tensors::from_bytes(bytes).context("a kept internal model")?;
            Ok(InternalModel::from_tensors(sees, &kept)?)
        });
        let (first, second): (Result<_>, Result<_>) =
            (models.next().expect("two files"), models.next().expect("two files"));
        Ok(Models([first?, second?]))
    }

    /// What the models say of a run.
    fn scores(&self, played: &Played, into: &mut BTreeMap<String, f64>) {
        for (model, (_, name)) in self.0.iter().zip(SEES) {
            let all = model.true_positives(&played.stream(usize::MAX));
            if name == SEES[0].1 {
                self.early_scores(played, all.median(), into);
            }
            into.extend(all.median().map(|v| (name.to_string(), v)));
            let rates = all.rates().into_iter().enumerate();
            into.extend(rates.filter_map(|(k, rate)| Some((format!("{name}-k{}", k + 1), rate?))));
        }
    }

    /// What the first model says of the first episodes; of a run that has no more, what it says of all.
    fn early_scores(&self, played: &Played, all: Option<f64>, into: &mut BTreeMap<String, f64>) {
        for cost in COSTS {
            let rate = if played.episodes.len() <= cost {
                all
            } else {
                self.0[0].true_positives(&played.stream(cost)).median()
            };
            into.extend(rate.map(|v| (format!("tpr@{cost}"), v)));
        }
    }
}

/// Time between checkpoints of a model.
const KEPT_EVERY: Duration = Duration::from_secs(60);

/// A model that is learned to its end, from where a killed run had left it.
fn learned(runs: &[Stream], recipe: &Recipe, seed: Seed, path: &Path, bar: &Task) -> Result<InternalModel> {
    let mut learning = match std::fs::read(path) {
        Ok(bytes) => Tensors::from_bytes(&bytes)
            .map_err(Into::into)
            .and_then(|kept| Learning::resume(runs, recipe, &kept))
            .with_context(|| path.display().to_string())?,
        Err(_) => Learning::begin(runs, recipe, &mut seed.rng())?,
    };
    let mut kept = Instant::now();
    while !learning.is_done() {
        learning.step(runs);
        bar.set_position(learning.updates());
        if kept.elapsed() >= KEPT_EVERY {
            atomically(path, &learning.checkpoint().to_bytes())?;
            kept = Instant::now();
        }
    }
    Ok(learning.into_model())
}

/// The runs of all policies at home.
fn home_streams(plan: &Plan, agents: &[Agent], context: &Context) -> Result<Vec<Stream>> {
    let n = agents.len() * plan.home_runs;
    context.map(n, "runs at home", |i| {
        let agent = &agents[i / plan.home_runs];
        let seed = plan.root().child("home").child(agent.digest.as_str()).child(i % plan.home_runs);
        let played = play::play(&plan.setting, &Body::nominal(), &agent.actor, plan.steps, seed)?;
        Ok(played.stream(usize::MAX))
    })
}

fn signals(episodes: &[Episode]) -> Vec<Signals<'_>> {
    episodes.iter().map(Episode::signals).collect()
}

/// What looks at the runs of one policy.
pub struct Instruments {
    models: Option<Models>,
    monitors: Vec<(String, Box<dyn Monitor>)>,
}

impl Instruments {
    /// Fits the detectors to a policy at home.
    ///
    /// # Errors
    /// If one does not exist or cannot be fitted.
    pub fn fit(plan: &Plan, agent: &Agent, models: Option<Models>, jobs: usize) -> Result<Instruments> {
        if plan.detectors.is_empty() {
            return Ok(Instruments { models, monitors: vec![] });
        }
        let world = catalogues::worlds().build(&plan.setting.env, &json!({}))?;
        let trial = Trial { env: world.as_ref(), policy: &agent.actor, horizon: FITTED_STEPS };
        let seed = plan.root().child("fit").child(agent.digest.as_str());
        let episodes: Vec<Episode> = (0..FITTED.0 + FITTED.1).map(|i| trial.nominal(seed.child(i))).collect();
        let (train, validation) = episodes.split_at(FITTED.0);
        let hidden = Task::hidden();
        let monitors = parallel::map(jobs, plan.detectors.len(), &hidden, |i| {
            let name = &plan.detectors[i];
            let detector = catalogues::detectors().build(name, &json!({}))?;
            let mut rng = seed.child(name.as_str()).rng();
            let fitted = detector.fit_with(&agent.actor, &signals(train), &signals(validation), &mut rng);
            Ok::<_, anyhow::Error>((name.clone(), fitted.with_context(|| format!("detector {name}"))?))
        })?;
        Ok(Instruments { models, monitors })
    }

    /// What they say of a run, by name.
    pub fn scores(&self, played: &Played) -> BTreeMap<String, f64> {
        let mut found = BTreeMap::new();
        if let Some(models) = &self.models {
            models.scores(played, &mut found);
        }
        for (name, monitor) in &self.monitors {
            let mut monitor = monitor.fork();
            let mut scores: Vec<Vec<f64>> = Vec::new();
            for episode in played.episodes.iter().take(COSTS[2]) {
                let mut own = Vec::with_capacity(episode.len());
                monitor.score_episode(&episode.signals(), &mut own);
                scores.push(own);
            }
            for cost in COSTS {
                let steps: Vec<f64> = scores.iter().take(cost).flatten().copied().collect();
                found.extend(median(&steps).map(|v| (format!("{name}@{cost}"), v)));
            }
        }
        found
    }
}
