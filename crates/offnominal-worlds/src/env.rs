//! The environments, one file or folder each, and their catalogue.

#[cfg(test)]
mod arm_tests;
pub mod body;
mod car;
mod cartpole;
mod classic_image;
mod disc;
pub(crate) mod driving;
pub mod humanoid;
mod mjc;
mod mjc_cartpole_swingup;
mod mjc_half_cheetah;
mod mjc_image;
mod mjc_reacher3d;
#[cfg(test)]
mod mjc_tests;
mod motion;
mod only_one;
mod pendulum;
pub(crate) mod pong;
pub mod sap;
mod urm;
mod vec2;

pub use cartpole::Cartpole;
pub use motion::{Batch, Motion};
pub use pendulum::{Integrator, Pendulum};

use offnominal_core::prelude::*;

/// Every built-in environment, in the order in which reports list them.
pub const ENVS: &[Entry<dyn Env>] = &[
    mjc_cartpole_swingup::ENTRY,
    mjc_reacher3d::ENTRY,
    mjc_half_cheetah::ENTRY,
    sap::GOAL0,
    sap::GOAL1,
    sap::GOAL2,
    urm::REACH,
    urm::PNP,
    urm::REAL_REACH,
    car::LANEKEEP,
    cartpole::ENTRY,
    pendulum::ENTRY,
    pong::ENTRY,
    driving::ENTRY,
    humanoid::ENTRY,
    body::HOPPER,
    body::WALKER,
    body::ANT,
    body::HALF_CHEETAH,
];

/// The step at which a simulator, or the link to a robot, broke, or an action was no number: its reward counts as zero.
const DIVERGED: Step = Step { reward: 0.0, status: Status::Diverged };

/// Two actions within ±1; `None` if one is no number.
fn two_actions(spec: &EnvSpec, action: &[f32]) -> Option<[f64; 2]> {
    let &[a, b] = action else { panic!("{}: expected 2 actions, found {}", spec.id, action.len()) };
    (!a.is_nan() && !b.is_nan()).then(|| [a, b].map(|a| f64::from(a.clamp(-1.0, 1.0))))
}

/// Refuses every option: what can change in most environments is a parameter.
fn no_options(params: &serde_json::Value) -> Result<(), BuildError> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoOptions {}
    let NoOptions {} = offnominal_core::catalogue::parse(params)?;
    Ok(())
}

/// The catalogue of the built-in environments.
pub fn catalogue() -> Catalogue<dyn Env> {
    Catalogue::new("environment", ENVS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_environment_obeys_the_laws() {
        for entry in ENVS {
            let environment = (entry.build)(&serde_json::json!({})).unwrap();
            assert_eq!(environment.spec().id, entry.id);
            offnominal_laws::assert_lawful(
                entry.id,
                &offnominal_laws::env(environment.as_ref(), entry.exempt),
            );
        }
    }
}
