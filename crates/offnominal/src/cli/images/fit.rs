//! `images fit`: a network that expects the next picture, fitted on nominal episodes, as one file.

use crate::cli::fit::detector;
use crate::cli::one_of::one_of;
use crate::cli::{Common, Outcome};
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_core::prelude::*;
use offnominal_engine::collect::{self, Plan};
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::device::Device;
use offnominal_engine::frames as filming;
use offnominal_engine::frames::{Studio, film};
use offnominal_engine::images::networks;
use offnominal_engine::images::trained::Fitted;
use offnominal_engine::subject::Cast;
use offnominal_files::write::atomically;
use serde_json::json;
use std::path::PathBuf;

/// Arguments of `images fit`.
#[derive(Debug, Args)]
pub struct Fit {
    /// World id (see `list envs`), one with a camera
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the world, a name of `list policies`, or the path of a file
    #[arg(long, default_value = "tqc")]
    policy: String,
    /// pred-ae, prednet, ldm, lrdm or rssm-ppm, or a table such as `{ id = "lrdm", preset = "paper" }`; the preset is
    /// `small` (64 × 64, minutes on two cores) if none is named
    #[arg(long, value_parser = detector)]
    detector: DetectorChoice,
    /// Where it is fitted
    #[arg(long, value_parser = one_of::<Device>(), default_value = "cpu")]
    device: Device,
    /// Nominal episodes that it learns from
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    train: u32,
    /// Other nominal episodes, by which it is seen when to stop
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    validation: u32,
    /// Width and height of the camera's pictures
    #[arg(long, value_name = "PIXELS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(16..=1024))]
    pictures: u32,
    /// The file to write
    #[arg(long, value_name = "FILE.safetensors")]
    file: PathBuf,
}

impl Fit {
    /// Plays and films the episodes, fits, writes the file and says what it holds.
    ///
    /// # Errors
    /// If the world, the policy, the detector or the device cannot be had, memory does not suffice, or the file cannot
    /// be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let DetectorChoice { id, params, .. } = &self.detector;
        ensure!(
            networks::NETWORKS.iter().any(|entry| entry.id == id),
            "--detector: expected one of {}, found {id:?}",
            networks::ids()
        );
        let cast = Cast::new(&self.env, &self.policy)?;
        filming::check(cast.env.spec())?;
        let [train, validation] = [("train", self.train), ("validation", self.validation)]
            .map(|(what, n)| self.films(&cast, what, n as usize, common));
        let (train, validation) = (train?, validation?);
        let mut rng = Seed(common.seed).child("fit").child(id.as_str()).rng();
        let fitted =
            Fitted::fit((id, params), self.device, [&train, &validation], &mut rng, &common.context())?;
        let mut tensors = fitted.to_tensors();
        let of = [("env", &self.env), ("policy", &self.policy)];
        tensors.metadata.extend(of.map(|(name, text)| (name.to_string(), text.clone())));
        let bytes = tensors.to_bytes();
        atomically(&self.file, &bytes)?;
        let (n, steps) = (fitted.n_learned(), train.iter().map(Film::len).sum::<usize>());
        if common.json {
            let said = json!({ "file": self.file, "bytes": bytes.len(), "numbers": n, "steps": steps });
            println!("{said:#}");
        } else {
            println!("{id}: {n} numbers, learned from {steps} steps of {} episodes", train.len());
            println!("{}", self.file.display());
        }
        Ok(Outcome::Done)
    }

    fn films(&self, cast: &Cast, what: &str, n: usize, common: &Common) -> Result<Vec<Film>> {
        let bar = common.context().task(n, &format!("{what} episodes"));
        let root = Seed(common.seed).child("images").child(what);
        let plan = Plan { seed: common.seed, root, episodes: 0..n, jobs: common.jobs, bar: &bar };
        let played = collect::nominal(cast, &plan)?.episodes;
        let studio = Studio { side: self.pictures as usize };
        let steps = played.iter().map(Episode::len).sum();
        let needed = filming::bytes_for(studio, played.len(), steps);
        filming::ensure_fits(needed, filming::available(), "the films of the nominal episodes")?;
        played.iter().map(|episode| film(&cast.trial(), episode, studio)).collect()
    }
}
