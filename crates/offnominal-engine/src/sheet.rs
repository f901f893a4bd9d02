//! One picture of many frames: environments, or an environment under anomalies, each frame below its name.

mod observed;

use crate::anomaly_request::{AnomalyRequest, OnsetChoice};
use crate::catalogues;
use crate::context::Context;
use crate::render::{SMOOTH_IMAGE, camera};
use crate::request::within;
use crate::show::Show;
use crate::strengths::{self, Status};
use crate::subject::Subject;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::limits::PIXELS;
use offnominal_core::prelude::*;
use offnominal_core::schedule::Onset;
use offnominal_core::suggest::did_you_mean;
use offnominal_files::sheet::{Captioned, png};
use offnominal_files::write;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Frames in a row, where nothing else says how many.
const COLUMNS: usize = 5;

/// What to draw; the seed is that of the context, and the episodes of an environment all have the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Ids of the environments.
    pub envs: Vec<String>,
    /// The policy that acts in each.
    pub policy: String,
    /// What is shown of a state.
    pub view: View,
    /// Name of the camera, if it is not the first.
    pub camera: Option<String>,
    /// Anomalies, or patterns such as `cam-*`, shown beside the nominal frame; each begins with the first step.
    pub anomalies: Vec<String>,
    /// How strong they are, in their own units, if not as levels; several make a row for each anomaly.
    pub magnitudes: Vec<f64>,
    /// Calibrated levels, if no magnitudes.
    pub strengths: Vec<String>,
    /// The state that is shown; 0 is the first, before any step.
    pub step: u32,
    /// Width and height of a camera's frame in pixels.
    pub size: u16,
    /// Frames in a row, if not as many as seem right.
    pub columns: Option<usize>,
    /// The PNG file.
    pub file: PathBuf,
}

/// What is shown of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum View {
    /// Camera frame
    #[default]
    Camera,
    /// Newest image of the observation
    Observation,
}

/// What was drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sheet {
    /// The file.
    pub file: PathBuf,
    /// Frames on it.
    pub frames: usize,
}

/// How strong an anomaly is.
#[derive(Debug, Clone, Copy)]
enum Level<'a> {
    Magnitude(f64),
    Strength(&'a str),
}

/// Plays an episode for each frame and draws them all.
///
/// # Errors
/// If an environment, the policy, an anomaly or a camera cannot be had, an episode ends before the step, or the file
/// cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Sheet> {
    within("size", request.size, 8..=1024)?;
    within("columns", request.columns.unwrap_or(1), 1..=100)?;
    ensure!(!request.envs.is_empty(), "expected an environment, found none");
    let has_levels = !request.levels().is_empty();
    ensure!(
        has_levels != request.anomalies.is_empty(),
        "expected anomalies with magnitudes or strengths, found the ones without the others"
    );
    let mut panels = Vec::new();
    for env in &request.envs {
        context.check()?;
        let subject = Subject::new(env, &request.policy)?;
        panels.extend(
            request.panels(&subject, Seed(context.seed).child("render")).with_context(|| env.clone())?,
        );
    }
    write::atomically(&request.file, &png(&panels, request.columns())?)?;
    Ok(Sheet { file: request.file.clone(), frames: panels.len() })
}

impl Request {
    fn levels(&self) -> Vec<Level<'_>> {
        let magnitudes = self.magnitudes.iter().map(|&m| Level::Magnitude(m));
        magnitudes.chain(self.strengths.iter().map(|s| Level::Strength(s))).collect()
    }

    /// Several levels of an anomaly make a row, at whose left end nothing is disturbed.
    fn columns(&self) -> usize {
        let row = if self.levels().len() > 1 { 1 + self.levels().len() } else { COLUMNS };
        self.columns.unwrap_or(row)
    }

    fn panels(&self, subject: &Subject, seed: Seed) -> Result<Vec<Captioned>> {
        let nominal = self.frame(subject, &subject.trial().nominal(seed))?;
        let captioned = |lines: &[&str], frame: Frame| Captioned {
            lines: lines.iter().map(ToString::to_string).collect(),
            frame,
        };
        let id = &*subject.env.spec().id;
        if self.anomalies.is_empty() {
            return Ok(vec![captioned(&[id], nominal)]);
        }
        let (levels, anomalies) = (self.levels(), self.anomalies_of(subject.env.spec())?);
        let (frames, size) = (anomalies.len() * (1 + levels.len()), usize::from(self.size));
        ensure!(
            frames * size * size <= PIXELS,
            "expected a sheet of at most {PIXELS} pixels, found one of {frames} frames of {size} × {size}"
        );
        let mut panels = Vec::new();
        for (i, anomaly) in anomalies.iter().enumerate() {
            if i == 0 || levels.len() > 1 {
                panels.push(captioned(&[id, "nominal"], nominal.clone()));
            }
            for &level in &levels {
                let (text, episode) = self.disturbed(subject, seed, anomaly, level)?;
                let empty = || blank(nominal.width, nominal.height);
                let frame = episode.map_or_else(|| Ok(empty()), |e| self.frame(subject, &e))?;
                panels.push(captioned(&[anomaly, &text], frame));
            }
        }
        Ok(panels)
    }

    /// The anomalies of an environment that are meant.
    fn anomalies_of(&self, spec: &EnvSpec) -> Result<Vec<String>> {
        let known = catalogues::anomaly_ids(spec);
        let mut found: Vec<String> = Vec::new();
        for pattern in &self.anomalies {
            let fits =
                |id: &str| pattern.strip_suffix('*').map_or(id == pattern, |start| id.starts_with(start));
            let new: Vec<String> =
                known.iter().filter(|id| fits(id) && !found.contains(id)).cloned().collect();
            ensure!(
                known.iter().any(|id| fits(id)),
                "no anomaly is called {pattern:?}{}; there are: {}",
                did_you_mean(pattern, known.iter().map(String::as_str)),
                known.join(", ")
            );
            found.extend(new);
        }
        Ok(found)
    }

    /// How strong the anomaly is, in words, and the episode under it; none where no magnitude reaches the level.
    fn disturbed(
        &self,
        subject: &Subject,
        seed: Seed,
        anomaly: &str,
        level: Level<'_>,
    ) -> Result<(String, Option<Episode>)> {
        let (text, magnitude) = match level {
            Level::Magnitude(magnitude) => (short(magnitude), magnitude),
            Level::Strength(level) => {
                let row =
                    strengths::lookup(&subject.env.spec().id, &subject.name.label(), anomaly, level, None)?;
                match (row.status, row.magnitude) {
                    (Status::Found, Some(magnitude)) => (format!("{level}: {}", short(magnitude)), magnitude),
                    (status, _) => return Ok((format!("{level}: {}", <&str>::from(status)), None)),
                }
            }
        };
        let asked = AnomalyRequest {
            anomaly: anomaly.into(),
            deviations: false,
            magnitude: Some(magnitude),
            strength: None,
            strengths: None,
            policy: None,
            channels: None,
            onset: OnsetChoice(Onset::At(0)),
            window: None,
            intermittent: None,
        };
        let spec = subject.anomaly_spec(Some(&asked))?.context("an anomaly was asked for")?;
        let (episode, _) = subject.trial().with_twin(seed, &spec, &catalogues::anomalies())?;
        Ok((text, Some(episode)))
    }

    /// The state of an episode that is shown.
    fn frame(&self, subject: &Subject, episode: &Episode) -> Result<Frame> {
        let (step, spec) = (self.step as usize, subject.env.spec());
        ensure!(
            step <= episode.len(),
            "step: expected at most {}, where the episode ends, found {step}",
            episode.len()
        );
        if self.view == View::Observation {
            return observed::image(spec, episode, step);
        }
        let camera = camera(self.camera.as_deref(), spec)?;
        let show = Show { trial: subject.trial(), camera, size: self.size.into() };
        let mut seen = None;
        show.watch(
            episode,
            SMOOTH_IMAGE,
            |t| t == step,
            |_, frame| {
                seen = Some(frame.clone());
                Ok(())
            },
        )?;
        seen.context("expected the replay to reach the step, found an end before it")
    }
}

/// A number with at most three digits behind the point.
fn short(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// A frame of nothing.
fn blank(width: usize, height: usize) -> Frame {
    let mut frame = Frame::new(width, height);
    frame.clear([236; 3]);
    frame
}

impl Display for Sheet {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.file.display())
    }
}

#[cfg(test)]
mod tests;
