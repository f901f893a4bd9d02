//! A model's zip: which algorithm, which spaces, which layers.

use super::Sb3Error;
use super::array::{is_inert, numbers};
use super::layers::Layers;
use super::pickle::Pickle;
use super::tensors::{Archive, Tensors};
use crate::actor::Actor;
use crate::normaliser::Normalisation;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use offnominal_core::spec::{Channel, EnvSpec};
use serde_json::Value;

/// Where the mean of a policy with state-dependent exploration is cut.
const SDE_LIMIT: f64 = 2.0;

/// The actions of a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Actions {
    /// Real numbers between bounds, lower and upper.
    Real(Vec<f64>, Vec<f64>),
    /// One of so many choices.
    Choice(u32),
}

/// A policy as Stable-Baselines3 saved it.
pub struct Model {
    /// The algorithm: `tqc`, `sac`, `td3`, `ddpg` or `dqn`.
    pub algorithm: String,
    /// Its actions.
    pub actions: Actions,
    layers: Layers,
}

impl Model {
    /// Reads the zip of a model.
    ///
    /// # Errors
    /// If it is damaged, names what no policy needs, or is none of the policies that can be taken over.
    pub fn read(bytes: &[u8]) -> Result<Model, Sb3Error> {
        let mut zip = Archive::open(bytes, "model")?;
        let data: Value = serde_json::from_slice(&zip.description("data")?)
            .map_err(|e| Sb3Error::unsupported("model, part data", "JSON", e))?;
        let weights = zip.part("policy.pth")?;
        let mut tensors = Tensors::open(&weights, "model, part policy.pth")?;
        check(&data, &tensors)?;
        let algorithm = algorithm(&data)?;
        let layers = layers(&data, &mut tensors, algorithm)?;
        Ok(Model { algorithm: algorithm.into(), actions: actions(&data)?, layers })
    }

    /// The policy in an environment, with the statistics by which its observations were normalised.
    ///
    /// # Errors
    /// If the environment has other widths or bounds.
    pub fn actor(self, spec: &EnvSpec, map: Option<Normalisation>) -> Result<Actor, Sb3Error> {
        let expected = environment_actions(&spec.action);
        if expected.as_ref() != Some(&self.actions) {
            let expected = expected.map_or("one choice, or real numbers".into(), |c| format!("{c:?}"));
            return Err(Sb3Error::unsupported(
                &format!("actions of {}", spec.id),
                expected,
                format!("{:?}", self.actions),
            ));
        }
        let (net, params) = self.layers.network();
        let widths = [Some(net.inputs()), map.as_ref().map(|m| m.mean.len())];
        if let Some(found) = widths.into_iter().flatten().find(|&n| n != spec.obs_width()) {
            let what = format!("observation channels of {}", spec.id);
            return Err(Sb3Error::unsupported(&what, spec.obs_width(), found));
        }
        let outputs = match &self.actions {
            Actions::Real(low, _) => low.len(),
            Actions::Choice(n) => *n as usize,
        };
        if net.outputs() != outputs {
            return Err(Sb3Error::unsupported("outputs of the network", outputs, net.outputs()));
        }
        Ok(Actor::new(spec, &self.algorithm, net, params, map))
    }

    /// An environment that is nothing but the channels that this model reads and writes.
    pub fn spec(&self, id: &str) -> EnvSpec {
        let mut spec = EnvSpec::new(id, "the channels of an imported policy");
        spec.observation = (0..self.layers.inputs())
            .map(|i| Channel::unbounded(&format!("o{i}"), "imported", "1"))
            .collect();
        spec.action = match &self.actions {
            Actions::Choice(n) => vec![Channel::choice("choice", "imported", *n)],
            Actions::Real(low, high) => low
                .iter()
                .zip(high)
                .enumerate()
                .map(|(i, (&low, &high))| Channel::new(&format!("a{i}"), "imported", "1", low, high))
                .collect(),
        };
        spec
    }
}

/// An environment's actions in the same words; bounds are compared as float32, which spaces have.
fn environment_actions(action: &[Channel]) -> Option<Actions> {
    let bound = |x: f64| f64::from(x as f32);
    match action {
        [only] if only.is_choice() => Some(Actions::Choice(only.choices)),
        real if real.iter().any(Channel::is_choice) => None,
        real => Some(Actions::Real(
            real.iter().map(|c| bound(c.low)).collect(),
            real.iter().map(|c| bound(c.high)).collect(),
        )),
    }
}

/// Refuses policies that are more than dense layers with rectifiers.
fn check(data: &Value, tensors: &Tensors<'_>) -> Result<(), Sb3Error> {
    if let Some(name) = tensors.names().find(|name| name.contains("features_extractor.")) {
        return Err(Sb3Error::unsupported("policy", "an MLP policy", format!("one with {name}")));
    }
    let Some(activation) = data["policy_kwargs"].get("activation_fn") else { return Ok(()) };
    let text = activation.as_str().map_or_else(|| activation.to_string(), String::from);
    if text.contains("activation.ReLU") {
        return Ok(());
    }
    Err(Sb3Error::unsupported("activation_fn", "ReLU", text.chars().take(80).collect::<String>()))
}

/// The algorithm, from the module of its policy; DDPG is TD3 with a single critic.
fn algorithm(data: &Value) -> Result<&'static str, Sb3Error> {
    let module = data["policy_class"]["__module__"].as_str().unwrap_or("none");
    let single = data["policy_kwargs"]["n_critics"].to_string().trim_matches('"') == "1";
    match module {
        "sb3_contrib.tqc.policies" => Ok("tqc"),
        "stable_baselines3.sac.policies" => Ok("sac"),
        "stable_baselines3.td3.policies" if single => Ok("ddpg"),
        "stable_baselines3.td3.policies" => Ok("td3"),
        "stable_baselines3.dqn.policies" => Ok("dqn"),
        other => Err(Sb3Error::unsupported(
            "model",
            "one of TQC, SAC, TD3, DDPG or DQN",
            format!("a policy of {other}"),
        )),
    }
}

fn layers(data: &Value, tensors: &mut Tensors<'_>, algorithm: &str) -> Result<Layers, Sb3Error> {
    let mut layers = match algorithm {
        "dqn" => Layers::sequence(tensors, "q_net.q_net.")?,
        "td3" | "ddpg" => Layers::sequence(tensors, "actor.mu.")?,
        _ => Layers::sequence(tensors, "actor.latent_pi.")?,
    };
    if ["tqc", "sac"].contains(&algorithm) {
        if tensors.contains("actor.mu.0.weight") {
            layers.add(tensors, "actor.mu.0")?;
            let given = &data["policy_kwargs"]["clip_mean"];
            let limit = given.as_f64().or_else(|| given.as_str()?.parse().ok()).unwrap_or(SDE_LIMIT);
            layers.clamp(limit as f32)?;
        } else {
            layers.add(tensors, "actor.mu")?;
        }
    }
    if layers.is_empty() {
        return Err(Sb3Error::unsupported("policy", "the dense layers of an MLP policy", "none"));
    }
    Ok(layers)
}

/// The action space, exactly: its readable form has eight digits only.
fn actions(data: &Value) -> Result<Actions, Sb3Error> {
    const FILE: &str = "model, action space";
    let text = data["action_space"][":serialized:"].as_str().unwrap_or_default();
    let bytes = STANDARD.decode(text).map_err(|_| Sb3Error::unsupported(FILE, "base64", "something else"))?;
    let pickle = Pickle::read(&bytes, FILE, is_inert)?;
    let root = pickle.root();
    let class = pickle.made(root).map_or("something else", |(class, _)| class);
    let of = |name: &str| {
        let id = pickle.get(root, name).ok_or_else(|| Sb3Error::unsupported(FILE, name, "none"))?;
        numbers(&pickle, id, name)
    };
    match class.rsplit('.').next() {
        Some("Box") => Ok(Actions::Real(of("low")?, of("high")?)),
        Some("Discrete") => match of("n")?[..] {
            [n] if (2.0..1e6).contains(&n) => Ok(Actions::Choice(n as u32)),
            _ => Err(Sb3Error::unsupported(FILE, "two choices or more", "another number")),
        },
        _ => Err(Sb3Error::unsupported(FILE, "Box or Discrete", class)),
    }
}
