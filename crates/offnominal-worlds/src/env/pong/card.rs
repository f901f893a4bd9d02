//! The description of pong.

use super::ENTRY;
use super::corruptions;
use super::frame_stack::{FRAMES, SIDE};
use super::screen::CLASSES;
use offnominal_core::spec::{Channel, EnvSpec, Image, Parameter};

const SOURCE: &str = "A re-implementation of the game for the benchmark of Mohammed and Valdenegro-Toro (2021), with rules, speeds and \
    drawing of its own; scores are not comparable with those of the Arcade Learning Environment. What the policy sees \
    is prepared as there: frame skip 4, the maximum of the last two frames, grey, 84 × 84 by averaging areas, a stack \
    of 4. Screen corruptions act on the maximum, once per step";

/// What pong says of itself.
pub(super) fn spec() -> EnvSpec {
    EnvSpec {
        source: SOURCE.into(),
        observation: vec![Channel::image(
            "screen",
            "the last four images of the screen, the newest last",
            Image::grey(FRAMES, SIDE, SIDE),
        )],
        action: vec![Channel::choice("move", "movement of the right paddle; 0 = none, 1 = up, 2 = down", 3)],
        dt_secs: 4.0 / 60.0,
        horizon: 3000,
        parameters: parameters(),
        initial: ["ball_row", "ball_direction", "opponent_row", "agent_row"].map(String::from).into(),
        reward: "1 for a point of the agent, −1 for a point of the opponent".into(),
        reset: "ball in the middle column, its row uniform in [54, 174], its direction uniform within 0.7 rad of a row, to \
                either side; paddles uniform over the field. Rows are those of the screen, 210 high"
            .into(),
        success: "the agent is ahead; the episode ends when one side has 21 points: with success if it is the agent, \
                  else with failure"
            .into(),
        classes: CLASSES.iter().map(|(name, _)| (*name).to_string()).collect(),
        cameras: vec!["screen".into()],
        ..EnvSpec::new(ENTRY.id, ENTRY.summary)
    }
}

fn parameters() -> Vec<Parameter> {
    let opponent = "fastest movement of the opponent's paddle";
    let game = [
        Parameter::new("ball-speed", "factor on the speed of the ball", "1", 1.0, 0.1, 10.0),
        Parameter::new("opponent-speed", opponent, "px/frame", 1.6, 0.0, 20.0),
        Parameter::new("paddle-speed", "movement of the agent's paddle", "px/frame", 3.0, 0.0, 20.0),
    ];
    game.into_iter().chain(corruptions::parameters()).collect()
}
