//! Episodes by the hundred, nominal or disturbed with their twins, and the files in which they are stored.

use crate::anomaly_request::AnomalyRequest;
use crate::context::Context;
use crate::diverged::Diverged;
use crate::progress::Task;
use crate::request::{EnvId, POLICY, ROBOT};
use crate::request::{file_stem, within};
use crate::subject::Subject;
use crate::{catalogues, parallel, twins};
use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use offnominal_core::limits::EPISODES;
use offnominal_core::prelude::*;
use offnominal_files::checkpoint::interval;
use offnominal_files::dataset::{self, Dataset, DatasetRecipe};
use offnominal_files::lock::Lock;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Episodes that each thread plays from one look at the clock to the next; a robot plays one.
const PLAYED_PER_THREAD: usize = 32;

/// Most episodes of one kind that may be asked for at once.
pub const MAX_EPISODES: u32 = offnominal_core::limits::EPISODES as u32;

/// What to play; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// The policy.
    #[arg(long, help = POLICY)]
    pub policy: String,
    /// Number of episodes, with twins; a larger number extends a data set
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_EPISODES)))]
    pub episodes: u32,
    /// The address of the robot.
    #[arg(long, value_name = "HOST", help = ROBOT)]
    pub robot: Option<String>,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs/collect")]
    pub out: PathBuf,
    /// What is done to the episodes.
    // Last, for the heading of its options would hold for those behind it.
    #[command(flatten)]
    pub anomaly: Option<AnomalyRequest>,
}

/// A dataset and its file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Collected {
    /// The file.
    pub file: PathBuf,
    /// Episodes, twins among them.
    pub episodes: usize,
    /// Their steps.
    pub steps: usize,
    /// Steps in which the anomaly was active.
    pub anomalous_steps: usize,
    /// Episodes without an outcome.
    pub diverged: usize,
    /// The first of them, in words.
    #[serde(skip)]
    pub first_diverged: Option<String>,
    /// What recreates them.
    pub recipe: DatasetRecipe,
}

/// Plays the episodes that are not in the file yet, and writes them: now and then what there is, so that a run that was
/// stopped or killed goes on.
///
/// # Errors
/// If the environment, the policy or the anomaly cannot be had, another process uses the file, or it holds other episodes
/// or cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Collected> {
    within("episodes", request.episodes as usize, 0..=EPISODES)?;
    let subject = request.subject()?;
    let anomaly_spec = subject.anomaly_spec(request.anomaly.as_ref())?;
    let file = request.out.join(request.file_name(context.seed));
    let recipe = subject.recipe(anomaly_spec.as_ref(), context.seed);
    let _held = Lock::file(&file)?;
    let kept = dataset::existing(&file, &recipe, request.episodes as usize)?;
    let kept = kept.unwrap_or(Dataset { recipe, episodes: vec![], twins: vec![] });
    let growing = Growing::new(kept, &file)?;
    let dataset = request.complete(&subject, anomaly_spec.as_ref(), growing, context)?;
    match subject.health() {
        Ok(()) => Ok(Collected::of(&dataset, file, subject.env.spec())),
        Err(why) => bail!("{why}; {} holds what was played until then", file.display()),
    }
}

impl Request {
    /// The environment and the policy.
    ///
    /// # Errors
    /// If one of them cannot be had.
    pub fn subject(&self) -> Result<Subject> {
        Subject::on(&self.env, self.robot.as_deref(), &self.policy)
    }

    /// Plays the episodes that a dataset lacks, and writes it.
    fn complete(
        &self,
        subject: &Subject,
        anomaly_spec: Option<&AnomalySpec>,
        mut growing: Growing<'_>,
        context: &Context,
    ) -> Result<Dataset> {
        let (n, root) = (self.episodes as usize, Seed(context.seed).child("collect"));
        ensure!(n > 0, "expected at least 1 episode, found 0");
        let task = context.resumed(growing.len() as u64..n as u64, "episodes");
        let some = if subject.env.fork().is_some() { PLAYED_PER_THREAD * context.jobs } else { 1 };
        while growing.len() < n && subject.health().is_ok() {
            let open = growing.len()..n.min(growing.len() + some);
            let of = (anomaly_spec, &growing.dataset.recipe);
            match play_in(subject, of, root, open, (context.jobs, &task)) {
                Ok(more) => growing.extend(more)?,
                // What broke is said with what was played before.
                Err(_) if subject.health().is_err() && growing.len() > 0 => break,
                Err(why) => {
                    growing.save()?;
                    return Err(why);
                }
            }
        }
        growing.save()?;
        Ok(growing.dataset)
    }

    /// Plays some of the episodes.
    ///
    /// # Errors
    /// As [`play`].
    pub fn play(
        &self,
        subject: &Subject,
        anomaly_spec: Option<&AnomalySpec>,
        episodes: Range<usize>,
        context: &Context,
    ) -> Result<Dataset> {
        play(subject, anomaly_spec, Seed(context.seed).child("collect"), episodes, "episodes", context)
    }

    /// `<env>-<policy>-<disturbance or nominal>-seed<S>.arrow`; of a policy given by its path, the file's name counts,
    /// and the environment's name is followed by `-on-<robot>` if there is one.
    fn file_name(&self, seed: u64) -> PathBuf {
        let named =
            self.policy.split_once('?').map_or(self.policy.as_str(), |(name, _)| name).replace(':', "_");
        let policy = Path::new(&named).file_stem().map_or("policy".into(), |stem| stem.to_string_lossy());
        let what = self.anomaly.as_ref().map_or("nominal".into(), AnomalyRequest::slug);
        let robot = self
            .robot
            .as_ref()
            .map_or(String::new(), |host| format!("-on-{}", host.replace(['/', ':'], "_")));
        let env = file_stem(&self.env);
        format!("{env}{robot}-{policy}-{what}-seed{seed}.arrow").into()
    }
}

/// A dataset that grows, with its file.
struct Growing<'a> {
    dataset: Dataset,
    file: &'a Path,
    every: Duration,
    saved: Instant,
    is_saved: bool,
}

impl<'a> Growing<'a> {
    fn new(dataset: Dataset, file: &'a Path) -> Result<Growing<'a>> {
        Ok(Growing { dataset, file, every: interval()?, saved: Instant::now(), is_saved: true })
    }

    /// The number of episodes that were asked for.
    fn len(&self) -> usize {
        self.dataset.n_asked()
    }

    /// Adds episodes, and writes the file if it is old.
    fn extend(&mut self, more: Dataset) -> Result<()> {
        self.dataset.extend(more);
        self.is_saved = false;
        if self.saved.elapsed() >= self.every { self.save() } else { Ok(()) }
    }

    /// Writes what is not in the file yet.
    fn save(&mut self) -> Result<()> {
        if !self.is_saved {
            dataset::save(&self.dataset, self.file)?;
            (self.saved, self.is_saved) = (Instant::now(), true);
        }
        Ok(())
    }
}

impl Collected {
    fn of(dataset: &Dataset, file: PathBuf, spec: &EnvSpec) -> Collected {
        let Dataset { recipe, episodes, .. } = dataset;
        let diverged = Diverged::of(spec, episodes);
        Collected {
            file,
            episodes: episodes.len(),
            steps: episodes.iter().map(Episode::len).sum(),
            anomalous_steps: episodes.iter().flat_map(|e| &e.labels).filter(|&&l| l).count(),
            diverged: diverged.episodes,
            first_diverged: diverged.first,
            recipe: recipe.clone(),
        }
    }
}

impl Display for Collected {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Collected { file, episodes, steps, anomalous_steps, diverged, first_diverged, recipe } = self;
        let file = file.display();
        write!(out, "{file}: {episodes} episodes, {steps} steps, {anomalous_steps} of them anomalous")?;
        if *diverged == 0 {
            return Ok(());
        }
        let advice = if recipe.anomaly_spec.is_some() { "; a smaller magnitude avoids it" } else { "" };
        write!(
            out,
            "\n{diverged} of {episodes} episodes diverged: a signal or the simulation stopped being a finite number \
             there, and the episode ends before that step{advice}; the first: {}",
            first_diverged.as_deref().unwrap_or_default()
        )
    }
}

/// Plays episodes as one task, disturbed ones each followed by its nominal twin; number i (which pair, if disturbed) has
/// the i-th seed of the root.
///
/// # Errors
/// If no episode is asked for, or the anomaly does not fit the environment.
pub fn play(
    subject: &Subject,
    anomaly_spec: Option<&AnomalySpec>,
    root: Seed,
    episodes: Range<usize>,
    what: &str,
    context: &Context,
) -> Result<Dataset> {
    ensure!(!episodes.is_empty(), "expected at least 1 episode, found 0");
    let task = context.task(episodes.len(), what);
    let recipe = subject.recipe(anomaly_spec, context.seed);
    play_in(subject, (anomaly_spec, &recipe), root, episodes, (context.jobs, &task))
}

/// Plays episodes as [`play`] does, as a part of a task.
fn play_in(
    subject: &Subject,
    (anomaly_spec, recipe): (Option<&AnomalySpec>, &DatasetRecipe),
    root: Seed,
    episodes: Range<usize>,
    (jobs, task): (usize, &Task),
) -> Result<Dataset> {
    let (trial, anomalies) = (subject.trial(), catalogues::anomalies());
    if let Some(anomaly_spec) = anomaly_spec {
        anomaly_spec.build(&anomalies, subject.env.as_ref())?;
    }
    let one = |i| {
        let seed = root.child(episodes.start + i);
        let begun =
            |episode| begun(subject, episode).with_context(|| format!("episode {}", episodes.start + i));
        let Some(anomaly_spec) = anomaly_spec else { return Ok(vec![begun(trial.nominal(seed))?]) };
        let (episode, twin) = trial.with_twin(seed, anomaly_spec, &anomalies)?;
        twins::check(subject, &episode, &twin)?;
        Ok(vec![begun(episode)?, begun(twin)?])
    };
    let jobs = parallel::jobs_for(subject.env.as_ref(), jobs);
    let mut played = parallel::map(jobs, episodes.len(), task, one)?;
    keep_until_trouble(subject, &mut played)?;
    let episodes: Vec<Episode> = played.into_iter().flatten().collect();
    let twin = |i: usize| (anomaly_spec.is_some() && i.is_multiple_of(2)).then_some(i + 1);
    let twins = (0..episodes.len()).map(twin).collect();
    Ok(Dataset { recipe: recipe.clone(), episodes, twins })
}

/// Where a robot stopped, only what was whole before is kept: the rest is of a robot that stands, and is played anew
/// when the dataset is completed.
fn keep_until_trouble(subject: &Subject, played: &mut Vec<Vec<Episode>>) -> Result<()> {
    let Err(why) = subject.health() else { return Ok(()) };
    let is_broken =
        |e: &Episode| matches!(e.diverged(), Some(Divergence::Environment | Divergence::Action { .. }));
    let broken = |episodes: &Vec<Episode>| episodes.iter().any(is_broken);
    played.truncate(played.iter().position(broken).unwrap_or(played.len()));
    ensure!(!played.is_empty(), "{why}; no episode was played to its end");
    Ok(())
}

/// The episode, if it has a step: one that diverged before its first cannot be stored, and nothing can be learned of it.
/// Where the environment itself broke, [`Env::health`] says why.
///
/// # Errors
/// Why it has none.
pub fn begun(subject: &Subject, episode: Episode) -> Result<Episode> {
    let spec = subject.env.spec();
    let why = episode.divergence.filter(|_| episode.is_empty()).map(|why| why.describe(spec, 0));
    let why = why.map(|why| subject.policy.health().err().unwrap_or(why));
    ensure!(why.is_none(), "environment {}: {}", spec.id, why.unwrap_or_default());
    Ok(episode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_file_name_says_how_strong_and_on_which_robot() {
        let name = |more: serde_json::Value| {
            let mut asked = json!({ "env": "sap-goal1", "policy": "random", "episodes": 1 });
            asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            offnominal_work::cli::request::<Request>(&asked).unwrap().file_name(3).display().to_string()
        };
        let noise = json!({ "anomaly": { "anomaly": "obs-noise", "magnitude": 0.5 } });
        assert_eq!(name(noise), "sap-goal1-random-obs-noise-0.5-seed3.arrow");
        assert_eq!(name(json!({ "robot": "10.0.0.7" })), "sap-goal1-on-10.0.0.7-random-nominal-seed3.arrow");
    }
}
