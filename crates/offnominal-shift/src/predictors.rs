//! Predictors of the return gap that see no reward: two internal models, and detectors, all fitted on the nominal body.

use crate::bodies::Body;
use crate::plan::ShiftPlan;
use crate::play::{self, Rollout, median};
use crate::{Inputs, InternalModel, Learning, ModelRecipe, Stream};
use anyhow::{Context as _, Result};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::detector_choice::seed_label;
use offnominal_engine::policies::bodies::Agent;
use offnominal_engine::progress::Task;
use offnominal_engine::stop;
use offnominal_engine::{catalogues, parallel};
use offnominal_files::checkpoint::Checkpoint;
use offnominal_nets::Tensors;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// How many of the first episodes a score may use, at most; its name says so: `knn@10`.
const COSTS: [usize; 3] = [1, 10, 100];
/// Nominal episodes to which detectors are fitted, and others for validation.
const FITTED: (usize, usize) = (16, 4);
/// Steps of such an episode; more of the same add little.
const FITTED_STEPS: u32 = 500;

/// The internal models of an environment: with commands and without.
#[derive(Clone)]
pub struct InternalModels([InternalModel; 2]);

const INPUTS: [(Inputs, &str); 2] = [(Inputs::StatesAndActions, "tpr"), (Inputs::States, "tpr-states")];

impl InternalModels {
    /// Learns both from the runs of all policies on the nominal body; checkpoints go into a folder.
    ///
    /// # Errors
    /// If a run cannot be played, there are too few, or a checkpoint is damaged.
    pub fn learn(
        plan: &ShiftPlan,
        policies: &[Agent],
        folder: &Path,
        context: &Context,
    ) -> Result<InternalModels> {
        let streams = nominal_streams(plan, policies, context)?;
        let one = |i: usize| {
            let (inputs, name) = INPUTS[i];
            let recipe = ModelRecipe {
                inputs,
                updates: plan.updates,
                length: 500.min(plan.steps),
                ..ModelRecipe::default()
            };
            let bar = context.task(plan.updates as usize, &format!("internal model ({name})"));
            let seed = plan.root().child("model").child(name);
            let checkpoint = Checkpoint::open(&folder.join(name), name)?;
            learned(&streams, &recipe, seed, checkpoint, &bar, context)
        };
        let hidden = Task::hidden();
        let models = parallel::map(context.jobs, 2, &hidden, one)?;
        Ok(InternalModels(models.try_into().unwrap_or_else(|_| unreachable!("two models were learned"))))
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
    pub fn read(files: [Vec<u8>; 2]) -> Result<InternalModels> {
        let mut models = files.iter().zip(INPUTS).map(|(bytes, (input, _))| {
            let tensors = Tensors::from_bytes(bytes).context("a saved internal model")?;
            Ok(InternalModel::from_tensors(input, &tensors)?)
        });
        let (first, second): (Result<_>, Result<_>) =
            (models.next().expect("two files"), models.next().expect("two files"));
        Ok(InternalModels([first?, second?]))
    }

    /// The scores of a run.
    fn scores(&self, rollout: &Rollout, into: &mut BTreeMap<String, f64>) {
        for (model, (_, name)) in self.0.iter().zip(INPUTS) {
            let all = model.true_positives(&rollout.stream(usize::MAX));
            if name == INPUTS[0].1 {
                self.early_scores(rollout, all.median(), into);
            }
            into.extend(all.median().map(|v| (name.to_string(), v)));
            let rates = all.rates().into_iter().enumerate();
            into.extend(rates.filter_map(|(k, rate)| Some((format!("{name}-k{}", k + 1), rate?))));
        }
    }

    /// The first model's score of the first episodes; of a run that has no more, its score of all.
    fn early_scores(&self, rollout: &Rollout, all: Option<f64>, into: &mut BTreeMap<String, f64>) {
        for cost in COSTS {
            let rate = if rollout.episodes.len() <= cost {
                all
            } else {
                self.0[0].true_positives(&rollout.stream(cost)).median()
            };
            into.extend(rate.map(|v| (format!("tpr@{cost}"), v)));
        }
    }
}

/// A model that is learned to its end, from where a killed run had left it; its checkpoint goes when the cell is stored.
fn learned(
    runs: &[Stream],
    recipe: &ModelRecipe,
    seed: Seed,
    mut checkpoint: Checkpoint,
    bar: &Task,
    context: &Context,
) -> Result<InternalModel> {
    let mut learning = match checkpoint.load()? {
        Some(state) => Learning::resume(runs, recipe, &state)?,
        None => Learning::begin(runs, recipe, &mut seed.rng())?,
    };
    while !learning.is_done() {
        learning.step(runs);
        bar.set_position(learning.updates());
        context.save(&mut checkpoint, || learning.checkpoint())?;
    }
    Ok(learning.into_model())
}

/// The runs of all policies on the nominal body.
fn nominal_streams(plan: &ShiftPlan, policies: &[Agent], context: &Context) -> Result<Vec<Stream>> {
    let n = policies.len() * plan.nominal_runs;
    context.map(n, "nominal runs", |i| {
        let policy = &policies[i / plan.nominal_runs];
        let seed = plan.root().child("home").child(policy.digest.as_str()).child(i % plan.nominal_runs);
        let rollout = play::play(&plan.setting, &Body::nominal(), &policy.actor, plan.steps, seed)?;
        Ok(rollout.stream(usize::MAX))
    })
}

fn signals(episodes: &[Episode]) -> Vec<Signals<'_>> {
    episodes.iter().map(Episode::signals).collect()
}

/// The predictors for one policy.
pub struct Predictors {
    models: Option<InternalModels>,
    monitors: Vec<(String, Box<dyn Scorer>)>,
}

impl Predictors {
    /// Fits the detectors to a policy on the nominal body.
    ///
    /// # Errors
    /// If one does not exist or cannot be fitted.
    pub fn fit(
        plan: &ShiftPlan,
        policy: &Agent,
        models: Option<InternalModels>,
        context: &Context,
    ) -> Result<Predictors> {
        if plan.detectors.is_empty() {
            return Ok(Predictors { models, monitors: vec![] });
        }
        let environment = catalogues::environments().build(&plan.setting.env, &json!({}))?;
        let trial = Trial {
            horizon: FITTED_STEPS,
            stop: stop::is_requested,
            ..Trial::new(environment.as_ref(), &policy.actor)
        };
        let seed = plan.root().child("fit").child(policy.digest.as_str());
        let episodes: Vec<Episode> = (0..FITTED.0 + FITTED.1).map(|i| trial.nominal(seed.child(i))).collect();
        let (train, validation) = episodes.split_at(FITTED.0);
        let task = context.task(plan.detectors.len(), "fits of detectors");
        let monitors = parallel::map(context.jobs, plan.detectors.len(), &task, |i| {
            let name = &plan.detectors[i];
            let detector = catalogues::detectors().build(name, &json!({}))?;
            let mut rng = seed.child(seed_label(name)).rng();
            let (train, validation) = (signals(train), signals(validation));
            let nominal = Nominal::new(&train, &validation).with_policy(&policy.actor);
            let fit = |progress: FitProgress<'_>| detector.fit(nominal.with_progress(progress), &mut rng);
            let fitted = task.watched(|_| (), fit).with_context(|| format!("detector {name}"))?;
            Ok::<_, anyhow::Error>((name.clone(), fitted))
        })?;
        Ok(Predictors { models, monitors })
    }

    /// Their scores of a run, by name.
    pub fn scores(&self, rollout: &Rollout) -> BTreeMap<String, f64> {
        let mut found = BTreeMap::new();
        if let Some(models) = &self.models {
            models.scores(rollout, &mut found);
        }
        for (name, monitor) in &self.monitors {
            let mut monitor = monitor.fork();
            let mut scores: Vec<Vec<f64>> = Vec::new();
            for episode in rollout.episodes.iter().take(COSTS[2]) {
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
