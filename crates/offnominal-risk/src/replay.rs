//! `render RUN`: a failure once more, with images.

use crate::estimate::document::Document;
use crate::experimenter::Experimenter;
use crate::request::within;
use crate::stress::again::{Again, Kept};
use crate::stress::series::Likelihood;
use anyhow::{Context as _, Result, ensure};
use minijinja::Value;
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::show::Show;
use offnominal_engine::subject::Subject;
use offnominal_files::dataset::PolicyName;
use offnominal_files::{png, write};
use offnominal_report::page::embedded;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// Width and height of a video in a page in pixels, and its frames per second of simulated time.
const VIDEO: (usize, f64) = (192, 2.5);

/// Videos show at most this many frames per second of simulated time.
const MOST_FRAMES_PER_SEC: f64 = 10.0;

/// Which failure is played.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Folder of a `risk estimate` or a `risk stress`.
    pub run: PathBuf,
    /// Number of the failure, as the report names it.
    pub failure: usize,
    /// The policy, where it is not to be found under the name it had.
    pub policy: Option<String>,
    /// Width and height of the images in pixels.
    pub size: usize,
    /// Folder for video and last image, if they are wanted.
    pub out: Option<PathBuf>,
}

/// A failure that failed again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Id of the environment.
    pub env: String,
    /// The policy.
    pub policy: PolicyName,
    /// The initial condition.
    pub initial: Vec<f64>,
    /// The key of its randomness.
    pub key: Seed,
    /// Steps until it failed.
    pub steps: u64,
    /// Its part of the failure probability, of which a stress test says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Number of its kind, from 1, as reports have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<usize>,
    /// How likely its disturbances are, in a stress test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likelihood: Option<Likelihood>,
    /// Video and last image, where the environment has a camera and there is a folder for them.
    pub files: Vec<PathBuf>,
    #[serde(skip)]
    failure: usize,
}

/// Plays the episode; the seed is that of the run.
///
/// # Errors
/// If the run or the policy cannot be read, there is no such failure, or it does not fail again.
pub fn run(request: &Request, _: &Context) -> Result<Report> {
    within("size", request.size, 8..=1024)?;
    if Kept::is_in(&request.run) {
        return disturbed(request);
    }
    let (document, number) = (Document::read(&request.run)?, request.failure);
    let subject = subject_of(&document, request.policy.as_deref())?;
    let (run, n) = (document.run, document.failures.len());
    let found = document.failures.into_iter().nth(number);
    let found = found.with_context(|| format!("failure {number}: the run has {n} failures, from 0"))?;
    let by = Experimenter::new(&subject, run.seed)?.disturbed_by(run.anomaly_spec.as_ref());
    let episode = by.episode(found.key, &found.x, &mut |_| ())?;
    let same_end =
        episode.end == End::Failed || found.divergence.is_some_and(|why| episode.diverged() == Some(why));
    ensure!(
        same_end && episode.len() as u64 == found.steps,
        "expected the episode to fail in step {}, found {:?} in step {}: the environment has changed since",
        found.steps,
        episode.end,
        episode.len()
    );
    let files =
        request.out.as_deref().map(|out| images(&subject, &episode, request.size, out)).transpose()?;
    Ok(Report {
        env: run.env,
        policy: run.policy,
        initial: found.x,
        key: found.key,
        steps: found.steps,
        share: Some(found.share),
        kind: Some(found.kind + 1),
        likelihood: None,
        files: files.unwrap_or_default(),
        failure: number,
    })
}

/// Plays a failure of a stress test.
fn disturbed(request: &Request) -> Result<Report> {
    let kept = Kept::read(&request.run)?;
    let env = kept.played.env.clone();
    let Again { subject, episode, failure } = kept.play(request.failure, request.policy.as_deref())?;
    let files =
        request.out.as_deref().map(|out| images(&subject, &episode, request.size, out)).transpose()?;
    Ok(Report {
        env,
        policy: subject.name,
        initial: failure.initial,
        key: failure.key,
        steps: failure.steps as u64,
        share: None,
        kind: None,
        likelihood: Some(failure.likelihood),
        files: files.unwrap_or_default(),
        failure: request.failure,
    })
}

/// Environment and policy of a run; the policy may have another name by now.
///
/// # Errors
/// If one of them cannot be had, or the policy is another one.
pub fn subject_of(document: &Document, policy: Option<&str>) -> Result<Subject> {
    let run = &document.run;
    let policy = policy.unwrap_or(&run.policy.id);
    let subject = Subject::new(&run.env, policy)?.under(run.scenario.clone())?;
    let (expected, found) = (&run.policy.digest, &subject.name.digest);
    ensure!(
        found == expected,
        "policy {policy}: expected the one of the run with digest {expected}, found {found}"
    );
    Ok(subject)
}

fn images(subject: &Subject, episode: &Episode, size: usize, folder: &Path) -> Result<Vec<PathBuf>> {
    let trial = subject.trial();
    if trial.env.spec().cameras.is_empty() {
        return Ok(vec![]);
    }
    let show = Show { trial, camera: Camera(0), size };
    let (video, last) = (folder.join("episode.gif"), folder.join("last.png"));
    write::atomically(&video, &show.video(episode, MOST_FRAMES_PER_SEC, |_, _| ())?)?;
    show.watch(episode, 4, |t| t == episode.len(), |_, f| write::atomically(&last, &png::png(f)?))?;
    Ok(vec![video, last])
}

/// The video of an episode of a policy in an environment for a page, if there is a camera.
///
/// # Errors
/// If it cannot be made.
pub(crate) fn embedded_video(
    subject: &Subject,
    env: &dyn Env,
    key: Seed,
    x: &[f64],
) -> Result<Option<Value>> {
    let trial = Trial { env, ..subject.trial() };
    if env.spec().cameras.is_empty() {
        return Ok(None);
    }
    let episode = trial.starting_at(x.to_vec(), key, &mut |_| ());
    let show = Show { trial, camera: Camera(0), size: VIDEO.0 };
    let gif = show.video(&episode, VIDEO.1, |_, _| ())?;
    Ok(Some(embedded("gif", &gif)))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let initial: Vec<String> = self.initial.iter().map(|v| format!("{v:.4}")).collect();
        writeln!(f, "failure {} of {}: fails again in step {}", self.failure, self.env, self.steps)?;
        writeln!(f, "  initial condition  {}", initial.join(" "))?;
        self.files.iter().try_for_each(|file| writeln!(f, "  written to {}", file.display()))
    }
}
