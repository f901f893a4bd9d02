//! Seeds of policies, trainings, and what is learned about policies.

use crate::mutate::zipped;
use crate::read::policies::{environment, seeing, spec};
use offnominal_agents::network::{
    Activation, Design, Encoding, Input, Kind, Layer, Network, Normalised, Output,
};
use offnominal_agents::trainer::Contents;
use offnominal_agents::{Actor, History, Normalisation, TrainConfig, Trainer, TrainingEpisode};
use offnominal_core::spec::EnvSpec;
use offnominal_core::{Rng, Seed};
use offnominal_engine::context::Context;
use offnominal_nets::{Activation as Hidden, ConvNet, Filters, Mlp, Net, Tensors};
use offnominal_risk::learning::learn_from;
use offnominal_risk::predictors::learn::{Form, PredictorRecipe};
use std::io::{Cursor, Read};

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 7919) % 101) as f32 / 101.0 - 0.5).collect()
}

fn actor(spec: &EnvSpec, sizes: &[usize], dropout: f32) -> Actor {
    let net = Mlp::new(sizes, Hidden::Relu).with_dropout(dropout);
    let params = numbers(net.n_params());
    let map = Normalisation { mean: vec![0.1; sizes[0]], scale: vec![2.0; sizes[0]] };
    Actor::new(spec, "tqc", net, params, Some(map))
}

/// A plain policy, an ensemble, one that drops units, and one that chooses.
pub fn policies() -> Vec<(String, Vec<u8>)> {
    let (real, choosing) = (spec(3, 2, 0), spec(3, 1, 3));
    let plain = actor(&real, &[3, 8, 2], 0.0);
    let ensemble = Actor::ensemble(vec![plain.clone(), plain.clone()]).expect("two alike");
    let filters = [Filters { kernel: 4, stride: 2, count: 3 }];
    let encoder = ConvNet::fitting(2, 12, 12, &filters).expect("they fit");
    let head = Mlp::new(&[encoder.outputs(), 6, 4], Hidden::Relu);
    let net = Net::new(Some(encoder), head);
    let seeing = Actor::new(&seeing(), "dqn", net.clone(), numbers(net.n_params()), None);
    let all = [
        ("seeing", seeing),
        ("plain", plain),
        ("ensemble", ensemble),
        ("dropping", actor(&real, &[3, 8, 2], 0.5)),
        ("choosing", actor(&choosing, &[3, 4, 4, 3], 0.0)),
    ];
    all.map(|(name, actor)| (format!("{name}.safetensors"), actor.to_bytes())).into()
}

/// Any tensors.
pub fn tensors() -> Vec<u8> {
    let mut tensors = Tensors::default();
    tensors.insert("w", &[2, 3], &numbers(6));
    tensors.insert("b", &[3], &numbers(3));
    tensors.put_entry("format", "x");
    tensors.to_bytes()
}

/// A policy of filters on an image, and one with a memory.
pub fn networks() -> Vec<(String, Vec<u8>)> {
    let layer = |kind, activation| Layer { kind, activation };
    let input =
        |width, stack, encoding| Input { width, stack, normalised: Normalised::No, clip: None, encoding };
    let filters = Kind::Convolution { planes: 2, height: 12, columns: 12, filters: 2, kernel: 4, stride: 4 };
    let of_image = Design {
        input: input(288, 1, Encoding::Grey),
        layers: vec![
            layer(filters, Activation::Relu),
            layer(Kind::Dense { inputs: 18, outputs: 4 }, Activation::Identity),
        ],
        output: Output::Choices(vec![4]),
    };
    let remembering = Design {
        input: Input { normalised: Normalised::Frames, clip: Some(5.0), ..input(3, 2, Encoding::Numbers) },
        layers: vec![
            layer(Kind::Lstm { inputs: 6, units: 2 }, Activation::Identity),
            layer(Kind::Dense { inputs: 2, outputs: 2 }, Activation::Cut(2.0)),
        ],
        output: Output::Squashed,
    };
    let map = Normalisation { mean: vec![0.5; 3], scale: vec![2.0; 3] };
    let made = |name: &str, spec: &EnvSpec, design: Design, map| {
        let params = design.layers.iter().map(|layer| {
            numbers(layer.kind.shapes().iter().map(|(_, shape)| shape.iter().product::<usize>()).sum())
        });
        let params = params.collect();
        let network = Network::new(spec, "ppo", design, params, map).expect("parts that fit");
        (format!("{name}.safetensors"), network.to_bytes())
    };
    vec![
        made("filters", &seeing(), of_image, None),
        made("remembering", &spec(3, 2, 0), remembering, Some(map)),
    ]
}

/// Models of the tests with what a policy needs, and no more.
pub fn sb3() -> Vec<(String, Vec<u8>)> {
    ["dqn.zip", "old.zip", "others/recurrent-deep.zip", "others/ppo-integers.zip"].map(lean).into()
}

fn lean(model: &str) -> (String, Vec<u8>) {
    let (name, whole) = super::repository(&format!("crates/offnominal-agents/tests/sb3/{model}"));
    let mut archive = zip::ZipArchive::new(Cursor::new(&whole)).expect("a zip");
    let mut part = |name: &str| {
        let mut bytes = Vec::new();
        archive.by_name(name).expect("the part").read_to_end(&mut bytes).expect("readable");
        (name.to_string(), bytes)
    };
    (name, zipped(&[part("data"), part("policy.pth")]))
}

/// A training of eight steps.
pub fn checkpoint() -> Vec<u8> {
    let config = TrainConfig {
        steps: 40,
        hidden: vec![8],
        batch: 4,
        buffer: 50,
        learning_starts: 4,
        quantiles: 3,
        top_quantiles_to_drop: 1,
        eval_every: 1000,
        ..TrainConfig::default()
    };
    let mut trainer = Trainer::new(config, environment(), Seed(1)).expect("a sound recipe");
    trainer.advance(8);
    trainer.checkpoint(Contents::Full)
}

/// Two episodes of a training.
pub fn history() -> Vec<u8> {
    let run = offnominal_agents::history::Run {
        env: "w".into(),
        initial: vec!["x".into(), "y".into()],
        algorithm: "td3".into(),
        seed: Seed(3),
        steps: 40_000_000,
    };
    let past = |step, failed| TrainingEpisode {
        initial: vec![0.25, -1.5],
        step,
        noise: 0.5,
        failed,
        place: failed.then_some(3),
        margin: Some(if failed { -0.5 } else { 0.25 }),
    };
    History { run, episodes: vec![past(7, true), past(33_554_435, false)], is_rounded: false }.to_bytes()
}

/// A dictionary of episodes that predicts failures.
pub fn predictor() -> Vec<u8> {
    let (mut rng, spec) = (Rng::new(5), environment().spec());
    let (initial, n) = (spec.initial.clone(), 120);
    let run = offnominal_agents::history::Run {
        env: spec.id.clone(),
        initial: initial.clone(),
        algorithm: "td3".into(),
        seed: Seed(3),
        steps: n,
    };
    let past = |step| {
        let initial: Vec<f64> = initial.iter().map(|_| rng.uniform()).collect();
        let failed = rng.uniform() < initial[0];
        TrainingEpisode { initial, step, noise: 1.0 - step as f64 / 200.0, failed, place: None, margin: None }
    };
    let history = History { run, episodes: (0..n).map(past).collect(), is_rounded: false };
    let recipe = PredictorRecipe { form: Form::Dictionary, ..PredictorRecipe::default() };
    let context = Context::silent(1, 1);
    let learned = learn_from(&[history], None, environment(), &recipe, None, &context);
    learned.expect("enough failures").predictor.to_bytes()
}
