//! The description of the driving environment.

use super::{beams, car, track};
use offnominal_core::spec::{Channel, EnvSpec, Parameter};

/// Environment id.
pub const ID: &str = "driving";
/// One line for listings.
pub const SUMMARY: &str = "a car laps a random track between walls that it must not touch";

const REWARD: &str = "Speed along the centre line × 0.1 s / 10 m; −10 in the step that touches a wall.";

const RESET: &str = "Twelve checkpoints around the origin: the first and the last at 225 m, each of the others uniform \
    in its twelfth of the circle and between 50 and 150 m from the origin. A pen that goes round them, 3.5 m per step \
    and turning by 0.31 rad per step at the most, draws the centre line in its second lap; walls stand 6.67 m to its \
    left and right. Tracks are drawn again if the lap misses its beginning by more than 3.5 m, or stretches of it are so \
    near that their walls meet. The car starts on the centre line at 8 m/s.";

const SUCCESS: &str = "The episode ends with success after one lap, and with failure when the car's middle comes within \
    1 m of a wall. At the horizon the goal counts as met if no wall was touched.";

const SOURCE: &str = "The Driving domain of Uesato et al. (2018), which runs in TORCS and is not public in detail: a \
    native environment with tracks in the manner of Gymnasium's CarRacing-v3 and its sizes. A \
    bicycle model with a bound on the grip stands for the car. An action that is not a number ends the episode as \
    diverged; an initial condition beyond 0 to 1 is clipped.";

/// The specification.
pub fn spec() -> EnvSpec {
    EnvSpec {
        source: SOURCE.into(),
        observation: observation(),
        action: action(),
        dt_secs: car::DT_SECS,
        horizon: 1500,
        parameters: parameters(),
        initial: initial(),
        reward: REWARD.into(),
        reset: RESET.into(),
        success: SUCCESS.into(),
        classes: ["grass", "wall", "road", "car"].map(String::from).to_vec(),
        cameras: vec!["top".into()],
        ..EnvSpec::new(ID, SUMMARY)
    }
}

fn observation() -> Vec<Channel> {
    let beam = |i: usize| {
        let degrees = beams::angle(i).to_degrees();
        let meaning =
            format!("distance to a wall at {degrees}° (positive to the left); 60 if none is nearer");
        Channel::new(&format!("range_{i}"), &meaning, "m", 0.0, beams::RANGE_M)
    };
    let mut channels: Vec<Channel> = (0..beams::N).map(beam).collect();
    channels.extend([
        Channel::new("speed", "forward speed", "m/s", 0.0, f64::INFINITY),
        Channel::unbounded("yaw_rate", "rate of turn, positive to the left", "rad/s"),
        Channel::unbounded("road_wheels", "angle of the road wheels, positive to the left", "rad"),
    ]);
    channels
}

fn action() -> Vec<Channel> {
    let channel = |name, of| Channel::new(name, of, "1", -1.0, 1.0);
    vec![
        channel("pedal", "throttle if positive, brake if negative"),
        channel("steering", "road-wheel angle, in units of 0.5 rad, positive to the left"),
    ]
}

fn parameters() -> Vec<Parameter> {
    let factor = |name, of, low| Parameter::new(name, of, "1", 1.0, low, 2.0);
    vec![
        factor("grip", "grip of the tyres, as a multiple of the nominal 9 m/s²", 0.01),
        factor("steering-gain", "road-wheel angle, as a multiple of the commanded", 0.0),
        factor("engine", "force of the engine, as a multiple of the nominal", 0.0),
    ]
}

fn initial() -> Vec<String> {
    let half = track::NUMBERS / 2;
    let name = |of: &'static str| (1..=half).map(move |i| format!("{of}_{i}"));
    name("angle").chain(name("radius")).collect()
}
