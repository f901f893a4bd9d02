//! Camera frames of a world as a data set: episodes are played again before a camera that knows the class of every pixel.

use crate::label_map::{LabelMap, Otherwise};
use crate::layout::MAP;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::prelude::*;
use offnominal_core::suggest::nearest;
use offnominal_engine::context::Context;
use offnominal_engine::show::Show;
use offnominal_engine::subject::Cast;
use offnominal_engine::{catalogues, parallel};
use offnominal_files::dataset::Recipe;
use offnominal_files::image_file::{colours, grey};
use offnominal_files::write;
use serde::Serialize;
use std::path::Path;

/// Name of the list of what the frames are of.
pub const LIST: &str = "frames.json";

/// Which frames of which episodes.
pub struct Shots<'a> {
    /// World and policy.
    pub cast: &'a Cast,
    /// What is done to the episodes; nothing, if none.
    pub fault: Option<Fault>,
    /// Number of episodes.
    pub episodes: usize,
    /// Steps from one frame to the next.
    pub every: usize,
    /// Width and height of the frames.
    pub size: usize,
    /// Classes of the world that a network shall not know.
    pub unknown: Vec<String>,
    /// Root of the episodes' seeds.
    pub seed: Seed,
    /// Threads and progress.
    pub context: &'a Context,
}

/// What there is to know of a frame.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Told {
    name: String,
    episode: usize,
    step: usize,
}

#[derive(Debug, Serialize)]
struct List {
    recipe: Recipe,
    frames: Vec<Told>,
}

impl Shots<'_> {
    /// Writes the frames into a folder that is not there yet, and returns how many there are; it appears when all are
    /// written. Of disturbed episodes there are only frames from the onset on.
    ///
    /// # Errors
    /// If the folder exists, a class is none of the world's, no frame is left, or a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<usize> {
        ensure!(!folder.exists(), "{} exists already; name a folder that does not", folder.display());
        let map = toml::to_string(&self.label_map()?)?;
        let parent = folder.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let aside = write::folder_aside(parent, ".frames-")?;
        for name in ["images", "labels"] {
            std::fs::create_dir(aside.path().join(name)).with_context(|| format!("cannot make {name}"))?;
        }
        let bar = self.context.task(self.episodes, "episodes");
        let jobs = parallel::jobs_for(self.cast.env.as_ref(), self.context.jobs);
        let frames = parallel::map(jobs, self.episodes, &bar, |i| self.shoot(i, aside.path()))?.concat();
        ensure!(!frames.is_empty(), "expected an onset before the episodes end, found none in any of them");
        let n = frames.len();
        let list = List { recipe: self.cast.recipe(self.fault.as_ref(), self.seed.0), frames };
        std::fs::write(aside.path().join(LIST), serde_json::to_string_pretty(&list)?)?;
        std::fs::write(aside.path().join(MAP), map)?;
        std::fs::rename(aside.keep(), folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(n)
    }

    /// The frames of an episode.
    fn shoot(&self, number: usize, root: &Path) -> Result<Vec<Told>> {
        let (trial, seed) = (self.cast.trial(), self.seed.child(number));
        let episode = match &self.fault {
            None => trial.nominal(seed),
            Some(fault) => trial.with_twin(seed, fault, &catalogues::anomalies())?.0,
        };
        let first = if self.fault.is_some() { episode.labels.iter().position(|&l| l) } else { Some(0) };
        let Some(first) = first else { return Ok(Vec::new()) };
        let show = Show { trial, camera: Camera(0), size: self.size };
        let mut frames = Vec::new();
        // State t is what step t begins with; what a disturbance changed is seen after the step.
        let wanted = |t: usize| t > first && (t - first).is_multiple_of(self.every);
        show.watch(&episode, 1, wanted, |step, frame| {
            let name = format!("{number:04}-{step:05}");
            save(frame, root, &name)?;
            frames.push(Told { name, episode: number, step });
            Ok(())
        })?;
        Ok(frames)
    }

    /// What the labels, the world's class ids, mean to a network that does not know some of them.
    fn label_map(&self) -> Result<LabelMap> {
        let spec = self.cast.env.spec();
        ensure!(!spec.cameras.is_empty(), "world {} has no camera", spec.id);
        for name in &self.unknown {
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
    let put = |kind: &str, bytes: Vec<u8>| {
        let path = root.join(kind).join(format!("{name}.png"));
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
    };
    put("images", colours(frame.width, frame.height, &frame.rgb)?)?;
    put("labels", grey(frame.width, frame.height, &frame.classes)?)
}
