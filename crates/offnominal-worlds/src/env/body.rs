//! Bodies that walk and run, and whose limbs may be longer or wider than those that a policy knows.
//!
//! Four bodies of roboschool as PyBullet simulates them (their figures were read back from it: masses, torques, limits,
//! friction), made anew for MuJoCo. Every limb has a length and a width; whatever hangs on a limb moves with its end, and
//! the body starts as far above the ground as the nominal one.
//!
//! | symbol | meaning                                                   | unit |
//! |--------|-----------------------------------------------------------|------|
//! | L, w   | length between the centres of a capsule's caps; its radius | m    |
//! | z₀     | height of the torso's centre at the start                 | m    |
//!
//! Reference: Mann et al., "Out-of-distribution generalization of internal models is correlated with reward" (2021),
//! tables 4 to 7; roboschool's walkers for observation and reward.

mod built;
mod card;
mod error;
mod ground;
mod mjcf;
mod options;
mod plan;
mod plans;
mod posture;
mod sizes;
#[cfg(test)]
mod tests;
mod walker;

pub use error::BodyError;
pub use options::{Fall, Mass, Options, Reading};
pub use plans::{BODIES, bare, quantities};
pub use sizes::{Quantity, Span};

use offnominal_core::prelude::*;
use walker::Walker;

const PLANAR: &[(Law, &str)] = &[(
    Law::EveryChannelVaries,
    "in a plane, roboschool's channels for the direction of the target and for roll never change",
)];

type Build = fn(&serde_json::Value) -> Result<Box<dyn Env>, BuildError>;

const fn entry(plan: &plan::Plan, build: Build, exempt: &'static [(Law, &'static str)]) -> Entry<dyn Env> {
    Entry { id: plan.id, summary: plan.summary, build, exempt }
}

pub(super) const HOPPER: Entry<dyn Env> =
    entry(&plans::hopper::PLAN, |params| Ok(Box::new(Walker::build(&plans::hopper::PLAN, params)?)), PLANAR);
pub(super) const WALKER: Entry<dyn Env> =
    entry(&plans::walker::PLAN, |params| Ok(Box::new(Walker::build(&plans::walker::PLAN, params)?)), PLANAR);
pub(super) const ANT: Entry<dyn Env> =
    entry(&plans::ant::PLAN, |params| Ok(Box::new(Walker::build(&plans::ant::PLAN, params)?)), &[]);
pub(super) const HALF_CHEETAH: Entry<dyn Env> = entry(
    &plans::half_cheetah::PLAN,
    |params| Ok(Box::new(Walker::build(&plans::half_cheetah::PLAN, params)?)),
    PLANAR,
);
