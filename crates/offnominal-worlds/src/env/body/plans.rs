//! The four bodies.

pub(super) mod ant;
pub(super) mod half_cheetah;
pub(super) mod hopper;
pub(super) mod walker;

use super::options::Reading;
use super::plan::Plan;
use super::sizes::{self, Quantity};
use super::walker::Walker;
use offnominal_core::catalogue::BuildError;
use offnominal_mujoco::Simulation;

/// Ids of the environments whose limbs can change, in the order in which reports list them.
pub const BODIES: [&str; 4] = [hopper::PLAN.id, walker::PLAN.id, ant::PLAN.id, half_cheetah::PLAN.id];

const PLANS: [&Plan; 4] = [&hopper::PLAN, &walker::PLAN, &ant::PLAN, &half_cheetah::PLAN];

/// The lengths and widths of a body, in the order of its limbs.
///
/// # Errors
/// If the environment has no limbs that can change.
pub fn quantities(id: &str, reading: Reading) -> Result<Vec<Quantity>, BuildError> {
    Ok(sizes::quantities(plan(id)?, reading))
}

fn plan(id: &str) -> Result<&'static Plan, BuildError> {
    PLANS.iter().copied().find(|p| p.id == id).ok_or_else(|| BuildError::Unknown {
        noun: "body",
        id: id.into(),
        nearest: offnominal_core::suggest::nearest(id, BODIES.into_iter()),
        known: BODIES.join(", "),
    })
}

/// A nominal body alone, as it stands at the start: what the environment around it is measured against.
///
/// # Errors
/// If the environment has no limbs that can change, or MuJoCo is missing.
pub fn bare(id: &str) -> Result<Simulation, BuildError> {
    let walker = Walker::build(plan(id)?, &serde_json::json!({}))?;
    Ok(walker.into_simulation())
}

/// An angle in degrees, as the figures of these bodies are written.
const fn degrees(angle: f64) -> f64 {
    angle * std::f64::consts::PI / 180.0
}
