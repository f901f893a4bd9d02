//! `render`: images, class masks and a video of one episode.

use crate::cli::anomaly_spec::AnomalyArgs;
use crate::cli::{Common, Outcome};
use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use offnominal_core::prelude::*;
use offnominal_core::suggest::nearest;
use offnominal_engine::show::Show;
use offnominal_engine::subject::Subject;
use offnominal_files::{png as image, write};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// How many times larger images are drawn before they are shrunk.
const SMOOTH_IMAGE: usize = 4;

/// Videos show at most this many frames per second of simulated time.
const MOST_FRAMES_PER_SEC: f64 = 25.0;

/// Arguments of `render`.
#[derive(Debug, Args)]
pub struct Render {
    /// Environment id (see `list envs`)
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, the path of a file, or `random`
    #[arg(long)]
    policy: String,
    /// Width and height of the images in pixels
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u16).range(8..=1024))]
    size: u16,
    /// Name of the camera [default: the environment's first]
    #[arg(long, value_name = "NAME")]
    camera: Option<String>,
    /// Which states of the episode become PNG files
    #[arg(long, value_enum, default_value_t = Frames::Few)]
    frames: Frames,
    /// Also write the class mask of each PNG; its pixel values are the class ids
    #[arg(long)]
    classes: bool,
    // Last, for the heading of its options would hold for those behind it.
    #[command(flatten)]
    anomaly_spec: AnomalyArgs,
}

/// Which states of the episode become PNG files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Frames {
    /// The first, the middle and the last
    Few,
    /// Every one
    All,
}

impl Render {
    /// Plays the episode, and again for the images.
    ///
    /// # Errors
    /// If environment, policy, anomaly or camera cannot be had, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let subject = Subject::new(&self.env, &self.policy)?;
        let camera = self.camera(subject.env.spec())?;
        let show = Show { trial: subject.trial(), camera, size: self.size.into() };
        let episode = self.episode(&subject, Seed(common.seed).child("render"))?;
        let folder = common.out_or("render");
        let mut files = self.stills(&show, &episode, &folder)?;
        files.push(folder.join("episode.gif"));
        write::atomically(
            &folder.join("episode.gif"),
            &show.video(&episode, MOST_FRAMES_PER_SEC, |_, _| ())?,
        )?;
        print(&files, &episode, common.json)?;
        Ok(Outcome::Done)
    }

    fn camera(&self, spec: &EnvSpec) -> Result<Camera> {
        ensure!(!spec.cameras.is_empty(), "environment {} has no camera: it cannot be rendered", spec.id);
        let Some(name) = &self.camera else { return Ok(Camera(0)) };
        let Some(at) = spec.cameras.iter().position(|known| known == name) else {
            let meant = nearest(name, spec.cameras.iter().map(String::as_str));
            let hint = meant.map_or(String::new(), |m| format!("; did you mean {m:?}?"));
            bail!(
                "environment {} has no camera {name:?}{hint}; there are: {}",
                spec.id,
                spec.cameras.join(", ")
            );
        };
        Ok(Camera(at))
    }

    fn episode(&self, subject: &Subject, seed: Seed) -> Result<Episode> {
        let trial = subject.trial();
        let Some(anomaly_spec) = self.anomaly_spec.anomaly_spec(subject)? else {
            return Ok(trial.nominal(seed));
        };
        let (episode, twin) =
            trial.with_twin(seed, &anomaly_spec, &offnominal_engine::catalogues::anomalies())?;
        ensure!(
            episode.labels.contains(&true),
            "expected an onset before step {}, where the episode ends, found {}",
            twin.len(),
            episode.onset.unwrap_or_default()
        );
        Ok(episode)
    }

    fn stills(&self, show: &Show<'_>, episode: &Episode, folder: &Path) -> Result<Vec<PathBuf>> {
        let last = episode.len();
        let wanted = |t: usize| self.frames == Frames::All || [0, last / 2, last].contains(&t);
        let mut files = Vec::new();
        let mut save = |name: String, bytes: Vec<u8>| {
            let path = folder.join(name);
            write::atomically(&path, &bytes)?;
            files.push(path);
            Ok::<_, anyhow::Error>(())
        };
        show.watch(episode, SMOOTH_IMAGE, wanted, |t, frame| {
            save(format!("frame-{t:05}.png"), image::png(frame)?)?;
            if self.classes {
                save(format!("classes-{t:05}.png"), image::class_png(frame)?)?;
            }
            Ok(())
        })?;
        Ok(files)
    }
}

fn print(files: &[PathBuf], episode: &Episode, as_json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let value =
            json!({ "files": files, "steps": episode.len(), "onset": episode.onset, "end": episode.end });
        writeln!(out, "{value:#}")?;
        return Ok(());
    }
    for file in files {
        writeln!(out, "{}", file.display())?;
    }
    Ok(())
}
