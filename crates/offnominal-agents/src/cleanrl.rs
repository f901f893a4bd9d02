//! Policies of CleanRL, read from the state dictionaries that its scripts save, without PyTorch.
//!
//! | script                        | layers in the file                          | between them | action                          |
//! |-------------------------------|---------------------------------------------|--------------|---------------------------------|
//! | `ppo`                         | `actor.{0, 2, …}`                           | tanh         | the choice of most preference   |
//! | `ppo_atari`                   | `network.{0, 2, 4}`, `network.7`, `actor`   | ReLU         | the same                        |
//! | `ppo_continuous_action`       | `actor_mean.{0, 2, …}`                      | tanh         | cut at the bounds               |
//! | `sac_continuous_action`       | `fc1`, `fc2`, …, `fc_mean`                  | ReLU         | tanh · `action_scale` + `action_bias` |
//! | `td3`, `ddpg_continuous_action` | `fc1`, `fc2`, …, `fc_mu`                  | ReLU         | the same                        |
//! | `dqn`                         | `network.{0, 2, …}`                         | ReLU         | the choice of most value        |
//! | `dqn_atari`                   | `network.{0, 2, 4}`, `network.7`, `network.9` | ReLU       | the same                        |
//!
//! Of a tuple of dictionaries the first one is the actor. What normalised observations in `ppo_continuous_action` is not in
//! the file. Reference: vwxyzjn/cleanrl at fe8d8a0.

use crate::chain::{Chain, MOST_LAYERS};
use crate::network::{Activation, Design, Encoding, Input, Network, Output};
use crate::normaliser::Normalisation;
use crate::pytorch::FileError;
use crate::pytorch::tensors::Tensors;
use crate::taken::Taken;
use offnominal_core::spec::{Channel, EnvSpec};

/// Name of the file in errors.
const FILE: &str = "state dictionary of CleanRL";

/// Side and stride of the convolutions on images.
const WINDOWS: [[usize; 2]; 3] = [[8, 4], [4, 2], [3, 1]];

/// Relative difference of bounds that are the same.
const SAME: f64 = 1e-5;

/// What stands between the layers of a policy, and what its outputs mean.
struct Kind {
    algorithm: &'static str,
    /// A tensor that tells it from others.
    mark: &'static str,
    read: fn(&mut Tensors<'_>, &EnvSpec, &mut Chain) -> Result<Output, FileError>,
}

/// The kinds of policies; the first one whose mark is there.
const KINDS: &[Kind] = &[
    Kind { algorithm: "ppo", mark: "actor_mean.0.weight", read: gaussian },
    Kind { algorithm: "sac", mark: "fc_mean.weight", read: |t, s, c| squashed(t, s, c, "fc_mean") },
    Kind { algorithm: "td3", mark: "fc_mu.weight", read: |t, s, c| squashed(t, s, c, "fc_mu") },
    Kind { algorithm: "ppo", mark: "actor.0.weight", read: choice_of_actor },
    Kind { algorithm: "ppo", mark: "actor.weight", read: |t, s, c| seeing(t, s, c, "actor") },
    Kind { algorithm: "dqn", mark: "network.7.weight", read: |t, s, c| seeing(t, s, c, "network.9") },
    Kind { algorithm: "dqn", mark: "network.0.weight", read: choice_of_values },
];

/// Whether the policy in a file acts on observations that a wrapper normalised, whose statistics are not in the file.
///
/// # Errors
/// If the file is none of PyTorch.
pub fn is_normalised(bytes: &[u8]) -> Result<bool, FileError> {
    Ok(open(bytes)?.contains("actor_mean.0.weight"))
}

/// The policy in a file, in an environment.
///
/// # Errors
/// If the file is damaged, names what no policy needs, has another layout, or does not fit the environment.
pub fn read(
    bytes: &[u8],
    spec: &EnvSpec,
    statistics: Option<(Normalisation, f32)>,
) -> Result<Taken, FileError> {
    let mut tensors = open(bytes)?;
    if tensors.contains("atoms") {
        return Err(FileError::unsupported(FILE, "a policy without a distribution of values", "atoms"));
    }
    let Some(kind) = KINDS.iter().find(|kind| tensors.contains(kind.mark)) else {
        let known: Vec<&str> = KINDS.iter().map(|kind| kind.mark).collect();
        return Err(FileError::unsupported(
            FILE,
            format!("one of {}", known.join(", ")),
            first_names(&tensors),
        ));
    };
    let mut chain = Chain::default();
    let output = (kind.read)(&mut tensors, spec, &mut chain)?;
    let (map, clip) = statistics.unzip();
    let encoding = if spec.image().is_some() { Encoding::Grey } else { Encoding::Numbers };
    let input = Input::of_frames(spec.obs_width(), map.is_some(), clip, encoding);
    let design = Design { input, layers: chain.layers, output };
    Ok(Taken::Network(Box::new(Network::new(spec, kind.algorithm, design, chain.params, map)?)))
}

fn open(bytes: &[u8]) -> Result<Tensors<'_>, FileError> {
    let mut tensors = Tensors::open(bytes, FILE)?;
    tensors.enter_first();
    Ok(tensors)
}

fn first_names(tensors: &Tensors<'_>) -> String {
    const SHOWN: usize = 4;
    let names: Vec<&str> = tensors.names().take(SHOWN).collect();
    if names.is_empty() { "no tensors".into() } else { format!("{} …", names.join(", ")) }
}

fn gaussian(tensors: &mut Tensors<'_>, _: &EnvSpec, chain: &mut Chain) -> Result<Output, FileError> {
    chain.sequence(tensors, "actor_mean.", Activation::Tanh, Activation::Identity)?;
    Ok(Output::Bounded)
}

fn choice_of_actor(tensors: &mut Tensors<'_>, _: &EnvSpec, chain: &mut Chain) -> Result<Output, FileError> {
    chain.sequence(tensors, "actor.", Activation::Tanh, Activation::Identity)?;
    Ok(one_of(chain))
}

fn choice_of_values(tensors: &mut Tensors<'_>, _: &EnvSpec, chain: &mut Chain) -> Result<Output, FileError> {
    chain.sequence(tensors, "network.", Activation::Relu, Activation::Identity)?;
    Ok(one_of(chain))
}

/// A choice among as many as there are outputs.
fn one_of(chain: &Chain) -> Output {
    let outputs = chain.layers.last().and_then(|layer| layer.kind.outputs()).unwrap_or(0);
    Output::Choices(vec![u32::try_from(outputs).unwrap_or(u32::MAX)])
}

/// Convolutions on an image, a dense layer, and the last one.
fn seeing(
    tensors: &mut Tensors<'_>,
    spec: &EnvSpec,
    chain: &mut Chain,
    last: &str,
) -> Result<Output, FileError> {
    let Some(image) = spec.image() else {
        let expected = format!("an environment with images, which {} is not", spec.id);
        return Err(FileError::unsupported(FILE, expected, "convolutions"));
    };
    let mut size = [image.height, image.columns];
    for (i, window) in WINDOWS.into_iter().enumerate() {
        size = chain.convolution(tensors, &format!("network.{}", 2 * i), size, window)?;
    }
    chain.dense(tensors, "network.7", Activation::Relu)?;
    chain.dense(tensors, last, Activation::Identity)?;
    Ok(one_of(chain))
}

/// Rectified layers and a squashed action, whose scale and bias must be those of the environment's bounds.
fn squashed(
    tensors: &mut Tensors<'_>,
    spec: &EnvSpec,
    chain: &mut Chain,
    last: &str,
) -> Result<Output, FileError> {
    let n = (1..=MOST_LAYERS).take_while(|i| tensors.contains(&format!("fc{i}.weight"))).count();
    for i in 1..=n {
        chain.dense(tensors, &format!("fc{i}"), Activation::Relu)?;
    }
    chain.dense(tensors, last, Activation::Identity)?;
    let mut of = |name: &str| {
        let found = tensors.read(name)?.ok_or_else(|| FileError::unsupported(name, "a tensor", "none"))?;
        Ok::<_, FileError>(found.values)
    };
    let (scale, bias) = (of("action_scale")?, of("action_bias")?);
    let bounds = |c: &Channel| [(c.high - c.low) / 2.0, (c.high + c.low) / 2.0];
    let same = |a: f32, b: f64| (f64::from(a) - b).abs() <= SAME * (1.0 + b.abs());
    let fits = scale.len() == spec.act_width()
        && bias.len() == spec.act_width()
        && spec
            .action
            .iter()
            .map(bounds)
            .zip(scale.iter().zip(&bias))
            .all(|([s, b], (&scale, &bias))| same(scale, s) && same(bias, b));
    if fits {
        return Ok(Output::Squashed);
    }
    let [low, high]: [Vec<f64>; 2] =
        [spec.action.iter().map(|c| c.low).collect(), spec.action.iter().map(|c| c.high).collect()];
    let expected = format!("those of the bounds {low:?} to {high:?}");
    Err(FileError::unsupported("action_scale and action_bias", expected, format!("{scale:?} and {bias:?}")))
}
