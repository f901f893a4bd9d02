//! A trained policy: network, normalisation, bounds, and their file.
//!
//! The command is low + (high − low)·(tanh(f(x̂)) + 1)/2, where x̂ is the normalised observation. The file is a
//! safetensors file with `actor.<layer>.weight` `[inputs, outputs]`, `actor.<layer>.bias`, `action.low`, `action.high`
//! and, if observations are normalised, `observation.mean` and `observation.scale`. Hidden layers are rectified.

use crate::normaliser::Normalisation;
use offnominal_core::Rng;
use offnominal_core::policy::Policy;
use offnominal_core::spec::{Channel, EnvSpec};
use offnominal_nets::{Activation, Mlp, TensorError, Tensors, Workspace, tanh};

/// Value of the entry `format` of the file's header.
const FORMAT: &str = "offnominal-actor-1";

/// A deterministic policy.
#[derive(Debug, Clone)]
pub struct Actor {
    env: String,
    algorithm: String,
    net: Mlp,
    params: Vec<f32>,
    normalisation: Option<Normalisation>,
    bounds: Bounds,
    work: Workspace,
    obs: Vec<f32>,
}

/// Why bytes are not a policy for a world.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ActorError {
    /// The file or one of its tensors is malformed.
    #[error(transparent)]
    Tensors(#[from] TensorError),
    /// An entry of the header is missing or wrong.
    #[error("entry {key:?} of the header: expected {expected:?}, found {found:?}")]
    Header {
        /// The entry.
        key: &'static str,
        /// What the reader needs.
        expected: String,
        /// What the file has; empty if it is missing.
        found: String,
    },
    /// The policy was made for channels that the world does not have.
    #[error("policy of {env}: expected {expected} {side} channels as the world has, found {found}")]
    Width {
        /// The world.
        env: String,
        /// `observation` or `action`.
        side: &'static str,
        /// Channels of the world.
        expected: usize,
        /// Channels of the policy.
        found: usize,
    },
    /// The policy was made for other bounds of a command, or divides by zero.
    #[error("channel {channel} of {tensor}: expected {expected}, found {found}")]
    Value {
        /// The tensor.
        tensor: &'static str,
        /// The channel.
        channel: usize,
        /// The rule in words.
        expected: String,
        /// The value in the file.
        found: f32,
    },
}

/// The map between commands in [−1, 1] and those of the world.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bounds {
    low: Vec<f32>,
    high: Vec<f32>,
}

impl Bounds {
    /// The bounds of the action channels; an infinite one counts as ±1.
    pub(crate) fn of(action: &[Channel]) -> Bounds {
        let finite = |x: f64, otherwise| if x.is_finite() { x as f32 } else { otherwise };
        Bounds {
            low: action.iter().map(|c| finite(c.low, -1.0)).collect(),
            high: action.iter().map(|c| finite(c.high, 1.0)).collect(),
        }
    }

    /// Takes a command from [−1, 1] to the bounds, in place.
    pub(crate) fn apply(&self, command: &mut [f32]) {
        for ((a, &low), &high) in command.iter_mut().zip(&self.low).zip(&self.high) {
            *a = (low + (high - low) * 0.5 * (*a + 1.0)).clamp(low, high);
        }
    }
}

impl Actor {
    /// A policy for the given world.
    ///
    /// # Panics
    /// If the network does not have the world's widths.
    pub fn new(
        spec: &EnvSpec,
        algorithm: &str,
        net: Mlp,
        params: Vec<f32>,
        normalisation: Option<Normalisation>,
    ) -> Actor {
        assert_eq!((net.inputs(), net.outputs()), (spec.obs_width(), spec.action.len()), "widths");
        let (work, obs) = (net.workspace(1), vec![0.0; net.inputs()]);
        let (env, algorithm, bounds) = (spec.id.clone(), algorithm.to_string(), Bounds::of(&spec.action));
        Actor { env, algorithm, net, params, normalisation, bounds, work, obs }
    }

    /// The world that it was trained in.
    pub fn env(&self) -> &str {
        &self.env
    }

    /// The algorithm that trained it.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// The file of this policy.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = Tensors::default();
        for layer in 0..self.net.n_layers() {
            let shape = &self.net.sizes()[layer..layer + 2];
            file.insert(&format!("actor.{layer}.weight"), shape, &self.params[self.net.weights(layer)]);
            file.insert(&format!("actor.{layer}.bias"), &shape[1..], &self.params[self.net.biases(layer)]);
        }
        let mut vector = |name: &str, values: &[f32]| file.insert(name, &[values.len()], values);
        vector("action.low", &self.bounds.low);
        vector("action.high", &self.bounds.high);
        if let Some(map) = &self.normalisation {
            vector("observation.mean", &map.mean);
            vector("observation.scale", &map.scale);
        }
        let texts = [("format", FORMAT), ("env", &self.env), ("algorithm", &self.algorithm)];
        file.metadata.extend(texts.map(|(k, v)| (k.to_string(), v.to_string())));
        file.to_bytes()
    }

    /// Reads a file for the given world.
    ///
    /// # Errors
    /// If the file is malformed, or was made for another world.
    pub fn from_bytes(bytes: &[u8], spec: &EnvSpec) -> Result<Actor, ActorError> {
        let file = Tensors::from_bytes(bytes)?;
        header(&file, "format", Some(FORMAT))?;
        header(&file, "env", Some(&spec.id))?;
        let algorithm = header(&file, "algorithm", None)?;
        let sizes = widths(&file)?;
        fits(spec, "observation", spec.obs_width(), sizes[0])?;
        fits(spec, "action", spec.action.len(), sizes[sizes.len() - 1])?;
        let net = Mlp::new(&sizes, Activation::Relu);
        let mut params = Vec::with_capacity(net.n_params());
        for layer in 0..net.n_layers() {
            params
                .extend_from_slice(file.expect(&format!("actor.{layer}.weight"), &sizes[layer..layer + 2])?);
            params.extend_from_slice(
                file.expect(&format!("actor.{layer}.bias"), &sizes[layer + 1..layer + 2])?,
            );
        }
        let bounds = Bounds::of(&spec.action);
        same(&file, "action.low", &bounds.low)?;
        same(&file, "action.high", &bounds.high)?;
        Ok(Actor::new(spec, &algorithm, net, params, normalisation(&file, sizes[0])?))
    }
}

/// An entry of the header.
fn header(file: &Tensors, key: &'static str, expected: Option<&str>) -> Result<String, ActorError> {
    let found = file.metadata.get(key).cloned().unwrap_or_default();
    match expected {
        Some(expected) if expected != found => {
            Err(ActorError::Header { key, expected: expected.into(), found })
        }
        _ => Ok(found),
    }
}

/// The widths of the layers, as the shapes of the weights tell.
fn widths(file: &Tensors) -> Result<Vec<usize>, ActorError> {
    let mut sizes = vec![];
    loop {
        let name = format!("actor.{}.weight", sizes.len().saturating_sub(1));
        let (inputs, outputs) = match file.get(&name) {
            Ok((&[inputs, outputs], _)) if inputs > 0 && outputs > 0 => (inputs, outputs),
            Ok((shape, _)) => {
                let (expected, found) = (vec![sizes.last().copied().unwrap_or(1), 1], shape.to_vec());
                return Err(TensorError::Shape { name, expected, found }.into());
            }
            Err(_) if sizes.len() >= 2 => return Ok(sizes),
            Err(missing) => return Err(missing.into()),
        };
        if sizes.is_empty() {
            sizes.push(inputs);
        }
        sizes.push(outputs);
    }
}

fn fits(spec: &EnvSpec, side: &'static str, expected: usize, found: usize) -> Result<(), ActorError> {
    if expected == found {
        return Ok(());
    }
    Err(ActorError::Width { env: spec.id.clone(), side, expected, found })
}

/// Checks that a tensor has the world's numbers.
fn same(file: &Tensors, tensor: &'static str, expected: &[f32]) -> Result<(), ActorError> {
    let found = file.expect(tensor, &[expected.len()])?;
    match (0..expected.len()).find(|&i| expected[i] != found[i]) {
        None => Ok(()),
        Some(channel) => Err(ActorError::Value {
            tensor,
            channel,
            expected: format!("{}, as the world has", expected[channel]),
            found: found[channel],
        }),
    }
}

fn normalisation(file: &Tensors, width: usize) -> Result<Option<Normalisation>, ActorError> {
    if file.get("observation.mean").is_err() {
        return Ok(None);
    }
    let mean = file.expect("observation.mean", &[width])?.to_vec();
    let scale = file.expect("observation.scale", &[width])?.to_vec();
    match scale.iter().position(|&s| s <= 0.0) {
        None => Ok(Some(Normalisation { mean, scale })),
        Some(channel) => Err(ActorError::Value {
            tensor: "observation.scale",
            channel,
            expected: "a positive number".into(),
            found: scale[channel],
        }),
    }
}

impl Policy for Actor {
    fn act(&mut self, obs: &[f32], action: &mut [f32], _: &mut Rng) {
        self.obs.copy_from_slice(obs);
        if let Some(map) = &self.normalisation {
            map.apply(&mut self.obs);
        }
        let head = self.net.forward(&self.params, &self.obs, &mut self.work);
        action.iter_mut().zip(head).for_each(|(a, &z)| *a = tanh(z));
        self.bounds.apply(action);
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}
