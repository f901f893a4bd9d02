//! The postures from which `humanoid-stand` begins: states of episodes of another policy, after it has stood for a while.
//!
//! `cargo run --release --example humanoid_postures -- POLICY > crates/offnominal-worlds/models/humanoid_stand_postures.csv`

use anyhow::{Context, Result};
use offnominal::cast::Cast;
use offnominal_core::prelude::*;

const EPISODES: u64 = 100;
/// Steps that are skipped, and steps between two postures: 5 s each.
const EVERY: usize = 200;
/// Angles of joints, and where the upward components of the torso's axes begin in an observation.
const JOINTS: usize = 21;
const UP: usize = 34;

fn main() -> Result<()> {
    let policy = std::env::args().nth(1).context("expected the file of a policy, found none")?;
    let cast = Cast::new("humanoid-stand", &policy)?;
    let names = cast.env.spec().observation[..JOINTS].iter().map(|c| c.name.clone());
    let header: Vec<String> = ["roll", "pitch"].map(String::from).into_iter().chain(names).collect();
    println!("{}", header.join(","));
    for i in 0..EPISODES {
        let episode = cast.trial().nominal(Seed(i).child("postures"));
        if episode.end == End::TimedOut {
            let seen = episode.observations.chunks_exact(episode.obs_width);
            seen.step_by(EVERY).skip(1).for_each(|obs| println!("{}", line(obs)));
        }
    }
    Ok(())
}

/// Roll, pitch and the joints.
fn line(obs: &[f32]) -> String {
    let up = &obs[UP..UP + 3];
    let (roll, pitch) = (up[1].atan2(up[2]), (-up[0]).clamp(-1.0, 1.0).asin());
    let angles: Vec<String> = [roll, pitch].iter().chain(&obs[..JOINTS]).map(|v| format!("{v:.4}")).collect();
    angles.join(",")
}
