//! `render`: pictures, class masks and a film of one episode.

use super::{Common, Outcome};
use crate::picture::{self, Film};
use crate::{catalogues, policies, write};
use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use offnominal_core::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Frames from which the colours of a film are chosen.
const N_SAMPLES: usize = 12;

/// Films show at most this many frames per second of simulated time.
const MOST_FRAMES_PER_SEC: f64 = 25.0;

/// Arguments of `render`.
#[derive(Debug, Args)]
pub struct Render {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    /// Algorithm, card id, path, or `random`
    #[arg(long)]
    policy: String,
    /// Anomaly id (see `list anomalies`); without one the episode is nominal
    #[arg(long, requires = "magnitude")]
    anomaly: Option<String>,
    /// Magnitude of the anomaly
    #[arg(long, requires = "anomaly", allow_hyphen_values = true)]
    magnitude: Option<f64>,
    /// First anomalous step [default: the middle of the nominal episode]
    #[arg(long, value_name = "T", requires = "anomaly")]
    onset: Option<u32>,
    /// Width and height of the pictures in pixels
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u16).range(8..=2048))]
    size: u16,
    /// Name of the camera [default: the world's first]
    #[arg(long, value_name = "NAME")]
    camera: Option<String>,
    /// Which steps become PNG files
    #[arg(long, value_enum, default_value_t = Frames::Some)]
    frames: Frames,
    /// Also write the class mask of each PNG
    #[arg(long)]
    classes: bool,
}

/// Which steps become PNG files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Frames {
    /// The first, the middle and the last
    Some,
    /// Every one
    All,
}

impl Render {
    /// Plays the episode, and again for the pictures.
    ///
    /// # Errors
    /// If world, policy, anomaly or camera cannot be had, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let env = catalogues::worlds().build(&self.env, &json!({}))?;
        let policy = policies::find(&self.policy, env.as_ref())?;
        let show = Show {
            trial: Trial::new(env.as_ref(), policy.as_ref()),
            camera: self.camera(env.spec())?,
            size: self.size.into(),
        };
        let episode = self.episode(&show.trial, Seed(common.seed).child("render"))?;
        let mut files = self.stills(&show, &episode, &common.out_or("render"))?;
        files.push(film(&show, &episode, &common.out_or("render"))?);
        print(&files, &episode, common.json)?;
        Ok(Outcome::Done)
    }

    fn camera(&self, spec: &EnvSpec) -> Result<Camera> {
        ensure!(!spec.cameras.is_empty(), "world {} has no camera: it cannot be rendered", spec.id);
        let Some(name) = &self.camera else { return Ok(Camera(0)) };
        let known = || spec.cameras.join(", ");
        let at = spec.cameras.iter().position(|c| c == name);
        Ok(Camera(at.with_context(|| format!("no camera is called {name:?}; {} has: {}", spec.id, known()))?))
    }

    fn episode(&self, trial: &Trial<'_>, seed: Seed) -> Result<Episode> {
        let nominal = trial.nominal(seed);
        let (Some(anomaly), Some(magnitude)) = (&self.anomaly, self.magnitude) else { return Ok(nominal) };
        let onset = self.onset.unwrap_or(nominal.len() as u32 / 2);
        ensure!(
            (onset as usize) < nominal.len(),
            "expected an onset before step {}, where the nominal episode ends, found {onset}",
            nominal.len()
        );
        let schedule = Schedule { onset: Onset::At(onset), extent: Extent::ToEnd };
        let fault = Fault { anomaly: anomaly.clone(), params: json!({ "magnitude": magnitude }), schedule };
        Ok(trial.disturbed(seed, &fault, onset, &catalogues::anomalies())?)
    }

    fn stills(&self, show: &Show<'_>, episode: &Episode, folder: &Path) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        let last = episode.len();
        let wanted = |t: usize| self.frames == Frames::All || [0, last / 2, last].contains(&t);
        show.watch(episode, wanted, 4, |t, frame| {
            files.push(folder.join(format!("frame-{t:05}.png")));
            write::atomically(files.last().expect("just pushed"), &picture::png(frame)?)?;
            if self.classes {
                files.push(folder.join(format!("classes-{t:05}.png")));
                write::atomically(files.last().expect("just pushed"), &picture::class_png(frame)?)?;
            }
            Ok(())
        })?;
        Ok(files)
    }
}

/// Who plays where, seen by which camera, in which size.
struct Show<'a> {
    trial: Trial<'a>,
    camera: Camera,
    size: usize,
}

impl Show<'_> {
    /// Plays an episode again and shows the wanted states, drawn so many times larger and shrunk.
    fn watch(
        &self,
        episode: &Episode,
        wanted: impl Fn(usize) -> bool,
        smooth: usize,
        mut show: impl FnMut(usize, &Frame) -> Result<()>,
    ) -> Result<()> {
        let mut large = Frame::new(self.size * smooth, self.size * smooth);
        let mut mask = Frame::new(self.size, self.size);
        let (mut t, mut outcome) = (0, Ok(()));
        self.trial.replay(episode, &catalogues::anomalies(), &mut |env| {
            if outcome.is_ok() && wanted(t) {
                env.render(self.camera, &mut large);
                env.render(self.camera, &mut mask);
                mask.rgb = picture::shrunk(&large, smooth).rgb;
                outcome = show(t, &mask);
            }
            t += 1;
        })?;
        outcome
    }
}

/// Writes the film of an episode in the world's own time.
fn film(show: &Show<'_>, episode: &Episode, folder: &Path) -> Result<PathBuf> {
    let dt_secs = show.trial.env.spec().dt_secs;
    let stride = (1.0 / (MOST_FRAMES_PER_SEC * dt_secs)).ceil().max(1.0) as usize;
    let is_sample: BTreeSet<_> = (0..N_SAMPLES).map(|i| i * episode.len() / (N_SAMPLES - 1)).collect();
    let mut samples = Vec::new();
    show.watch(
        episode,
        |t| is_sample.contains(&t),
        2,
        |_, frame| {
            samples.push(frame.clone());
            Ok(())
        },
    )?;
    let mut film = Film::new(&samples, stride as f64 * dt_secs)?;
    show.watch(episode, |t| t % stride == 0, 2, |_, frame| film.push(frame))?;
    let path = folder.join("episode.gif");
    write::atomically(&path, &film.finish()?)?;
    Ok(path)
}

fn print(files: &[PathBuf], episode: &Episode, as_json: bool) -> Result<()> {
    use std::io::Write;
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
