//! Policies of RSL-RL, read from `model_N.pt` without PyTorch.
//!
//! | version | dictionary          | layers            | memory before them | normalisation of observations                       |
//! |---------|---------------------|-------------------|--------------------|-----------------------------------------------------|
//! | 2.x     | `model_state_dict`  | `actor.{0, 2, …}` | `memory_a.rnn`     | `obs_norm_state_dict`                               |
//! | 3.x     | `model_state_dict`  | `actor.{0, 2, …}` | `memory_a.rnn`     | `actor_obs_normalizer` in the same dictionary       |
//! | 5.x     | `actor_state_dict`  | `mlp.{0, 2, …}`   | `rnn.rnn`          | `obs_normalizer` in the same dictionary             |
//!
//! Memory (an LSTM) and normalisation may be missing.
//! An observation is normalised as (x − `_mean`) / (`_std` + 0.01). The function between the layers is not in the file; it
//! is ELU unless something else is said. The action is the mean, cut at the environment's bounds.
//! Reference: leggedrobotics/rsl_rl 2.2.4, 3.1.0 and 5.5.1.

use crate::chain::Chain;
use crate::network::{Activation, Design, Encoding, Input, Network, Output};
use crate::normaliser::Normalisation;
use crate::pytorch::FileError;
use crate::pytorch::tensors::Tensors;
use crate::taken::Taken;
use offnominal_core::spec::EnvSpec;

/// Name of the file in errors.
const FILE: &str = "model of RSL-RL";

/// Added to the standard deviation of an observation.
const EPSILON: f32 = 1e-2;

/// Where the parts of a version are.
struct Layout {
    dictionary: &'static str,
    memory: &'static str,
    layers: &'static str,
    normaliser: &'static str,
    /// What the names of tensors begin with that are the policy's, or known not to be.
    known: &'static [&'static str],
}

const LAYOUTS: [Layout; 2] = [
    Layout {
        dictionary: "actor_state_dict",
        memory: "rnn.rnn",
        layers: "mlp.",
        normaliser: "obs_normalizer.",
        known: &["rnn.rnn.", "mlp.", "obs_normalizer.", "distribution."],
    },
    Layout {
        dictionary: "model_state_dict",
        memory: "memory_a.rnn",
        layers: "actor.",
        normaliser: "actor_obs_normalizer.",
        known: &[
            "actor.",
            "critic.",
            "std",
            "log_std",
            "memory_a.rnn.",
            "memory_c.rnn.",
            "actor_obs_normalizer.",
            "critic_obs_normalizer.",
        ],
    },
];

/// The policy in a file, in an environment, with the function between its layers.
///
/// # Errors
/// If the file is damaged, names what no policy needs, has another layout, or does not fit the environment.
pub fn read(bytes: &[u8], spec: &EnvSpec, activation: Activation) -> Result<Taken, FileError> {
    let mut tensors = Tensors::open(bytes, FILE)?;
    let Some(layout) = LAYOUTS.iter().find(|layout| tensors.enter(layout.dictionary)) else {
        let known: Vec<&str> = LAYOUTS.iter().map(|layout| layout.dictionary).collect();
        return Err(FileError::unsupported(FILE, format!("a dictionary {}", known.join(" or ")), "neither"));
    };
    let is_known = |name: &str| layout.known.iter().any(|known| name.starts_with(known));
    if let Some(other) = tensors.names().find(|name| !is_known(name)) {
        return Err(FileError::unsupported(FILE, format!("only {}", layout.known.join(", ")), other));
    }
    let mut chain = Chain::default();
    chain.memory(&mut tensors, layout.memory)?;
    if chain.sequence(&mut tensors, layout.layers, activation, Activation::Identity)? == 0 {
        return Err(FileError::unsupported(FILE, format!("the dense layers {}*", layout.layers), "none"));
    }
    let mut map = normalisation(&mut tensors, layout.normaliser)?;
    tensors.leave();
    if map.is_none() && tensors.enter("obs_norm_state_dict") {
        map = normalisation(&mut tensors, "")?;
    }
    let input = Input::of_frames(spec.obs_width(), map.is_some(), None, Encoding::Numbers);
    let design = Design { input, layers: chain.layers, output: Output::Bounded };
    Ok(Taken::Network(Box::new(Network::new(spec, "ppo", design, chain.params, map)?)))
}

fn normalisation(tensors: &mut Tensors<'_>, prefix: &str) -> Result<Option<Normalisation>, FileError> {
    let mut of = |name: &str| Ok::<_, FileError>(tensors.read(&format!("{prefix}{name}"))?.map(|t| t.values));
    let (Some(mean), Some(deviation)) = (of("_mean")?, of("_std")?) else { return Ok(None) };
    let scale = deviation.iter().map(|std| std + EPSILON).collect();
    Ok(Some(Normalisation { mean, scale }))
}
