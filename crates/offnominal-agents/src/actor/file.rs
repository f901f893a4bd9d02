//! The file of a policy.
//!
//! A safetensors file with `actor.<layer>.weight` `[inputs, outputs]`, `actor.<layer>.bias`, `action.low`,
//! `action.high` and, if observations are normalised, `observation.mean` and `observation.scale`. The header holds
//! `format`, `env` and `algorithm`.
//!
//! `output_activation` in the header is `linear` where outputs do not go through tanh.
//!
//! A policy with an encoder also has `eye.<layer>.weight` `[patch, filters]` and `eye.<layer>.bias`, and in its header
//! `filters`, for each layer the pixels a filter covers on a side, those between its places, and the number of filters.
//!
//! A policy that makes several predictions has format 2, and in its header `members`, and `dropout` or `dropconnect` with
//! `passes`. The tensors of the members, with their normalisations, then begin with `<member>.`.

use super::bounds::{choices, outputs};
use super::{Actor, ActorError, Member};
use crate::config::OutputActivation;
use crate::encoder::{encoder, scaled};
use crate::normaliser::Normalisation;
use offnominal_core::spec::EnvSpec;
use offnominal_nets::{Activation, ConvNet, Mlp, Net, TensorError, Tensors};
use std::ops::Range;
use std::str::FromStr;

/// Value of the entry `format` of the header of a plain policy.
const PLAIN: &str = "offnominal-actor-1";
/// The same for one that makes several predictions.
const MANY: &str = "offnominal-actor-2";
/// The entry for the activation of outputs.
const ACTIVATION: &str = "output_activation";
/// More members than any ensemble has.
const MOST_MEMBERS: usize = 1_000;

impl Actor {
    /// The file of this policy.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = Tensors::default();
        for (i, member) in self.members.iter().enumerate() {
            self.put_member(member, &self.prefix(i), &mut file);
        }
        file.put("action.low", &self.bounds.low);
        file.put("action.high", &self.bounds.high);
        file.put_entry("format", if self.n_predictions() > 1 { MANY } else { PLAIN });
        file.put_entry("env", &self.env);
        file.put_entry("algorithm", &self.algorithm);
        if self.activation != OutputActivation::Tanh {
            file.put_entry(ACTIVATION, self.activation.name());
        }
        if let Some(encoder) = self.net.encoder() {
            file.put_entry("filters", format!("{:?}", filters(encoder)));
        }
        if self.n_predictions() > 1 {
            file.put_entry("members", self.members.len());
            file.put_entry("dropout", self.net.head().dropout());
            file.put_entry("dropconnect", self.net.head().dropconnect());
            file.put_entry("passes", self.passes);
        }
        file.to_bytes()
    }

    /// What the names of a member's tensors begin with.
    fn prefix(&self, member: usize) -> String {
        if self.members.len() > 1 { format!("{member}.") } else { String::new() }
    }

    fn put_member(&self, member: &Member, prefix: &str, file: &mut Tensors) {
        for (name, shape, range) in tensors(&self.net) {
            file.insert(&format!("{prefix}{name}"), &shape, &member.params[range]);
        }
        if let Some(map) = &member.normalisation {
            file.put(&format!("{prefix}observation.mean"), &map.mean);
            file.put(&format!("{prefix}observation.scale"), &map.scale);
        }
    }

    /// Reads a file for the given environment.
    ///
    /// # Errors
    /// If the file is malformed, or was made for another environment.
    pub fn from_bytes(bytes: &[u8], spec: &EnvSpec) -> Result<Actor, ActorError> {
        let file = Tensors::from_bytes(bytes)?;
        let has_many = file.entry("format") == MANY;
        if !has_many {
            file.expect_entry("format", PLAIN)?;
        }
        file.expect_entry("env", &spec.id)?;
        let actor = if has_many { many(&file, spec)? } else { one(&file, spec, "")? };
        same(&file, "action.low", &actor.bounds.low)?;
        same(&file, "action.high", &actor.bounds.high)?;
        Ok(actor)
    }
}

/// The plain policy whose tensors begin with a prefix.
fn one(file: &Tensors, spec: &EnvSpec, prefix: &str) -> Result<Actor, ActorError> {
    let (sizes, encoder) = (widths(file, prefix)?, read_encoder(file, spec)?);
    match &encoder {
        None => fits(spec, "observation channels", spec.obs_width(), sizes[0])?,
        Some(encoder) => fits(spec, "features of its filters", encoder.outputs(), sizes[0])?,
    }
    let side = if choices(&spec.action).is_some() { "choices" } else { "action channels" };
    fits(spec, side, outputs(&spec.action), sizes[sizes.len() - 1])?;
    let map = normalisation(file, prefix, spec.obs_width())?;
    let encoder = encoder.map(|encoder| scaled(encoder, map.is_some()));
    let net = Net::new(encoder, Mlp::new(&sizes, Activation::Relu));
    let mut params = Vec::with_capacity(net.n_params());
    for (name, shape, _) in tensors(&net) {
        params.extend_from_slice(file.expect(&format!("{prefix}{name}"), &shape)?);
    }
    Ok(Actor::new(spec, file.entry("algorithm"), net, params, map).with_activation(activation(file)?))
}

/// A policy that makes several predictions.
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
    let actor = Actor::of_members(spec, &plain.algorithm, net, plain.members);
    actor.with_activation(plain.activation).with_passes(passes)
}

/// Pixels on a side, pixels between places, and number of the filters of each layer.
pub(super) fn filters(encoder: &ConvNet) -> Vec<[usize; 3]> {
    encoder.filters().map(|f| [f.kernel, f.stride, f.count]).collect()
}

/// Name, shape and place in the parameters of each tensor of a network, in the order of the parameters.
fn tensors(net: &Net) -> Vec<(String, Vec<usize>, Range<usize>)> {
    let (mut all, mut end) = (vec![], 0);
    let mut add = |part: &str, layer: usize, shape: [usize; 2]| {
        for (what, shape) in [("weight", &shape[..]), ("bias", &shape[1..])] {
            let start = end;
            end += shape.iter().product::<usize>();
            all.push((format!("{part}.{layer}.{what}"), shape.to_vec(), start..end));
        }
    };
    if let Some(encoder) = net.encoder() {
        (0..encoder.n_layers()).for_each(|layer| add("eye", layer, encoder.weight_shape(layer)));
    }
    let sizes = net.head().sizes();
    (0..net.head().n_layers()).for_each(|layer| add("actor", layer, [sizes[layer], sizes[layer + 1]]));
    all
}

/// The encoder that the header describes, if it does.
fn read_encoder(file: &Tensors, spec: &EnvSpec) -> Result<Option<ConvNet>, ActorError> {
    if file.entry("filters").is_empty() {
        return Ok(None);
    }
    let filters = serde_json::from_str::<Vec<[usize; 3]>>(file.entry("filters")).ok();
    let found = filters.and_then(|filters| encoder(spec, &filters).ok().flatten());
    let error = || file.wrong_entry("filters", &format!("filters that fit on the image of {}", spec.id));
    Ok(Some(found.ok_or_else(error)?))
}

/// What takes outputs to actions: tanh, if the header says nothing.
fn activation(file: &Tensors) -> Result<OutputActivation, ActorError> {
    match file.entry(ACTIVATION) {
        "" | "tanh" => Ok(OutputActivation::Tanh),
        "linear" => Ok(OutputActivation::Linear),
        _ => Err(file.wrong_entry(ACTIVATION, "tanh or linear").into()),
    }
}

/// An entry of the header that is a number.
fn number<T: FromStr>(
    file: &Tensors,
    key: &str,
    expected: &str,
    holds: impl Fn(&T) -> bool,
) -> Result<T, ActorError> {
    let found = file.entry(key).parse().ok().filter(holds);
    Ok(found.ok_or_else(|| file.wrong_entry(key, expected))?)
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

fn fits(spec: &EnvSpec, side: &str, expected: usize, found: usize) -> Result<(), ActorError> {
    if expected == found {
        return Ok(());
    }
    let expected = format!("{expected} {side} as the environment has");
    Err(ActorError::unfit(format!("policy of {}", spec.id), expected, found))
}

/// Checks that a tensor has the environment's numbers.
fn same(file: &Tensors, tensor: &str, expected: &[f32]) -> Result<(), ActorError> {
    let found = file.expect(tensor, &[expected.len()])?;
    match (0..expected.len()).find(|&i| expected[i] != found[i]) {
        None => Ok(()),
        Some(channel) => {
            let what = format!("channel {channel} of {tensor}");
            Err(ActorError::unfit(
                what,
                format!("{}, as the environment has", expected[channel]),
                found[channel],
            ))
        }
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
        Some(channel) => {
            let what = format!("channel {channel} of {}", name("scale"));
            Err(ActorError::unfit(what, "a positive number", scale[channel]))
        }
    }
}
