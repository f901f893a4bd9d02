//! Images, class masks and a video of one episode, as files.

use crate::anomaly_request::AnomalyRequest;
use crate::catalogues;
use crate::context::Context;
use crate::request::within;
use crate::request::{EnvId, POLICY};
use crate::show::Show;
use crate::subject::Subject;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use offnominal_core::prelude::*;
use offnominal_core::suggest::did_you_mean;
use offnominal_files::{png as image, write};
use offnominal_work::cli::word_of;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// How many times larger images are drawn before they are shrunk.
pub(crate) const SMOOTH_IMAGE: usize = 4;

/// Videos show at most this many frames per second of simulated time.
const MOST_FRAMES_PER_SEC: f64 = 25.0;

/// What to draw; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// The policy.
    #[arg(long, help = POLICY)]
    pub policy: String,
    /// Width and height in pixels
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u16).range(8..=1024))]
    pub size: u16,
    /// Camera [default: the first]
    #[arg(long, value_name = "NAME")]
    pub camera: Option<String>,
    /// States to write as PNG: first, middle and last, or all
    #[arg(long, value_parser = word_of::<Stills>(), default_value = "few")]
    pub frames: Stills,
    /// Also write a class mask per PNG
    #[arg(long)]
    pub classes: bool,
    /// Output folder; by default a failure lies within RUN
    #[arg(long, value_name = "DIR", default_value = "runs/render")]
    pub out: PathBuf,
    /// What is done to the episodes.
    // Last, for the heading of its options would hold for those behind it.
    #[command(flatten)]
    pub anomaly: Option<AnomalyRequest>,
}

/// Which states of an episode become PNG files.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, EnumString, VariantArray, IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Stills {
    /// First, middle and last
    #[default]
    Few,
    /// Every one
    All,
}

/// What was drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rendered {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Steps of the episode.
    pub steps: usize,
    /// Its first anomalous step.
    pub onset: Option<u32>,
    /// How it ended.
    pub end: End,
}

/// Plays the episode, and again for the images.
///
/// # Errors
/// If environment, policy, anomaly or camera cannot be had, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Rendered> {
    within("size", request.size, 8..=1024)?;
    let subject = Subject::new(&request.env, &request.policy)?;
    let camera = camera(request.camera.as_deref(), subject.env.spec())?;
    let show = Show { trial: subject.trial(), camera, size: request.size.into() };
    let episode = request.episode(&subject, Seed(context.seed).child("render"))?;
    let mut files = request.stills(&show, &episode)?;
    files.push(request.out.join("episode.gif"));
    write::atomically(
        &request.out.join("episode.gif"),
        &show.video(&episode, MOST_FRAMES_PER_SEC, |_, _| ())?,
    )?;
    Ok(Rendered { files, steps: episode.len(), onset: episode.onset, end: episode.end })
}

impl Request {
    fn episode(&self, subject: &Subject, seed: Seed) -> Result<Episode> {
        let trial = subject.trial();
        let Some(anomaly_spec) = subject.anomaly_spec(self.anomaly.as_ref())? else {
            return Ok(trial.nominal(seed));
        };
        let (episode, twin) = trial.with_twin(seed, &anomaly_spec, &catalogues::anomalies())?;
        ensure!(
            episode.labels.contains(&true),
            "expected an onset before step {}, where the episode ends, found {}",
            twin.len(),
            episode.onset.unwrap_or_default()
        );
        Ok(episode)
    }

    fn stills(&self, show: &Show<'_>, episode: &Episode) -> Result<Vec<PathBuf>> {
        let last = episode.len();
        let wanted = |t: usize| self.frames == Stills::All || [0, last / 2, last].contains(&t);
        let mut files = Vec::new();
        let mut save = |name: String, bytes: Vec<u8>| {
            let path = self.out.join(name);
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

/// The camera of that name; the environment's first, if none is named.
pub(crate) fn camera(name: Option<&str>, spec: &EnvSpec) -> Result<Camera> {
    ensure!(!spec.cameras.is_empty(), "environment {} has no camera: it cannot be rendered", spec.id);
    let Some(name) = name else { return Ok(Camera(0)) };
    let at = spec.cameras.iter().position(|known| known == name).with_context(|| {
        let hint = did_you_mean(name, spec.cameras.iter().map(String::as_str));
        let all = spec.cameras.join(", ");
        format!("environment {} has no camera {name:?}{hint}; there are: {all}", spec.id)
    })?;
    Ok(Camera(at))
}

impl Display for Rendered {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.files.iter().try_for_each(|file| writeln!(out, "{}", file.display()))
    }
}
