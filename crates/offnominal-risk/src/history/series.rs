//! Many episodes of one policy at one level of noise.

use super::book::Played;
use super::noisy::Noisy;
use crate::experimenter::Experimenter;
use crate::record::in_chunks;
use anyhow::{Context as _, Result};
use offnominal_agents::TrainingEpisode;
use offnominal_engine::context::Context;
use offnominal_engine::progress::Task;
use offnominal_engine::subject::Subject;
use std::ops::Range;

/// A policy, weakened by noise on its commands, and the draws that are its own.
pub struct Series {
    subject: Subject,
    noise: f64,
    seed: u64,
    stream: String,
}

impl Series {
    /// The episodes of a policy at a level of noise.
    ///
    /// # Errors
    /// If the environment cannot be copied.
    pub fn new(subject: &Subject, noise: f64, seed: u64) -> Result<Series> {
        let noisy = Noisy::new(subject.policy.fork(), &subject.env.spec().action, noise);
        let env = subject.env.fork().context("experiments need copies of the environment")?;
        let stream = format!("past-{}-{noise}", subject.name.digest);
        let noisy = Subject {
            scenario: subject.scenario.clone(),
            ..Subject::of(env, Box::new(noisy), subject.name.clone())
        };
        Ok(Series { subject: noisy, noise, seed, stream })
    }

    /// Plays some of them and returns what became of each.
    ///
    /// # Errors
    /// If the simulator breaks.
    pub fn played(&self, range: Range<usize>, context: &Context, bar: &Task) -> Result<Vec<Played>> {
        let by = Experimenter::new(&self.subject, self.seed)?;
        let one = |i: u64| -> Result<Played> {
            let came = by.play(by.key(&self.stream, i), &self.initial(&by, i as usize))?;
            let place = came.place.filter(|_| came.failed).map(|place| place as u32);
            let margin = came.margin.filter(|margin| margin.is_finite());
            Ok(Played { failed: came.failed, place, margin })
        };
        in_chunks(context, range.start as u64..range.end as u64, 32, |chunk| {
            bar.inc(chunk.end - chunk.start);
            chunk.map(one).collect()
        })
    }

    /// The first ones, of which that became, after so many steps of training.
    ///
    /// # Errors
    /// If the environment cannot be copied.
    pub fn episodes(&self, played: &[Played], step: u64) -> Result<Vec<TrainingEpisode>> {
        let by = Experimenter::new(&self.subject, self.seed)?;
        let one = |(i, &Played { failed, place, margin }): (usize, &Played)| TrainingEpisode {
            initial: self.initial(&by, i),
            step,
            noise: self.noise,
            failed,
            place,
            margin,
        };
        Ok(played.iter().enumerate().map(one).collect())
    }

    /// Where one begins.
    fn initial(&self, by: &Experimenter<'_>, i: usize) -> Vec<f64> {
        by.draw(by.key(&self.stream, i as u64))
    }
}
