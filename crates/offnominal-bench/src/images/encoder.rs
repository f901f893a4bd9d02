//! Training of the shipped encoder: patches of nominal frames of many environments, given back through twelve numbers.

use anyhow::{Context as _, Result, ensure};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::frames::{FrameSize, video};
use offnominal_engine::policies;
use offnominal_engine::request::within;
use offnominal_engine::subject::Subject;
use offnominal_files::checkpoint::Checkpoint;
use offnominal_files::write::atomically;
use offnominal_nets::vision::patches::{CoderTraining, PATCH, PIXELS, PatchCoder, SIDE};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// A patch whose levels differ less is flat: there are many of them, and they teach little.
const FLAT: u8 = 6;
/// Share of flat patches that are kept.
const KEPT_FLAT: f64 = 0.05;
/// Patches that are tried in a frame for one that is wanted.
const TRIES: usize = 20;

/// What `images fit` calls it.
pub const ID: &str = "patches";

/// The policy in whose episodes the encoder sees environments.
pub const POLICY: &str = "tqc";

/// Nominal episodes of each environment, if nobody says how many.
pub const EPISODES: u32 = 8;

/// How much is learned, as the table of the encoder says it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sizes {
    /// Patches in all.
    pub patches: u32,
    /// Passes over the patches.
    pub epochs: u32,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { patches: 300_000, epochs: 12 }
    }
}

/// What to train the encoder on; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Request {
    /// Environments whose frames are seen; each needs a policy that is shipped with it.
    pub envs: Vec<String>,
    /// Nominal episodes of each environment.
    pub episodes: u32,
    /// Patches in all.
    pub patches: u32,
    /// Passes over the patches.
    pub epochs: u32,
    /// The file to write.
    pub file: PathBuf,
}

/// A trained encoder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrainedEncoder {
    /// Its file.
    pub file: PathBuf,
    /// The loss of the last epoch.
    pub loss: f64,
    /// The root of the mean squared error, in the 255 levels of an image.
    pub error_in_levels: f64,
}

impl Display for TrainedEncoder {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (levels, file) = (self.error_in_levels, self.file.display());
        write!(out, "patches are drawn again to {levels:.1} of 255 levels (root mean square)\n{file}")
    }
}

/// Name of the header's entry with the loss of the last epoch.
const LOSS: &str = "loss";

/// Trains an encoder, from where a run that was killed had left it, and writes it.
///
/// # Errors
/// If an environment or a policy cannot be had, or the file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<TrainedEncoder> {
    within("episodes", request.episodes, 1..=10_000)?;
    within("patches", request.patches, 1_000..=10_000_000)?;
    within("epochs", request.epochs, 1..=10_000)?;
    for env in &request.envs {
        let shipped = policies::is_shipped(POLICY, env)?;
        ensure!(shipped, "environment {env}: expected a shipped policy {POLICY}, found none");
    }
    let identity = json!({ "request": request, "seed": context.seed }).to_string();
    let mut checkpoint = Checkpoint::open(&request.file.with_extension("checkpoint"), identity)?;
    let (coder, loss) = request.train(&mut checkpoint, context)?;
    atomically(&request.file, &coder.to_tensors().to_bytes())?;
    checkpoint.remove()?;
    // The loss is of numbers from −½ to ½; levels of an image go to 255.
    Ok(TrainedEncoder { file: request.file.clone(), loss, error_in_levels: 255.0 * loss.sqrt() })
}

impl Request {
    /// The encoder, and the loss of the last epoch.
    fn train(&self, checkpoint: &mut Checkpoint, context: &Context) -> Result<(PatchCoder, f64)> {
        let root = Seed(context.seed).child("encoder");
        let patches = self.patches(root, context)?;
        let rng = root.child("train").rng();
        let (mut training, mut last) = (CoderTraining::begin(&patches, self.epochs as usize, rng), f64::NAN);
        if let Some(state) = checkpoint.load()? {
            training.restore(&state)?;
            last = state.metadata.get(LOSS).and_then(|loss| loss.parse().ok()).unwrap_or(f64::NAN);
        }
        let task = context.resumed(training.epoch() as u64..self.epochs.into(), "training the encoder");
        while !training.is_done() {
            last = training.advance(&patches);
            task.inc(1);
            context.save(checkpoint, || {
                let mut state = training.state();
                state.metadata.insert(LOSS.into(), last.to_string());
                state
            })?;
        }
        Ok((training.into_coder(), last))
    }

    /// Patches of the frames of all environments.
    fn patches(&self, root: Seed, context: &Context) -> Result<Vec<f32>> {
        let wanted = self.patches as usize;
        let each = wanted.div_ceil(self.envs.len().max(1));
        let mut patches = Vec::with_capacity(wanted * PIXELS);
        let task = context.task(self.envs.len(), "frames of environments");
        for env in &self.envs {
            task.check()?;
            let found = of_environment(env, POLICY, (self.episodes as usize, each), root.child(env.as_str()));
            patches.extend(found.with_context(|| env.clone())?);
            task.inc(1);
        }
        let enough = patches.len() >= 256 * PIXELS;
        ensure!(enough, "expected frames with at least 256 different patches, found fewer");
        Ok(patches)
    }
}

/// Patches of nominal frames at random places.
fn of_environment(
    env: &str,
    policy: &str,
    (episodes, wanted): (usize, usize),
    seed: Seed,
) -> Result<Vec<f32>> {
    let subject = Subject::new(env, policy)?;
    offnominal_engine::frames::check(subject.env.spec())?;
    let mut rng = seed.child("places").rng();
    let mut out = Vec::new();
    for i in 0..episodes {
        let video =
            video(&subject.trial(), &subject.trial().nominal(seed.child(i)), FrameSize { side: SIDE })?;
        let share = wanted * (i + 1) / episodes - out.len() / PIXELS;
        for _ in 0..share * TRIES {
            if out.len() >= PIXELS * (wanted * (i + 1) / episodes) {
                break;
            }
            let image = video.frame(rng.below(video.len() + 1));
            let (row, column) = (rng.below(SIDE - PATCH + 1), rng.below(SIDE - PATCH + 1));
            let patch = cut(image, row, column);
            if rng.uniform() < KEPT_FLAT || !is_flat(&patch) {
                out.extend(patch.iter().map(|&p| f32::from(p) / 255.0 - 0.5));
            }
        }
    }
    Ok(out)
}

fn cut(image: &[u8], row: usize, column: usize) -> [u8; PIXELS] {
    let mut patch = [0; PIXELS];
    for (line, out) in patch.chunks_exact_mut(PATCH * 3).enumerate() {
        let from = ((row + line) * SIDE + column) * 3;
        out.copy_from_slice(&image[from..from + PATCH * 3]);
    }
    patch
}

fn is_flat(patch: &[u8; PIXELS]) -> bool {
    (0..3).all(|plane| {
        let levels = || patch.iter().skip(plane).step_by(3).copied();
        levels().max().zip(levels().min()).is_some_and(|(most, least)| most - least < FLAT)
    })
}
