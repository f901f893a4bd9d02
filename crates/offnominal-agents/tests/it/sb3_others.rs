//! Models of every algorithm act as Stable-Baselines3 and sb3-contrib say. `tests/sb3/make_others.py` made the files.

use offnominal_agents::network::Network;
use offnominal_agents::sb3::{Model, Options, Space, read_normalisation};
use offnominal_core::Rng;
use offnominal_core::channel::Image;
use offnominal_core::policy::Policy;
use offnominal_core::spec::{Channel, EnvSpec};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Expected {
    models: BTreeMap<String, Answers>,
}

/// What a model does along episodes, and how many frames it sees at once.
#[derive(Deserialize)]
struct Answers {
    stack: usize,
    episodes: Vec<Episode>,
}

#[derive(Deserialize)]
struct Episode {
    observations: Vec<Vec<f32>>,
    actions: Vec<Vec<f32>>,
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sb3").join(name)
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

fn expected() -> BTreeMap<String, Answers> {
    serde_json::from_slice::<Expected>(&file("others.json")).unwrap().models
}

fn read(name: &str) -> Model {
    Model::read(&file(&format!("others/{name}.zip"))).unwrap()
}

fn options(name: &str, answers: &Answers) -> Options {
    let pickle = path(&format!("others/{name}.pkl"));
    let statistics = pickle.is_file().then(|| read_normalisation(&std::fs::read(&pickle).unwrap()).unwrap());
    Options { statistics: statistics.flatten(), stack: answers.stack }
}

/// The environment of a model, whose own observations are not stacked.
fn spec(model: &Model, stack: usize) -> EnvSpec {
    let mut spec = model.spec("w");
    if let (Space::Box { shape, is_image: true, .. }, true) = (&model.observation, stack > 1) {
        spec.observation = vec![Channel::image("image", "seen", Image::grey(1, shape[1], shape[2]))];
    } else {
        spec.observation.truncate(spec.observation.len() / stack);
    }
    spec
}

#[track_caller]
fn acts_alike(name: &str, policy: &mut dyn Policy, answers: &Answers) {
    for episode in &answers.episodes {
        policy.reset();
        for (obs, want) in episode.observations.iter().zip(&episode.actions) {
            let mut action = vec![0.0; want.len()];
            policy.act(obs, &mut action, &mut Rng::new(0));
            let close = action.iter().zip(want).all(|(a, b)| (a - b).abs() <= 1e-5);
            assert!(close, "{name}: {action:?} instead of {want:?}");
        }
    }
}

#[test]
fn actions_are_those_of_stable_baselines3() {
    let all = expected();
    assert!(all.len() >= 28, "{}", all.len());
    for (name, answers) in &all {
        let (model, options) = (read(name), options(name, answers));
        let spec = spec(&model, answers.stack);
        let taken = model.policy(&spec, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
        let bytes = taken.to_bytes();
        acts_alike(name, taken.into_policy().as_mut(), answers);
        if Network::is_in(&bytes) {
            acts_alike(name, &mut Network::from_bytes(&bytes, &spec).unwrap(), answers);
        }
    }
}

#[test]
fn answers_of_an_episode_do_not_depend_on_the_one_before() {
    for name in ["recurrent", "recurrent-deep", "ppo-stack", "ppo-separate"] {
        let answers = &expected()[name];
        let spec = spec(&read(name), answers.stack);
        let mut policy = read(name).policy(&spec, &options(name, answers)).unwrap().into_policy();
        acts_alike(name, policy.as_mut(), answers);
        acts_alike(name, policy.fork().as_mut(), answers);
        let (mut action, obs) = (vec![0.0; spec.act_width()], vec![0.3; spec.obs_width()]);
        let mut act = |policy: &mut dyn Policy| {
            policy.act(&obs, &mut action, &mut Rng::new(0));
            action.clone()
        };
        policy.reset();
        let first = act(policy.as_mut());
        let second = act(policy.as_mut());
        policy.reset();
        assert_eq!(first, act(policy.as_mut()), "{name}");
        assert!(first != second || spec.action[0].is_choice(), "{name} remembers what it saw");
    }
}

#[test]
fn algorithms_are_told_apart() {
    for name in expected().keys() {
        let want = match name.as_str() {
            "recurrent" | "recurrent-deep" => "recurrent-ppo",
            "maskable" => "maskable-ppo",
            "qr-dqn" => "qr-dqn",
            other => other.split('-').next().unwrap(),
        };
        assert_eq!(read(name).algorithm, want, "{name}");
    }
}

#[test]
fn they_are_lawful_policies() {
    for name in ["ppo", "ppo-multi", "ppo-binary", "recurrent", "ars", "ppo-squashed"] {
        let model = read(name);
        let spec = model.spec("w");
        let policy = model.policy(&spec, &Options::default()).unwrap().into_policy();
        offnominal_laws::assert_lawful(name, &offnominal_laws::policy(policy.as_ref(), &spec, &[]));
    }
}

#[test]
fn acting_allocates_nothing() {
    for name in ["recurrent", "ppo-separate", "ppo-integers", "ppo-stacked-norm"] {
        let answers = &expected()[name];
        let model = read(name);
        let spec = spec(&model, answers.stack);
        let mut policy = model.policy(&spec, &options(name, answers)).unwrap().into_policy();
        let (obs, mut action) = (vec![0.5; spec.obs_width()], vec![0.0; spec.act_width()]);
        let mut rng = Rng::new(0);
        let used = allocation_counter::measure(|| {
            policy.reset();
            (0..3).for_each(|_| policy.act(&obs, &mut action, &mut rng));
        });
        assert_eq!(used.count_total, 0, "{name}");
    }
}

#[test]
fn an_image_must_be_the_one_that_was_seen() {
    let model = read("dqn-image");
    let mut spec = model.spec("w");
    spec.observation = vec![Channel::image("image", "seen", Image::grey(1, 18, 72))];
    let error = model.policy(&spec, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("observation channels of w: expected [1, 18, 72], found [1, 36, 36]"), "{error}");
}
