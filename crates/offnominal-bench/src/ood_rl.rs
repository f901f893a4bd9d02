//! The suite `ood-rl`: would a policy notice by itself that it is out of its depth?
//!
//! The protocol of Mohammed and Valdenegro-Toro, "Benchmark for Out-of-Distribution Detection in Deep Reinforcement
//! Learning" (2021): policies that disagree with themselves, by dropout, DropConnect or as an ensemble, are trained in a
//! world, play in its variants, and their disagreement must tell the steps there from those at home. Where the
//! publication leaves something open, `docs/ood-rl.md` says what is done here.
//!
//! A cell is one policy in all variants of its world. It is a pure function of its specification, whose digest is its
//! name; a finished one is not run again.

mod agents;
mod cell;
mod figure;
mod judges;
mod page;
mod play;
mod published;
mod row;
mod table;
mod youden;

pub use agents::{Agent, METHODS, Method};
pub use cell::{Cell, collect, plan, run};
pub use page::{page, summary};
pub use row::{MAIN, Row, from_csv, to_csv};

/// The name of the suite.
pub const ID: &str = "ood-rl";

/// Below this mean return a policy fails in a variant: what counts as solved.
pub fn solved(env: &str) -> f64 {
    match env {
        "cartpole" => 475.0,
        "pendulum" => -200.0,
        _ => 0.0,
    }
}
