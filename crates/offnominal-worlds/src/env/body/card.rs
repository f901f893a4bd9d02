//! The card of a body's environment.

use super::mjcf::DT_SECS;
use super::options::{Fall, Mass, Options, Reading};
use super::plan::{Fallen, Limb, Plan, Root, Table};
use super::sizes;
use offnominal_core::prelude::*;

/// Observations are cut here.
pub(super) const CUT: f64 = 5.0;

pub(super) fn spec(plan: &Plan, options: &Options) -> EnvSpec {
    EnvSpec {
        source: source(plan),
        observation: observation(plan),
        action: action(plan),
        dt_secs: DT_SECS,
        horizon: 1000,
        parameters: parameters(plan, options),
        initial: plan.joints().map(|(limb, _)| limb.name.replace('-', "_")).collect(),
        reward: reward(plan),
        reset: reset(plan),
        success: success(plan, options),
        ..EnvSpec::new(plan.id, plan.summary)
    }
}

/// The classes other than the background, each with the geoms that belong to it.
pub(super) fn classes(plan: &Plan) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut classes = vec![("floor", vec!["floor"])];
    for limb in plan.limbs {
        match classes.iter_mut().find(|c| c.0 == limb.class) {
            Some(class) => class.1.push(limb.name),
            None => classes.push((limb.class, vec![limb.name])),
        }
    }
    classes
}

fn parameters(plan: &Plan, options: &Options) -> Vec<Parameter> {
    let mass = match options.mass {
        Mass::ByVolume => "factor on the mass of every limb",
        Mass::FixedTotal => "factor on the mass of the body, which does not follow the volume",
    };
    let factor = |name, meaning| Parameter::new(name, meaning, "1", 1.0, 0.05, 10.0);
    let mut all = sizes::parameters(plan, options.reading);
    all.push(factor("mass", mass));
    all.push(factor("ground-friction", "factor on the friction between body and ground"));
    all.push(factor("motor-strength", "factor on the torque of every motor"));
    all
}

fn said(limb: &Limb) -> String {
    limb.name.replace('-', " ")
}

fn observation(plan: &Plan) -> Vec<Channel> {
    let cut = |name: &str, meaning: &str, unit: &str| Channel::new(name, meaning, unit, -CUT, CUT);
    let mut all = vec![
        cut("height", "height of the torso above where it started", "m"),
        cut("target_sin", "sine of the angle from where the torso faces to the target", "1"),
        cut("target_cos", "cosine of that angle", "1"),
        cut("forward_velocity", "velocity of the torso where it faces", "1/0.3 m/s"),
        cut("left_velocity", "velocity of the torso to its left", "1/0.3 m/s"),
        cut("up_velocity", "velocity of the torso upwards", "1/0.3 m/s"),
        cut("roll", "roll of the torso", "rad"),
        cut("pitch", "pitch of the torso", "rad"),
    ];
    for (limb, joint) in plan.joints() {
        let (name, half) = (limb.name.replace('-', "_"), 0.5 * (joint.high_rad - joint.low_rad));
        let angle = format!("angle of the {}, from −1 to 1 between its limits", said(limb));
        all.push(cut(&name, &angle, &format!("{half:.3} rad")));
        let speed = format!("angular velocity of the {}", said(limb));
        all.push(cut(&format!("{name}_velocity"), &speed, "10 rad/s"));
    }
    for limb in plan.feet.iter().map(|&f| &plan.limbs[f]) {
        let meaning = format!("1 while the {} touches the ground", said(limb));
        all.push(Channel::new(&format!("{}_contact", limb.name.replace('-', "_")), &meaning, "1", 0.0, 1.0));
    }
    all
}

fn action(plan: &Plan) -> Vec<Channel> {
    let channel = |(limb, joint): (&'static Limb, &super::plan::Joint)| {
        let torque = joint.torque_nm;
        let meaning = format!("torque of the motor of the {}, in units of {torque} N m", said(limb));
        Channel::new(&limb.name.replace('-', "_"), &meaning, &format!("{torque} N m"), -1.0, 1.0)
    };
    plan.joints().map(channel).collect()
}

fn reward(plan: &Plan) -> String {
    let alive = match plan.fallen {
        Fallen::Never { pitch_rad } => format!(
            "1 while the torso is pitched by less than {pitch_rad} rad and no thigh or shin touches the ground, else −1"
        ),
        _ => "1, or −1 in the step of the fall".into(),
    };
    format!(
        "alive + progress − 2 mean |a q̇| − 0.1 mean a² − 0.1 n: alive is {alive}; progress is the speed at which the \
         middle of the limbs comes nearer to a target 1 km ahead, in m/s; a are the actions, q̇ the angular velocities \
         as observed, n the number of joints within 1 % of a limit"
    )
}

fn reset(plan: &Plan) -> String {
    let rest =
        if plan.joints().any(|(_, j)| j.rest_rad != 0.0) { "bent as in the body's file" } else { "straight" };
    format!(
        "at rest, joints {rest} plus uniform noise of ±0.1 rad, within their limits; the torso as high as keeps the \
         nominal distance between the body and the ground, {} m for the nominal body",
        plan.height_m
    )
}

fn success(plan: &Plan, options: &Options) -> String {
    let own = options.fall == Fall::Relative;
    match plan.fallen {
        Fallen::Torso { low_m, pitch_rad } => {
            let share = low_m / plan.height_m;
            let low =
                if own { format!("{share} times its height at the start") } else { format!("{low_m} m") };
            format!(
                "not defined; an episode fails when the torso sinks to {low} or is pitched by {pitch_rad} rad"
            )
        }
        Fallen::Belly { low_m } if own => {
            let low = low_m - plan.limbs[0].width_m;
            format!("not defined; an episode fails when the lowest point of the torso sinks to {low:.2} m")
        }
        Fallen::Belly { low_m } => {
            format!("not defined; an episode fails when the centre of the torso sinks to {low_m} m")
        }
        Fallen::Never { .. } => "not defined; no episode ends before the horizon".into(),
    }
}

fn source(plan: &Plan) -> String {
    let table = match plan.table {
        Table::Heights => "heights at which limbs begin",
        Table::HalfLengths => "half lengths",
        Table::Components => "components along x and y",
    };
    let root = if plan.root == Root::Planar {
        " Roll and the target's direction never change in a plane."
    } else {
        ""
    };
    format!(
        "PyBullet-M (2021), on roboschool's body with the masses, torques, limits and friction that PyBullet 3.2.7 gives \
         it; simulated by MuJoCo 3.17.0. Options: reading = {:?} (the publication's lengths are {table}), mass = {:?} or \
         {:?}, fall = {:?} or {:?}. Deviations: exact moments of inertia, no collisions among limbs, every joint with a \
         damping of 0.1 N m s and an armature of 0.01 kg m²; contacts are those of the present step; progress is that of \
         the limbs alone, where PyBullet's mean counts the floor as one.{root}",
        word(Reading::PaperLiteral),
        word(Mass::ByVolume),
        word(Mass::FixedTotal),
        word(Fall::Relative),
        word(Fall::Absolute),
    )
}

/// A value as options write it.
fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(String::from)).unwrap_or_default()
}
