//! Four legs in space.
//!
//! The ankles start bent by 1 rad, within their limits, as the body's file asks; PyBullet starts them straight, half a
//! radian outside.

use super::super::plan::{Fallen, Form, Joint, Limb, Plan, Root, Table};
use super::degrees;
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

const TORQUE_NM: f64 = 250.0;

const TORSO: Limb = Limb { form: Form::Ellipsoid, length_m: 0.25, width_m: 0.25, table: 0.25, ..Limb::TORSO };

/// The signs of x and y of the four directions in which legs point.
type Way = (f64, f64);

/// A limb along a way, of which the table has the component, hanging at the end of one of another component.
const fn limb(name: &'static str, parent: usize, after: f64, part: f64, way: Way) -> Limb {
    let (x, y) = way;
    Limb {
        name,
        parent,
        attach_m: [after * x, after * y, 0.0],
        centre_m: [0.5 * part * x, 0.5 * part * y, 0.0],
        form: Form::Capsule([FRAC_1_SQRT_2 * x, FRAC_1_SQRT_2 * y, 0.0]),
        length_m: part * SQRT_2,
        width_m: 0.08,
        table: part,
        ..TORSO
    }
}

const fn bracket(name: &'static str, way: Way, class: &'static str) -> Limb {
    Limb { class, ..limb(name, 0, 0.0, 0.2, way) }
}

const fn leg(name: &'static str, parent: usize, way: Way, class: &'static str) -> Limb {
    let (low_rad, high_rad) = (degrees(-40.0), degrees(40.0));
    let joint = Joint { axis: [0.0, 0.0, 1.0], low_rad, high_rad, rest_rad: 0.0, torque_nm: TORQUE_NM };
    Limb { joint: Some(joint), class, ..limb(name, parent, 0.2, 0.2, way) }
}

/// `bend` is the sign of the angle that points the foot down.
const fn foot(name: &'static str, parent: usize, way: Way, bend: f64, class: &'static str) -> Limb {
    let (x, y) = way;
    let (low, high) = if bend > 0.0 { (30.0, 100.0) } else { (-100.0, -30.0) };
    let (low_rad, high_rad) = (degrees(low), degrees(high));
    // A turn about (−y, x) points the way down; the file has the opposite axis for the two legs that bend by less than
    // zero.
    let axis = [-y * bend, x * bend, 0.0];
    let joint = Joint { axis, low_rad, high_rad, rest_rad: bend, torque_nm: TORQUE_NM };
    Limb { joint: Some(joint), class, ..limb(name, parent, 0.2, 0.4, way) }
}

const FL: Way = (1.0, 1.0);
const FR: Way = (-1.0, 1.0);
const BL: Way = (-1.0, -1.0);
const BR: Way = (1.0, -1.0);

pub(in super::super) const PLAN: Plan = Plan {
    id: "ant",
    summary: "run forward on four legs; every limb can be longer or wider (MuJoCo)",
    root: Root::Free,
    limbs: &[
        TORSO,
        bracket("front-left-hip", FL, "front-leg"),
        leg("front-left-leg", 1, FL, "front-leg"),
        foot("front-left-foot", 2, FL, 1.0, "front-leg"),
        bracket("front-right-hip", FR, "front-leg"),
        leg("front-right-leg", 4, FR, "front-leg"),
        foot("front-right-foot", 5, FR, -1.0, "front-leg"),
        bracket("back-left-hip", BL, "back-leg"),
        leg("back-left-leg", 7, BL, "back-leg"),
        foot("back-left-foot", 8, BL, -1.0, "back-leg"),
        bracket("back-right-hip", BR, "back-leg"),
        leg("back-right-leg", 10, BR, "back-leg"),
        foot("back-right-foot", 11, BR, 1.0, "back-leg"),
    ],
    table: Table::Components,
    height_m: 0.56,
    friction: 1.2,
    fallen: Fallen::Belly { low_m: 0.26 },
    feet: &[3, 6, 9, 12],
    knees: &[],
};
