//! The training loop, shared by all learners. No files, no clock, no printing.
//!
//! Environments are stepped in turn; every transition goes into the replay buffer; after every `train_every` steps come
//! `gradient_steps` updates; every `eval_every` steps the actor plays episodes with fixed seeds, and the best so far
//! (or the last, as the recipe says) is kept. An episode that ends by itself has no future; one whose time is up has, so
//! its target is bootstrapped.

mod checkpoint;
mod demonstration;
mod error;
mod lane;
mod recent;

use crate::actor::{Actor, Bounds};
use crate::algorithm;
use crate::augmentation::Augmentation;
use crate::config::{Keep, TrainConfig};
use crate::evaluation::Evaluation;
use crate::history::TrainingEpisode;
use crate::learner::{Learner, Losses};
use crate::normaliser::Scaling;
use crate::replay::{Batch, Record, Replay};
pub use checkpoint::Contents;
use demonstration::demonstrate;
pub use error::TrainError;
use lane::Lane;
use offnominal_core::divergence::Divergence;
use offnominal_core::env::{Env, Status};
use offnominal_core::policy::Policy;
use offnominal_core::spec::EnvSpec;
use offnominal_core::{Rng, Seed};
use recent::Recent;

/// A training run in progress.
pub struct Trainer {
    config: TrainConfig,
    seed: Seed,
    pristine: Box<dyn Env>,
    bounds: Bounds,
    lanes: Vec<Lane>,
    learner: Box<dyn Learner>,
    demonstrator: Option<Box<dyn Policy>>,
    augmentation: Option<Box<dyn Augmentation>>,
    replay: Replay,
    batch: Batch,
    scaling: Option<Scaling>,
    rng: Rng,
    steps: u64,
    recent: Recent,
    /// Parameters of the actor, averaged over steps; `None` before learning, or if the recipe wants none.
    average: Option<Vec<f32>>,
    best: Option<(Evaluation, Actor)>,
    /// Whether an evaluation is to come before the next step.
    is_due: bool,
    losses: Losses,
    /// Episodes that ended since they were last taken; `None` if nobody wants them.
    ended: Option<Vec<TrainingEpisode>>,
    /// The observation on its way to the learner.
    seen: Vec<f32>,
}

/// Where a training run stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Steps taken.
    pub steps: u64,
    /// Episodes ended.
    pub episodes: u64,
    /// Mean return of the last 100 training episodes.
    pub mean_return: Option<f64>,
    /// Share of successes among them.
    pub success: Option<f64>,
    /// The last evaluation, if this call made one.
    pub evaluation: Option<Evaluation>,
    /// The last gradient step.
    pub losses: Losses,
}

impl Trainer {
    /// A run that has not begun.
    ///
    /// # Errors
    /// If the recipe is wrong, or the environment cannot be copied.
    pub fn new(config: TrainConfig, env: &dyn Env, seed: Seed) -> Result<Trainer, TrainError> {
        config.check()?;
        let fork = || env.fork().ok_or_else(|| TrainError::NoCopies(env.spec().id.clone()));
        let (obs, act) = (env.spec().obs_width(), env.spec().action.len());
        let learner = algorithm::build(&config, env.spec(), &mut seed.child("networks").rng())?;
        let lane = |i: usize| Ok(Lane::new(fork()?, seed.child("lane").child(i)));
        Ok(Trainer {
            bounds: Bounds::of(&env.spec().action),
            lanes: (0..config.n_envs).map(lane).collect::<Result<_, TrainError>>()?,
            pristine: fork()?,
            learner,
            demonstrator: None,
            augmentation: None,
            replay: replay(&config, env.spec()),
            batch: Batch::new(config.batch, obs, act),
            scaling: Scaling::of(&config, obs),
            rng: seed.child("learner").rng(),
            steps: 0,
            recent: Recent::default(),
            average: None,
            best: None,
            is_due: false,
            losses: Losses::default(),
            ended: None,
            seen: vec![0.0; obs],
            config,
            seed,
        })
    }

    /// The run with a policy that acts in the first `demonstrations` steps of the recipe. To be given again when the
    /// run is resumed.
    pub fn demonstrated_by(self, demonstrator: Box<dyn Policy>) -> Trainer {
        Trainer { demonstrator: Some(demonstrator), ..self }
    }

    /// The run with observations that are changed before the learner learns from them. To be given again when the run is
    /// resumed.
    pub fn augmented_by(self, augmentation: Box<dyn Augmentation>) -> Trainer {
        Trainer { augmentation: Some(augmentation), ..self }
    }

    /// The run with its ended episodes kept until they are taken. To be asked for again when the run is resumed.
    pub fn remembering(self) -> Trainer {
        Trainer { ended: Some(Vec::new()), ..self }
    }

    /// The episodes of the policy that ended since the last call; those that were demonstrated or random are none of it,
    /// and those in which the simulator broke say nothing.
    pub fn take_ended(&mut self) -> Vec<TrainingEpisode> {
        self.ended.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The recipe.
    pub fn config(&self) -> &TrainConfig {
        &self.config
    }

    /// The seed.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Changes the number of steps after which the run is done.
    pub fn extend_to(&mut self, steps: u64) {
        self.config.steps = steps;
    }

    /// Whether all steps were taken, and the actor was evaluated after the last one.
    pub fn is_done(&self) -> bool {
        self.steps >= self.config.steps && !self.is_due
    }

    /// Takes up to `n` steps, and ends early after an evaluation.
    pub fn advance(&mut self, n: u64) -> Progress {
        self.advance_while(n, &|| true)
    }

    /// As [`Trainer::advance`] until `go_on` says no, which is asked before every step and every episode of an evaluation.
    pub fn advance_while(&mut self, n: u64, go_on: &dyn Fn() -> bool) -> Progress {
        let mut evaluation = None;
        for _ in 0..n {
            if self.is_done() || evaluation.is_some() || !go_on() {
                break;
            }
            if !self.is_due {
                self.step();
                self.is_due =
                    self.steps.is_multiple_of(self.config.eval_every) || self.steps >= self.config.steps;
            }
            if self.is_due {
                evaluation = self.evaluate(go_on);
                self.is_due = evaluation.is_none();
            }
        }
        self.progress(evaluation)
    }

    /// Where the run stands.
    fn progress(&self, evaluation: Option<Evaluation>) -> Progress {
        Progress {
            steps: self.steps,
            episodes: self.recent.episodes(),
            mean_return: self.recent.mean_return(),
            success: self.recent.success(),
            evaluation,
            losses: self.losses,
        }
    }

    /// The actor as it is now, or on average.
    pub fn actor(&self) -> Actor {
        let (net, params) = self.learner.actor();
        let params = self.average.clone().unwrap_or(params);
        let map = self.scaling.as_ref().map(|s| s.map.clone());
        let actor = Actor::new(self.pristine.spec(), &self.config.algorithm, net, params, map);
        actor.with_activation(self.config.output_activation)
    }

    /// The best actor of all evaluations (or the last, as the recipe says), with its evaluation.
    pub fn best(&self) -> Option<(&Evaluation, &Actor)> {
        self.best.as_ref().map(|(evaluation, actor)| (evaluation, actor))
    }

    /// One step in the environment, and the gradient steps that follow from it.
    fn step(&mut self) {
        let i = (self.steps % self.config.n_envs as u64) as usize;
        self.choose(i);
        self.interact(i);
        self.steps += 1;
        let enough = self.replay.len() as u64 >= self.config.learning_starts.max(1);
        if enough && self.steps.is_multiple_of(self.config.train_every) {
            for _ in 0..self.config.gradient_steps {
                self.learn();
            }
        }
        if enough && self.config.average > 0 && self.steps.is_multiple_of(AVERAGED_EVERY) {
            self.average();
        }
    }

    /// Lets the actor enter its average.
    fn average(&mut self) {
        let (_, params) = self.learner.actor();
        let share = -(-(AVERAGED_EVERY as f64) / self.config.average as f64).exp_m1();
        match &mut self.average {
            Some(mean) => {
                mean.iter_mut().zip(params).for_each(|(mean, p)| *mean += share as f32 * (p - *mean))
            }
            None => self.average = Some(params),
        }
    }

    /// Chooses the next action of a lane: demonstrated or random at first, then exploring.
    fn choose(&mut self, i: usize) {
        let lane = &mut self.lanes[i];
        lane.is_advised = false;
        let (shows, asks) = (self.steps < self.config.demonstrations, self.config.advice);
        if let Some(demonstrator) = self.demonstrator.as_mut().filter(|_| shows || asks) {
            lane.ask(demonstrator.as_mut(), &self.bounds, &mut self.rng);
            if shows {
                return demonstrate(lane, asks, &self.bounds, &mut self.rng);
            }
        }
        if self.steps < self.config.learning_starts {
            return self.bounds.draw(&mut lane.action, &mut self.rng);
        }
        self.seen.copy_from_slice(&lane.obs);
        if let Some(scaling) = &self.scaling {
            scaling.map.apply(&mut self.seen);
        }
        self.learner.explore(&self.seen, &mut lane.action, self.steps, &mut self.rng);
    }

    /// Applies the action and stores what came of it.
    fn interact(&mut self, i: usize) {
        let (lane, horizon) = (&mut self.lanes[i], self.pristine.spec().horizon);
        let step = lane.step(&self.bounds);
        if let Some(scaling) = &mut self.scaling
            && Divergence::of_first(&lane.obs).is_none()
        {
            scaling.push(&lane.obs);
        }
        if step.status != Status::Diverged {
            let is_cut = matches!(step.status, Status::Running | Status::TimedOut);
            let terminal = if is_cut { 0.0 } else { 1.0 };
            let Lane { obs, action, advice, next_obs, .. } = &*lane;
            let reward = (self.config.reward_scale * step.reward) as f32;
            let advised = f32::from(lane.is_advised);
            self.replay.push(Record { obs, action, reward, next_obs, terminal, advice, advised });
        }
        let is_left = restarts(self.config.restart_after, &mut self.rng);
        if step.status == Status::Running && lane.len() < horizon as usize && !is_left {
            std::mem::swap(&mut lane.obs, &mut lane.next_obs);
        } else {
            self.recent.push(lane.total(), lane.success(step.status));
            self.remember(i, step.status);
            self.lanes[i].begin();
        }
    }

    /// Keeps what became of the episode that just ended in a lane.
    fn remember(&mut self, i: usize, status: Status) {
        let (lane, taught) = (&self.lanes[i], self.config.demonstrations.max(self.config.learning_starts));
        let began = self.steps.saturating_sub((lane.len() * self.config.n_envs) as u64);
        let Some(ended) = &mut self.ended else { return };
        if status != Status::Diverged && began >= taught {
            let (initial, noise) = (lane.initial().to_vec(), self.learner.noise(self.steps));
            let failed = status == Status::Failed;
            let place = lane.place().filter(|_| failed);
            let margin = lane.margin();
            ended.push(TrainingEpisode { initial, step: self.steps, noise, failed, place, margin });
        }
    }

    /// One gradient step.
    fn learn(&mut self) {
        self.replay.sample(&mut self.batch, &mut self.rng);
        self.augment();
        if let Some(scaling) = &self.scaling {
            scaling.map.apply(&mut self.batch.obs);
            scaling.map.apply(&mut self.batch.next_obs);
        }
        self.losses = self.learner.update(&self.batch, self.config.lr_at(self.steps), &mut self.rng);
    }

    /// Shows every observation of the batch as the augmentation has it.
    fn augment(&mut self) {
        let Some(augmentation) = &mut self.augmentation else { return };
        let Batch { obs, next_obs, .. } = &mut self.batch;
        let width = self.seen.len();
        let rows = obs.chunks_exact_mut(width).zip(next_obs.chunks_exact_mut(width));
        rows.for_each(|(obs, next_obs)| augmentation.augment(obs, next_obs, &mut self.rng));
    }

    /// Plays the evaluation episodes and keeps the actor if it is the best so far; nothing, if `go_on` says no.
    fn evaluate(&mut self, go_on: &dyn Fn() -> bool) -> Option<Evaluation> {
        let (actor, n) = (self.actor(), self.config.eval_episodes);
        let seed = self.seed.child("evaluation");
        let found = Evaluation::of(&actor, self.pristine.as_ref(), n, self.steps, seed, go_on)?;
        let is_kept = self.config.keep == Keep::Last;
        if is_kept || self.best.as_ref().is_none_or(|(best, _)| found.beats(best)) {
            self.best = Some((found, actor));
        }
        Some(found)
    }
}

/// Steps between those at which the actor enters its average.
const AVERAGED_EVERY: u64 = 100;

/// Whether an episode is left at this step, so that episodes take so many steps on average; with 0 none is, and
/// nothing is drawn.
fn restarts(after: u32, rng: &mut Rng) -> bool {
    after > 0 && rng.uniform() * f64::from(after) < 1.0
}

/// The ring of a run, with advice where something is learned from it.
fn replay(config: &TrainConfig, spec: &EnvSpec) -> Replay {
    let ring = Replay::for_environment(config.buffer, spec);
    if config.imitation > 0.0 { ring.with_advice() } else { ring }
}
