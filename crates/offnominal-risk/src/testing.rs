//! A toy for tests: it fails in its first step with a chance that is known, and its training history.

use crate::guide::Guide;
use crate::learning::learn_from;
use crate::predictors::learn::PredictorRecipe;
use offnominal_agents::history::Run;
use offnominal_agents::{History, TrainingEpisode};
use offnominal_core::env::{Env, Status, Step};
use offnominal_core::noisy::{Noisy, NominalNoise, Term};
use offnominal_core::prelude::*;
use offnominal_core::spec::ParameterError;
use offnominal_engine::context::Context;
use offnominal_engine::subject::Subject;
use offnominal_files::dataset::PolicyName;
use offnominal_files::journal::Journal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

/// Fails from x with the chance height · exp(−decay x), where x is uniform on [0, 1) and a second number means nothing.
#[derive(Clone)]
pub struct Toy {
    spec: EnvSpec,
    height: f64,
    at: f64,
}

/// How quickly the chance falls.
const DECAY: f64 = 40.0;

impl Toy {
    /// A toy whose chance at zero is the given one.
    pub fn new(height: f64) -> Toy {
        let spec = EnvSpec {
            id: "toy".into(),
            summary: "fails near zero".into(),
            source: "a fixture".into(),
            observation: vec![Channel::unbounded("x", "where it began", "1")],
            action: vec![Channel::new("push", "nothing", "1", -1.0, 1.0)],
            dt_secs: 1.0,
            horizon: 1,
            parameters: vec![],
            initial: vec!["x".into(), "y".into()],
            reward: "none".into(),
            reset: "uniform".into(),
            success: "none".into(),
            ..EnvSpec::default()
        };
        Toy { spec, height, at: 0.0 }
    }

    /// The failure probability.
    pub fn p(&self) -> f64 {
        self.height * (1.0 - (-DECAY).exp()) / DECAY
    }

    fn chance(&self) -> f64 {
        self.height * (-DECAY * self.at).exp()
    }
}

impl Env for Toy {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        vec![rng.uniform(), rng.uniform()]
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        self.at = x[0];
    }

    fn observe(&self, obs: &mut [f32]) {
        obs[0] = self.at as f32;
    }

    fn step(&mut self, _: &[f32], rng: &mut Rng) -> Step {
        let status = if rng.uniform() < self.chance() { Status::Failed } else { Status::Running };
        Step { reward: 0.0, status }
    }

    fn set_parameter(&mut self, name: &str, _: f64) -> Result<(), ParameterError> {
        self.spec.parameter(name).map(|_| ())
    }

    fn fork(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(self.clone()))
    }
}

/// The toy with a policy that does nothing.
pub fn subject(toy: &Toy) -> Subject {
    let policy = |_: &[f32], action: &mut [f32]| action.fill(0.0);
    let name = PolicyName { id: format!("still-{}", toy.height), digest: format!("{}", toy.height) };
    Subject::of(Box::new(toy.clone()), Box::new(policy), name)
}

/// Training episodes of policies that fail a hundred times as often as the last one, then less and less.
pub fn history(last: &Toy, n: usize) -> History {
    let run = Run {
        env: "toy".into(),
        initial: last.spec.initial.clone(),
        algorithm: "none".into(),
        seed: Seed(0),
        steps: n as u64,
    };
    let mut rng = Rng::new(9);
    let mut one = |i: usize| {
        let done = i as f64 / n as f64;
        let toy = Toy { height: last.height * 100.0_f64.powf(1.0 - done), ..last.clone() };
        let initial = toy.draw(&mut rng);
        let chance = Toy { at: initial[0], ..toy }.chance();
        TrainingEpisode {
            initial,
            step: i as u64 + 1,
            noise: 1.0 - 0.5 * done,
            failed: rng.uniform() < chance,
            place: None,
            margin: None,
        }
    };
    History { episodes: (0..n).map(&mut one).collect(), run, is_rounded: false }
}

/// Nothing is printed, and the seed is 1.
pub fn context(jobs: usize) -> Context {
    Context::silent(1, jobs)
}

/// A predictor from the toy's training, opened for it.
pub fn guide(toy: &Toy, subject: &Subject, folder: &Path) -> Guide {
    let path = folder.join("predictor.safetensors");
    std::fs::write(&path, predictor(toy, subject.env.as_ref())).unwrap();
    Guide::open(&path, subject).unwrap()
}

/// The bytes of the predictor that learned from a toy; learned once per height, because it takes seconds.
fn predictor(toy: &Toy, env: &dyn Env) -> Vec<u8> {
    static LEARNED: Mutex<BTreeMap<u64, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let learn = || {
        let recipe = PredictorRecipe { members: 2, steps: 800, ..PredictorRecipe::default() };
        let found = learn_from(&[history(toy, 12_000)], None, env, &recipe, None, &context(1)).unwrap();
        found.predictor.to_bytes()
    };
    LEARNED.lock().unwrap().entry(toy.height.to_bits()).or_insert_with(learn).clone()
}

/// Writes a journal anew with blocks that were edited, as if it had been made so.
pub fn rewrite(path: &Path, edit: impl Fn(&mut Value)) {
    let text = std::fs::read_to_string(path).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let blocks = Journal::open::<Value, Value>(path, &first["run"]).unwrap().1;
    std::fs::remove_file(path).unwrap();
    let mut journal = Journal::open::<Value, Value>(path, &first["run"]).unwrap().0;
    for mut block in blocks {
        edit(&mut block);
        journal.push(&block).unwrap();
    }
}

/// A leaky sum of commands, x' = a x + u, whose commands have white noise of standard deviation 1; it fails where x reaches
/// a height, which is its margin.
#[derive(Clone)]
pub struct Leaky {
    spec: EnvSpec,
    kept: f64,
    height: f64,
    at: f64,
}

impl Leaky {
    /// One that keeps a share of x in each of so many steps.
    pub fn new(kept: f64, height: f64, steps: u32) -> Leaky {
        let spec =
            EnvSpec { id: "leaky".into(), initial: vec!["x".into()], horizon: steps, ..Toy::new(0.0).spec };
        Leaky { spec, kept, height, at: 0.0 }
    }

    /// The smallest |z| that fails from 0, by Cauchy and Schwarz: weights of the noise are powers of what is kept.
    pub fn distance(&self) -> f64 {
        let weights = (0..self.spec.horizon as i32).map(|i| self.kept.powi(2 * i)).sum::<f64>();
        self.height / weights.sqrt()
    }

    /// With noise and a policy that does nothing.
    pub fn subject(&self) -> Subject {
        let white = Term { white: 1.0, ..Term::default() };
        let noise =
            NominalNoise { observation: vec![Term::default()], action: vec![white], jitter_secs: 0.0 };
        let env = Noisy::new(Box::new(self.clone()), noise, "leaky?noise=white", "").unwrap();
        let policy = |_: &[f32], action: &mut [f32]| action.fill(0.0);
        let name = PolicyName { id: "still".into(), digest: "leaky".into() };
        Subject::of(Box::new(env), Box::new(policy), name)
    }
}

impl Env for Leaky {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn draw(&self, _: &mut Rng) -> Vec<f64> {
        vec![0.0]
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        self.at = x[0];
    }

    fn observe(&self, obs: &mut [f32]) {
        obs[0] = self.at as f32;
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        self.at = self.kept * self.at + f64::from(action[0]);
        let status = if self.at >= self.height { Status::Failed } else { Status::Running };
        Step { reward: 0.0, status }
    }

    fn set_parameter(&mut self, name: &str, _: f64) -> Result<(), ParameterError> {
        self.spec.parameter(name).map(|_| ())
    }

    fn fork(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(self.clone()))
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        self
    }
}

impl FailureSearch for Leaky {
    fn margin(&self) -> Option<f64> {
        Some(self.height - self.at)
    }
}
