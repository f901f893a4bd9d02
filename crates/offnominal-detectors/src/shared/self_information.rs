//! How rare a score is among nominal ones: −ln p, the same scale for every detector.
//!
//! Up to the score u that one nominal step in ten exceeds, p is the conformal p-value (#{c ≥ s} + 1) / (n + 1). Beyond
//! u, where ranks would soon say the same of every score, the tail is continued as an exponential: p = p(u)
//! e^{−(s−u)/β}, where β is the mean excess of nominal scores over u. Where nominal scores are exchangeable with those
//! of the episodes to come, −ln p is about exponential with mean one.

use offnominal_core::archive::{ArchiveError, Reader, Writer};
use std::sync::Arc;

/// Share of nominal scores in the tail.
const TAIL: f64 = 0.1;
/// The largest self-information: sums of it stay finite.
pub(crate) const MOST: f64 = 1e6;
/// The most that a step adds to what accumulates, so that a single freak is not remembered for long.
pub(crate) const LIMIT: f64 = 20.0;

/// The most numbers that [`thinned`] leaves.
const THIN: usize = 1000;

/// The nominal scores. Copies share them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SelfInformation {
    /// Ascending.
    nominal: Arc<[f64]>,
    /// u, −ln p(u) and β.
    tail: (f64, f64, f64),
}

impl SelfInformation {
    /// Takes nominal scores, at least one.
    pub fn of_nominal(mut scores: Vec<f64>) -> SelfInformation {
        scores.sort_unstable_by(f64::total_cmp);
        let first = ((scores.len() as f64 * (1.0 - TAIL)) as usize).min(scores.len() - 1);
        let (u, excess) = (scores[first], &scores[first..]);
        let mean = excess.iter().map(|s| s - u).sum::<f64>() / excess.len() as f64;
        let scale = mean.max(f64::EPSILON * u.abs()).max(f64::MIN_POSITIVE);
        let nominal = SelfInformation { nominal: scores.into(), tail: (u, 0.0, scale) };
        let at_u = nominal.by_rank(u);
        SelfInformation { tail: (u, at_u, scale), ..nominal }
    }

    /// Writes the nominal scores, from which all else follows.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("nominal", &self.nominal);
    }

    /// Reads the nominal scores.
    pub fn load(from: &Reader<'_>) -> Result<SelfInformation, ArchiveError> {
        let nominal = from.list::<f64>("nominal")?;
        from.require(!nominal.is_empty(), "nominal", "one score or more", "none")?;
        Ok(SelfInformation::of_nominal(nominal.to_vec()))
    }

    /// −ln p of a score; grows with it.
    pub fn of(&self, score: f64) -> f64 {
        let (u, at_u, scale) = self.tail;
        if score > u { (at_u + (score - u) / scale).min(MOST) } else { self.by_rank(score) }
    }

    fn by_rank(&self, score: f64) -> f64 {
        let n = self.nominal.len();
        let as_large = n - self.nominal.partition_point(|&c| c < score);
        libm::log((n + 1) as f64 / (as_large + 1) as f64)
    }
}

/// So many of the numbers that a monitor's file stays small, evenly spread in their order.
pub(crate) fn thinned(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.sort_unstable_by(f64::total_cmp);
    let n = numbers.len();
    if n <= THIN {
        return numbers;
    }
    (0..THIN).map(|i| numbers[(2 * i + 1) * n / (2 * THIN)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn ranks_below_and_an_exponential_above() {
        let self_information = SelfInformation::of_nominal((1..=99).map(f64::from).collect());
        assert!((self_information.of(50.0) - 2.0_f64.ln() + (51.0_f64 / 50.0).ln()).abs() < 1e-12);
        assert_eq!(self_information.of(-7.0), 0.0);
        // u = 90, of ten scores 90..=99 the mean excess is 4.5.
        let at_u = (100.0_f64 / 11.0).ln();
        assert!(
            (self_information.of(90.0) - at_u).abs() < 1e-12
                && (self_information.of(99.0) - at_u - 2.0).abs() < 1e-12
        );
    }

    #[test]
    fn it_grows_with_the_score_and_is_one_on_average() {
        let mut rng = Rng::new(1);
        let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| rng.normal()).collect() };
        let (self_information, mut fresh) = (SelfInformation::of_nominal(draw(4000)), draw(4000));
        let mean = fresh.iter().map(|&s| self_information.of(s)).sum::<f64>() / 4000.0;
        assert!((mean - 1.0).abs() < 0.08, "{mean}");
        fresh.sort_unstable_by(f64::total_cmp);
        assert!(fresh.windows(2).all(|w| self_information.of(w[0]) <= self_information.of(w[1])));
        assert_eq!(self_information.of(f64::MAX), MOST);
    }

    #[test]
    fn equal_scores_leave_no_division_by_zero() {
        let self_information = SelfInformation::of_nominal(vec![2.0; 5]);
        assert_eq!((self_information.of(2.0), self_information.of(3.0)), (0.0, MOST));
    }

    #[test]
    fn thinned_numbers_keep_their_quantiles() {
        let found = thinned((0..50_000).map(f64::from).rev().collect());
        assert_eq!((found.len(), found[0], found[500], found[999]), (1000, 25.0, 25_025.0, 49_975.0));
        assert_eq!(thinned(vec![2.0, 1.0]), [1.0, 2.0]);
    }
}
