//! Since when: the maximum-likelihood change point of self-information.
//!
//! Nominal self-information, divided by what is usual at their step of an episode, are exponential with mean one; from
//! the change on their mean is m > 1, unknown. For a change at step τ of n steps up to now, with the mean m of their
//! self-information, the log likelihood ratio is n (m − 1 − ln m).

use offnominal_core::archive::{ArchiveError, Reader, Writer};

/// A single step says no more than this, so that one freak does not outweigh all that lasts.
pub(super) const MOST: f64 = 8.0;

/// Steps before and after that tell what is usual at a step.
const REACH: usize = 2;
/// Episodes that a step needs to have a mean of its own.
const LEAST_EPISODES: usize = 3;
/// Nothing is so usual that less of it would be remarkable.
const LEAST_MEAN: f64 = 0.5;

/// The mean nominal self-information at each step of an episode: some steps, such as the first ones, are harder to
/// predict.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Usual(Vec<f64>);

impl Usual {
    /// Takes the self-information of nominal episodes, in any number.
    pub fn of(episodes: &[Vec<f64>]) -> Usual {
        let longest = episodes.iter().map(Vec::len).max().unwrap_or(0);
        let mut last = 1.0;
        let mean = |t: usize| {
            let there: Vec<&Vec<f64>> = episodes.iter().filter(|e| e.len() > t).collect();
            if there.len() >= LEAST_EPISODES {
                let near = |e: &&Vec<f64>| e[t.saturating_sub(REACH)..(t + REACH + 1).min(e.len())].to_vec();
                let all: Vec<f64> = there.iter().flat_map(near).map(|x| x.min(MOST)).collect();
                last = (all.iter().sum::<f64>() / all.len() as f64).max(LEAST_MEAN);
            }
            last
        };
        Usual((0..longest.max(1)).map(mean).collect())
    }

    /// A self-information at a step, counted from 0, in units of what is usual there.
    pub fn relative(&self, step: usize, self_information: f64) -> f64 {
        self_information / self.0[step.min(self.0.len() - 1)]
    }

    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("mean", &self.0);
    }

    pub fn load(from: &Reader<'_>) -> Result<Usual, ArchiveError> {
        let mean = from.list::<f64>("mean")?;
        let is_sound = !mean.is_empty() && mean.iter().all(|&m| m > 0.0);
        from.require(is_sound, "mean", "one number above zero or more", "others")?;
        Ok(Usual(mean.to_vec()))
    }
}

/// Log likelihood ratio of a change of the mean of n self-information from one to m; zero if they are not larger than
/// usual.
pub(super) fn evidence(n: f64, m: f64) -> f64 {
    if m > 1.0 { n * (m - 1.0 - m.ln()) } else { 0.0 }
}

/// The step at which the change most likely happened; the last one if nothing speaks for a change.
///
/// # Panics
/// If there is no self-information.
pub(super) fn change_point(self_information: &[f64]) -> usize {
    let (mut sum, mut best, mut at) = (0.0, 0.0, self_information.len() - 1);
    for (ago, step) in self_information.iter().rev().enumerate() {
        sum += step.min(MOST);
        let n = (ago + 1) as f64;
        let found = evidence(n, sum / n);
        if found > best {
            (best, at) = (found, self_information.len() - 1 - ago);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn a_step_in_the_mean_is_found() {
        assert_eq!(change_point(&[1.0, 1.0, 1.0, 4.0, 4.0, 4.0]), 3);
        assert_eq!(change_point(&[1.0, 1.0, 9.0]), 2);
        assert_eq!(change_point(&[0.5, 0.5, 0.5]), 2, "nothing has changed");
        let with_a_freak = [&[0.5, 1e6][..], &[0.5; 12], &[5.0; 4]].concat();
        assert_eq!(change_point(&with_a_freak), 14);
    }

    #[test]
    fn the_error_shrinks_with_the_size_of_the_change() {
        let median_error = |mean: f64| {
            let mut rng = Rng::new(1);
            let mut exponential = |mean: f64| -mean * rng.uniform().max(1e-300).ln();
            let mut errors: Vec<usize> = (0..301)
                .map(|_| {
                    let drawn: Vec<f64> =
                        (0..80).map(|t| exponential(if t < 50 { 1.0 } else { mean })).collect();
                    change_point(&drawn).abs_diff(50)
                })
                .collect();
            errors.sort_unstable();
            errors[150]
        };
        let (weak, strong) = (median_error(2.0), median_error(6.0));
        assert!(strong <= 1 && weak > strong && weak < 20, "{weak} {strong}");
    }

    #[test]
    fn what_is_usual_is_no_change() {
        let episode = [vec![6.0; 10], vec![1.0; 30]].concat();
        let usual = Usual::of(&vec![episode.clone(); 5]);
        let relative =
            |e: &[f64]| e.iter().enumerate().map(|(t, &x)| usual.relative(t, x)).collect::<Vec<_>>();
        assert_eq!(usual.relative(3, 6.0), 1.0);
        assert_eq!(usual.relative(99, 2.0), 2.0, "beyond the longest episode");
        let mut changed = episode;
        changed[35..].fill(3.0);
        assert_eq!(change_point(&relative(&changed)), 35);
        assert_eq!(Usual::of(&[]).relative(0, 2.0), 2.0);
    }

    #[test]
    fn evidence_in_closed_form() {
        assert_eq!((evidence(9.0, 1.0), evidence(9.0, 0.3)), (0.0, 0.0));
        assert!((evidence(2.0, std::f64::consts::E) - 2.0 * (std::f64::consts::E - 2.0)).abs() < 1e-12);
    }
}
