//! What lasts adds up: a statistic at once, and its means over about three and about thirty steps, on one scale.
//!
//! Each of the three is brought to (q − median) / (p90 − median) of held-out nominal steps, and the largest counts. The
//! means are unbiased from the first step of an episode, so nominal episodes have no trend that would make a clock.

/// The rates of the means.
const RATES: [f64; 2] = [0.3, 0.03];

/// Median and 90th percentile minus median, of the statistic and of its means.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scales([(f64, f64); 3]);

/// The means so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Past {
    means: [f64; 2],
    weights: [f64; 2],
}

impl Past {
    /// The statistic and its means.
    fn with(&mut self, q: f64) -> [f64; 3] {
        for (k, rate) in RATES.into_iter().enumerate() {
            self.means[k] += rate * (q - self.means[k]);
            self.weights[k] += rate * (1.0 - self.weights[k]);
        }
        [q, self.means[0] / self.weights[0], self.means[1] / self.weights[1]]
    }
}

impl Scales {
    /// Of the statistic in held-out episodes, at least one step in all.
    pub fn fit(episodes: &[Vec<f64>]) -> Scales {
        let mut columns: [Vec<f64>; 3] = Default::default();
        for episode in episodes {
            let mut past = Past::default();
            for &q in episode {
                past.with(q).into_iter().zip(&mut columns).for_each(|(v, column)| column.push(v));
            }
        }
        Scales(columns.map(|mut column| {
            column.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| column[((column.len() - 1) as f64 * share) as usize];
            (at(0.5), (at(0.9) - at(0.5)).max(1e-9))
        }))
    }

    /// The score of the next step.
    pub fn score(&self, q: f64, past: &mut Past) -> f64 {
        let scaled = past.with(q).into_iter().zip(self.0).map(|(v, (median, spread))| (v - median) / spread);
        scaled.fold(f64::NEG_INFINITY, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn what_lasts_is_found_below_the_noise_and_time_alone_is_not() {
        let mut rng = Rng::new(1);
        let mut episode = |shift: f64| (0..200).map(|_| rng.normal() + shift).collect::<Vec<f64>>();
        let scales = Scales::fit(&(0..40).map(|_| episode(0.0)).collect::<Vec<_>>());
        let mut last = |shift: f64| {
            let mut past = Past::default();
            episode(shift).into_iter().map(|q| scales.score(q, &mut past)).next_back().unwrap()
        };
        let mean = |found: Vec<f64>| found.iter().sum::<f64>() / found.len() as f64;
        let (nominal, shifted): (Vec<_>, Vec<_>) = (0..200).map(|_| (last(0.0), last(1.0))).unzip();
        assert!(mean(shifted) > mean(nominal) + 3.0);
        let mut first = Past::default();
        assert_eq!(first.with(2.0), [2.0; 3]);
    }
}
