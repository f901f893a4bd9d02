//! Intervals by resampling whole episodes: steps of one episode depend on one another, episodes do not.
//!
//! A replicate draws as many clusters as there are, with replacement, and counts each as often as it was drawn. The
//! interval is bias-corrected and accelerated (BCa); the acceleration comes from leaving out one cluster at a time,
//! or one of 200 groups of clusters if there are more. Its normal quantile is expanded to Student's, which resampling
//! few clusters would otherwise miss. Replicates without a value (one class only) are left out.
//!
//! Where resampling says nothing, the interval is wider than what it would give:
//! - all replicates of a share are equal: the exact bounds for the mean of values in \[0, 1\] of which n were equal. With
//!   p = (α/2)^(1/n), values that n draws do not show have at most the mass 1 − p, so the mean of those that were all v
//!   lies between p v and 1 − p (1 − v). For v = 0 and v = 1 these are the Clopper–Pearson bounds, and for any v those of
//!   Gaffke, whose interval for bounded means has that of Clopper and Pearson as a special case;
//! - fewer than 30 clusters: the interval reaches at least as far, whatever their values. Without this, the interval of
//!   twelve values that are zero once in twenty times and 0.6 otherwise covers their mean in half of the samples only;
//! - a share of more clusters close to 0 or 1, whose replicates hardly differ: its interval reaches at least as far from the bound as
//!   that of a perfect score, low ≤ (α/2)^(1/n) and high ≥ 1 − (α/2)^(1/n). So .9999 is not more certain than 1, and the
//!   ends are continuous and monotone in the score. The price: the ends of scores near a bound cover more than the level.
//!   Precision and overlap have this at 1 only: next to 0 they are not perfect, but usual where the sought is rare;
//! - a single cluster: the whole range \[0, 1\] for shares, an error for other numbers.
//!
//! References: Efron, JASA 82, 1987, sections 3 and 6; Davison & Hinkley, Bootstrap Methods, 1997, section 3.8;
//! Hesterberg, The American Statistician 69(4), 2015, section 3.3 (expanded quantiles); Gaffke, Journal of Statistical
//! Planning and Inference 135, 2005, and Learned-Miller & Thomas, arXiv 1905.06208, 2019 (means of bounded values).

use crate::level::{normal_cdf, normal_quantile};
use crate::proportion::clopper_pearson;
use crate::{Level, StatsError};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// How to resample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// Number of replicates; 1,000 and more for published intervals.
    pub replicates: NonZeroUsize,
    /// Confidence level.
    pub level: Level,
    /// Root of the random streams, one for each replicate.
    pub seed: Seed,
}

/// Which values a statistic can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// Shares and other means of values in [0, 1], of which both ends are perfect: perfectly right or perfectly wrong.
    Unit,
    /// Values in [0, 1] of which only 1 is perfect, such as precision and overlap: where what is sought is rare, small
    /// ones are usual.
    Quality,
    /// Any number.
    Real,
}

/// Fewer clusters than these do not show by resampling what else there may be.
const FEW: usize = 30;

/// Replicates that differ by no more are equal.
const ROUNDING: f64 = 1e-12;

/// Groups of clusters that are left out in turn.
const JACKKNIFE_GROUPS: usize = 200;

impl Bootstrap {
    /// A plan; at least one replicate is made.
    pub fn new(replicates: usize, level: Level, seed: Seed) -> Bootstrap {
        Bootstrap { replicates: NonZeroUsize::new(replicates).unwrap_or(NonZeroUsize::MIN), level, seed }
    }

    /// The estimates of K statistics of the same clusters. `statistic` gets the weight of each cluster.
    ///
    /// # Errors
    /// If the statistics have no value when each cluster counts once, or there are too few clusters.
    pub fn estimates<const K: usize>(
        &self,
        what: &'static str,
        n_clusters: usize,
        ranges: [Range; K],
        statistic: impl Fn(&[u32]) -> Option<[f64; K]>,
    ) -> Result<[Estimate; K], StatsError> {
        self.estimates_within(what, &vec![0; n_clusters], ranges, statistic)
    }

    /// As [`Bootstrap::estimates`], but each cluster is replaced by one of its stratum, so that no replicate is without a
    /// rare kind of cluster.
    ///
    /// # Errors
    /// As [`Bootstrap::estimates`].
    pub fn estimates_within<const K: usize>(
        &self,
        what: &'static str,
        strata: &[usize],
        ranges: [Range; K],
        statistic: impl Fn(&[u32]) -> Option<[f64; K]>,
    ) -> Result<[Estimate; K], StatsError> {
        let n_clusters = strata.len();
        let needed = if ranges.contains(&Range::Real) { 2 } else { 1 };
        StatsError::require(what, needed, "independent values", n_clusters)?;
        let none = StatsError::TooFew { what, needed, unit: "usable values", found: 0 };
        let values = statistic(&vec![1; n_clusters]).ok_or(none)?;
        let replicates = self.replicate(strata, &statistic);
        let left_out = leave_groups_out(n_clusters, &statistic);
        Ok(std::array::from_fn(|k| {
            let column = |rows: &[[f64; K]]| rows.iter().map(|row| row[k]).collect::<Vec<f64>>();
            self.interval(values[k], column(&replicates), &column(&left_out), n_clusters, ranges[k])
        }))
    }

    /// The values of the statistics in each replicate that has any.
    pub(crate) fn replicate<const K: usize>(
        &self,
        strata: &[usize],
        statistic: &impl Fn(&[u32]) -> Option<[f64; K]>,
    ) -> Vec<[f64; K]> {
        let mut weights = vec![0; strata.len()];
        let members = members(strata);
        let stream = self.seed.child("bootstrap");
        let draw = |b: usize| {
            let mut rng = stream.child(b).rng();
            weights.fill(0);
            for members in &members {
                members.iter().for_each(|_| weights[members[rng.below(members.len())]] += 1);
            }
            statistic(&weights)
        };
        (0..self.replicates.get()).filter_map(draw).collect()
    }

    fn interval(
        &self,
        value: f64,
        mut draws: Vec<f64>,
        left_out: &[f64],
        n: usize,
        range: Range,
    ) -> Estimate {
        draws.sort_unstable_by(f64::total_cmp);
        // Sums of equal numbers differ by rounding.
        let constant = draws.first().zip(draws.last()).is_none_or(|(first, last)| last - first <= ROUNDING);
        let is_bounded = range != Range::Real;
        if is_bounded && (n < 2 || draws.is_empty()) {
            return self.level.estimate(value, (0.0, 1.0), n, "no interval");
        }
        if is_bounded && constant && (value == 0.0 || value == 1.0) {
            return clopper_pearson(value as usize * n, n, self.level).expect("there are clusters");
        }
        if is_bounded && constant {
            return self.level.estimate(value, if_equal(value, (0.0, 1.0), n, self.level), n, "equal-values");
        }
        let ends = bca(value, &draws, left_out, expanded(self.level, n));
        self.level.estimate(value, range.widened(value, ends, n, self.level), n, "bootstrap-bca")
    }
}

/// The exact interval of the mean of values within bounds, if all n that were seen are equal.
pub(crate) fn if_equal(value: f64, (least, most): (f64, f64), n: usize, level: Level) -> (f64, f64) {
    let seen = level.tail().powf(1.0 / n as f64);
    (least + seen * (value - least), most - seen * (most - value))
}

/// The clusters of each stratum.
fn members(strata: &[usize]) -> Vec<Vec<usize>> {
    let mut members = BTreeMap::<usize, Vec<usize>>::new();
    for (cluster, &stratum) in strata.iter().enumerate() {
        members.entry(stratum).or_default().push(cluster);
    }
    members.into_values().collect()
}

impl Range {
    /// The interval, no closer to a perfect end than the exact interval of n successes or n failures; of few clusters, no
    /// narrower than if all had the same value.
    fn widened(self, value: f64, (low, high): (f64, f64), n: usize, level: Level) -> (f64, f64) {
        let of = |value| if_equal(value, (0.0, 1.0), n, level);
        let (least, most) = if n < FEW { of(value) } else { (of(1.0).0, of(0.0).1) };
        match self {
            Range::Unit => (low.min(least), high.max(most)),
            Range::Quality => (low.min(least), high),
            Range::Real => (low, high),
        }
    }
}

fn leave_groups_out<const K: usize>(
    n_clusters: usize,
    statistic: &impl Fn(&[u32]) -> Option<[f64; K]>,
) -> Vec<[f64; K]> {
    let groups = n_clusters.min(JACKKNIFE_GROUPS);
    let mut weights = vec![1; n_clusters];
    let leave_out = |group: usize| {
        weights.iter_mut().enumerate().for_each(|(i, w)| *w = u32::from(i % groups != group));
        statistic(&weights)
    };
    (0..groups).filter_map(leave_out).collect()
}

/// The normal quantile, widened for n clusters as Student's is, and for the bootstrap's divisor n instead of n − 1.
fn expanded(level: Level, n: usize) -> f64 {
    let degrees = n.saturating_sub(1).max(1);
    level.t(degrees) * (n as f64 / degrees as f64).sqrt()
}

/// The BCa interval from sorted replicates, at plus and minus so many standard errors.
fn bca(value: f64, sorted: &[f64], left_out: &[f64], half: f64) -> (f64, f64) {
    let (bias, acceleration) = (bias(value, sorted), acceleration(left_out));
    let end = |z: f64| {
        let shifted = bias + z;
        let p = normal_cdf(bias + shifted / (1.0 - acceleration * shifted));
        nearest_rank(sorted, p)
    };
    (end(-half), end(half))
}

/// Φ⁻¹ of the share of replicates below the value; those equal to it count half.
fn bias(value: f64, sorted: &[f64]) -> f64 {
    let below = sorted.partition_point(|&x| x < value);
    let up_to = sorted.partition_point(|&x| x <= value);
    let n = sorted.len() as f64;
    normal_quantile(((below + up_to) as f64 / (2.0 * n)).clamp(0.5 / n, 1.0 - 0.5 / n))
}

/// Skewness of the influence values, divided by six.
fn acceleration(left_out: &[f64]) -> f64 {
    let mean = left_out.iter().sum::<f64>() / left_out.len().max(1) as f64;
    let sum = |power: i32| left_out.iter().map(|x| (mean - x).powi(power)).sum::<f64>();
    let spread = sum(2);
    if spread > 0.0 { sum(3) / (6.0 * spread.powf(1.5)) } else { 0.0 }
}

/// The replicate of rank ⌈p B⌉. No interpolation: it would make nonsense of an infinite replicate.
pub(crate) fn nearest_rank(sorted: &[f64], p: f64) -> f64 {
    let rank = (p * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mean::weighted;
    use offnominal_core::Rng;

    fn plan(seed: u64) -> Bootstrap {
        Bootstrap::new(1000, Level::P95, Seed(seed))
    }

    fn mean_of(values: &[f64], plan: Bootstrap, range: Range) -> Result<Estimate, StatsError> {
        plan.estimates("mean", values.len(), [range], |w| Some([weighted(values, w)?])).map(|[e]| e)
    }

    #[test]
    fn same_seed_same_bits_and_another_seed_differs() {
        let mut rng = Rng::new(1);
        let values: Vec<f64> = (0..50).map(|_| rng.normal()).collect();
        let run = |seed| mean_of(&values, plan(seed), Range::Real).unwrap();
        assert_eq!(run(3), run(3));
        assert_ne!((run(3).low, run(3).high), (run(4).low, run(4).high));
    }

    #[test]
    fn a_skewed_sample_gives_a_skewed_interval() {
        let mut rng = Rng::new(2);
        let values: Vec<f64> = (0..60).map(|_| -(1.0 - rng.uniform()).ln()).collect();
        let found = mean_of(&values, plan(0), Range::Real).unwrap();
        assert!(found.high - found.value > 1.1 * (found.value - found.low), "{found}");
    }

    #[test]
    fn perfection_is_not_certainty() {
        let found = mean_of(&[1.0; 10], plan(0), Range::Unit).unwrap();
        assert!((found.low - 0.025_f64.powf(0.1)).abs() < 1e-9 && found.high == 1.0, "{found}");
        assert_eq!(found.method, "clopper-pearson");
        let one = mean_of(&[0.7], plan(0), Range::Unit).unwrap();
        assert_eq!((one.low, one.high), (0.0, 1.0));
    }

    #[test]
    fn almost_perfect_is_not_surer_than_perfect() {
        let of = |flaw: f64| {
            let values: Vec<f64> = (0..20).map(|i| if i == 0 { 1.0 - flaw } else { 1.0 }).collect();
            mean_of(&values, plan(0), Range::Unit).unwrap()
        };
        let lows: Vec<f64> = [0.0, 1e-9, 1e-3, 0.1, 1.0].into_iter().map(|flaw| of(flaw).low).collect();
        assert!((lows[0] - lows[1]).abs() < 1e-9 && lows.is_sorted_by(|a, b| a >= b), "{lows:?}");
        let worst = mean_of(&[0.0, 0.0, 0.0, 1e-6], plan(0), Range::Unit).unwrap();
        assert!((worst.high - (1.0 - 0.025_f64.powf(0.25))).abs() < 1e-6, "{worst}");
    }

    #[test]
    fn a_precision_next_to_zero_is_as_sure_as_its_replicates() {
        let low = mean_of(&[0.010, 0.011, 0.012, 0.013], plan(0), Range::Quality).unwrap();
        assert!(low.high < 0.02, "{low}");
        let high = mean_of(&[0.99, 0.999, 0.9999], plan(0), Range::Quality).unwrap();
        assert!((high.low - high.value * 0.025_f64.powf(1.0 / 3.0)).abs() < 1e-9, "{high}");
    }

    #[test]
    fn shares_far_from_the_bounds_and_other_numbers_keep_their_interval() {
        let values: Vec<f64> = (0..50).map(|i| 0.5 + 0.01 * f64::from(i % 10)).collect();
        let of = |range| mean_of(&values, plan(0), range).unwrap();
        assert_eq!(of(Range::Unit), of(Range::Real));
        assert!(mean_of(&[0.99, 0.999, 0.9999], plan(0), Range::Real).unwrap().low > 0.98);
    }

    #[test]
    fn equal_values_of_any_size_have_the_bounds_that_are_continuous_with_perfect_ones() {
        for n in [2, 12, 100] {
            for value in [0.0, 1e-9, 0.3, 0.5074, 1.0 - 1e-9, 1.0] {
                let found = mean_of(&vec![value; n], plan(0), Range::Unit).unwrap();
                let seen = 0.025_f64.powf(1.0 / n as f64);
                let want = (seen * value, 1.0 - seen * (1.0 - value));
                assert!((found.low - want.0).abs() + (found.high - want.1).abs() < 1e-8, "{found}");
            }
        }
    }

    #[test]
    fn an_interval_of_few_shares_covers_what_is_seldom_seen() {
        let repetitions = 300;
        for usual in [0.3, 0.6, 0.9, 1.0] {
            let covered = |seed: &u64| {
                let mut rng = Rng::new(*seed);
                let mut value = || if rng.uniform() < 0.05 { 0.0 } else { usual - 0.01 * rng.uniform() };
                let values: Vec<f64> = (0..12).map(|_| value()).collect();
                let plan = Bootstrap::new(200, Level::P95, Seed(*seed));
                mean_of(&values, plan, Range::Unit).unwrap().covers(0.95 * (usual - 0.005))
            };
            let n = (0..repetitions).filter(covered).count();
            assert!(n >= 279, "{n} of {repetitions} for {usual}");
        }
    }

    #[test]
    fn an_interval_of_exponential_means_covers() {
        let repetitions = 400;
        let covered = (0..repetitions)
            .filter(|&seed| {
                let mut rng = Rng::new(seed);
                let values: Vec<f64> = (0..40).map(|_| -(1.0 - rng.uniform()).ln()).collect();
                mean_of(&values, plan(seed), Range::Real).unwrap().covers(1.0)
            })
            .count();
        // BCa is second-order right: for n = 40 about 93 % (the plain percentile interval: 92 %).
        assert!((361..=393).contains(&covered), "{covered} of {repetitions}");
    }
}
