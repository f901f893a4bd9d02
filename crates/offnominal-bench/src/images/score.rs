//! The scores that a fitted network gives episodes before the camera.

use crate::images::panels::side_by_side;
use anyhow::{Context as _, Result};
use clap::Args;
use offnominal_core::estimate::Estimate;
use offnominal_core::prelude::*;
use offnominal_engine::anomaly_request::AnomalyRequest;
use offnominal_engine::collect;
use offnominal_engine::context::Context;
use offnominal_engine::device::Device;
use offnominal_engine::frames::{FrameSize, video};
use offnominal_engine::images::trained::Fitted;
use offnominal_engine::request::within;
use offnominal_engine::subject::Subject;
use offnominal_files::png;
use offnominal_files::read;
use offnominal_files::write::atomically;
use offnominal_nets::Tensors;
use offnominal_stats::{Bootstrap, Level, Mode, ScoredEpisode, detection};
use offnominal_work::cli::word_of;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// Resamplings of an interval.
const REPLICATES: usize = 1_000;

/// What to score; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// File of `images fit`
    #[arg(value_name = "FILE.safetensors")]
    pub monitor: PathBuf,
    /// Episodes; each anomalous one has a nominal twin
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub episodes: u32,
    /// Where the network runs
    #[arg(long, value_parser = word_of::<Device>(), default_value = "cpu")]
    pub device: Device,
    /// Draw the most anomalous step: seen, predicted, difference
    #[arg(long, value_name = "FILE.png")]
    pub image: Option<PathBuf>,
    /// What is done to the episodes.
    // Last, for the heading of its options would hold for those behind it.
    #[command(flatten)]
    pub anomaly: Option<AnomalyRequest>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scored {
    /// Episodes that were asked for.
    pub episodes: u32,
    /// Steps of all of them and of their twins.
    pub steps: usize,
    /// Mean score of these steps.
    pub mean_score: f64,
    /// How well anomalous steps are told from those of the twins; none without an anomaly.
    pub auroc_matched: Option<Estimate>,
    /// The scores of each episode and twin, with the labels of its steps.
    #[serde(skip)]
    pub scores: Vec<(Vec<f64>, Vec<bool>)>,
}

impl Display for Scored {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (episodes, Scored { steps, mean_score, .. }) = (self.scores.len(), self);
        writeln!(out, "{episodes} episodes, {steps} steps, mean score {mean_score:.6}")?;
        self.auroc_matched.iter().try_for_each(|auroc| write!(out, "AUROC matched {auroc}"))
    }
}

/// A fitted network with the environment and the policy that its file names.
///
/// # Errors
/// If the file cannot be read, or the environment or the policy cannot be had.
fn open(monitor: &Path, device: Device) -> Result<(Fitted, Subject)> {
    let place = || monitor.display().to_string();
    let bytes = read::bytes(monitor)?;
    let tensors = Tensors::from_bytes(&bytes).with_context(place)?;
    let fitted = Fitted::open(&tensors, device).with_context(place)?;
    let text = |name: &str| {
        let found = tensors.metadata.get(name).with_context(|| format!("expected {name} in the header"));
        found.with_context(place)
    };
    Ok((fitted, Subject::new(text("env")?, text("policy")?)?))
}

/// Plays and scores the episodes.
///
/// # Errors
/// If the file cannot be read, or the environment, the policy or the anomaly cannot be had.
pub fn run(request: &Request, context: &Context) -> Result<Scored> {
    within("episodes", request.episodes, 1..=10_000)?;
    let (mut fitted, subject) = open(&request.monitor, request.device)?;
    let frame_size = FrameSize { side: fitted.side()? };
    let anomaly_spec = subject.anomaly_spec(request.anomaly.as_ref())?;
    let (n, root) = (request.episodes as usize, Seed(context.seed).child("images").child("score"));
    let played = collect::play(&subject, anomaly_spec.as_ref(), root, 0..n, "episodes", context)?.episodes;
    let task = context.task(played.len(), "scoring");
    let mut scores = Vec::new();
    for episode in &played {
        task.check()?;
        let video = video(&subject.trial(), episode, frame_size)?;
        scores.push(fitted.monitor().score_video(&video));
        if let (Some(path), 1) = (&request.image, scores.len()) {
            draw(fitted.monitor(), &video, &scores[0], path)?;
        }
        task.inc(1);
    }
    let all: Vec<f64> = scores.iter().flatten().copied().collect();
    let bootstrap = Bootstrap::new(REPLICATES, Level::P95, Seed(context.seed).child("interval"));
    let auroc =
        |_: &AnomalySpec| detection(&pairs(&played, &scores), Mode::Matched, &bootstrap).map(|d| d.auroc);
    Ok(Scored {
        episodes: request.episodes,
        steps: all.len(),
        mean_score: all.iter().sum::<f64>() / all.len().max(1) as f64,
        auroc_matched: anomaly_spec.as_ref().map(auroc).transpose()?,
        scores: scores.into_iter().zip(played).map(|(scores, episode)| (scores, episode.labels)).collect(),
    })
}

/// Anomalous episodes with their twins, which follow them.
fn pairs(played: &[Episode], scores: &[Vec<f64>]) -> Vec<ScoredEpisode> {
    let pair = |(episodes, scores): (&[Episode], &[Vec<f64>])| ScoredEpisode {
        scores: scores[0].clone(),
        labels: episodes[0].labels.clone(),
        onset: episodes[0].onset,
        twin: Some(scores[1].clone()),
        fails: episodes[0].end == End::Failed,
    };
    played.chunks_exact(2).zip(scores.chunks_exact(2)).map(pair).collect()
}

fn draw(monitor: &mut dyn ImageScorer, video: &Video, scores: &[f64], path: &Path) -> Result<()> {
    let Some(largest) = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])) else {
        return Ok(());
    };
    monitor.reset();
    for t in 0..=largest {
        monitor.score(video.transition(t));
    }
    atomically(path, &png::png(&side_by_side(monitor, video, largest))?)
}
