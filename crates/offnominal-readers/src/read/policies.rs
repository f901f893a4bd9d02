//! Readers of policies, of trainings, and of what is learned about policies.

use offnominal_agents::network::{Activation, Network};
use offnominal_agents::onnx::Onnx;
use offnominal_agents::sb3::{Model, Options, read_normalisation};
use offnominal_agents::{Actor, Card, History, Trainer, cleanrl, rsl_rl};
use offnominal_core::channel::Image;
use offnominal_core::env::Env;
use offnominal_core::prelude::*;
use offnominal_engine::catalogues;
use offnominal_risk::predictors::predictor::Predictor;
use std::sync::LazyLock;

/// An environment with so many numbers, and actions that are real or one of `choices`.
pub fn spec(numbers: usize, actions: usize, choices: u32) -> EnvSpec {
    let action = |i| match choices {
        0 => Channel::new(&format!("a{i}"), "an action", "1", -1.0, 1.0),
        n => Channel::choice("a", "a choice", n),
    };
    EnvSpec {
        observation: (0..numbers).map(|i| Channel::unbounded(&format!("o{i}"), "a number", "1")).collect(),
        action: (0..actions).map(action).collect(),
        ..EnvSpec::new("small", "an environment of numbers")
    }
}

/// An environment that shows an image, with one of four choices.
pub fn seeing() -> EnvSpec {
    let image = Channel::image("image", "what is seen", Image::grey(2, 12, 12));
    EnvSpec { observation: vec![image], ..spec(0, 1, 4) }
}

/// Has a policy act a few times.
fn acts(policy: &mut dyn Policy, spec: &EnvSpec) -> bool {
    let (mut action, mut rng) = (vec![0.0; spec.act_width()], Rng::new(1));
    for x in [0.0, 1.0, -3.0, 1e30] {
        policy.act(&vec![x; spec.obs_width()], &mut action, &mut rng);
    }
    policy.fork().act(&vec![0.5; spec.obs_width()], &mut action, &mut rng);
    true
}

/// A policy's own file.
pub fn policy(bytes: &[u8]) -> bool {
    let specs = [spec(3, 2, 0), spec(3, 1, 3), seeing()];
    let found = specs.iter().find_map(|spec| Some((Actor::from_bytes(bytes, spec).ok()?, spec)));
    found.is_some_and(|(mut actor, spec)| acts(&mut actor, spec))
}

/// The card beside it.
pub fn card(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Card>(bytes).is_ok()
}

/// A policy of somebody else.
pub fn onnx(bytes: &[u8]) -> bool {
    static SPECS: LazyLock<[EnvSpec; 3]> = LazyLock::new(|| {
        let image = Image { frames: 1, planes: 3, height: 9, columns: 8 };
        let observation = vec![Channel::image("image", "what is seen", image)];
        [spec(3, 1, 0), spec(4, 8, 0), EnvSpec { observation, ..spec(0, 1, 4) }]
    });
    let found = SPECS.iter().find_map(|spec| Some((Onnx::from_bytes(bytes, spec).ok()?, spec)));
    found.is_some_and(|(mut policy, spec)| acts(&mut policy, spec))
}

/// A model of Stable-Baselines3.
pub fn sb3(bytes: &[u8]) -> bool {
    let Ok(model) = Model::read(bytes) else { return false };
    let spec = model.spec("own");
    let taken = model.policy(&spec, &Options::default());
    taken.is_ok_and(|taken| acts(taken.into_policy().as_mut(), &spec))
}

/// A policy of layers, as it is kept of other libraries.
pub fn network(bytes: &[u8]) -> bool {
    let specs = [spec(3, 2, 0), spec(3, 1, 3), seeing()];
    let found = specs.iter().find_map(|spec| Some((Network::from_bytes(bytes, spec).ok()?, spec)));
    found.is_some_and(|(mut network, spec)| acts(&mut network, spec))
}

/// A state dictionary of CleanRL.
pub fn cleanrl(bytes: &[u8]) -> bool {
    static SPECS: LazyLock<[EnvSpec; 3]> = LazyLock::new(|| [two_bounded(), spec(3, 1, 4), seeing()]);
    let found = SPECS.iter().find_map(|spec| Some((cleanrl::read(bytes, spec, None).ok()?, spec)));
    found.is_some_and(|(taken, spec)| acts(taken.into_policy().as_mut(), spec))
}

/// Three numbers, and two actions with the bounds of the tests of CleanRL.
fn two_bounded() -> EnvSpec {
    let mut spec = spec(3, 2, 0);
    (spec.action[1].low, spec.action[1].high) = (-20.0, 4.0);
    spec
}

/// A model of RSL-RL.
pub fn rsl_rl(bytes: &[u8]) -> bool {
    let spec = spec(3, 2, 0);
    rsl_rl::read(bytes, &spec, Activation::Elu).is_ok_and(|taken| acts(taken.into_policy().as_mut(), &spec))
}

/// The statistics beside a model of Stable-Baselines3.
pub fn sb3_statistics(bytes: &[u8]) -> bool {
    read_normalisation(bytes).is_ok()
}

/// The environment of the trainings here.
pub fn environment() -> &'static dyn Env {
    static ENV: LazyLock<Box<dyn Env>> =
        LazyLock::new(|| catalogues::environment("sap-goal0", None).expect("it needs nothing from outside"));
    ENV.as_ref()
}

/// A training that is under way.
pub fn checkpoint(bytes: &[u8]) -> bool {
    Trainer::resume(bytes, environment()).is_ok_and(|mut trainer| {
        trainer.advance(2);
        true
    })
}

/// The episodes of a training.
pub fn history(bytes: &[u8]) -> bool {
    History::from_bytes(bytes).is_ok()
}

/// A predictor of failures.
pub fn predictor(bytes: &[u8]) -> bool {
    Predictor::from_bytes(bytes).is_ok()
}
