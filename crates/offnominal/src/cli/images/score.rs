//! `images score`: what a fitted network makes of episodes before the camera.

use crate::cli::fault::FaultArgs;
use crate::cli::one_of::one_of;
use crate::cli::{Common, Outcome};
use anyhow::{Context, Result};
use clap::Args;
use offnominal_bench::images::panels::side_by_side;
use offnominal_core::prelude::*;
use offnominal_engine::collect::{self, Plan, check_onset};
use offnominal_engine::device::Device;
use offnominal_engine::frames::{Studio, film};
use offnominal_engine::images::trained::Fitted;
use offnominal_engine::subject::Cast;
use offnominal_files::png as picture;
use offnominal_files::write::atomically;
use offnominal_nets::Tensors;
use offnominal_stats::{Bootstrap, Level, Mode, ScoredEpisode, detection};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Resamplings of an interval.
const REPLICATES: usize = 1_000;

/// Arguments of `images score`.
#[derive(Debug, Args)]
pub struct Score {
    /// File written by `images fit`
    #[arg(value_name = "FILE.safetensors")]
    monitor: PathBuf,
    /// Episodes; with an anomaly each has its nominal twin
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    episodes: u32,
    #[command(flatten)]
    fault: FaultArgs,
    /// Where the network runs
    #[arg(long, value_parser = one_of::<Device>(), default_value = "cpu")]
    device: Device,
    /// Print every step of every episode and twin as CSV, which `metrics` reads
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Draw the strangest step of the first episode: what was seen, what was expected, where they differ
    #[arg(long, value_name = "FILE.png")]
    picture: Option<PathBuf>,
}

impl Score {
    /// Plays, films and scores the episodes, and says how well anomalous steps are told from those of the twins.
    ///
    /// # Errors
    /// If the file cannot be read, or the world, the policy or the anomaly cannot be had.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let (mut fitted, cast) = self.open()?;
        let studio = Studio { side: fitted.side()? };
        let played = self.play(&cast, common)?;
        let bar = common.context().task(played.len(), "scoring");
        let mut scores = Vec::new();
        for episode in &played {
            let film = film(&cast.trial(), episode, studio)?;
            scores.push(fitted.monitor().score_film(&film));
            if let (Some(path), 1) = (&self.picture, scores.len()) {
                draw(fitted.monitor(), &film, &scores[0], path)?;
            }
            bar.inc(1);
        }
        if self.csv {
            as_csv(&played, &scores)?;
        } else {
            self.print(&played, &scores, common)?;
        }
        Ok(Outcome::Done)
    }

    fn open(&self) -> Result<(Fitted, Cast)> {
        let place = || self.monitor.display().to_string();
        let bytes = std::fs::read(&self.monitor).with_context(|| format!("cannot read {}", place()))?;
        let tensors = Tensors::from_bytes(&bytes).with_context(place)?;
        let fitted = Fitted::open(&tensors, self.device).with_context(place)?;
        let text = |name: &str| {
            let found = tensors.metadata.get(name).with_context(|| format!("expected {name} in the header"));
            found.with_context(place)
        };
        Ok((fitted, Cast::new(text("env")?, text("policy")?)?))
    }

    fn play(&self, cast: &Cast, common: &Common) -> Result<Vec<Episode>> {
        let fault = self.fault.fault(cast)?;
        let bar = common.context().task(self.episodes as usize, "episodes");
        let root = Seed(common.seed).child("images").child("score");
        let episodes = 0..self.episodes as usize;
        let plan = Plan { seed: common.seed, root, episodes, jobs: common.jobs, bar: &bar };
        let played = match &fault {
            None => collect::nominal(cast, &plan),
            Some(fault) => {
                check_onset(fault.schedule.onset, cast.env.spec()).context("--onset")?;
                collect::with_twins(cast, fault, &plan)
            }
        };
        Ok(played?.episodes)
    }

    fn print(&self, played: &[Episode], scores: &[Vec<f64>], common: &Common) -> Result<()> {
        let all: Vec<f64> = scores.iter().flatten().copied().collect();
        let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
        let auroc = match self.fault.anomaly {
            None => None,
            Some(_) => {
                let bootstrap = Bootstrap::new(REPLICATES, Level::P95, Seed(common.seed).child("interval"));
                Some(detection(&pairs(played, scores), Mode::Matched, &bootstrap)?.auroc)
            }
        };
        let mut out = std::io::stdout().lock();
        if common.json {
            let said = json!({ "episodes": self.episodes, "steps": all.len(), "mean_score": mean, "auroc_matched": auroc });
            writeln!(out, "{said:#}")?;
            return Ok(());
        }
        writeln!(out, "{} episodes, {} steps, mean score {mean:.6}", played.len(), all.len())?;
        if let Some(auroc) = auroc {
            writeln!(out, "AUROC matched {auroc}")?;
        }
        Ok(())
    }
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

fn draw(monitor: &mut dyn ImageMonitor, film: &Film, scores: &[f64], path: &std::path::Path) -> Result<()> {
    let Some(strangest) = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])) else {
        return Ok(());
    };
    monitor.reset();
    for t in 0..=strangest {
        monitor.score(film.sight(t));
    }
    atomically(path, &picture::png(&side_by_side(monitor, film, strangest))?)
}

fn as_csv(played: &[Episode], scores: &[Vec<f64>]) -> Result<()> {
    let mut out = csv::Writer::from_writer(std::io::stdout().lock());
    out.write_record(["episode", "step", "score", "label"])?;
    for (i, (episode, scores)) in played.iter().zip(scores).enumerate() {
        for (step, (score, label)) in scores.iter().zip(&episode.labels).enumerate() {
            out.serialize((i, step, score, u8::from(*label)))?;
        }
    }
    Ok(out.flush()?)
}
