//! How far below its torso a body reaches.

use super::plan::{Form, Plan};
use super::sizes::Bone;
use offnominal_mujoco::Simulation;

/// The height of the lowest point of a limb; poses must be up to date, and geom `i + 1` is limb `i`.
pub(super) fn lowest_of(sim: &Simulation, plan: &Plan, bones: &[Bone], i: usize) -> f64 {
    let (geom, bone) = (i + 1, bones[i]);
    let z = sim.geom_xpos()[3 * geom + 2];
    // The last row of the rotation: how each axis of the shape points up.
    let up = &sim.geom_xmat()[9 * geom + 6..9 * geom + 9];
    match plan.limbs[i].form {
        Form::Capsule(_) => z - 0.5 * bone.length_m * up[2].abs() - bone.width_m,
        Form::Ellipsoid => {
            let axes = [bone.length_m, bone.width_m, bone.width_m];
            z - axes.iter().zip(up).map(|(a, u)| (a * u).powi(2)).sum::<f64>().sqrt()
        }
    }
}

/// The height of the lowest point of the whole body.
pub(super) fn lowest(sim: &Simulation, plan: &Plan, bones: &[Bone]) -> f64 {
    (0..bones.len()).map(|i| lowest_of(sim, plan, bones, i)).fold(f64::INFINITY, f64::min)
}
