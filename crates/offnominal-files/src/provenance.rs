//! What made a result: the command, the versions, the seed and the settings, so that it can be made again.

use crate::played::Played;
use crate::store::address;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What made a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The command line that makes it again.
    pub command: String,
    /// Version of this program.
    pub engine: String,
    /// Version of the MuJoCo library, if it simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mujoco: Option<String>,
    /// Versions of Gymnasium, of the environment's package and of what simulates, for each environment that Python hosted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hosted: BTreeMap<String, String>,
    /// What counts as a failure in each environment that Python hosted, and who says so.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, String>,
    /// How each policy of another program was played, by its name in results.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub policies: BTreeMap<String, Played>,
    /// Root of everything random.
    pub seed: u64,
    /// Digest of the settings, by which two results of the same command can be told apart; empty if it is not known.
    #[serde(default)]
    pub config: String,
    /// The values behind the presets that were used, by the name of what has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub presets: BTreeMap<String, Value>,
}

impl Provenance {
    /// Of a command of this program with a seed and settings, whatever their form is.
    pub fn new(command: &str, seed: u64, config: &[u8]) -> Provenance {
        Provenance {
            command: command.into(),
            engine: env!("CARGO_PKG_VERSION").into(),
            seed,
            config: address(config),
            ..Provenance::default()
        }
    }

    /// What there is a version of, and the version; and [what was played how](Provenance::conditions).
    pub fn versions(&self) -> Vec<(&'static str, String)> {
        let mujoco = self.mujoco.clone().map(|version| ("MuJoCo", version));
        let hosted = self.hosted.values().map(|versions| ("Python", versions.clone()));
        let versions = [("offnominal", self.engine.clone())].into_iter().chain(mujoco).chain(hosted);
        versions.chain(self.conditions()).collect()
    }

    /// The rules by which episodes of hosted environments fail, and how policies of other programs were played.
    pub fn conditions(&self) -> impl Iterator<Item = (&'static str, String)> {
        let rules = self.rules.values().map(|rule| ("failure", rule.clone()));
        rules.chain(self.policies.iter().map(|(name, played)| ("policy", format!("{name}: {played}"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_settings_have_another_digest() {
        let of = |config: &str| Provenance::new("offnominal demo", 1, config.as_bytes());
        assert!(of("a") == of("a") && of("a") != of("b"));
        let of = Provenance { mujoco: Some("3".into()), ..of("a") };
        assert_eq!(
            of.versions(),
            [("offnominal", env!("CARGO_PKG_VERSION").to_string()), ("MuJoCo", "3".into())]
        );
        let json = serde_json::to_string(&of).unwrap();
        assert_eq!(serde_json::from_str::<Provenance>(&json).unwrap(), of);
    }
}
