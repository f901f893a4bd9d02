//! What the tensors of a model do not say: the algorithm, the functions between layers, and switches of its policy.

use crate::network::Activation;
use crate::pytorch::FileError;
use serde_json::Value;

/// Which algorithm trained a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Tqc,
    Sac,
    Td3,
    Ddpg,
    Dqn,
    Ppo,
    A2c,
    Trpo,
    RecurrentPpo,
    MaskablePpo,
    Ars,
    QrDqn,
}

/// The module of the policy of each algorithm.
const MODULES: &[(&str, Algorithm)] = &[
    ("sb3_contrib.tqc.policies", Algorithm::Tqc),
    ("stable_baselines3.sac.policies", Algorithm::Sac),
    ("stable_baselines3.td3.policies", Algorithm::Td3),
    ("stable_baselines3.dqn.policies", Algorithm::Dqn),
    ("stable_baselines3.common.policies", Algorithm::Ppo),
    ("sb3_contrib.common.recurrent.policies", Algorithm::RecurrentPpo),
    ("sb3_contrib.common.maskable.policies", Algorithm::MaskablePpo),
    ("sb3_contrib.ars.policies", Algorithm::Ars),
    ("sb3_contrib.qrdqn.policies", Algorithm::QrDqn),
];

/// The algorithms that are understood, in words.
const KNOWN: &str =
    "one of PPO, A2C, TRPO, RecurrentPPO, MaskablePPO, ARS, SAC, TQC, TD3, DDPG, DQN or QR-DQN";

impl Algorithm {
    /// The algorithm, from the module of its policy and the names of its settings; DDPG is TD3 with a single critic.
    pub(super) fn read(data: &Value) -> Result<Algorithm, FileError> {
        let module = data["policy_class"]["__module__"].as_str().unwrap_or("none");
        let single = data["policy_kwargs"]["n_critics"].to_string().trim_matches('"') == "1";
        let found = MODULES.iter().find(|(name, _)| *name == module).map(|(_, algorithm)| *algorithm);
        match found {
            Some(Algorithm::Td3) if single => Ok(Algorithm::Ddpg),
            Some(Algorithm::Ppo) if data.get("cg_max_steps").is_some() => Ok(Algorithm::Trpo),
            Some(Algorithm::Ppo) if data.get("clip_range").is_none() => Ok(Algorithm::A2c),
            Some(known) => Ok(known),
            None => Err(FileError::unsupported("model", KNOWN, format!("a policy of {module}"))),
        }
    }

    /// Its name in results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Algorithm::Tqc => "tqc",
            Algorithm::Sac => "sac",
            Algorithm::Td3 => "td3",
            Algorithm::Ddpg => "ddpg",
            Algorithm::Dqn => "dqn",
            Algorithm::Ppo => "ppo",
            Algorithm::A2c => "a2c",
            Algorithm::Trpo => "trpo",
            Algorithm::RecurrentPpo => "recurrent-ppo",
            Algorithm::MaskablePpo => "maskable-ppo",
            Algorithm::Ars => "ars",
            Algorithm::QrDqn => "qr-dqn",
        }
    }

    /// Whether its policy has one network with a value beside the action.
    pub(super) fn is_actor_critic(self) -> bool {
        use Algorithm::{A2c, MaskablePpo, Ppo, RecurrentPpo, Trpo};
        matches!(self, Ppo | A2c | Trpo | RecurrentPpo | MaskablePpo)
    }
}

/// What `policy_kwargs` says, and what holds where it does not.
pub(super) struct Settings<'a>(pub(super) &'a Value);

impl Settings<'_> {
    fn given(&self, key: &str) -> &Value {
        &self.0["policy_kwargs"][key]
    }

    /// Whether a switch is on.
    pub(super) fn is_on(&self, key: &str, otherwise: bool) -> bool {
        match self.given(key) {
            Value::Bool(on) => *on,
            Value::String(text) => text == "True",
            _ => otherwise,
        }
    }

    /// A number, if it is given.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        let given = self.given(key);
        given.as_f64().or_else(|| given.as_str()?.parse().ok())
    }

    /// The function between the layers.
    pub(super) fn activation(&self, algorithm: Algorithm) -> Result<Activation, FileError> {
        let given = self.given("activation_fn");
        if given.is_null() {
            return Ok(if algorithm.is_actor_critic() { Activation::Tanh } else { Activation::Relu });
        }
        let text = given.as_str().map_or_else(|| given.to_string(), String::from);
        let class = class(&text).filter(|class| class.starts_with("torch.nn.modules.activation."));
        let class = class.or_else(|| class_of_linear(&text));
        let activation = class.and_then(|class| Activation::named(class.rsplit('.').next()?));
        let found = || text.chars().take(80).collect::<String>();
        activation.ok_or_else(|| {
            FileError::unsupported("activation_fn", format!("one of {}", Activation::names()), found())
        })
    }

    /// Refuses features that are not those of Stable-Baselines3.
    pub(super) fn check_extractor(&self) -> Result<(), FileError> {
        const KNOWN: &[&str] = &["NatureCNN", "FlattenExtractor"];
        let given = self.given("features_extractor_class");
        let text = given.as_str().unwrap_or_default();
        let name = class(text).filter(|class| class.starts_with("stable_baselines3.common.torch_layers."));
        let is_known =
            name.is_some_and(|name| KNOWN.iter().any(|known| name.ends_with(&format!(".{known}"))));
        if given.is_null() || is_known {
            return Ok(());
        }
        let found = text.chars().take(80).collect::<String>();
        Err(FileError::unsupported("features_extractor_class", "NatureCNN or FlattenExtractor", found))
    }
}

/// The name in `<class 'name'>`.
fn class(text: &str) -> Option<&str> {
    text.strip_prefix("<class '")?.strip_suffix("'>")
}

/// `torch.nn.Identity`, which is not in the module of the others.
fn class_of_linear(text: &str) -> Option<&str> {
    class(text).filter(|class| *class == "torch.nn.modules.linear.Identity")
}
