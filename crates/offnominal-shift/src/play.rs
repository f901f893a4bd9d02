//! One policy on one body: episodes until the steps are used up, and what they add up to.

use crate::Stream;
use crate::bodies::{Body, params};
use crate::plan::BodySetting;
use anyhow::{Result, ensure};
use offnominal_core::policy::Policy;
use offnominal_core::prelude::*;
use offnominal_engine::{catalogues, stop};

/// The episodes of a run. The last one may have been cut by the end of the run.
pub struct Rollout {
    /// The episodes in order.
    pub episodes: Vec<Episode>,
    cut: bool,
}

/// Plays a policy on a body for so many steps, one episode after the other.
///
/// # Errors
/// If the body cannot be built.
pub fn play(
    setting: &BodySetting,
    body: &Body,
    policy: &dyn Policy,
    steps: usize,
    seed: Seed,
) -> Result<Rollout> {
    let environment = catalogues::environments().build(&setting.env, &params(setting, body))?;
    let horizon = environment.spec().horizon;
    let (mut episodes, mut left, mut cut) = (Vec::new(), steps, false);
    while left > 0 {
        let horizon_now = horizon.min(u32::try_from(left).unwrap_or(u32::MAX));
        let trial = Trial {
            horizon: horizon_now,
            stop: stop::is_requested,
            ..Trial::new(environment.as_ref(), policy)
        };
        let episode: Episode = trial.nominal(seed.child(episodes.len()));
        let why = episode.divergence.filter(|_| episode.is_empty());
        let why = why.map(|why| why.describe(environment.spec(), 0));
        ensure!(why.is_none(), "environment {}: {}", setting.env, why.unwrap_or_default());
        cut = horizon_now < horizon && episode.end == End::TimedOut;
        left -= episode.len().min(left);
        episodes.push(episode);
    }
    Ok(Rollout { episodes, cut })
}

impl Rollout {
    /// The returns of the episodes that were not cut, or of the only one.
    pub fn returns(&self) -> Vec<f64> {
        let whole = self.episodes.len() - usize::from(self.cut && self.episodes.len() > 1);
        self.episodes[..whole].iter().map(Episode::total_reward).collect()
    }

    /// How many of these episodes have no outcome.
    pub fn diverged(&self) -> usize {
        self.episodes.iter().filter(|e| e.end == End::Diverged).count()
    }

    /// The share of these episodes in which the body fell.
    pub fn fall_rate(&self) -> f64 {
        let falls = self.episodes.iter().filter(|e| e.end == End::Failed).count();
        falls as f64 / self.episodes.len() as f64
    }

    /// The steps of the first episodes as an internal model input them.
    pub fn stream(&self, episodes: usize) -> Stream {
        let first = &self.episodes[0];
        let mut stream = Stream::new(first.obs_width, first.act_width);
        for episode in self.episodes.iter().take(episodes) {
            for step in episode.signals().transitions() {
                stream.push(step.obs, step.action);
            }
        }
        stream
    }
}

/// The median of numbers; none of no numbers.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    (n > 0).then(|| 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_the_steps_that_were_asked_for_and_its_cut_end_does_not_count() {
        let still = |_: &[f32], action: &mut [f32]| action.fill(0.0);
        let run = |env: &str, steps| {
            play(&BodySetting::new(env), &Body::nominal(), &still, steps, Seed(1)).unwrap()
        };
        let steps = |rollout: &Rollout| rollout.episodes.iter().map(Episode::len).sum::<usize>();
        let cheetah = run("half-cheetah-m", 1500);
        assert_eq!((steps(&cheetah), cheetah.episodes.len(), cheetah.returns().len()), (1500, 2, 1));
        assert_eq!((cheetah.stream(2).len(), cheetah.fall_rate()), (1500, 0.0));
        let hopper = run("hopper", 300);
        assert_eq!(steps(&hopper), 300);
        assert!(hopper.fall_rate() > 0.5 && hopper.returns().len() >= 2);
    }

    #[test]
    fn the_middle_of_two_is_their_mean() {
        assert_eq!(
            (median(&[3.0, 1.0]), median(&[9.0, 1.0, 2.0]), median(&[])),
            (Some(2.0), Some(2.0), None)
        );
    }
}
