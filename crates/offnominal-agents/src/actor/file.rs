//! The file of a policy.
//!
//! A safetensors file with `actor.<layer>.weight` `[inputs, outputs]`, `actor.<layer>.bias`, `action.low`,
//! `action.high` and, if observations are normalised, `observation.mean` and `observation.scale`. The header holds
//! `format`, `env` and `algorithm`.
//!
//! A policy with an eye also has `eye.<layer>.weight` `[patch, filters]` and `eye.<layer>.bias`, and in its header
//! `filters`, for each layer the pixels a filter covers on a side, those between its places, and the number of filters.
//!
//! A policy that disagrees with itself has format 2, and in its header `members`, and `dropout` or `dropconnect` with
//! `passes`. The tensors of the members, with their normalisations, then begin with `<member>.`.

use super::bounds::{choices, outputs};
use super::{Actor, ActorError, Member};
use crate::learner::scaled;
use crate::normaliser::Normalisation;
use offnominal_core::spec::EnvSpec;
use offnominal_nets::{Activation, ConvNet, Mlp, Net, TensorError, Tensors};
use std::fmt::Display;
use std::str::FromStr;

/// Value of the entry `format` of the header of a plain policy.
const PLAIN: &str = "offnominal-actor-1";
/// The same for one that disagrees with itself.
const MANY: &str = "offnominal-actor-2";
/// More members than any ensemble has.
const MOST_MEMBERS: usize = 1_000;

impl Actor {
    /// The file of this policy.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = Tensors::default();
        for (i, member) in self.members.iter().enumerate() {
            self.put_member(member, &self.prefix(i), &mut file);
        }
        let mut vector = |name: &str, values: &[f32]| file.insert(name, &[values.len()], values);
        vector("action.low", &self.bounds.low);
        vector("action.high", &self.bounds.high);
        let mut text = |key: &str, value: &dyn Display| file.metadata.insert(key.into(), value.to_string());
        text("format", &if self.n_predictions() > 1 { MANY } else { PLAIN });
        text("env", &self.env);
        text("algorithm", &self.algorithm);
        if let Some(eye) = self.net.eye() {
            text("filters", &format!("{:?}", filters(eye)));
        }
        if self.n_predictions() > 1 {
            text("members", &self.members.len());
            text("dropout", &self.net.head().dropout());
            text("dropconnect", &self.net.head().dropconnect());
            text("passes", &self.passes);
        }
        file.to_bytes()
    }

    /// What the names of a member's tensors begin with.
    fn prefix(&self, member: usize) -> String {
        if self.members.len() > 1 { format!("{member}.") } else { String::new() }
    }

    fn put_member(&self, member: &Member, prefix: &str, file: &mut Tensors) {
        let ((seen, params), head) = (self.net.split(&member.params), self.net.head());
        for (eye, layer) in
            self.net.eye().into_iter().flat_map(|eye| (0..eye.n_layers()).map(move |l| (eye, l)))
        {
            let shape = eye.weight_shape(layer);
            file.insert(&format!("{prefix}eye.{layer}.weight"), &shape, &seen[eye.weights(layer)]);
            file.insert(&format!("{prefix}eye.{layer}.bias"), &shape[1..], &seen[eye.biases(layer)]);
        }
        for layer in 0..head.n_layers() {
            let shape = &head.sizes()[layer..layer + 2];
            file.insert(&format!("{prefix}actor.{layer}.weight"), shape, &params[head.weights(layer)]);
            file.insert(&format!("{prefix}actor.{layer}.bias"), &shape[1..], &params[head.biases(layer)]);
        }
        if let Some(map) = &member.normalisation {
            file.insert(&format!("{prefix}observation.mean"), &[map.mean.len()], &map.mean);
            file.insert(&format!("{prefix}observation.scale"), &[map.scale.len()], &map.scale);
        }
    }

    /// Reads a file for the given world.
    ///
    /// # Errors
    /// If the file is malformed, or was made for another world.
    pub fn from_bytes(bytes: &[u8], spec: &EnvSpec) -> Result<Actor, ActorError> {
        let file = Tensors::from_bytes(bytes)?;
        let format = header(&file, "format");
        if format != MANY {
            expect_header(&file, "format", PLAIN)?;
        }
        expect_header(&file, "env", &spec.id)?;
        let actor = if format == MANY { many(&file, spec)? } else { one(&file, spec, "")? };
        same(&file, "action.low", &actor.bounds.low)?;
        same(&file, "action.high", &actor.bounds.high)?;
        Ok(actor)
    }
}

/// The plain policy whose tensors begin with a prefix.
fn one(file: &Tensors, spec: &EnvSpec, prefix: &str) -> Result<Actor, ActorError> {
    let (sizes, eye) = (widths(file, prefix)?, eye(file, spec)?);
    match &eye {
        None => fits(spec, "observation channels", spec.obs_width(), sizes[0])?,
        Some(eye) => fits(spec, "features of its filters", eye.outputs(), sizes[0])?,
    }
    let side = if choices(&spec.action).is_some() { "choices" } else { "action channels" };
    fits(spec, side, outputs(&spec.action), sizes[sizes.len() - 1])?;
    let map = normalisation(file, prefix, spec.obs_width())?;
    let eye = eye.map(|eye| scaled(eye, map.is_some()));
    let net = Net::new(eye, Mlp::new(&sizes, Activation::Relu));
    let mut params = Vec::with_capacity(net.n_params());
    for (eye, layer) in net.eye().into_iter().flat_map(|eye| (0..eye.n_layers()).map(move |l| (eye, l))) {
        let shape = eye.weight_shape(layer);
        params.extend_from_slice(file.expect(&format!("{prefix}eye.{layer}.weight"), &shape)?);
        params.extend_from_slice(file.expect(&format!("{prefix}eye.{layer}.bias"), &shape[1..])?);
    }
    for (layer, shape) in sizes.windows(2).enumerate() {
        params.extend_from_slice(file.expect(&format!("{prefix}actor.{layer}.weight"), shape)?);
        params.extend_from_slice(file.expect(&format!("{prefix}actor.{layer}.bias"), &shape[1..])?);
    }
    Ok(Actor::new(spec, &header(file, "algorithm"), net, params, map))
}

/// A policy that disagrees with itself.
fn many(file: &Tensors, spec: &EnvSpec) -> Result<Actor, ActorError> {
    let members = number(file, "members", "a count up to 1000", |n: &usize| (1..=MOST_MEMBERS).contains(n))?;
    if members > 1 {
        let read = |i: usize| one(file, spec, &format!("{i}."));
        return Actor::ensemble((0..members).map(read).collect::<Result<_, _>>()?);
    }
    let share = |key| number(file, key, "a probability below 1", |p: &f32| (0.0..1.0).contains(p));
    let (plain, dropout, dropconnect) = (one(file, spec, "")?, share("dropout")?, share("dropconnect")?);
    let passes = number(file, "passes", "a count", |_: &usize| true)?;
    let head = plain.net.head().clone().with_dropout(dropout).with_dropconnect(dropconnect);
    let net = plain.net.with_head(head);
    Actor::of_members(spec, &plain.algorithm, net, plain.members).with_passes(passes)
}

/// Pixels on a side, pixels between places, and number of the filters of each layer.
pub(super) fn filters(eye: &ConvNet) -> Vec<[usize; 3]> {
    eye.filters().map(|f| [f.kernel, f.stride, f.count]).collect()
}

/// The eye that the header describes, if it does.
fn eye(file: &Tensors, spec: &EnvSpec) -> Result<Option<ConvNet>, ActorError> {
    let found = header(file, "filters");
    let expected = || format!("filters that fit on the picture of {}", spec.id);
    let error = || ActorError::Header { key: "filters", expected: expected(), found: found.clone() };
    if found.is_empty() {
        return Ok(None);
    }
    let filters: Vec<[usize; 3]> = serde_json::from_str(&found).map_err(|_| error())?;
    crate::learner::eye(spec, &filters).ok().flatten().map(Some).ok_or_else(error)
}

/// An entry of the header; empty if it is missing.
fn header(file: &Tensors, key: &str) -> String {
    file.metadata.get(key).cloned().unwrap_or_default()
}

fn expect_header(file: &Tensors, key: &'static str, expected: &str) -> Result<(), ActorError> {
    let found = header(file, key);
    let error = || ActorError::Header { key, expected: expected.into(), found: found.clone() };
    (found == expected).then_some(()).ok_or_else(error)
}

/// An entry of the header that is a number.
fn number<T: FromStr>(
    file: &Tensors,
    key: &'static str,
    expected: &str,
    holds: impl Fn(&T) -> bool,
) -> Result<T, ActorError> {
    let found = header(file, key);
    let error = || ActorError::Header { key, expected: expected.into(), found: found.clone() };
    found.parse().ok().filter(holds).ok_or_else(error)
}

/// The widths of the layers, as the shapes of the weights tell.
fn widths(file: &Tensors, prefix: &str) -> Result<Vec<usize>, ActorError> {
    let mut sizes = vec![];
    loop {
        let name = format!("{prefix}actor.{}.weight", sizes.len().saturating_sub(1));
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
fn same(file: &Tensors, tensor: &str, expected: &[f32]) -> Result<(), ActorError> {
    let found = file.expect(tensor, &[expected.len()])?;
    match (0..expected.len()).find(|&i| expected[i] != found[i]) {
        None => Ok(()),
        Some(channel) => Err(ActorError::Value {
            tensor: tensor.into(),
            channel,
            expected: format!("{}, as the world has", expected[channel]),
            found: found[channel],
        }),
    }
}

fn normalisation(file: &Tensors, prefix: &str, width: usize) -> Result<Option<Normalisation>, ActorError> {
    let name = |part: &str| format!("{prefix}observation.{part}");
    if file.get(&name("mean")).is_err() {
        return Ok(None);
    }
    let mean = file.expect(&name("mean"), &[width])?.to_vec();
    let scale = file.expect(&name("scale"), &[width])?.to_vec();
    match scale.iter().position(|&s| s <= 0.0) {
        None => Ok(Some(Normalisation { mean, scale })),
        Some(channel) => Err(ActorError::Value {
            tensor: name("scale"),
            channel,
            expected: "a positive number".into(),
            found: scale[channel],
        }),
    }
}
