//! Laws of policies.

use super::{Law, Verdicts, Violation};
use crate::policy::Policy;
use crate::spec::EnvSpec;
use crate::{Rng, Seed};

/// Checks a policy for the given world.
pub fn policy(policy: &dyn Policy, spec: &EnvSpec, exempt: &[(Law, &'static str)]) -> Vec<Violation> {
    let mut verdicts = Verdicts::new(exempt);
    let first = commands(policy, spec);
    verdicts.require(Law::SameSeedSameBits, first == commands(policy, spec), || "two runs differ".into());
    for row in first.chunks_exact(spec.action.len()) {
        for (value, channel) in row.iter().zip(&spec.action) {
            verdicts.require(Law::IsFinite, value.is_finite(), || format!("{} = {value}", channel.name));
            let inside = (channel.low..=channel.high).contains(&f64::from(*value));
            verdicts.require(Law::CommandsInBounds, inside, || {
                format!("{}: expected [{}, {}], found {value}", channel.name, channel.low, channel.high)
            });
            let is_one = !channel.is_choice() || value.fract() == 0.0;
            verdicts.require(Law::CommandsInBounds, is_one, || {
                format!("{}: expected one of {} choices, found {value}", channel.name, channel.choices)
            });
        }
    }
    verdicts.found
}

fn commands(policy: &dyn Policy, spec: &EnvSpec) -> Vec<f32> {
    let mut policy = policy.fork();
    let (mut inputs, mut rng) = (Rng::new(11), Seed(12).rng());
    let mut obs = vec![0.0; spec.obs_width()];
    let mut all = vec![0.0; 50 * spec.action.len()];
    policy.reset();
    for action in all.chunks_exact_mut(spec.action.len()) {
        inputs.fill_normal(&mut obs);
        policy.act(&obs, action, &mut rng);
    }
    all
}
