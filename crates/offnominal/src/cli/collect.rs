//! `collect`: plays episodes and stores them as one Arrow file.

use crate::cli::anomaly_spec::AnomalyArgs;
use crate::cli::robot::RobotArg;
use crate::cli::{Common, Outcome};
use anyhow::{Context, Result, bail};
use clap::Args;
use offnominal_core::prelude::*;
use offnominal_engine::collect::{self, Plan};
use offnominal_engine::subject::Subject;
use offnominal_files::dataset::{self, Dataset};
use serde_json::json;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Arguments of `collect`.
#[derive(Debug, Args)]
pub struct Collect {
    /// Environment id (see `list envs`), or `gymnasium:ID` for any environment of Gymnasium
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, the path of a file, or `random`
    #[arg(long)]
    policy: String,
    /// Number of episodes; with an anomaly each is followed by its nominal twin. A dataset that is there already is
    /// extended to so many, with the same bits as if it had been made at once; it is never replaced
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(collect::MAX_EPISODES)))]
    episodes: u32,
    #[command(flatten)]
    anomaly_spec: AnomalyArgs,
    #[command(flatten)]
    robot: RobotArg,
}

impl Collect {
    /// Plays the episodes, stores them, and prints where.
    ///
    /// # Errors
    /// If the environment, the policy or the anomaly cannot be had, or the file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let subject = Subject::on(&self.env, self.robot.host(), &self.policy)?;
        let anomaly_spec = self.anomaly_spec.anomaly_spec(&subject)?;
        if let Some(anomaly_spec) = &anomaly_spec {
            collect::check_onset(anomaly_spec.schedule.onset, subject.env.spec()).context("--onset")?;
        }
        let path = common.out_or("collect").join(self.file_name(common.seed));
        let recipe = subject.recipe(anomaly_spec.as_ref(), common.seed);
        let kept = dataset::kept(&path, &recipe, self.episodes as usize)?;
        let dataset = self.completed(kept, &subject, anomaly_spec.as_ref(), common, &path)?;
        print(&dataset, &path, common.json)?;
        match subject.env.health() {
            Ok(()) => Ok(Outcome::Done),
            Err(why) => bail!("{why}; {} holds what was played until then", path.display()),
        }
    }

    /// The dataset with all its episodes, written if some had to be played.
    fn completed(
        &self,
        kept: Option<Dataset>,
        subject: &Subject,
        anomaly_spec: Option<&AnomalySpec>,
        common: &Common,
        path: &Path,
    ) -> Result<Dataset> {
        let open = kept.as_ref().map_or(0, Dataset::n_asked)..self.episodes as usize;
        let whole = match kept {
            Some(kept) if open.is_empty() => return Ok(kept),
            Some(kept) => kept.followed_by(play(subject, anomaly_spec, open, common)?),
            None => play(subject, anomaly_spec, open, common)?,
        };
        dataset::save(&whole, path)?;
        Ok(whole)
    }

    /// `<env>-<policy>-<disturbance or nominal>-seed<S>.arrow`; of a policy given by its path, the file's name counts,
    /// and the environment's name is followed by `-on-<robot>` if there is one.
    fn file_name(&self, seed: u64) -> PathBuf {
        let policy =
            Path::new(&self.policy).file_stem().map_or("policy".into(), |stem| stem.to_string_lossy());
        let what = self.anomaly_spec.slug();
        let robot =
            self.robot.host().map_or(String::new(), |host| format!("-on-{}", host.replace(['/', ':'], "_")));
        let env = self.env.replace(['/', ':', '?', '&'], "_");
        format!("{env}{robot}-{policy}-{what}-seed{seed}.arrow").into()
    }
}

fn play(
    subject: &Subject,
    anomaly_spec: Option<&AnomalySpec>,
    episodes: Range<usize>,
    common: &Common,
) -> Result<Dataset> {
    let bar = common.context().task(episodes.len(), "episodes");
    let root = Seed(common.seed).child("collect");
    let plan = Plan { seed: common.seed, root, episodes, jobs: common.jobs, bar: &bar };
    match anomaly_spec {
        None => collect::nominal(subject, &plan),
        Some(anomaly_spec) => collect::with_twins(subject, anomaly_spec, &plan),
    }
}

fn print(dataset: &Dataset, path: &Path, as_json: bool) -> Result<()> {
    let steps: usize = dataset.episodes.iter().map(Episode::len).sum();
    let anomalous: usize = dataset.episodes.iter().flat_map(|e| &e.labels).filter(|&&l| l).count();
    let diverged = dataset.episodes.iter().filter(|e| e.end == End::Diverged).count();
    let mut out = std::io::stdout().lock();
    if as_json {
        let value = json!({
            "file": path,
            "episodes": dataset.episodes.len(),
            "steps": steps,
            "anomalous_steps": anomalous,
            "diverged": diverged,
            "recipe": dataset.recipe,
        });
        writeln!(out, "{value:#}")?;
    } else {
        let episodes = dataset.episodes.len();
        writeln!(
            out,
            "{}: {episodes} episodes, {steps} steps, {anomalous} of them anomalous",
            path.display()
        )?;
        if diverged > 0 {
            writeln!(
                out,
                "{diverged} of {episodes} episodes diverged: a signal or the simulation stopped being a finite number \
                 there, and the episode ends before that step{}",
                if dataset.recipe.anomaly_spec.is_some() { "; a smaller magnitude avoids it" } else { "" }
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        collect: Collect,
    }

    fn parsed(args: &str) -> Result<Collect, clap::Error> {
        let fixed = ["collect", "--env", "sap-goal1", "--policy", "random"];
        Line::try_parse_from(fixed.into_iter().chain(args.split_whitespace())).map(|line| line.collect)
    }

    #[test]
    fn the_number_of_episodes_is_limited() {
        assert!(parsed("--episodes 1").is_ok() && parsed("--episodes 1000000").is_ok());
        assert!(parsed("--episodes 0").is_err() && parsed("--episodes 1000001").is_err());
    }

    #[test]
    fn the_file_name_says_how_strong() {
        let path = parsed("--episodes 1 --anomaly obs-noise --magnitude 0.5").unwrap().file_name(3);
        assert_eq!(path, Path::new("sap-goal1-random-obs-noise-0.5-seed3.arrow"));
    }

    #[test]
    fn the_file_name_says_on_which_robot() {
        let path = parsed("--episodes 1 --robot 10.0.0.7").unwrap().file_name(3);
        assert_eq!(path, Path::new("sap-goal1-on-10.0.0.7-random-nominal-seed3.arrow"));
    }

    #[test]
    fn an_onset_after_the_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let out = Some(folder.path().to_path_buf());
        let common = Common { seed: 0, jobs: 1, out, json: true, quiet: true };
        let collect = parsed("--episodes 1 --anomaly obs-noise --magnitude 0.5 --onset 100000").unwrap();
        let error = format!("{:#}", collect.run(&common).err().unwrap());
        assert!(
            error.starts_with("--onset: expected a step before ") && error.ends_with("found 100000"),
            "{error}"
        );
    }
}
