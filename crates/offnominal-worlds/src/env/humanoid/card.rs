//! The specification of the environment, and what its images show.

use super::super::mjc::Design;
use super::EXTREMITIES;
use super::postures::{JOINT_SD_RAD, TILT_SD_RAD};
use offnominal_core::prelude::*;

pub(super) const ID: &str = "humanoid-stand";
pub(super) const SUMMARY: &str = "stay on one's feet, a humanoid with 21 motors (MuJoCo)";
/// Numbers in an observation.
pub(super) const OBSERVATION: usize = 67;

/// Joints in the order of the model.
#[rustfmt::skip]
const JOINTS: [&str; 21] = [
    "abdomen_z", "abdomen_y", "abdomen_x",
    "right_hip_x", "right_hip_z", "right_hip_y", "right_knee", "right_ankle_y", "right_ankle_x",
    "left_hip_x", "left_hip_z", "left_hip_y", "left_knee", "left_ankle_y", "left_ankle_x",
    "right_shoulder1", "right_shoulder2", "right_elbow",
    "left_shoulder1", "left_shoulder2", "left_elbow",
];
/// Motors in the order of the model, with their torque at full action, N m.
#[rustfmt::skip]
const MOTORS: [(&str, u32); 21] = [
    ("abdomen_y", 40), ("abdomen_z", 40), ("abdomen_x", 40),
    ("right_hip_x", 40), ("right_hip_z", 40), ("right_hip_y", 120),
    ("right_knee", 80), ("right_ankle_x", 20), ("right_ankle_y", 20),
    ("left_hip_x", 40), ("left_hip_z", 40), ("left_hip_y", 120),
    ("left_knee", 80), ("left_ankle_x", 20), ("left_ankle_y", 20),
    ("right_shoulder1", 20), ("right_shoulder2", 20), ("right_elbow", 40),
    ("left_shoulder1", 20), ("left_shoulder2", 20), ("left_elbow", 40),
];
const AXES: [&str; 3] = ["x", "y", "z"];

pub(super) fn design(fall_m: f64) -> Design {
    Design {
        xml: include_str!("../../../models/humanoid_stand.xml"),
        spec: spec(fall_m),
        pushed_body: "torso",
        push_direction: [1.0, 0.0, 0.0],
        most_mass: 20.0,
        classes: &[
            ("floor", &["floor"]),
            ("trunk", &["torso", "upper_waist", "lower_waist", "pelvis"]),
            ("head", &["head"]),
            ("right-arm", &["right_upper_arm", "right_lower_arm", "right_hand"]),
            ("left-arm", &["left_upper_arm", "left_lower_arm", "left_hand"]),
            ("right-leg", &["right_thigh", "right_shin", "right_outer_foot", "right_inner_foot"]),
            ("left-leg", &["left_thigh", "left_shin", "left_outer_foot", "left_inner_foot"]),
        ],
    }
}

fn spec(fall_m: f64) -> EnvSpec {
    EnvSpec {
        source: "Uesato et al., arXiv 1812.01647, Humanoid; body, clock and observation of the DeepMind Control Suite's \
                 humanoid (Tassa et al. 2018), simulated by MuJoCo 3.17.0. Deviations from the suite: episodes begin \
                 upright and end with a fall, the reward is that of the head's height alone, and the velocity of the \
                 centre of mass is that of 5 ms ago. Deviations from the publication: it states neither its height nor its \
                 postures, which are those of a trained agent; here they are of a linear regulator that balances the body, \
                 without velocities and each with normal noise, so that no two episodes begin alike."
            .into(),
        observation: observation(),
        action: action(),
        dt_secs: 0.025,
        horizon: 1000,
        initial: initial(),
        reward: "height of the head / 1.4 m, at most 1; −10 in the step of a fall".into(),
        reset: format!(
            "one of 200 stored postures, from episodes of a linear regulator that had stood for 5 s at least, at \
             rest and with its lowest point on the floor; roll and pitch of the torso get normal noise of standard \
             deviation {TILT_SD_RAD} rad, the joints of {JOINT_SD_RAD} rad within their limits"
        ),
        success: format!(
            "the episode ends with failure when the head is {fall_m} m or less above the floor; at the horizon the goal \
             counts as met if it has stayed above"
        ),
        ..EnvSpec::new(ID, SUMMARY)
    }
}

fn initial() -> Vec<String> {
    let angles = ["roll", "pitch"].iter().chain(&JOINTS).map(|name| format!("{name}_deviation"));
    std::iter::once("posture".to_string()).chain(angles).collect()
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

fn observation() -> Vec<Channel> {
    let joints = JOINTS.map(|j| Channel::unbounded(j, &format!("angle of the {}", words(j)), "rad"));
    let head = Channel::unbounded("head", "height of the head above the floor", "m");
    let places = EXTREMITIES.iter().flat_map(|body| {
        let meaning =
            |axis| format!("place of the {} along the torso's {axis} axis, from the torso", words(body));
        AXES.map(|axis| Channel::unbounded(&format!("{body}_{axis}"), &meaning(axis), "m"))
    });
    let vertical = AXES.map(|axis| {
        let meaning = format!("upward component of the torso's {axis} axis");
        Channel::new(&format!("torso_{axis}_up"), &meaning, "1", -1.0, 1.0)
    });
    let centre = AXES.map(|axis| {
        let meaning = format!("velocity of the centre of mass along {axis}, 5 ms ago");
        Channel::unbounded(&format!("centre_{axis}_velocity"), &meaning, "m/s")
    });
    let still = joints.into_iter().chain([head]).chain(places).chain(vertical);
    still.chain(centre).chain(velocities()).collect()
}

/// Velocities in the order of the model: of the torso, then of the joints.
fn velocities() -> impl Iterator<Item = Channel> {
    let linear = AXES.map(|axis| {
        let meaning = format!("velocity of the torso along {axis}");
        Channel::unbounded(&format!("torso_{axis}_velocity"), &meaning, "m/s")
    });
    let angular = AXES.map(|axis| {
        let meaning = format!("angular velocity of the torso about its {axis} axis");
        Channel::unbounded(&format!("torso_{axis}_rate"), &meaning, "rad/s")
    });
    let joints = JOINTS.map(|joint| {
        let meaning = format!("angular velocity of the {}", words(joint));
        Channel::unbounded(&format!("{joint}_rate"), &meaning, "rad/s")
    });
    linear.into_iter().chain(angular).chain(joints)
}

fn action() -> Vec<Channel> {
    let channel = |(name, gear): (&str, u32)| {
        let meaning = format!("torque of the {} motor, in units of {gear} N m", words(name));
        Channel::new(name, &meaning, &format!("{gear} N m"), -1.0, 1.0)
    };
    MOTORS.map(channel).into()
}
