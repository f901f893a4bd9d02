//! A network that predicts the next frame, fitted on nominal episodes, as one file.

use anyhow::{Result, ensure};
use clap::Args;
use offnominal_core::prelude::*;
use offnominal_engine::collect;
use offnominal_engine::context::Context;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::device::Device;
use offnominal_engine::frames::{self, FrameSize, video};
use offnominal_engine::images::networks;
use offnominal_engine::images::trained::Fitted;
use offnominal_engine::memory;
use offnominal_engine::request::POLICY;
use offnominal_engine::request::within;
use offnominal_engine::subject::Subject;
use offnominal_files::checkpoint::Checkpoint;
use offnominal_files::write::atomically;
use offnominal_work::cli::one_of;
use serde::Serialize;
use serde_json::json;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::str::FromStr;

/// What to fit; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// Environment id (see `list envs`), one with a camera
    #[arg(long)]
    pub env: String,
    /// The policy.
    #[arg(long, help = POLICY, default_value = "tqc")]
    pub policy: String,
    /// pred-ae, prednet, ldm, lrdm or rssm-ppm, or a table such as `{ id = "lrdm", preset = "paper" }`; the preset is
    /// `small` (64 × 64, minutes on two cores) if none is named
    #[arg(long, value_parser = DetectorChoice::from_str)]
    pub detector: DetectorChoice,
    /// Where it is fitted
    #[arg(long, value_parser = one_of::<Device>(), default_value = "cpu")]
    pub device: Device,
    /// Nominal episodes that it learns from
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub train: u32,
    /// Other nominal episodes, by which it is seen when to stop
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub validation: u32,
    /// Width and height of the camera's images
    #[arg(long, value_name = "PIXELS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(16..=1024))]
    pub images: u32,
    /// The file to write
    #[arg(long, value_name = "FILE.safetensors")]
    pub file: PathBuf,
}

impl Request {
    /// What the network depends on, for its checkpoint.
    fn identity(&self, subject: &Subject, context: &Context) -> String {
        let DetectorChoice { id, params, .. } = &self.detector;
        json!({ "what": "image network", "engine": env!("CARGO_PKG_VERSION"), "env": self.env,
            "policy": subject.name, "detector": id, "params": params, "preset": networks::preset(id, params),
            "device": self.device, "train": self.train, "validation": self.validation, "images": self.images,
            "seed": context.seed })
        .to_string()
    }
}

/// What was fitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FittedNetwork {
    /// The file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: usize,
    /// How many numbers were learned.
    pub numbers: usize,
    /// Steps that were learned from.
    pub steps: usize,
    /// The detector's name.
    #[serde(skip)]
    pub detector: String,
    /// Episodes that were learned from.
    #[serde(skip)]
    pub episodes: usize,
}

impl Display for FittedNetwork {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let FittedNetwork { file, numbers, steps, detector, episodes, .. } = self;
        writeln!(out, "{detector}: {numbers} numbers, learned from {steps} steps of {episodes} episodes")?;
        write!(out, "{}", file.display())
    }
}

/// Plays the episodes before the camera, fits, from where a run that was killed had left it, and writes the file.
///
/// # Errors
/// If the environment, the policy, the detector or the device cannot be had, memory does not suffice, or the file cannot
/// be written, or another run left its checkpoint beside it.
pub fn run(request: &Request, context: &Context) -> Result<FittedNetwork> {
    within("train", request.train, 1..=10_000)?;
    within("validation", request.validation, 1..=10_000)?;
    within("images", request.images, 16..=1024)?;
    let DetectorChoice { id, params, .. } = &request.detector;
    ensure!(
        networks::NETWORKS.iter().any(|entry| entry.id == id),
        "--detector: expected one of {}, found {id:?}",
        networks::ids()
    );
    let subject = Subject::new(&request.env, &request.policy)?;
    frames::check(subject.env.spec())?;
    let mut checkpoint =
        Checkpoint::open(&request.file.with_extension("checkpoint"), request.identity(&subject, context))?;
    let [train, validation] = [("train", request.train), ("validation", request.validation)]
        .map(|(what, n)| videos(&subject, (what, n as usize), request.images as usize, context));
    let (train, validation) = (train?, validation?);
    let mut rng = Seed(context.seed).child("fit").child(id.as_str()).rng();
    let fitted =
        Fitted::fit((id, params), request.device, [&train, &validation], &mut rng, &mut checkpoint, context)?;
    let mut tensors = fitted.to_tensors();
    let of = [("env", &request.env), ("policy", &request.policy)];
    tensors.metadata.extend(of.map(|(name, text)| (name.to_string(), text.clone())));
    let bytes = tensors.to_bytes();
    atomically(&request.file, &bytes)?;
    checkpoint.remove()?;
    Ok(FittedNetwork {
        file: request.file.clone(),
        bytes: bytes.len(),
        numbers: fitted.n_learned(),
        steps: train.iter().map(Video::len).sum(),
        detector: id.clone(),
        episodes: train.len(),
    })
}

/// What the camera saw in nominal episodes.
fn videos(subject: &Subject, (what, n): (&str, usize), side: usize, context: &Context) -> Result<Vec<Video>> {
    let root = Seed(context.seed).child("images").child(what);
    let played = collect::play(subject, None, root, 0..n, &format!("{what} episodes"), context)?.episodes;
    let (frame_size, steps) = (FrameSize { side }, played.iter().map(Episode::len).sum());
    let needed = frames::bytes_for(frame_size, played.len(), steps);
    memory::ensure_fits(needed, memory::available(), "the videos of the nominal episodes")?;
    played.iter().map(|episode| video(&subject.trial(), episode, frame_size)).collect()
}
