//! The description of the lane-keeping environment.

use super::start;
use offnominal_core::spec::{Channel, EnvSpec, Parameter};

/// Environment id.
pub const ID: &str = "car-lanekeep";
/// One line for listings.
pub const SUMMARY: &str = "a car keeps its lane and its speed on a curved highway, among a hundred others";
/// Why the law that no channel is constant does not apply.
pub const CONSTANT: &str =
    "target_speed is constant by definition, as in Anomaly-Gym; a test shows that every other channel varies";
/// Distance beyond which no vehicle ahead is seen, m.
pub const VIEW_RANGE_M: f64 = 100.0;
/// Names of the cameras.
pub const CAMERAS: [&str; 2] = ["bumper", "chase"];

const GAP: &str = "distance to the vehicle ahead in the lane, bumper to bumper; 100 if none is nearer";

const DEBRIS: &str = "things that have fallen onto the road (crates, furniture, tyres, rubble), each at a place of its own \
    anywhere across the lanes; only the cameras show them, other drivers pass over them, and the car fails where it \
    touches one";

const REWARD: &str = "−|v − v*| / (100 km/h) − 0.1 |heading error| − 0.1 |lane offset| − 0.01 |a|, with the speed v, the \
    target speed v* = 50 km/h and the Euclidean norm |a| of the action; in the step that ends the episode −100 instead.";

const RESET: &str = "A place on the track and one of the four lanes, both uniform; the car within 0.3 m of the lane's \
    centre and 0.03 rad of the road's direction, at 40 to 60 km/h, actions at zero; the next vehicle ahead 25 to 125 m \
    away, its driver wanting 45 to 65 km/h; all uniform. The other 99 vehicles at random places, at least 30 m from \
    middle to middle, with drivers of the same range of speeds.";

const SUCCESS: &str = "The goal is met if the episode has not failed and |v − v*| was at most 10 km/h on average since it \
    began, where being slow behind a vehicle less than 30 m ahead counts as no deviation. The episode fails, and ends, when the car touches another vehicle or debris, points more than 45° away from the road's \
    direction, or is more than 1.5 m away from the centre of its lane.";

const SOURCE: &str = "Anomaly-Gym (TMLR submission 7913), CAR-LaneKeep, which runs in CARLA (Town04). Native: a dynamic \
    bicycle model with Fiala tyres, no load transfer, a closed four-lane highway with bends down to 150 m of radius, and \
    25 vehicles per lane that follow the intelligent driver model, slow down in bends and at places of their own, and do \
    not change lanes; the option `track` names \
    another highway (default 1). `target_speed` is constant, as in the original. Deviations: left is positive; the lane \
    offset is the distance itself and not the sine of an angle; the gap is from bumper to bumper; success is judged over \
    the whole episode and not at its end; the parameters act on brake, wheels and tyres of the car and not on the \
    actions. An action that is not a number ends the episode as diverged.";

/// The specification.
pub fn spec() -> EnvSpec {
    EnvSpec {
        source: SOURCE.into(),
        observation: observation(),
        action: action(),
        dt_secs: super::ego::DT_SECS,
        horizon: 500,
        parameters: parameters(),
        initial: start::NAMES.map(String::from).to_vec(),
        reward: REWARD.into(),
        reset: RESET.into(),
        success: SUCCESS.into(),
        classes: super::models::CLASSES.map(String::from).to_vec(),
        cameras: CAMERAS.map(String::from).to_vec(),
        ..EnvSpec::new(ID, SUMMARY)
    }
}

fn observation() -> Vec<Channel> {
    let channel = Channel::new;
    vec![
        channel("speed", "speed over the ground, in units of 100 km/h", "1", 0.0, f64::INFINITY),
        channel("target_speed", "speed to be held, in units of 100 km/h; always 0.5", "1", 0.0, 1.0),
        channel("acceleration", "size of the acceleration over the ground", "m/s²", 0.0, f64::INFINITY),
        Channel::unbounded("heading_error", "direction relative to the road, positive to the left", "rad"),
        Channel::unbounded("lane_offset", "distance from the lane's centre, positive to the left", "m"),
        channel("gap", GAP, "m", 0.0, VIEW_RANGE_M),
        Channel::unbounded("closing", "speed of that vehicle minus the car's own; 0 if there is none", "m/s"),
        channel("throttle", "accumulated action, throttle if positive, brake if negative", "1", -1.0, 1.0),
        channel("steering", "accumulated action, positive to the left", "1", -1.0, 1.0),
    ]
}

fn action() -> Vec<Channel> {
    let channel = |name, of| Channel::new(name, of, "1", -1.0, 1.0);
    vec![
        channel("throttle_change", "change of the throttle or brake action, in tenths of its range"),
        channel("steering_change", "change of the steering action, in tenths of its range"),
    ]
}

fn parameters() -> Vec<Parameter> {
    let factor = |name, of, low| Parameter::new(name, of, "1", 1.0, low, 2.0);
    vec![
        factor("brake-gain", "brake force, as a multiple of the nominal", 0.0),
        factor("steering-gain", "road-wheel angle, as a multiple of the nominal", 0.0),
        factor("tyre-friction", "friction of the car's tyres, as a multiple of the dry road's", 0.01),
        Parameter::new("debris", DEBRIS, "1/(100 m)", 0.0, 0.0, super::debris::DENSEST).seen_only(),
    ]
}
