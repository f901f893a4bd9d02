//! `risk replay`: a failure once more.

use crate::cli::Common;
use crate::cli::risk::Outcome;
use anyhow::{Context, Result, ensure};
use clap::Args;
use offnominal_core::prelude::*;
use offnominal_engine::show::Show;
use offnominal_engine::subject::Cast;
use offnominal_files::{png as picture, write};
use offnominal_risk::Lab;
use offnominal_risk::document::{Document, Stored};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Films show at most this many frames per second of simulated time.
const MOST_FRAMES_PER_SEC: f64 = 10.0;

/// Arguments of `risk replay`.
#[derive(Debug, Args)]
pub struct Replay {
    /// Folder of a `risk estimate`
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Number of the failure, as the atlas of the report names it
    #[arg(long, default_value_t = 0, value_name = "N")]
    failure: usize,
    /// The policy, where it is not to be found under the name it had
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,
    /// Width and height of the pictures in pixels
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u16).range(8..=1024))]
    size: u16,
}

impl Replay {
    /// Plays the episode, writes its film and last picture where the world has a camera, and says how it ended.
    ///
    /// # Errors
    /// If the run or the policy cannot be read, there is no such failure, or it does not fail again.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let document = Document::read(&self.run)?;
        let found = document.failures.get(self.failure).with_context(|| {
            format!("--failure {}: the run has {} failures, from 0", self.failure, document.failures.len())
        })?;
        let policy = self.policy.as_deref().unwrap_or(&document.run.policy.id);
        let cast = Cast::new(&document.run.env, policy)?.shifted_by(document.run.shifted.clone())?;
        ensure!(
            cast.name.digest == document.run.policy.digest,
            "policy {policy}: expected the one of the run with digest {}, found {}",
            document.run.policy.digest,
            cast.name.digest
        );
        let lab = Lab::new(&cast, document.run.seed)?;
        let episode = lab.cast.trial().starting_at(found.x.clone(), found.key, &mut |_| ());
        ensure!(
            episode.end == End::Failed && episode.len() as u64 == found.steps,
            "expected the episode to fail in step {}, found {:?} in step {}: the world has changed since",
            found.steps,
            episode.end,
            episode.len()
        );
        let files = self.pictures(&cast, &episode, common)?;
        self.print(&document, found, &files, common.json)?;
        Ok(Outcome::Done)
    }

    fn pictures(&self, cast: &Cast, episode: &Episode, common: &Common) -> Result<Vec<PathBuf>> {
        let trial = cast.trial();
        if trial.env.spec().cameras.is_empty() {
            return Ok(vec![]);
        }
        let folder = common.out.clone().unwrap_or_else(|| self.run.join(format!("failure-{}", self.failure)));
        let show = Show { trial, camera: Camera(0), size: self.size.into() };
        let film = folder.join("episode.gif");
        write::atomically(&film, &show.film(episode, MOST_FRAMES_PER_SEC, |_, _| ())?)?;
        let last = folder.join("last.png");
        show.watch(episode, 4, |t| t == episode.len(), |_, f| write::atomically(&last, &picture::png(f)?))?;
        Ok(vec![film, last])
    }

    fn print(&self, document: &Document, found: &Stored, files: &[PathBuf], as_json: bool) -> Result<()> {
        let mut out = std::io::stdout().lock();
        if as_json {
            let value = json!({
                "env": document.run.env,
                "policy": document.run.policy,
                "initial": found.x,
                "key": found.key,
                "steps": found.steps,
                "share": found.share,
                "kind": found.kind,
                "files": files,
            });
            writeln!(out, "{value:#}")?;
            return Ok(());
        }
        let initial: Vec<String> = found.x.iter().map(|v| format!("{v:.4}")).collect();
        writeln!(
            out,
            "failure {} of {}: fails again in step {}",
            self.failure, document.run.env, found.steps
        )?;
        writeln!(out, "  initial condition  {}", initial.join(" "))?;
        for file in files {
            writeln!(out, "  written to {}", file.display())?;
        }
        Ok(())
    }
}
