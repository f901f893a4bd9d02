//! A network that predicts the next frame, fitted on nominal episodes, as one file.

use super::encoder;
use anyhow::{Context as _, Result, ensure};
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
use offnominal_work::cli::word_of;
use serde::Serialize;
use serde_json::json;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::str::FromStr;

/// What to fit; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// Environment with a camera; for `patches` a list
    #[arg(long, value_name = "ENV")]
    pub env: String,
    /// The policy.
    #[arg(long, help = POLICY, default_value = "tqc")]
    pub policy: String,
    /// pred-ae, prednet, ldm, lrdm, rssm-ppm, or `patches`, the encoder of patch-dynamics; or a table
    #[arg(long, value_parser = DetectorChoice::from_str)]
    pub detector: DetectorChoice,
    /// Where it is fitted
    #[arg(long, value_parser = word_of::<Device>(), default_value = "cpu")]
    pub device: Device,
    /// Training episodes [default: 100; `patches`: 8 per environment]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub train: Option<u32>,
    /// Validation episodes, for early stopping [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub validation: Option<u32>,
    /// Width and height of the camera's images [default: 128]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(16..=1024))]
    pub images: Option<u32>,
    /// Output file
    #[arg(long, value_name = "FILE.safetensors")]
    pub file: PathBuf,
}

/// Episodes that a network learns from, those that say when to stop, and the side of an image.
const USUAL: (u32, u32, u32) = (100, 20, 128);

impl Request {
    /// Episodes to learn from, others that say when to stop, and the side of an image.
    fn sizes(&self) -> (u32, u32, u32) {
        (self.train.unwrap_or(USUAL.0), self.validation.unwrap_or(USUAL.1), self.images.unwrap_or(USUAL.2))
    }

    /// The request for the encoder of patches, if it is that.
    ///
    /// # Errors
    /// If something is asked of it that only networks have.
    pub fn encoder(&self) -> Result<Option<encoder::Request>> {
        if self.detector.id != encoder::ID {
            return Ok(None);
        }
        let of_networks = self.validation.is_some() || self.images.is_some() || self.device != Device::Cpu;
        ensure!(
            !of_networks && self.policy == encoder::POLICY,
            "--detector {}: expected no --policy, --device, --validation or --images, found one",
            encoder::ID
        );
        let encoder::Sizes { patches, epochs } = serde_json::from_value(self.detector.params.clone())
            .with_context(|| format!("--detector {}", encoder::ID))?;
        let envs = self.env.split(',').map(String::from).collect();
        let episodes = self.train.unwrap_or(encoder::EPISODES);
        Ok(Some(encoder::Request { envs, episodes, patches, epochs, file: self.file.clone() }))
    }

    /// What the network depends on, for its checkpoint.
    fn identity(&self, subject: &Subject, context: &Context) -> String {
        let DetectorChoice { id, params, .. } = &self.detector;
        let (train, validation, images) = self.sizes();
        json!({ "what": "image network", "engine": env!("CARGO_PKG_VERSION"), "env": self.env,
            "policy": subject.name, "detector": id, "params": params, "preset": networks::preset(id, params),
            "device": self.device, "train": train, "validation": validation, "images": images,
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
    let (n_train, n_validation, side) = request.sizes();
    within("train", n_train, 1..=10_000)?;
    within("validation", n_validation, 1..=10_000)?;
    within("images", side, 16..=1024)?;
    let DetectorChoice { id, params, .. } = &request.detector;
    ensure!(
        networks::NETWORKS.iter().any(|entry| entry.id == id),
        "--detector: expected one of {}, {}, found {id:?}",
        networks::ids(),
        encoder::ID
    );
    let subject = Subject::new(&request.env, &request.policy)?;
    frames::check(subject.env.spec())?;
    let mut checkpoint =
        Checkpoint::open(&request.file.with_extension("checkpoint"), request.identity(&subject, context))?;
    let [train, validation] = [("train", n_train), ("validation", n_validation)]
        .map(|(what, n)| videos(&subject, (what, n as usize), side as usize, context));
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
