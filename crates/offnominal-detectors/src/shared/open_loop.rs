//! Predictions that grow older: each step begins one, and takes all others a step further without correcting them.

use super::residual::Residual;
use super::saved::indices;
use super::whiten::Whitener;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_core::detector::Signals;
use offnominal_core::fit_progress::{FitProgress, Stopped};
use offnominal_core::transition::Transition;

/// The living predictions of an episode.
#[derive(Clone)]
pub(crate) struct OpenLoop {
    model: Residual,
    obs_width: usize,
    /// Predicted observations, `[longest, obs_width]`; the prediction begun at step s lives in row s mod longest.
    rows: Vec<f32>,
    longest: usize,
    /// Steps since `reset`.
    n: usize,
    /// What each prediction missed at the last step, `[longest, d]`.
    missed: Vec<f64>,
    scratch: Vec<f64>,
}

impl OpenLoop {
    pub fn new(model: Residual, longest: usize, obs_width: usize) -> OpenLoop {
        let d = model.width();
        OpenLoop {
            rows: vec![0.0; longest * obs_width],
            missed: vec![0.0; longest * d],
            scratch: vec![0.0; d],
            model: model.with_rows(longest),
            obs_width,
            longest,
            n: 0,
        }
    }

    pub fn reset(&mut self) {
        self.n = 0;
    }

    /// The model.
    pub fn model(&self) -> &Residual {
        &self.model
    }

    /// As [`Residual::expect`].
    pub fn expect(&mut self, obs: &[f32], action: &[f32], next_obs: &mut [f32]) {
        self.model.expect(obs, action, next_obs);
    }

    /// Begins a prediction at the observation before the step, and takes all to the one after it, by the model of one
    /// member.
    pub fn advance(&mut self, seen: &Transition<'_>, member: usize) {
        let (w, d) = (self.obs_width, self.model.width());
        let newest = self.n % self.longest;
        self.rows[newest * w..][..w].copy_from_slice(seen.obs);
        self.n += 1;
        let living = self.n.min(self.longest);
        self.model.advance(member, &mut self.rows[..living * w], w, seen.action);
        for (row, missed) in self.rows.chunks_exact(w).zip(self.missed.chunks_exact_mut(d)).take(living) {
            self.model.difference(seen.next_obs, row, missed);
        }
    }

    /// What the prediction of an age missed; none that old may live.
    fn missed(&self, age: usize) -> Option<&[f64]> {
        let d = self.model.width();
        let begun = (age <= self.n.min(self.longest)).then(|| (self.n - age) % self.longest)?;
        Some(&self.missed[begun * d..][..d])
    }
}

/// How large a nominal miss is at each age that is scored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Horizons(Vec<(usize, Whitener)>);

impl Horizons {
    /// Measures the misses on each episode by the member that did not learn from it.
    pub fn fit(
        open_loop: &mut OpenLoop,
        train: &[Signals<'_>],
        progress: FitProgress<'_>,
    ) -> Result<Horizons, Stopped> {
        let (d, ages) = (open_loop.model.width(), ages(open_loop.longest));
        let mut misses = vec![Vec::new(); ages.len()];
        for (i, episode) in train.iter().enumerate() {
            open_loop.reset();
            let member = i % open_loop.model.n_members();
            let progress = progress.part(i, train.len());
            for (t, seen) in episode.transitions().enumerate() {
                progress.at(t, episode.len())?;
                open_loop.advance(&seen, member);
                for (misses, &age) in misses.iter_mut().zip(&ages) {
                    misses.extend_from_slice(open_loop.missed(age).unwrap_or_default());
                }
            }
        }
        open_loop.reset();
        let seen = ages.into_iter().zip(misses).filter(|(_, misses)| !misses.is_empty());
        Ok(Horizons(seen.map(|(age, misses)| (age, Whitener::fit(misses.chunks_exact(d), d))).collect()))
    }

    /// Writes the moments of each age.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("ages", &self.0.iter().map(|(age, _)| *age as u64).collect::<Vec<_>>());
        for (age, whitener) in &self.0 {
            whitener.save(&mut to.part(age));
        }
    }

    /// Reads the moments of misses of d channels, at ages up to `longest`.
    pub fn load(from: &Reader<'_>, longest: usize, d: usize) -> Result<Horizons, ArchiveError> {
        let ages = indices(from, "ages", longest.max(2) + 1)?;
        from.require(!ages.contains(&0), "ages", "ages above zero", 0)?;
        let horizon = |age: usize| Ok((age, Whitener::load(&from.part(age), d)?));
        Ok(Horizons(ages.into_iter().map(horizon).collect::<Result<_, ArchiveError>>()?))
    }

    /// The mean over ages of the squared length of the miss; one where no prediction is old enough.
    pub fn score(&self, open_loop: &mut OpenLoop) -> f64 {
        let (mut sum, mut n) = (0.0, 0);
        for (age, whitener) in &self.0 {
            let mut scratch = std::mem::take(&mut open_loop.scratch);
            if let Some(missed) = open_loop.missed(*age) {
                scratch.copy_from_slice(missed);
                sum += whitener.mean_square(&mut scratch);
                n += 1;
            }
            open_loop.scratch = scratch;
        }
        if n == 0 { 1.0 } else { sum / f64::from(n) }
    }
}

/// Powers of two from 2, and `longest` itself.
fn ages(longest: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(2), |age| Some(2 * age)).take_while(|&age| age < longest);
    powers.chain([longest]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_powers_of_two_and_the_longest() {
        assert_eq!(ages(16), [2, 4, 8, 16]);
        assert_eq!(ages(6), [2, 4, 6]);
        assert_eq!((ages(2), ages(1)), (vec![2], vec![1]));
    }
}
