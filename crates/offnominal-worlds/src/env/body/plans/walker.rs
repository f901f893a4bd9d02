//! Two legs in a plane.

use super::super::plan::{Fallen, Form, Joint, Limb, Plan, Root, Table};
use super::degrees;

pub(super) const fn hinge(low: f64, high: f64, torque_nm: f64) -> Option<Joint> {
    let (low_rad, high_rad) = (degrees(low), degrees(high));
    Some(Joint { axis: [0.0, -1.0, 0.0], low_rad, high_rad, rest_rad: 0.0, torque_nm })
}

pub(super) const fn thigh(name: &'static str, class: &'static str, twin: Option<usize>) -> Limb {
    let joint = hinge(-150.0, 0.0, 40.0);
    let (attach_m, centre_m) = ([0.0, 0.0, -0.2], [0.0, 0.0, -0.225]);
    Limb { name, attach_m, centre_m, length_m: 0.45, table: 1.05, joint, class, twin, ..Limb::TORSO }
}

pub(super) const fn leg(name: &'static str, parent: usize, class: &'static str, twin: Option<usize>) -> Limb {
    let joint = hinge(-150.0, 0.0, 40.0);
    let (attach_m, centre_m) = ([0.0, 0.0, -0.45], [0.0, 0.0, -0.25]);
    Limb {
        name,
        parent,
        attach_m,
        centre_m,
        length_m: 0.5,
        width_m: 0.04,
        table: 0.6,
        joint,
        class,
        twin,
        ..Limb::TORSO
    }
}

pub(super) const fn foot(
    name: &'static str,
    parent: usize,
    class: &'static str,
    twin: Option<usize>,
) -> Limb {
    let joint = hinge(-45.0, 45.0, 12.0);
    let (attach_m, centre_m) = ([0.0, 0.0, -0.5], [0.1, 0.0, 0.0]);
    Limb {
        name,
        parent,
        attach_m,
        centre_m,
        form: Form::Capsule([1.0, 0.0, 0.0]),
        length_m: 0.2,
        width_m: 0.06,
        table: 0.2,
        joint,
        class,
        twin,
        ..Limb::TORSO
    }
}

pub(in super::super) const PLAN: Plan = Plan {
    id: "walker",
    summary: "walk forward on two legs in a plane; every limb can be longer or wider (MuJoCo)",
    root: Root::Planar,
    limbs: &[
        Limb::TORSO,
        thigh("thigh", "right-leg", None),
        leg("leg", 1, "right-leg", None),
        foot("foot", 2, "right-leg", None),
        thigh("left-thigh", "left-leg", Some(1)),
        leg("left-leg", 4, "left-leg", Some(2)),
        foot("left-foot", 5, "left-leg", Some(3)),
    ],
    table: Table::Heights,
    height_m: 1.25,
    friction: 0.64,
    fallen: Fallen::Torso { low_m: 0.8, pitch_rad: 1.0 },
    feet: &[3, 6],
    knees: &[],
};
