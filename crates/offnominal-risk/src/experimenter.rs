//! Who makes experiments: episodes from chosen initial conditions, each with randomness of its own.
//!
//! Randomness is keyed by run, stream and index, so that an experiment is the same bits whichever thread plays it, in
//! whatever order, and whatever was played before.

use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::divergence::Divergence;
use offnominal_core::prelude::*;
use offnominal_core::run::{Disturbance, Watcher};
use offnominal_engine::alike;
use offnominal_engine::catalogues;
use offnominal_engine::subject::{Subject, health};

/// An environment, a policy, and the run whose experiments are made.
#[derive(Clone, Copy)]
pub struct Experimenter<'c> {
    /// Who plays where.
    pub subject: &'c Subject,
    /// The seed of the run, as it was given.
    pub run: u64,
    seed: Seed,
    /// Experiments without an outcome that the caller accepts, and counts.
    allow_diverged: u64,
    /// What goes wrong in every episode, if anything does.
    pub anomaly_spec: Option<&'c AnomalySpec>,
}

/// What came of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Whether it ended in failure; without an outcome it counts as one.
    pub failed: bool,
    /// What broke it off, if it has no outcome.
    pub divergence: Option<Divergence>,
    /// Smallest distance from failing, where the environment tells it.
    pub margin: Option<f64>,
    /// Smallest distance from breaking each requirement, where several are told apart.
    pub margins: Vec<f64>,
    /// After how many steps it was that near, for the first time.
    pub nearest: usize,
    /// At which of the places that its initial condition leads past it ended; nothing where there are none.
    pub place: Option<usize>,
    /// How many steps it took.
    pub steps: usize,
    /// The last observation.
    pub last: Vec<f32>,
}

impl Experiment {
    /// The numbers, from 1, of the requirements that it broke; without an outcome all of them.
    pub fn broken(&self) -> Vec<u64> {
        let is_broken = |margin: &f64| self.divergence.is_some() || *margin <= 0.0;
        (1..).zip(&self.margins).filter(|(_, margin)| is_broken(margin)).map(|(number, _)| number).collect()
    }
}

impl<'c> Experimenter<'c> {
    /// Prepares for the experiments of a run.
    ///
    /// # Errors
    /// If the environment cannot be copied: experiments run beside one another. If nobody has said what a failure is.
    pub fn new(subject: &'c Subject, run: u64) -> Result<Experimenter<'c>> {
        let id = &subject.env.spec().id;
        ensure!(subject.env.fork().is_some(), "environment {id} cannot be copied; experiments need copies");
        subject.knows_failure()?;
        Ok(Experimenter {
            subject,
            run,
            seed: Seed(run).child("risk"),
            allow_diverged: 0,
            anomaly_spec: None,
        })
    }

    /// The same, where so many experiments may be without an outcome; whoever asks for that checks it with
    /// [`Experimenter::at_most`].
    pub fn allowing(self, allow_diverged: u64) -> Experimenter<'c> {
        Experimenter { allow_diverged, ..self }
    }

    /// The same, where something goes wrong in every episode.
    pub fn disturbed_by(self, anomaly_spec: Option<&'c AnomalySpec>) -> Experimenter<'c> {
        Experimenter { anomaly_spec, ..self }
    }

    /// Insists on experiments that differ.
    ///
    /// # Errors
    /// If all are the same, or one cannot be played.
    pub fn differ(&self) -> Result<()> {
        let play = |i| {
            let key = self.key("alike", i);
            self.subject.trusted(self.episode(key, &self.draw(key), &mut |_| ())?)
        };
        alike::refuse(alike::copies_of(self.subject.env.spec(), play)?)
    }

    /// The episode from an initial condition, shown to `watch`. An onset that is drawn lies within the episode as it
    /// would have been without the anomaly.
    ///
    /// # Errors
    /// If the anomaly cannot be built for the environment.
    pub fn episode(&self, key: Seed, x: &[f64], watch: Watcher<'_>) -> Result<Episode> {
        self.episode_in(self.subject.env.as_ref(), key, x, watch)
    }

    fn episode_in(&self, env: &dyn Env, key: Seed, x: &[f64], watch: Watcher<'_>) -> Result<Episode> {
        let trial = Trial { env, ..self.subject.trial() };
        let Some(anomaly_spec) = self.anomaly_spec else {
            return Ok(trial.starting_at(x.to_vec(), key, watch));
        };
        let steps = match anomaly_spec.schedule.onset {
            Onset::At(_) => trial.horizon as usize,
            Onset::Random => trial.starting_at(x.to_vec(), key, &mut |_| ()).len(),
        };
        let onset = anomaly_spec.schedule.draw_onset(steps, &mut key.child("onset").rng());
        let anomaly = anomaly_spec.build(&catalogues::anomalies(), env)?;
        let disturbance = Disturbance { anomaly_spec, onset, anomaly };
        Ok(trial.disturbed_from(x.to_vec(), key, disturbance, watch))
    }

    /// Insists on no more experiments without an outcome than are accepted.
    ///
    /// # Errors
    /// If there are more.
    pub fn at_most(&self, diverged: u64) -> Result<()> {
        let allowed = self.allow_diverged;
        ensure!(
            diverged <= allowed,
            "{diverged} experiments diverged and have no outcome; expected at most {allowed}, which --allow-diverged sets"
        );
        Ok(())
    }

    /// The key of an experiment.
    pub fn key(&self, stream: &str, index: u64) -> Seed {
        self.seed.child(stream).child(index)
    }

    /// The initial condition that belongs to a key.
    pub fn draw(&self, key: Seed) -> Vec<f64> {
        self.subject.env.draw(&mut key.child("initial").rng())
    }

    /// How many standard normal numbers an initial condition is made of, where its distribution is stated; else 0.
    pub fn normals(&self) -> usize {
        self.subject.env.failure_search().normals()
    }

    /// The initial condition that standard normal numbers stand for, with what is not stated by the key; nothing for what is
    /// never drawn.
    pub fn of_normals(&self, key: Seed, z: &[f64]) -> Option<Vec<f64>> {
        self.subject.env.failure_search().of_normals(z, &mut key.child("initial").rng())
    }

    /// Standard normal numbers that stand for an initial condition, and that condition: a draw from P.
    ///
    /// # Errors
    /// If hardly any numbers do.
    pub fn draw_normals(&self, key: Seed, rng: &mut Rng) -> Result<(Vec<f64>, Vec<f64>)> {
        const TRIES: usize = 1000;
        let d = self.normals();
        let one = |_| {
            let z: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
            self.of_normals(key, &z).map(|x| (z, x))
        };
        let id = &self.subject.env.spec().id;
        let none = || format!("environment {id}: none of {TRIES} draws of the stated distribution can be");
        (0..TRIES).find_map(one).with_context(none)
    }

    /// Plays from an initial condition.
    ///
    /// # Errors
    /// If the episode has no outcome, unless some are accepted: that is neither a failure of the policy nor none. If the
    /// environment cannot be used any longer. If its margin contradicts the outcome.
    pub fn play(&self, key: Seed, x: &[f64]) -> Result<Experiment> {
        self.play_in(self.subject.env.as_ref(), key, x)
    }

    /// The same in the environment of the subject as it was set by the caller, such as one whose noise was chosen.
    ///
    /// # Errors
    /// As [`Experimenter::play`].
    pub fn play_in(&self, env: &dyn Env, key: Seed, x: &[f64]) -> Result<Experiment> {
        let (mut least, mut nearest, mut t, mut place) = (None::<f64>, 0, 0, None);
        let mut margins = vec![f64::INFINITY; env.failure_search().requirements().len()];
        let episode = self.episode_in(env, key, x, &mut |env| {
            let search = env.failure_search();
            place = search.current_place();
            margins.iter_mut().enumerate().for_each(|(i, least)| *least = least.min(search.margin_of(i)));
            let now = search.margin();
            if now.is_some_and(|now| least.is_none_or(|least| now < least)) {
                (least, nearest) = (now, t);
            }
            t += 1;
        })?;
        let divergence = episode.diverged();
        // What is hosted or driven knows more than its episode does; where that broke, nothing is accepted.
        let broken = divergence.and_then(|_| health(env, self.subject.policy.as_ref()).err());
        if let Some(why) = divergence.filter(|_| self.allow_diverged == 0 || broken.is_some()) {
            let (id, why) = (&env.spec().id, why.describe(env.spec(), episode.len()));
            let more = broken.map_or(String::new(), |more| format!(": {more}"));
            bail!("environment {id}: the episode from {x:?} has no outcome: {why}{more}");
        }
        let id = &env.spec().id;
        ensure!(
            episode.end != End::Ended,
            "environment {id}: the episode from {x:?} was terminated in step {}, and `info` does not say whether that is a \
             success, as it did before: state with --failure RULE what counts as a failure",
            episode.len()
        );
        let failed = episode.end == End::Failed || divergence.is_some();
        if let (Some(margin), None) = (least, divergence) {
            agree(env.spec(), x, failed, margin)?;
        }
        Ok(Experiment {
            failed,
            divergence,
            margin: least,
            margins,
            place,
            nearest,
            steps: episode.len(),
            last: last(&episode),
        })
    }
}

/// Insists on a margin that is zero or less exactly where an episode fails: what follows margins would else be led away from
/// failures, or to what is none.
fn agree(EnvSpec { id, success, .. }: &EnvSpec, x: &[f64], failed: bool, margin: f64) -> Result<()> {
    let end = if failed { "failed" } else { "did not fail" };
    // At zero an episode stands on the limit.
    ensure!(
        margin == 0.0 || failed == (margin < 0.0),
        "environment {id}: the episode from {x:?} {end}, and its smallest margin was {margin}: expected a margin that is zero \
         or less exactly where an episode fails. {success}"
    );
    Ok(())
}

/// The last observation, with a zero for what is not finite: journals are JSON.
fn last(episode: &Episode) -> Vec<f32> {
    let rows = &episode.observations;
    rows[rows.len() - episode.obs_width..].iter().map(|x| if x.is_finite() { *x } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Toy, subject};

    #[test]
    fn a_margin_that_contradicts_the_outcome_is_named_with_the_rule() {
        let toy = subject(&Toy::new(0.5));
        let spec = EnvSpec { success: "An episode fails by its rule.".into(), ..toy.env.spec().clone() };
        let said =
            |failed: bool, margin: f64| agree(&spec, &[0.5], failed, margin).map_err(|why| why.to_string());
        assert_eq!(
            said(true, 0.25).unwrap_err(),
            "environment toy: the episode from [0.5] failed, and its smallest margin was 0.25: expected a margin that is zero \
             or less exactly where an episode fails. An episode fails by its rule."
        );
        assert!(said(false, -0.25).unwrap_err().contains("did not fail, and its smallest margin was -0.25"));
        assert!(
            [(true, -0.25), (false, 0.25), (true, 0.0), (false, 0.0)]
                .map(|(f, m)| said(f, m))
                .iter()
                .all(Result::is_ok)
        );
    }
}
