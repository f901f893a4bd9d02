//! One leg in a plane.

use super::super::plan::{Fallen, Form, Joint, Limb, Plan, Root, Table};
use super::degrees;

const DOWN: Form = Form::Capsule([0.0, 0.0, -1.0]);
const TORQUE_NM: f64 = 75.0;

const fn hinge(low: f64, high: f64) -> Option<Joint> {
    let (low_rad, high_rad) = (degrees(low), degrees(high));
    Some(Joint { axis: [0.0, -1.0, 0.0], low_rad, high_rad, rest_rad: 0.0, torque_nm: TORQUE_NM })
}

pub(in super::super) const PLAN: Plan = Plan {
    id: "hopper",
    summary: "hop forward on one leg in a plane; every limb can be longer or wider (MuJoCo)",
    root: Root::Planar,
    limbs: &[
        Limb {
            name: "torso",
            parent: 0,
            attach_m: [0.0; 3],
            centre_m: [0.0; 3],
            form: DOWN,
            length_m: 0.4,
            width_m: 0.05,
            table: 1.45,
            mass_kg: None,
            joint: None,
            class: "torso",
            twin: None,
        },
        Limb {
            name: "thigh",
            parent: 0,
            attach_m: [0.0, 0.0, -0.2],
            centre_m: [0.0, 0.0, -0.225],
            form: DOWN,
            length_m: 0.45,
            width_m: 0.05,
            table: 1.05,
            mass_kg: None,
            joint: hinge(-150.0, 0.0),
            class: "leg",
            twin: None,
        },
        Limb {
            name: "leg",
            parent: 1,
            attach_m: [0.0, 0.0, -0.45],
            centre_m: [0.0, 0.0, -0.25],
            form: DOWN,
            length_m: 0.5,
            width_m: 0.04,
            table: 0.6,
            mass_kg: None,
            joint: hinge(-150.0, 0.0),
            class: "leg",
            twin: None,
        },
        Limb {
            name: "foot",
            parent: 2,
            attach_m: [0.0, 0.0, -0.5],
            centre_m: [0.065, 0.0, 0.0],
            form: Form::Capsule([1.0, 0.0, 0.0]),
            length_m: 0.39,
            width_m: 0.06,
            table: 0.26,
            mass_kg: None,
            joint: hinge(-45.0, 45.0),
            class: "foot",
            twin: None,
        },
    ],
    table: Table::Heights,
    height_m: 1.25,
    friction: 0.64,
    fallen: Fallen::Torso { low_m: 0.8, pitch_rad: 1.0 },
    feet: &[3],
    knees: &[],
};
