//! Camera frames of an environment as a data set: episodes are played again before a camera that knows the class of
//! every pixel.

use crate::label_map::{LabelMap, Otherwise};
use crate::written::{Written, data_set, write_image};
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_core::prelude::*;
use offnominal_core::suggest::nearest;
use offnominal_engine::anomaly_request::AnomalyRequest;
use offnominal_engine::context::Context;
use offnominal_engine::request::POLICY;
use offnominal_engine::request::within;
use offnominal_engine::show::Show;
use offnominal_engine::subject::Subject;
use offnominal_engine::{catalogues, parallel};
use offnominal_files::dataset::DatasetRecipe;
use offnominal_files::image_file::{colours, grey};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Name of the list of what the frames are of.
pub const LIST: &str = "frames.json";

/// What to record; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// Environment id (see `list envs`)
    #[arg(long)]
    pub env: String,
    /// The policy.
    #[arg(long, help = POLICY)]
    pub policy: String,
    /// Number of episodes
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub episodes: u32,
    /// Steps between frames
    #[arg(long, default_value_t = 25, value_name = "STEPS", value_parser = clap::value_parser!(u32).range(1..))]
    pub every: u32,
    /// Width and height in pixels
    #[arg(long, default_value_t = 128, value_name = "PIXELS", value_parser = clap::value_parser!(u16).range(16..=1024))]
    pub size: u16,
    /// Classes that count as unknown, such as debris
    #[arg(long, value_name = "CLASS,…", value_delimiter = ',')]
    pub unknown: Vec<String>,
    /// New folder
    #[arg(long, value_name = "DIR", default_value = "runs/frames")]
    pub out: PathBuf,
    /// What is done to the episodes.
    // Last, for the heading of its options would hold for those behind it.
    #[command(flatten)]
    pub anomaly: Option<AnomalyRequest>,
}

/// Plays the episodes and writes the frames.
///
/// # Errors
/// If environment, policy, anomaly or class cannot be had, or the folder exists or cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Written> {
    within("episodes", request.episodes, 1..=100_000)?;
    within("every", request.every, 1..=u32::MAX)?;
    within("size", request.size, 16..=1024)?;
    let subject = &Subject::new(&request.env, &request.policy)?;
    let recording = Recording {
        subject,
        anomaly_spec: subject.anomaly_spec(request.anomaly.as_ref())?,
        episodes: request.episodes as usize,
        every: request.every as usize,
        size: request.size.into(),
        unknown: &request.unknown,
        seed: Seed(context.seed).child("frames"),
        context,
    };
    Ok(Written { images: recording.write(&request.out)?, folder: request.out.clone() })
}

/// Which frames of which episodes.
struct Recording<'a> {
    subject: &'a Subject,
    anomaly_spec: Option<AnomalySpec>,
    episodes: usize,
    every: usize,
    size: usize,
    unknown: &'a [String],
    /// Root of the episodes' seeds.
    seed: Seed,
    context: &'a Context,
}

/// A frame.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct FrameRecord {
    name: String,
    episode: usize,
    step: usize,
}

#[derive(Debug, Serialize)]
struct FrameList {
    recipe: DatasetRecipe,
    frames: Vec<FrameRecord>,
}

impl Recording<'_> {
    /// Writes the frames into a folder that is not there yet, and returns how many there are; it appears when all are
    /// written. Of disturbed episodes there are only frames from the onset on.
    ///
    /// # Errors
    /// If the folder exists, a class is none of the environment's, no frame is left, or a file cannot be written.
    fn write(&self, folder: &Path) -> Result<usize> {
        let list = data_set(folder, &["images", "labels"], &self.label_map()?, LIST, |root| {
            let bar = self.context.task(self.episodes, "episodes");
            let jobs = parallel::jobs_for(self.subject.env.as_ref(), self.context.jobs);
            let frames = parallel::map(jobs, self.episodes, &bar, |i| self.record(i, root))?.concat();
            let none = "expected an onset before the episodes end, found none in any of them";
            ensure!(!frames.is_empty(), none);
            Ok(FrameList { recipe: self.subject.recipe(self.anomaly_spec.as_ref(), self.seed.0), frames })
        })?;
        Ok(list.frames.len())
    }

    /// The frames of an episode.
    fn record(&self, number: usize, root: &Path) -> Result<Vec<FrameRecord>> {
        let (trial, seed) = (self.subject.trial(), self.seed.child(number));
        let episode = match &self.anomaly_spec {
            None => trial.nominal(seed),
            Some(anomaly_spec) => trial.with_twin(seed, anomaly_spec, &catalogues::anomalies())?.0,
        };
        let first =
            if self.anomaly_spec.is_some() { episode.labels.iter().position(|&l| l) } else { Some(0) };
        let Some(first) = first else { return Ok(Vec::new()) };
        let show = Show { trial, camera: Camera(0), size: self.size };
        let mut frames = Vec::new();
        // State t is what step t begins with; what a disturbance changed is seen after the step.
        let wanted = |t: usize| t > first && (t - first).is_multiple_of(self.every);
        show.watch(&episode, 1, wanted, |step, frame| {
            let name = format!("{number:04}-{step:05}");
            save(frame, root, &name)?;
            frames.push(FrameRecord { name, episode: number, step });
            Ok(())
        })?;
        Ok(frames)
    }

    /// What the labels, the environment's class ids, mean to a network that does not know some of them.
    fn label_map(&self) -> Result<LabelMap> {
        let spec = self.subject.env.spec();
        ensure!(!spec.cameras.is_empty(), "environment {} has no camera", spec.id);
        for name in self.unknown {
            let all = || spec.classes.iter().map(String::as_str);
            let hint = nearest(name, all()).map_or(String::new(), |m| format!("; did you mean {m:?}?"));
            ensure!(
                spec.classes.contains(name),
                "{} has no class {name:?}{hint}; there are: {}",
                spec.id,
                spec.classes.join(", ")
            );
        }
        let numbered = || spec.classes.iter().enumerate();
        let known = || numbered().filter(|(_, name)| !self.unknown.contains(name));
        let unknown = numbered().filter(|(_, name)| self.unknown.contains(name));
        Ok(LabelMap {
            classes: known().map(|(_, name)| name.clone()).collect(),
            unknown: unknown.map(|(id, _)| id.to_string()).collect(),
            ignore: Vec::new(),
            known_any: Vec::new(),
            otherwise: Otherwise::Error,
            colours: Default::default(),
            known: known().map(|(id, name)| (name.clone(), vec![id.to_string()])).collect(),
        })
    }
}

fn save(frame: &Frame, root: &Path, name: &str) -> Result<()> {
    write_image(root, "images", name, &colours(frame.width, frame.height, &frame.rgb)?)?;
    write_image(root, "labels", name, &grey(frame.width, frame.height, &frame.classes)?)
}
