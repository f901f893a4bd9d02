//! A front and a back leg of three joints each, in a plane.
//!
//! As PyBullet simulates it: the density of water, 10 kg in each foot, no springs. (Its file asks for 14 kg in total and
//! for springs; PyBullet reads neither.)

use super::super::plan::{Fallen, Form, Joint, Limb, Plan, Root, Table};

const TORSO: Limb =
    Limb { form: Form::Capsule([1.0, 0.0, 0.0]), length_m: 1.0, width_m: 0.046, table: 0.5, ..Limb::TORSO };

/// The direction of a capsule that was turned by an angle about y, given its cosine and sine.
const fn turned(cos: f64, sin: f64) -> Form {
    Form::Capsule([sin, 0.0, cos])
}

const fn hinge(low_rad: f64, high_rad: f64, rest_rad: f64, torque_nm: f64) -> Option<Joint> {
    Some(Joint { axis: [0.0, 1.0, 0.0], low_rad, high_rad, rest_rad, torque_nm })
}

const fn limb(
    name: &'static str,
    parent: usize,
    attach: (f64, f64),
    centre: (f64, f64),
    half_m: f64,
) -> Limb {
    let (attach_m, centre_m) = ([attach.0, 0.0, attach.1], [centre.0, 0.0, centre.1]);
    Limb { name, parent, attach_m, centre_m, length_m: 2.0 * half_m, table: half_m, ..TORSO }
}

/// Cosine and sine of the turns 0.87, −3.8, −2.03, −0.27, 0.52 and −0.6 rad.
mod turn {
    pub const HEAD: (f64, f64) = (0.644_826_547_240_001_2, 0.764_328_937_025_505_1);
    pub const BACK_THIGH: (f64, f64) = (-0.790_967_711_914_416_8, 0.611_857_890_942_718_9);
    pub const BACK_SHIN: (f64, f64) = (-0.443_234_415_665_708_9, -0.896_405_741_151_56);
    pub const BACK_FOOT: (f64, f64) = (0.963_770_896_365_890_6, -0.266_731_436_688_831_15);
    pub const FRONT_THIGH: (f64, f64) = (0.867_819_179_678_549_6, 0.496_880_137_843_736_75);
    pub const FRONT_END: (f64, f64) = (0.825_335_614_909_678_3, -0.564_642_473_395_035_4);
}

pub(in super::super) const PLAN: Plan = Plan {
    id: "half-cheetah-m",
    summary: "run forward on a front and a back leg in a plane; every limb can be longer or wider (MuJoCo)",
    root: Root::Planar,
    limbs: &[
        TORSO,
        Limb {
            form: turned(turn::HEAD.0, turn::HEAD.1),
            class: "head",
            ..limb("head", 0, (0.5, 0.0), (0.1, 0.1), 0.15)
        },
        Limb {
            form: turned(turn::BACK_THIGH.0, turn::BACK_THIGH.1),
            joint: hinge(-0.52, 1.05, 0.0, 108.0),
            class: "back-leg",
            ..limb("back-thigh", 0, (-0.5, 0.0), (0.1, -0.13), 0.145)
        },
        Limb {
            form: turned(turn::BACK_SHIN.0, turn::BACK_SHIN.1),
            joint: hinge(-0.785, 0.785, 0.0, 81.0),
            class: "back-leg",
            ..limb("back-shin", 2, (0.16, -0.25), (-0.14, -0.07), 0.15)
        },
        Limb {
            form: turned(turn::BACK_FOOT.0, turn::BACK_FOOT.1),
            joint: hinge(-0.4, 0.785, 0.0, 54.0),
            mass_kg: Some(10.0),
            class: "back-leg",
            ..limb("back-foot", 3, (-0.28, -0.14), (0.03, -0.097), 0.094)
        },
        Limb {
            form: turned(turn::FRONT_THIGH.0, turn::FRONT_THIGH.1),
            joint: hinge(-1.5, 0.8, 0.0, 126.0),
            class: "front-leg",
            ..limb("front-thigh", 0, (0.5, 0.0), (-0.07, -0.12), 0.133)
        },
        Limb {
            form: turned(turn::FRONT_END.0, turn::FRONT_END.1),
            joint: hinge(-1.2, 1.1, 0.0, 54.0),
            class: "front-leg",
            ..limb("front-shin", 5, (-0.14, -0.24), (0.065, -0.09), 0.106)
        },
        Limb {
            form: turned(turn::FRONT_END.0, turn::FRONT_END.1),
            joint: hinge(-3.1, -0.3, -0.4, 27.0),
            mass_kg: Some(10.0),
            class: "front-leg",
            ..limb("front-foot", 6, (0.13, -0.18), (0.045, -0.07), 0.07)
        },
    ],
    table: Table::HalfLengths,
    height_m: 0.7,
    friction: 0.64,
    fallen: Fallen::Never { pitch_rad: 1.0 },
    feet: &[7, 6, 5, 4, 3, 2],
    knees: &[6, 5, 3, 2],
};
