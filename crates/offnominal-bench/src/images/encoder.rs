//! Training of the shipped encoder: patches of nominal frames of many worlds, given back through twelve numbers.

use anyhow::{Context as _, Result, ensure};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::frames::{Studio, film};
use offnominal_engine::subject::Cast;
use offnominal_nets::vision::patches::{PATCH, PIXELS, PatchCoder, SIDE};

/// A patch whose levels differ less is flat: there are many of them, and they teach little.
const FLAT: u8 = 6;
/// Share of flat patches that are kept.
const KEPT_FLAT: f64 = 0.05;
/// Patches that are tried in a frame for one that is wanted.
const TRIES: usize = 20;

/// What the encoder is trained on.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Worlds, each with its policy.
    pub worlds: Vec<(String, String)>,
    /// Episodes of each.
    pub episodes: usize,
    /// Patches in all.
    pub patches: usize,
    /// Passes over them.
    pub epochs: usize,
}

/// Trains an encoder; returns it with the loss of the last epoch.
///
/// # Errors
/// If a world or a policy cannot be had.
pub fn train(plan: &Plan, context: &Context) -> Result<(PatchCoder, f64)> {
    let root = Seed(context.seed).child("encoder");
    let each = plan.patches.div_ceil(plan.worlds.len().max(1));
    let mut patches = Vec::with_capacity(plan.patches * PIXELS);
    let bar = context.task(plan.worlds.len(), "frames of worlds");
    for (env, policy) in &plan.worlds {
        let found = of_world(env, policy, (plan.episodes, each), root.child(env.as_str()));
        patches.extend(found.with_context(|| env.clone())?);
        bar.inc(1);
    }
    ensure!(
        patches.len() >= 256 * PIXELS,
        "expected frames with at least 256 different patches, found fewer"
    );
    let bar = context.task(plan.epochs, "training the encoder");
    let mut last = f64::NAN;
    let coder = PatchCoder::train(&patches, plan.epochs, &mut root.child("train").rng(), |_, loss| {
        last = loss;
        bar.inc(1);
    });
    Ok((coder, last))
}

/// Patches of nominal frames at random places.
fn of_world(env: &str, policy: &str, (episodes, wanted): (usize, usize), seed: Seed) -> Result<Vec<f32>> {
    let cast = Cast::new(env, policy)?;
    offnominal_engine::frames::check(cast.env.spec())?;
    let mut rng = seed.child("places").rng();
    let mut out = Vec::new();
    for i in 0..episodes {
        let film = film(&cast.trial(), &cast.trial().nominal(seed.child(i)), Studio { side: SIDE })?;
        let share = wanted * (i + 1) / episodes - out.len() / PIXELS;
        for _ in 0..share * TRIES {
            if out.len() >= PIXELS * (wanted * (i + 1) / episodes) {
                break;
            }
            let picture = film.frame(rng.below(film.len() + 1));
            let (row, column) = (rng.below(SIDE - PATCH + 1), rng.below(SIDE - PATCH + 1));
            let patch = cut(picture, row, column);
            if rng.uniform() < KEPT_FLAT || !is_flat(&patch) {
                out.extend(patch.iter().map(|&p| f32::from(p) / 255.0 - 0.5));
            }
        }
    }
    Ok(out)
}

fn cut(picture: &[u8], row: usize, column: usize) -> [u8; PIXELS] {
    let mut patch = [0; PIXELS];
    for (line, out) in patch.chunks_exact_mut(PATCH * 3).enumerate() {
        let from = ((row + line) * SIDE + column) * 3;
        out.copy_from_slice(&picture[from..from + PATCH * 3]);
    }
    patch
}

fn is_flat(patch: &[u8; PIXELS]) -> bool {
    (0..3).all(|plane| {
        let levels = || patch.iter().skip(plane).step_by(3).copied();
        levels().max().zip(levels().min()).is_some_and(|(most, least)| most - least < FLAT)
    })
}
