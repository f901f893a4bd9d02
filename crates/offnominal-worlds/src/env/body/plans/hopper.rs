//! One leg in a plane: a leg of the walker with a motor of its own in every joint, and a longer foot.

use super::super::plan::{Fallen, Joint, Limb, Plan, Root, Table};
use super::walker;

const fn hinge(low: f64, high: f64) -> Option<Joint> {
    walker::hinge(low, high, 75.0)
}

pub(in super::super) const PLAN: Plan = Plan {
    id: "hopper",
    summary: "hop forward on one leg in a plane; every limb can be longer or wider (MuJoCo)",
    root: Root::Planar,
    limbs: &[
        Limb::TORSO,
        Limb { joint: hinge(-150.0, 0.0), ..walker::thigh("thigh", "leg", None) },
        Limb { joint: hinge(-150.0, 0.0), ..walker::leg("leg", 1, "leg", None) },
        Limb {
            centre_m: [0.065, 0.0, 0.0],
            length_m: 0.39,
            table: 0.26,
            joint: hinge(-45.0, 45.0),
            ..walker::foot("foot", 2, "foot", None)
        },
    ],
    table: Table::Heights,
    height_m: 1.25,
    friction: 0.64,
    fallen: Fallen::Torso { low_m: 0.8, pitch_rad: 1.0 },
    feet: &[3],
    knees: &[],
};
