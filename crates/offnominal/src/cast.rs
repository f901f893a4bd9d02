//! A world and the policy that acts in it, ready to play, with the policy's identity.

use crate::dataset::PolicyName;
use crate::{catalogues, policies};
use anyhow::Result;
use offnominal_agents::Card;
use offnominal_core::Rng;
use offnominal_core::prelude::*;
use serde_json::json;
use sha2::{Digest, Sha256};

/// A world, a policy, and who the policy is.
pub struct Cast {
    /// The pristine world.
    pub env: Box<dyn Env>,
    /// The policy.
    pub policy: Box<dyn Policy>,
    /// Its name and digest.
    pub name: PolicyName,
    /// What is known of it.
    pub card: Option<Card>,
}

impl Cast {
    /// Builds the world and finds the policy.
    ///
    /// # Errors
    /// If either name is unknown, or something they need is missing.
    pub fn new(env: &str, policy: &str) -> Result<Cast> {
        let env = catalogues::worlds().build(env, &json!({}))?;
        let found = policies::find(policy, env.as_ref())?;
        let digest = digest(found.policy.as_ref(), env.spec());
        Ok(Cast { env, policy: found.policy, name: PolicyName { id: found.name, digest }, card: found.card })
    }

    /// The trial of the two.
    pub fn trial(&self) -> Trial<'_> {
        Trial::new(self.env.as_ref(), self.policy.as_ref())
    }
}

/// Observations on which a policy is probed.
const PROBES: usize = 256;

/// A digest of what a policy does: its commands on fixed pseudo-random observations. It sees through renamed files,
/// and tells two policies apart unless they command the same bits everywhere.
fn digest(policy: &dyn Policy, spec: &EnvSpec) -> String {
    let mut policy = policy.fork();
    let (mut rng, mut noise) = (Rng::new(0), Rng::new(1));
    let mut obs = vec![0.0; spec.observation.len()];
    let mut action = vec![0.0; spec.action.len()];
    let mut sum = Sha256::new();
    policy.reset();
    for _ in 0..PROBES {
        noise.fill_normal(&mut obs);
        policy.act(&obs, &mut action, &mut rng);
        action.iter().for_each(|a: &f32| sum.update(a.to_le_bytes()));
    }
    hex(&sum.finalize())
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_told_apart_by_what_they_do() {
        let spec = crate::dataset::tests::spec(3, 2);
        let scaled = |k: f32| move |obs: &[f32], action: &mut [f32]| action.fill(k * obs[0]);
        let digests = [1.0, 1.0, 1.000_001].map(|k| digest(&scaled(k), &spec));
        assert_eq!(digests[0], digests[1]);
        assert_ne!(digests[0], digests[2]);
        assert_eq!(digests[0].len(), 64);
    }
}
