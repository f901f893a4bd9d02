//! What the cards of the two tasks say: channels and parameters, initial conditions, and where they deviate.

use super::goals;
use super::limits::{DT_SECS, FULL_MPS};
use offnominal_core::prelude::*;
use offnominal_rtde::robot::Servo;

const AXES: [&str; 3] = ["x", "y", "z"];

/// What both tasks change with respect to the published ones.
const DEVIATIONS: &str = "Deviations: lengths and masses are those of the UR3e throughout, where the published model \
     has some of the UR3; an action of 1 moves the commanded point by 0.01 m per step, the published limit of a \
     displacement, and not by 0.004 m, because otherwise goals farther away than 0.2 m cannot be reached in the 50 steps \
     that they last, and the limit never acts; the constant orientation of the goal (4 channels) is left out, and the \
     tool's velocity stands where the paper's table has its orientation, which is held constant; success is defined \
     here, because the published environments report none";

/// The card of the task of reaching.
pub(super) fn reach(entry: &Entry<dyn Env>) -> EnvSpec {
    EnvSpec {
        source: format!(
            "Anomaly-Gym (2025), URMujoco-Reach; simulated by MuJoCo 3.17.0. {DEVIATIONS}; there is no fourth channel of \
             the action, which the published task ignores"
        ),
        observation: [tool(), goal()].concat(),
        action: displacement(),
        initial: (1..=goals::GOALS).flat_map(|k| AXES.map(|axis| format!("goal_{k}_{axis}"))).collect(),
        reward: "(0 if d < 0.02 m, else −(1 + d)) − 0.1 |a|, where d is the distance in m of the tool from the goal, and a \
                 are the three actions"
            .into(),
        reset: "the arm is at home, at rest, with the tool at (−0.131, 0.299, 0.153) m; four goals are drawn uniformly from \
                x in [−0.25, 0.15], y in [0.25, 0.35], z in [0.1, 0.2] m, and each lasts 50 steps"
            .into(),
        success: "met while the tool is within 0.02 m of the goal, provided that it was so at the end of every earlier goal's \
                  50 steps; at the end of an episode it thus says whether all four goals were reached in time; no episode \
                  ends before the horizon"
            .into(),
        ..shared(entry)
    }
}

/// The card of the task of reaching with a robot.
pub(super) fn urr_reach(entry: &Entry<dyn Env>) -> EnvSpec {
    let simulated = reach(entry);
    EnvSpec {
        source: "Anomaly-Gym (2025), URR-Reach: the task, channels and rewards of `urm-reach` with a robot UR3e, which is \
                 commanded over RTDE 25 times per second. Without an address the simulated controller stands in for the robot: \
                 the MuJoCo model of the arm with servos in its joints, reached by the bytes of the same protocol in lock step. \
                 Deviations: poses become joint angles on our side and are streamed by servoj instead of servol, so that \
                 actions do not depend on the tool that is set at the robot; the tool's position is computed from the measured \
                 joint angles instead of a camera's image. Whatever the policy says, the commanded point stays in \
                 the workspace and moves by at most 0.01 m per step along each axis"
            .into(),
        parameters: [parameters()[..2].to_vec(), control_parameters()].concat(),
        reset: "the robot travels back to its home posture; goals as in `urm-reach`".into(),
        success: format!("{}; it diverges if the robot stops or the link to it breaks", simulated.success),
        ..simulated
    }
}

/// The card of the task of carrying a block.
pub(super) fn pnp(entry: &Entry<dyn Env>) -> EnvSpec {
    EnvSpec {
        source: format!(
            "Anomaly-Gym (2025), URMujoco-PnP; simulated by MuJoCo 3.17.0. {DEVIATIONS}; the block weighs 0.1 kg, as wood \
             does, and not 0.001 kg, so that its velocity need not be clipped, and it begins turned a little. The observation is that of the published \
             code (less the goal's orientation), because the paper's 13 channels do not contain all that its table lists"
        ),
        observation: [tool(), goal(), block()].concat(),
        action: [displacement(), vec![grip()]].concat(),
        initial: ["block_x", "block_y", "block_yaw", "goal_x", "goal_y", "goal_z"].map(String::from).into(),
        reward: "−(|b − p| + |b − g|) + 0.1 if both pads press with more than 10 N − 1 if the top of the block is touched with \
                 more than 0.5 N, where b is the middle of the block, p the tool and g the goal, in m"
            .into(),
        reset: "the arm is at home, at rest, with the gripper open and the tool at (−0.131, 0.299, 0.153) m; the block lies on \
                the table at x in [−0.15, 0.15], y in [0.2, 0.4] m, turned by up to 0.2 rad; the goal is drawn from x in \
                [−0.25, 0.15], y in [0.25, 0.35], z in [0.1, 0.2] m; all uniform"
            .into(),
        success: "met while the middle of the block is within 0.02 m of the goal; no episode ends before the horizon".into(),
        ..shared(entry)
    }
}

fn shared(entry: &Entry<dyn Env>) -> EnvSpec {
    EnvSpec {
        dt_secs: DT_SECS,
        horizon: 200,
        parameters: parameters(),
        ..EnvSpec::new(entry.id, entry.summary)
    }
}

/// The parameters of both tasks.
fn parameters() -> Vec<Parameter> {
    let speed = "largest speed of the commanded point along each axis; faster actions are clipped to it";
    let goal = "speed with which the goal moves along x, turning round at the ends of the box from which goals are drawn";
    let friction =
        "factor on damping (nominal 10 N m s/rad) and dry friction (nominal 10 N m) of the arm's six joints";
    vec![
        Parameter::new("robot-speed", speed, "m/s", FULL_MPS, 0.0, FULL_MPS),
        Parameter::new("moving-goal", goal, "m/s", 0.0, 0.0, 2.0),
        Parameter::new("robot-friction", friction, "1", 1.0, 0.0, 1000.0),
    ]
}

/// The parameters of a robot's servo.
fn control_parameters() -> Vec<Parameter> {
    let Servo { latency_secs, lookahead_secs, .. } = Servo::default();
    let latency = "time for which the controller follows one commanded posture before it reads the next one \
                   (argument t of servoj)";
    let smoothing = "time by which the controller looks ahead, which smooths the movement (argument lookahead_time \
                     of servoj)";
    vec![
        Parameter::new("control-latency", latency, "s", latency_secs, 0.002, 0.2),
        Parameter::new("control-smoothing", smoothing, "s", lookahead_secs, 0.03, 0.2),
    ]
}

fn tool() -> Vec<Channel> {
    let place = AXES.map(|a| Channel::unbounded(&format!("tool_{a}"), "position of the tool's centre", "m"));
    let speed = AXES
        .map(|a| Channel::unbounded(&format!("tool_{a}_velocity"), "velocity of the tool's centre", "m/s"));
    [place, speed].concat()
}

fn goal() -> Vec<Channel> {
    AXES.map(|a| Channel::unbounded(&format!("goal_{a}"), "position of the goal", "m")).into()
}

fn block() -> Vec<Channel> {
    let opening = Channel::unbounded("gripper", "opening: 1 = 85 mm, −1 = closed, with soft stops", "1");
    let place = AXES.map(|a| Channel::unbounded(&format!("block_{a}"), "middle of the block", "m"));
    let turn = ["w", "x", "y", "z"].map(|c| {
        let meaning = "orientation of the block, a unit quaternion with w ≥ 0";
        Channel::new(&format!("block_q{c}"), meaning, "1", if c == "w" { 0.0 } else { -1.0 }, 1.0)
    });
    std::iter::once(opening).chain(place).chain(turn).collect()
}

fn displacement() -> Vec<Channel> {
    let meaning = "displacement of the commanded point in this step, in units of 0.01 m";
    AXES.map(|a| Channel::new(&format!("move_{a}"), meaning, "0.01 m", -1.0, 1.0)).into()
}

fn grip() -> Channel {
    let meaning = "above 0.2 the gripper closes, below −0.2 it opens, between it goes on";
    Channel::new("grip", meaning, "1", -1.0, 1.0)
}
