//! Tasks of a UR3e that is commanded in space, simulated by MuJoCo: to reach, and to pick and place.
//!
//! | file           | idea                                                              |
//! |----------------|-------------------------------------------------------------------|
//! | `limits.rs`    | how fast and how far the tool may be sent                         |
//! | `goal.rs`      | a goal that stands still, or moves to and fro                     |
//! | `goals.rs`     | goals one after the other: reward and success                     |
//! | `card.rs`      | channels and parameters, in words                                 |
//! | `workcell.rs`  | arm, controller and marker of the goal: what both tasks share     |
//! | `reach.rs`     | the task of reaching four goals, one after the other              |
//! | `urr_reach.rs` | the same task with a robot at the other end of a link             |
//! | `pnp.rs`       | the task of carrying a block to a goal                            |
//!
//! Reference: the environments `URMujoco-Reach` and `URMujoco-PnP` of Anomaly-Gym (2025).

mod card;
mod goal;
mod goals;
mod limits;
mod pnp;
mod reach;
mod urr_reach;
mod workcell;

pub(super) use pnp::ENTRY as PNP;
pub(super) use reach::ENTRY as REACH;
pub(super) use urr_reach::ENTRY as REAL_REACH;

/// Euclidean distance of two points, in their unit.
fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
