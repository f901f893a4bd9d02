//! A world and the policy that acts in it, ready to play, with the policy's identity.

use crate::dataset::PolicyName;
use crate::{catalogues, policies};
use anyhow::Result;
use offnominal_agents::Card;
use offnominal_core::prelude::*;
use serde_json::{Value, json};

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
        Cast::with(env, &json!({}), policy)
    }

    /// Builds the world with options, such as the address of a robot, and finds the policy.
    ///
    /// # Errors
    /// As above, or if the world has no such option.
    pub fn with(env: &str, options: &Value, policy: &str) -> Result<Cast> {
        let env = catalogues::worlds().build(env, options)?;
        let found = policies::find(policy, env.as_ref())?;
        let name = PolicyName { id: found.name, digest: found.digest };
        Ok(Cast { env, policy: found.policy, name, card: found.card })
    }

    /// The trial of the two.
    pub fn trial(&self) -> Trial<'_> {
        Trial::new(self.env.as_ref(), self.policy.as_ref())
    }
}
