//! Finding a policy by the name a user gives it: an algorithm, a card's id, or a path.

use anyhow::{Result, bail};
use offnominal_core::env::Env;
use offnominal_core::policy::{Policy, Random};

/// The policy of that name for the given world; `random` is always there.
///
/// # Errors
/// If there is no such policy for this world.
pub fn find(name: &str, env: &dyn Env) -> Result<Box<dyn Policy>> {
    match name {
        "random" => Ok(Box::new(Random::new(&env.spec().action))),
        _ => bail!("no policy is called {name:?}"),
    }
}

/// Names and summaries of the built-in policies.
pub fn list() -> Vec<(String, String)> {
    vec![("random".into(), "draws every command uniformly between its bounds".into())]
}
