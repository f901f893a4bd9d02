//! State dictionaries of CleanRL and models of RSL-RL act as their networks do. `tests/torch/make_*.py` made the files.

use offnominal_agents::network::Activation;
use offnominal_agents::{cleanrl, rsl_rl};
use offnominal_core::channel::Image;
use offnominal_core::prelude::*;
use offnominal_core::spec::{Channel, EnvSpec};
use serde_json::Value;
use std::io::Write;
use std::path::Path;

fn file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torch").join(name)).unwrap()
}

fn rows(value: &Value) -> Vec<Vec<f32>> {
    serde_json::from_value(value.clone()).unwrap()
}

fn spec(action: Vec<Channel>) -> EnvSpec {
    let observation = (0..3).map(|i| Channel::unbounded(&format!("o{i}"), "a number", "1")).collect();
    EnvSpec { observation, action, ..EnvSpec::new("w", "an environment of numbers") }
}

fn bounded() -> EnvSpec {
    let channel = |name, low, high| Channel::new(name, "an action", "1", low, high);
    spec(vec![channel("a0", -1.0, 1.0), channel("a1", -20.0, 4.0)])
}

fn unbounded() -> EnvSpec {
    spec(vec![Channel::unbounded("a0", "an action", "1"), Channel::unbounded("a1", "an action", "1")])
}

fn choosing(n: u32) -> EnvSpec {
    spec(vec![Channel::choice("a", "a choice", n)])
}

fn seeing() -> EnvSpec {
    EnvSpec { observation: vec![Channel::image("image", "seen", Image::grey(4, 36, 36))], ..choosing(5) }
}

#[track_caller]
fn acts_alike(policy: &mut dyn Policy, observations: &Value, actions: &Value) {
    policy.reset();
    for (obs, want) in rows(observations).iter().zip(rows(actions)) {
        let mut action = vec![0.0; want.len()];
        policy.act(obs, &mut action, &mut Rng::new(0));
        let close = action.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 1e-5);
        assert!(close, "{action:?} instead of {want:?}");
    }
}

#[test]
fn state_dictionaries_of_cleanrl_act_as_their_networks_do() {
    let expected: Value = serde_json::from_slice(&file("cleanrl.json")).unwrap();
    let kinds = [
        ("ppo", "ppo", choosing(4)),
        ("ppocontinuous", "ppo", bounded()),
        ("td3", "td3", bounded()),
        ("sac", "sac", bounded()),
        ("dqn", "dqn", choosing(4)),
        ("ppoatari", "ppo", seeing()),
    ];
    for (name, algorithm, spec) in kinds {
        let bytes = file(&format!("{name}.cleanrl_model"));
        let taken = cleanrl::read(&bytes, &spec, None).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(taken.algorithm(), algorithm, "{name}");
        assert_eq!(cleanrl::is_normalised(&bytes).unwrap(), name == "ppocontinuous");
        let observations = if name == "ppoatari" { &expected["images"] } else { &expected["observations"] };
        acts_alike(taken.into_policy().as_mut(), observations, &expected[name]);
    }
}

#[test]
fn models_of_rsl_rl_act_as_their_classes_do() {
    let expected: Value = serde_json::from_slice(&file("rsl_rl.json")).unwrap();
    for name in ["rsl-rl-2", "rsl-rl-2-tanh", "rsl-rl-2-lstm", "rsl-rl-5", "rsl-rl-5-lstm"] {
        let activation = if name.ends_with("tanh") { Activation::Tanh } else { Activation::Elu };
        let taken = rsl_rl::read(&file(&format!("{name}.pt")), &unbounded(), activation);
        let taken = taken.unwrap_or_else(|e| panic!("{name}: {e}"));
        acts_alike(taken.into_policy().as_mut(), &expected["observations"], &expected[name]["actions"]);
    }
}

#[test]
fn another_layout_or_environment_is_explained() {
    let refused = |name: &str, spec: &EnvSpec, want: &str| {
        let bytes = file(name);
        let found = match name.ends_with(".pt") {
            true => rsl_rl::read(&bytes, spec, Activation::Elu),
            false => cleanrl::read(&bytes, spec, None),
        };
        let error = found.unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    };
    refused(
        "dqn.cleanrl_model",
        &choosing(3),
        "actions of w: expected one of 3 choices, found one of 4 choices",
    );
    refused("ppo.cleanrl_model", &bounded(), "actions of w: expected real numbers, found one of 4 choices");
    let mut narrow = bounded();
    narrow.action[1].high = 3.0;
    refused(
        "td3.cleanrl_model",
        &narrow,
        "those of the bounds [-1.0, -20.0] to [1.0, 3.0], found [1.0, 12.0]",
    );
    refused("ppoatari.cleanrl_model", &choosing(5), "expected an environment with images, which w is not");
    refused("rsl-rl-5.pt", &choosing(2), "outputs of the network for w: expected 1, found 2");
    let cleanrl =
        rsl_rl::read(&file("dqn.cleanrl_model"), &bounded(), Activation::Elu).unwrap_err().to_string();
    assert!(cleanrl.contains("expected a dictionary actor_state_dict or model_state_dict"), "{cleanrl}");
    let rsl = cleanrl::read(&file("rsl-rl-5.pt"), &bounded(), None).unwrap_err().to_string();
    assert!(rsl.contains("expected one of actor_mean.0.weight, fc_mean.weight"), "{rsl}");
}

/// A zip of these parts, packed.
fn zipped(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut to = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        to.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        to.write_all(bytes).unwrap();
    }
    to.finish().unwrap().into_inner()
}

/// Why both readers refuse a file.
fn reasons(bytes: &[u8]) -> [String; 2] {
    let cleanrl = cleanrl::read(bytes, &bounded(), None).unwrap_err();
    [cleanrl, rsl_rl::read(bytes, &bounded(), Activation::Elu).unwrap_err()].map(|error| error.to_string())
}

#[test]
fn a_hostile_pickle_is_refused_and_not_run() {
    let hostile = b"\x80\x02cposix\nsystem\n(X\x04\0\0\0exittR.";
    for error in reasons(&zipped(&[("archive/data.pkl", hostile)])) {
        assert!(error.contains("found posix.system; nothing was executed"), "{error}");
    }
    for error in reasons(b"no zip") {
        assert!(error.contains("expected a zip archive"), "{error}");
    }
}

#[test]
fn a_part_that_inflates_is_not_unpacked() {
    let bomb = zipped(&[("archive/data.pkl", &vec![b'0'; 64 << 20])]);
    assert!(bomb.len() < 1 << 20, "{}", bomb.len());
    let used = allocation_counter::measure(|| {
        for error in reasons(&bomb) {
            assert!(error.contains("more than the 16777216 bytes that it may have"), "{error}");
        }
    });
    assert!(used.bytes_max < 64 << 20, "{} bytes", used.bytes_max);
}
