//! Many episodes of one policy at one level of noise.

use crate::Lab;
use crate::noisy::Noisy;
use anyhow::{Context, Result};
use offnominal_agents::TrainingEpisode;
use offnominal_engine::parallel;
use offnominal_engine::progress::Task;
use offnominal_engine::subject::Cast;
use std::ops::Range;

/// A policy, weakened by noise on its commands, and the draws that are its own.
pub struct Series {
    cast: Cast,
    noise: f64,
    seed: u64,
    stream: String,
}

impl Series {
    /// The episodes of a policy at a level of noise.
    ///
    /// # Errors
    /// If the world cannot be copied.
    pub fn new(cast: &Cast, noise: f64, seed: u64) -> Result<Series> {
        let noisy = Noisy::new(cast.policy.fork(), &cast.env.spec().action, noise);
        let env = cast.env.fork().context("experiments need copies of the world")?;
        let stream = format!("past-{}-{noise}", cast.name.digest);
        let noisy =
            Cast { shifted: cast.shifted.clone(), ..Cast::of(env, Box::new(noisy), cast.name.clone()) };
        Ok(Series { cast: noisy, noise, seed, stream })
    }

    /// Plays some of them and returns which failed.
    ///
    /// # Errors
    /// If the simulator breaks.
    pub fn failed(&self, range: Range<usize>, jobs: usize, bar: &Task) -> Result<Vec<usize>> {
        const CHUNK: usize = 32;
        let lab = Lab::new(&self.cast, self.seed)?;
        let failed = |i: usize| {
            let came = lab.play(lab.key(&self.stream, i as u64), &self.initial(&lab, i));
            came.map(|came| came.failed.then_some(i)).transpose()
        };
        let chunks = parallel::map(jobs, range.len().div_ceil(CHUNK), &Task::hidden(), |c| {
            let from = range.start + c * CHUNK;
            let chunk = from..(from + CHUNK).min(range.end);
            bar.inc(chunk.len() as u64);
            chunk.filter_map(failed).collect::<Result<Vec<_>>>()
        })?;
        Ok(chunks.concat())
    }

    /// The first so many, of which those failed, after so many steps of training.
    ///
    /// # Errors
    /// If the world cannot be copied.
    pub fn episodes(&self, n: usize, failed: &[usize], step: u64) -> Result<Vec<TrainingEpisode>> {
        let lab = Lab::new(&self.cast, self.seed)?;
        let mut of = vec![false; n];
        failed.iter().for_each(|&i| of[i] = true);
        let one =
            |(i, failed)| TrainingEpisode { initial: self.initial(&lab, i), step, noise: self.noise, failed };
        Ok(of.into_iter().enumerate().map(one).collect())
    }

    /// Where one begins, as the file will hold it.
    fn initial(&self, lab: &Lab<'_>, i: usize) -> Vec<f64> {
        lab.draw(lab.key(&self.stream, i as u64)).iter().map(|&v| f64::from(v as f32)).collect()
    }
}
