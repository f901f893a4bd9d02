//! `collect`: plays episodes and stores them as one Arrow file.

use super::fault::FaultArgs;
use super::{Common, Outcome};
use crate::cast::Cast;
use crate::collect::{self, Plan};
use crate::dataset::{self, Dataset};
use crate::progress;
use anyhow::Result;
use clap::Args;
use offnominal_core::prelude::*;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `collect`.
#[derive(Debug, Args)]
pub struct Collect {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    /// Algorithm, card id, path, or `random`
    #[arg(long)]
    policy: String,
    /// Number of episodes; with an anomaly each is followed by its nominal twin
    #[arg(long)]
    episodes: usize,
    #[command(flatten)]
    fault: FaultArgs,
}

impl Collect {
    /// Plays the episodes, stores them, and prints where.
    ///
    /// # Errors
    /// If the world, the policy or the anomaly cannot be had, or the file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let cast = Cast::new(&self.env, &self.policy)?;
        let fault = self.fault.fault(&self.env, &self.policy)?;
        let dataset = self.play(&cast, fault.as_ref(), common)?;
        let path = common.out_or("collect").join(self.file_name(common.seed));
        dataset::save(&dataset, &path)?;
        print(&dataset, &path, common.json)?;
        Ok(Outcome::Done)
    }

    fn play(&self, cast: &Cast, fault: Option<&Fault>, common: &Common) -> Result<Dataset> {
        let bar = progress::bar(common.quiet, self.episodes, "episodes");
        let plan = Plan {
            seed: common.seed,
            root: Seed(common.seed).child("collect"),
            episodes: self.episodes,
            jobs: common.jobs,
            bar: &bar,
        };
        let played = match fault {
            None => collect::nominal(cast, &plan),
            Some(fault) => collect::with_twins(cast, fault, &plan),
        };
        bar.finish_and_clear();
        played
    }

    /// `<env>-<policy>-<anomaly or nominal>-seed<S>.arrow`; of a policy given by its path, the file's name counts.
    fn file_name(&self, seed: u64) -> PathBuf {
        let policy =
            Path::new(&self.policy).file_stem().map_or("policy".into(), |stem| stem.to_string_lossy());
        let what = self.fault.anomaly.as_deref().unwrap_or("nominal");
        format!("{}-{policy}-{what}-seed{seed}.arrow", self.env).into()
    }
}

fn print(dataset: &Dataset, path: &Path, as_json: bool) -> Result<()> {
    let steps: usize = dataset.episodes.iter().map(Episode::len).sum();
    let anomalous: usize = dataset.episodes.iter().flat_map(|e| &e.labels).filter(|&&l| l).count();
    let mut out = std::io::stdout().lock();
    if as_json {
        let value = json!({
            "file": path,
            "episodes": dataset.episodes.len(),
            "steps": steps,
            "anomalous_steps": anomalous,
            "recipe": dataset.recipe,
        });
        writeln!(out, "{value:#}")?;
    } else {
        let episodes = dataset.episodes.len();
        writeln!(
            out,
            "{}: {episodes} episodes, {steps} steps, {anomalous} of them anomalous",
            path.display()
        )?;
    }
    Ok(())
}
