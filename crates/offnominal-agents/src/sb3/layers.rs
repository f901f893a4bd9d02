//! Which tensors of a model are the layers of its policy.

use super::settings::{Algorithm, Settings};
use super::space::Space;
use crate::chain::{Chain, MOST_LAYERS};
use crate::network::Activation;
use crate::pytorch::FileError;
use crate::pytorch::tensors::{Tensor, Tensors};

/// Where the mean of a policy with state-dependent exploration is cut.
const SDE_LIMIT: f64 = 2.0;

/// Name, side and stride of the convolutions of NatureCNN (Mnih et al. 2015).
const NATURE: [(&str, [usize; 2]); 3] = [("cnn.0", [8, 4]), ("cnn.2", [4, 2]), ("cnn.4", [3, 1])];

/// The layers of the policy.
pub(super) fn layers(
    tensors: &mut Tensors<'_>,
    algorithm: Algorithm,
    settings: &Settings<'_>,
    observation: &Space,
    actions: &Space,
) -> Result<Chain, FileError> {
    let (mut chain, activation) = (Chain::default(), settings.activation(algorithm)?);
    features(tensors, algorithm, observation, &mut chain)?;
    match algorithm {
        Algorithm::Tqc | Algorithm::Sac => soft(tensors, activation, settings, &mut chain)?,
        Algorithm::Td3 | Algorithm::Ddpg => sequence(tensors, "actor.mu.", activation, &mut chain)?,
        Algorithm::Dqn => sequence(tensors, "q_net.q_net.", activation, &mut chain)?,
        Algorithm::QrDqn => quantiles(tensors, activation, actions, &mut chain)?,
        Algorithm::Ars => random_search(tensors, activation, &mut chain)?,
        _ => actor_critic(tensors, activation, &mut chain)?,
    }
    Ok(chain)
}

/// The convolutions before the policy, if it has any.
fn features(
    tensors: &mut Tensors<'_>,
    algorithm: Algorithm,
    observation: &Space,
    chain: &mut Chain,
) -> Result<(), FileError> {
    let prefixes: &[&str] = match algorithm {
        Algorithm::Tqc | Algorithm::Sac | Algorithm::Td3 | Algorithm::Ddpg => &["actor.features_extractor."],
        Algorithm::Dqn => &["q_net.features_extractor."],
        Algorithm::QrDqn => &["quantile_net.features_extractor."],
        _ => &["pi_features_extractor.", "features_extractor."],
    };
    let Some(prefix) = prefixes.iter().find(|prefix| tensors.names().any(|name| name.starts_with(**prefix)))
    else {
        return Ok(());
    };
    let Space::Box { shape, is_image: true, .. } = observation else {
        return Err(FileError::unsupported(
            "policy",
            "an MLP policy, or NatureCNN on images",
            format!("{prefix}*"),
        ));
    };
    let mut size = [shape[1], shape[2]];
    for (name, window) in NATURE {
        size = chain.convolution(tensors, &format!("{prefix}{name}"), size, window)?;
    }
    chain.dense(tensors, &format!("{prefix}linear.0"), Activation::Relu)
}

fn sequence(
    tensors: &mut Tensors<'_>,
    prefix: &str,
    activation: Activation,
    chain: &mut Chain,
) -> Result<(), FileError> {
    match chain.sequence(tensors, prefix, activation, Activation::Identity)? {
        0 => Err(FileError::unsupported("policy", format!("the dense layers {prefix}*"), "none")),
        _ => Ok(()),
    }
}

fn soft(
    tensors: &mut Tensors<'_>,
    activation: Activation,
    settings: &Settings<'_>,
    chain: &mut Chain,
) -> Result<(), FileError> {
    chain.sequence(tensors, "actor.latent_pi.", activation, activation)?;
    if tensors.contains("actor.mu.0.weight") {
        let limit = settings.number("clip_mean").unwrap_or(SDE_LIMIT) as f32;
        let cut = if limit > 0.0 { Activation::Cut(limit) } else { Activation::Identity };
        return chain.dense(tensors, "actor.mu.0", cut);
    }
    chain.dense(tensors, "actor.mu", Activation::Identity)
}

/// A memory, if there is one, then what is shared with the critic (in versions before 1.8), then the actor's own.
fn actor_critic(
    tensors: &mut Tensors<'_>,
    activation: Activation,
    chain: &mut Chain,
) -> Result<(), FileError> {
    chain.memory(tensors, "lstm_actor")?;
    chain.sequence(tensors, "mlp_extractor.shared_net.", activation, activation)?;
    chain.sequence(tensors, "mlp_extractor.policy_net.", activation, activation)?;
    chain.dense(tensors, "action_net", Activation::Identity)
}

/// The last layer has as many quantiles of the value of each action; its mean over them is linear too.
fn quantiles(
    tensors: &mut Tensors<'_>,
    activation: Activation,
    actions: &Space,
    chain: &mut Chain,
) -> Result<(), FileError> {
    const PREFIX: &str = "quantile_net.quantile_net.";
    let Space::Discrete(n) = *actions else {
        return Err(FileError::unsupported("actions of QR-DQN", "one choice", actions.words()));
    };
    let last = (0..MOST_LAYERS).take_while(|i| tensors.contains(&format!("{PREFIX}{}.weight", 2 * i))).last();
    let last =
        last.ok_or_else(|| FileError::unsupported("policy", format!("the dense layers {PREFIX}*"), "none"))?;
    for i in 0..last {
        chain.dense(tensors, &format!("{PREFIX}{}", 2 * i), activation)?;
    }
    let name = format!("{PREFIX}{}", 2 * last);
    let (weight, bias) = (tensors.read(&format!("{name}.weight"))?, tensors.read(&format!("{name}.bias"))?);
    let (Some(weight), Some(bias)) = (weight, bias) else {
        return Err(FileError::unsupported(&name, "weights and biases", "one of them"));
    };
    let (weight, bias) = (mean_rows(&name, &weight, n as usize)?, mean_rows(&name, &bias, n as usize)?);
    chain.of_weights(&name, &weight, &bias.values, Activation::Identity)
}

/// The means of the rows k, k + n, k + 2n, …
fn mean_rows(name: &str, rows: &Tensor, n: usize) -> Result<Tensor, FileError> {
    let (count, rest) = rows.shape.split_first().unwrap_or((&0, &[]));
    let width: usize = rest.iter().product();
    if *count == 0 || count % n != 0 || width == 0 {
        let expected = format!("as many quantiles for each of {n} choices");
        return Err(FileError::unsupported(name, expected, format!("shape {:?}", rows.shape)));
    }
    let mut sums = vec![0.0_f64; n * width];
    for row in rows.values.chunks_exact(n * width) {
        sums.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    let values = sums.iter().map(|sum| (sum * n as f64 / *count as f64) as f32).collect();
    Ok(Tensor { shape: [&[n], rest].concat(), values })
}

/// A single layer may lack a bias; the first versions wrote it without a number.
fn random_search(
    tensors: &mut Tensors<'_>,
    activation: Activation,
    chain: &mut Chain,
) -> Result<(), FileError> {
    const FIRST: [&str; 2] = ["action_net.0", "action_net"];
    if tensors.contains(&format!("{}.bias", FIRST[0])) {
        return sequence(tensors, "action_net.", activation, chain);
    }
    for first in FIRST {
        if let Some(weight) = tensors.read(&format!("{first}.weight"))? {
            let none = vec![0.0; weight.shape.first().copied().unwrap_or(0)];
            let bias = tensors.read(&format!("{first}.bias"))?.map_or(none, |bias| bias.values);
            return chain.of_weights(first, &weight, &bias, Activation::Identity);
        }
    }
    Err(FileError::unsupported("policy", "the dense layers action_net.*", "none"))
}
