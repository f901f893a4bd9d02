//! The description of each level of the particle environment.

use super::bodies::DAMPING;
use super::lidar::SECTORS;
use offnominal_core::spec::{Channel, EnvSpec, Parameter};

/// How the levels differ.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    /// Environment id.
    pub id: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Number of objects, which can be pushed.
    pub n_objects: usize,
    /// Number of hazards, which are fixed and do not resist.
    pub n_hazards: usize,
    /// The distribution of initial conditions, in words.
    pub reset: &'static str,
}

/// One object in the way.
pub const GOAL0: Level = Level {
    id: "sap-goal0",
    summary: "a particle goes to a goal, around the one object that stands in its way",
    n_objects: 1,
    n_hazards: 0,
    reset: "Agent and goal uniform in x ∈ [−1, 0], y ∈ [−1, 1], more than 1 m apart; the object half-way between \
            them. Everything at rest.",
};

/// A few obstacles around the goal.
pub const GOAL1: Level = Level {
    id: "sap-goal1",
    summary: "a particle goes to a goal among 3 objects and 1 hazard",
    n_objects: 3,
    n_hazards: 1,
    reset: SCATTERED,
};

/// Many obstacles around the goal.
pub const GOAL2: Level = Level {
    id: "sap-goal2",
    summary: "a particle goes to a goal among 10 objects and 3 hazards",
    n_objects: 10,
    n_hazards: 3,
    reset: SCATTERED,
};

const SCATTERED: &str = "Agent and goal uniform in [−1, 1]², more than 1 m apart. Objects uniform by area in the ring \
    of 0.3 to 1 m around the goal, more than 0.3 m from agent, goal and one another. Hazards uniform in [−1, 1]², \
    more than 0.4 m from everything. Everything at rest. A layout that leaves no room is drawn again as a whole.";

const REWARD: &str = "−|goal − agent|² in each step; −10 if the agent overlaps an object or a hazard; +5 if the agent \
    is at the goal and has overlapped nothing in this episode.";

const SUCCESS: &str = "The episode ends when the agent's centre is less than 0.2 m from the goal's: with success if \
    the agent has overlapped no object and no hazard since the episode began, else with failure.";

const SOURCE: &str = "Anomaly-Gym (TMLR submission 7913), SAP-Goal. Native. Deviations: the observation lacks the \
    constant `desired_goal` and the `achieved_goal` that repeats goal − agent, and an environment without hazards lacks the \
    hazard lidar, so that no channel is constant; actions are clipped to [−1, 1], so that a constant force equals an \
    action offset only where the action is not clipped; every episode is a fork of the pristine environment, so forces end \
    with their episode; images show no step number. An action that is not a number ends the episode as diverged.";

/// The specification of a level.
pub fn spec(level: &Level) -> EnvSpec {
    EnvSpec {
        source: SOURCE.into(),
        observation: observation(level),
        action: action(),
        dt_secs: super::bodies::DT_SECS,
        horizon: 50,
        parameters: parameters(),
        initial: initial(level),
        reward: REWARD.into(),
        reset: level.reset.into(),
        success: SUCCESS.into(),
        classes: ["background", "agent", "goal", "object", "hazard"].map(String::from).to_vec(),
        cameras: vec!["top".into()],
        ..EnvSpec::new(level.id, level.summary)
    }
}

fn observation(level: &Level) -> Vec<Channel> {
    let mut channels = vec![
        Channel::unbounded("agent_x", "agent, eastward position", "m"),
        Channel::unbounded("agent_y", "agent, northward position", "m"),
        Channel::new("agent_vx", "agent, eastward velocity", "m/s", -1.0, 1.0),
        Channel::new("agent_vy", "agent, northward velocity", "m/s", -1.0, 1.0),
        Channel::unbounded("goal_dx", "goal minus agent, eastward", "m"),
        Channel::unbounded("goal_dy", "goal minus agent, northward", "m"),
    ];
    channels.extend(lidar("object"));
    if level.n_hazards > 0 {
        channels.extend(lidar("hazard"));
    }
    channels
}

fn lidar(of: &'static str) -> impl Iterator<Item = Channel> {
    (0..SECTORS).map(move |i| {
        let (from, to) = (45 * i, 45 * (i + 1));
        let meaning = format!("closeness (1 m − distance) of the nearest {of} at {from}° to {to}°, fading into the sectors beside it");
        Channel::new(&format!("{of}_lidar_{i}"), &meaning, "m", 0.0, 1.0)
    })
}

fn action() -> Vec<Channel> {
    vec![
        Channel::new("force_x", "eastward force on the agent, in units of 5 N", "1", -1.0, 1.0),
        Channel::new("force_y", "northward force on the agent, in units of 5 N", "1", -1.0, 1.0),
    ]
}

fn parameters() -> Vec<Parameter> {
    let moving = "each object feels a fresh force, uniform in [−p, p]², in each step; the speed limit bounds the effect";
    vec![
        Parameter::new("mass", "mass of the agent, as a multiple of its 1 kg", "1", 1.0, 0.01, 1000.0),
        Parameter::new("force", "constant force (p, p) on the agent", "N", 0.0, -100.0, 100.0),
        Parameter::new("moving-objects", moving, "N", 0.0, 0.0, 100.0),
        Parameter::new(
            "damping",
            "share of its velocity that the agent loses in each step",
            "1",
            DAMPING,
            0.0,
            1.0,
        ),
        Parameter::new("friction", "force on the agent against its motion", "N", 0.0, 0.0, 100.0),
    ]
}

fn initial(level: &Level) -> Vec<String> {
    let mut names = vec!["agent".to_string(), "goal".to_string()];
    names.extend((0..level.n_objects).map(|i| format!("object_{i}")));
    names.extend((0..level.n_hazards).map(|i| format!("hazard_{i}")));
    names.iter().flat_map(|n| [format!("{n}_x"), format!("{n}_y")]).collect()
}
