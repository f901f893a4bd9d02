//! Tests of policies of layers.

use super::*;

fn spec(numbers: usize, action: Vec<Channel>) -> EnvSpec {
    let observation = (0..numbers).map(|i| Channel::unbounded(&format!("o{i}"), "a number", "1")).collect();
    EnvSpec { observation, action, ..EnvSpec::new("w", "an environment of numbers") }
}

fn real(n: usize, bound: f64) -> Vec<Channel> {
    (0..n).map(|i| Channel::new(&format!("a{i}"), "an action", "1", -bound, bound)).collect()
}

fn input(width: usize, stack: usize) -> Input {
    Input { width, stack, normalised: Normalised::No, clip: None, encoding: Encoding::Numbers }
}

fn dense(inputs: usize, outputs: usize) -> Layer {
    Layer { kind: Kind::Dense { inputs, outputs }, activation: Activation::Identity }
}

/// Adds up whatever comes to it, with the weights 1, 10, 100, …
fn places(n: usize) -> Vec<f32> {
    (0..n).map(|i| 10_f32.powi(i as i32)).chain([0.0]).collect()
}

fn acted(policy: &mut Network, obs: &[f32]) -> f32 {
    let mut action = [0.0];
    policy.act(obs, &mut action, &mut Rng::new(0));
    action[0]
}

fn made(design: Design, params: Vec<Vec<f32>>, spec: &EnvSpec) -> Result<Network, NetworkError> {
    Network::new(spec, "ppo", design, params, None)
}

#[test]
fn frames_are_stacked_with_the_oldest_first_and_forgotten_at_the_end() {
    let spec = spec(1, real(1, 1e6));
    let design = Design { input: input(1, 3), layers: vec![dense(3, 1)], output: Output::Bounded };
    let mut policy = made(design, vec![places(3)], &spec).unwrap();
    let found: Vec<f32> = [1.0, 2.0, 3.0, 4.0].iter().map(|&x| acted(&mut policy, &[x])).collect();
    assert_eq!(found, [100.0, 210.0, 321.0, 432.0]);
    policy.reset();
    assert_eq!(acted(&mut policy, &[5.0]), 500.0);
}

#[test]
fn integers_become_a_one_among_zeros() {
    let spec = spec(2, real(1, 1e6));
    let encoding = Encoding::OneHot(vec![2, 3]);
    let design = Design {
        input: Input { encoding, ..input(2, 1) },
        layers: vec![dense(5, 1)],
        output: Output::Bounded,
    };
    let mut policy = made(design, vec![places(5)], &spec).unwrap();
    assert_eq!(acted(&mut policy, &[0.0, 0.0]), 101.0);
    assert_eq!(acted(&mut policy, &[1.0, 2.0]), 10_010.0);
    assert_eq!(acted(&mut policy, &[7.0, 1.4]), 1_010.0);
    assert!(acted(&mut policy, &[f32::NAN, 0.0]).is_nan());
}

#[test]
fn statistics_hold_for_frames_or_for_the_stack() {
    let spec = spec(1, real(1, 1e6));
    let map = |mean: &[f32], scale: &[f32]| Normalisation { mean: mean.into(), scale: scale.into() };
    let of = |normalised, map| {
        let input = Input { normalised, clip: Some(5.0), ..input(1, 2) };
        let design = Design { input, layers: vec![dense(2, 1)], output: Output::Bounded };
        Network::new(&spec, "ppo", design, vec![places(2)], Some(map))
    };
    let mut frames = of(Normalised::Frames, map(&[1.0], &[2.0])).unwrap();
    assert_eq!([acted(&mut frames, &[3.0]), acted(&mut frames, &[99.0])], [10.0, 51.0]);
    let mut stack = of(Normalised::Stack, map(&[1.0, 1.0], &[2.0, 2.0])).unwrap();
    assert_eq!([acted(&mut stack, &[3.0]), acted(&mut stack, &[99.0])], [9.5, 51.0]);
    assert!(of(Normalised::Stack, map(&[1.0], &[2.0])).is_err());
    assert!(of(Normalised::Frames, map(&[1.0], &[0.0])).is_err());
}

#[test]
fn a_convolution_is_a_sum_over_its_window() {
    let spec = EnvSpec {
        observation: vec![Channel::image("image", "seen", offnominal_core::channel::Image::grey(2, 3, 3))],
        action: real(4, 1e6),
        ..EnvSpec::new("w", "an image")
    };
    let kind = Kind::Convolution { planes: 2, height: 3, columns: 3, filters: 1, kernel: 2, stride: 1 };
    let design = Design {
        input: input(18, 1),
        layers: vec![Layer { kind, activation: Activation::Identity }],
        output: Output::Bounded,
    };
    // 1, 2, 3, 4 in the first plane's window, −1 at the second one's first pixel, and 0.5.
    let weights = vec![1.0, 2.0, 3.0, 4.0, -1.0, 0.0, 0.0, 0.0, 0.5];
    let mut policy = made(design, vec![weights], &spec).unwrap();
    let image: Vec<f32> = (0..18).map(|i| if i < 9 { i as f32 } else { 10.0 }).collect();
    let mut action = [0.0; 4];
    policy.act(&image, &mut action, &mut Rng::new(0));
    assert_eq!(action, [17.5, 27.5, 47.5, 57.5]);
}

#[test]
fn a_memory_keeps_its_state_until_the_episode_ends() {
    let spec = spec(1, real(1, 10.0));
    let kind = Kind::Lstm { inputs: 1, units: 1 };
    let design = Design {
        input: input(1, 1),
        layers: vec![Layer { kind, activation: Activation::Identity }],
        output: Output::Bounded,
    };
    let params = vec![0.5, 0.1, 0.3, -0.2, 0.4, 0.6, -0.7, 0.2, 0.01, 0.02, 0.03, 0.04];
    let mut policy = made(design, vec![params], &spec).unwrap();
    let (mut h, mut c) = (0.0_f64, 0.0_f64);
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    for x in [1.0, -2.0, 0.5] {
        let [i, f] = [sigmoid(0.5 * x + 0.4 * h + 0.01), sigmoid(0.1 * x + 0.6 * h + 0.02)];
        let [g, o] = [(0.3 * x - 0.7 * h + 0.03).tanh(), sigmoid(-0.2 * x + 0.2 * h + 0.04)];
        c = f * c + i * g;
        h = o * c.tanh();
        assert!((f64::from(acted(&mut policy, &[x as f32])) - h).abs() < 1e-6);
    }
    let first = acted(&mut policy.clone(), &[1.0]);
    policy.reset();
    assert_ne!(acted(&mut policy, &[1.0]), first);
}

#[test]
fn a_file_is_the_policy() {
    let spec = spec(2, vec![Channel::choice("a", "", 2), Channel::choice("b", "", 3)]);
    let design = Design {
        input: input(2, 1),
        layers: vec![Layer { activation: Activation::Gelu, ..dense(2, 5) }],
        output: Output::Choices(vec![2, 3]),
    };
    let policy = made(design, vec![(0..15).map(|i| (i as f32 * 1.7).sin()).collect()], &spec).unwrap();
    let bytes = policy.to_bytes();
    assert!(Network::is_in(&bytes));
    let again = Network::from_bytes(&bytes, &spec).unwrap();
    assert_eq!((again.design(), again.algorithm()), (policy.design(), "ppo"));
    offnominal_laws::assert_lawful("w", &offnominal_laws::policy(&again, &spec, &[]));
    let other = EnvSpec { id: "v".into(), ..spec.clone() };
    assert!(Network::from_bytes(&bytes, &other).unwrap_err().to_string().contains("env"));
    let other = EnvSpec { action: real(5, 1.0), ..spec };
    let error = Network::from_bytes(&bytes, &other).unwrap_err().to_string();
    assert!(error.contains("actions of w: expected real numbers, found choices among [2, 3]"), "{error}");
}

#[test]
fn parts_that_do_not_fit_are_named() {
    let spec = spec(2, real(1, 1.0));
    let refused = |input: Input, layers: Vec<Layer>, want: &str| {
        let params = layers.iter().map(|layer| vec![0.0; layer.kind.numbers().min(100)]).collect();
        let error = made(Design { input, layers, output: Output::Bounded }, params, &spec).err().unwrap();
        assert!(error.to_string().contains(want), "{error}");
    };
    refused(input(2, 1), vec![], "layers: expected 1 to 32, found 0");
    refused(input(3, 1), vec![dense(3, 1)], "observation channels of w: expected 2, found 3");
    refused(
        input(2, 1),
        vec![dense(3, 1)],
        "inputs of the first layer: expected 2, as an observation has, found 3",
    );
    refused(input(2, 1), vec![dense(2, 3), dense(4, 1)], "expected 3 inputs, as come to it, found 4");
    refused(input(2, 1), vec![dense(2, 3)], "outputs of the network for w: expected 1, found 3");
    refused(input(2, 0), vec![dense(2, 1)], "stacked frames: expected 1 to 1000, found 0");
    refused(input(2, 1), vec![dense(2, 1 << 40)], "weights: expected at most");
    let huge = Kind::Convolution { planes: 1, height: 1 << 30, columns: 2, filters: 1, kernel: 1, stride: 1 };
    refused(
        input(2, 1),
        vec![Layer { kind: huge, activation: Activation::Relu }],
        "multiplications of an action",
    );
    let still = Kind::Convolution { planes: 1, height: 1, columns: 2, filters: 1, kernel: 1, stride: 0 };
    refused(
        input(2, 1),
        vec![Layer { kind: still, activation: Activation::Relu }],
        "expected 1 to 16777216, found too many",
    );
    let cut = Layer { activation: Activation::Cut(-1.0), ..dense(2, 1) };
    refused(input(2, 1), vec![cut], "limit of a layer: expected 0 or more");
    refused(
        Input { encoding: Encoding::OneHot(vec![0, 2]), ..input(2, 1) },
        vec![dense(2, 1)],
        "1 value or more",
    );
}
