//! Networks from ONNX files act as onnxruntime says (`tests/onnx/make.py` made files and answers).

use offnominal_agents::onnx::{Onnx, OnnxError};
use offnominal_core::prelude::*;
use offnominal_core::spec::Image;
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(file(&format!("{name}.onnx"))).unwrap()
}

/// An environment with so many numbers, and actions that are real numbers in ±`bound`, or one of `choices`.
fn environment(numbers: usize, actions: usize, bound: f64, choices: u32) -> EnvSpec {
    let number = |i| Channel::unbounded(&format!("o{i}"), "a number", "1");
    let action = |i| match choices {
        0 => Channel::new(&format!("a{i}"), "an action", "1", -bound, bound),
        n => Channel::choice("a", "a choice", n),
    };
    EnvSpec {
        observation: (0..numbers).map(number).collect(),
        action: (0..actions).map(action).collect(),
        ..EnvSpec::new("w", "an environment of numbers")
    }
}

/// The same, whose observation is an image of three planes.
fn seeing(actions: usize, bound: f64, choices: u32) -> EnvSpec {
    let image = Image { frames: 1, planes: 3, height: 9, columns: 8 };
    let observation = vec![Channel::image("o", "an image", image)];
    EnvSpec { observation, ..environment(0, actions, bound, choices) }
}

/// Inputs with the outputs that onnxruntime computes.
fn expected(name: &str) -> Vec<(Vec<f32>, Vec<f32>)> {
    let text = std::fs::read_to_string(file("expected.json")).unwrap();
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    let read = |key: &str| serde_json::from_value::<Vec<Vec<f32>>>(all[name][key].clone()).unwrap();
    read("inputs").into_iter().zip(read("outputs")).collect()
}

fn acted(policy: &mut Onnx, obs: &[f32], actions: usize) -> Vec<f32> {
    let mut action = vec![0.0; actions];
    policy.act(obs, &mut action, &mut Rng::new(0));
    action
}

#[track_caller]
fn close(found: &[f32], wanted: &[f32]) {
    let fits = found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5);
    assert!(fits, "{found:?}, expected {wanted:?}");
}

#[test]
fn actions_are_those_of_onnxruntime() {
    for (name, numbers, actions) in [("mlp", 3, 1), ("pieces", 4, 8)] {
        let mut policy = Onnx::from_bytes(&bytes(name), &environment(numbers, actions, 10.0, 0)).unwrap();
        for (input, output) in expected(name) {
            close(&acted(&mut policy, &input, actions), &output);
        }
    }
}

#[test]
fn actions_stay_within_their_bounds() {
    let mut policy = Onnx::from_bytes(&bytes("mlp"), &environment(3, 1, 0.1, 0)).unwrap();
    for (input, output) in expected("mlp") {
        close(&acted(&mut policy, &input, 1), &[output[0].clamp(-0.1, 0.1)]);
    }
}

#[test]
fn the_largest_value_is_the_choice() {
    let mut policy = Onnx::from_bytes(&bytes("cnn"), &seeing(1, 0.0, 4)).unwrap();
    for (input, output) in expected("cnn") {
        let largest = (0..4).max_by(|&i, &k| output[i].total_cmp(&output[k])).unwrap();
        assert_eq!(acted(&mut policy, &input, 1), [largest as f32]);
    }
}

#[test]
fn convolutions_are_those_of_onnxruntime() {
    let mut policy = Onnx::from_bytes(&bytes("cnn"), &seeing(4, 1e6, 0)).unwrap();
    for (input, output) in expected("cnn") {
        close(&acted(&mut policy, &input, 4), &output);
    }
}

#[test]
fn it_is_a_lawful_policy() {
    let spec = environment(3, 1, 2.0, 0);
    let policy = Onnx::from_bytes(&bytes("mlp"), &spec).unwrap();
    offnominal_laws::assert_lawful("mlp", &offnominal_laws::policy(&policy, &spec, &[]));
}

#[test]
fn other_environments_are_refused() {
    let refused =
        |numbers, actions| Onnx::from_bytes(&bytes("mlp"), &environment(numbers, actions, 1.0, 0)).err();
    let flat = Onnx::from_bytes(&bytes("cnn"), &environment(3 * 9 * 8, 4, 1.0, 0)).err().unwrap().to_string();
    assert_eq!(flat, "input: expected real numbers [1, 216], found float32 [1, 3, 9, 8]");
    assert_eq!(refused(4, 1), Some(OnnxError::Shape { what: "input", expected: 4, found: 3 }));
    assert_eq!(refused(3, 2), Some(OnnxError::Shape { what: "output", expected: 2, found: 1 }));
}

#[test]
fn damage_is_an_error_wherever_it_is() {
    let (whole, spec) = (bytes("mlp"), environment(3, 1, 1.0, 0));
    for end in 0..whole.len() {
        assert!(Onnx::from_bytes(&whole[..end], &spec).is_err(), "the first {end} bytes are no policy");
    }
    for at in 0..whole.len() {
        let mut edited = whole.clone();
        edited[at] ^= 0x55;
        // Some bytes are weights; others must not bring the program down.
        let _ = Onnx::from_bytes(&edited, &spec);
    }
}

#[test]
fn an_operator_that_is_not_known_is_named() {
    let mut edited = bytes("mlp");
    let at = edited.windows(4).position(|w| w == b"Tanh").unwrap();
    edited[at..at + 4].copy_from_slice(b"Tang");
    let error = Onnx::from_bytes(&edited, &environment(3, 1, 1.0, 0)).err().unwrap().to_string();
    assert!(error.starts_with("operator Tang (\"/t\"): expected an operator of feed-forward"), "{error}");
}
