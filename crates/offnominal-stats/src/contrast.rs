//! How the values of a quantity differ between two sets of recordings. Each recording counts the same, however long it is.
//!
//! | number | definition |
//! |---|---|
//! | distance | supₓ \|F(x) − G(x)\|, the distance of Kolmogorov and Smirnov, of the mean distribution functions of the two sets |
//! | shift | (mean of the second set − mean of the first) / standard deviation of the first |
//!
//! Values of one recording depend on one another, recordings do not, so both intervals come from whole recordings. That of the
//! distance is a band: whole recordings are drawn anew within their set, and 95 % of the draws move F − G nowhere by more than
//! its half width, which is expanded as the quantile of Student is for the smaller set. So it reaches down to 0 where there is
//! no difference, and covers more than the level elsewhere. That of the shift is Welch's; its unit is the measured deviation.
//!
//! ```
//! use offnominal_core::Seed;
//! use offnominal_stats::{Bootstrap, Level, contrast::Contrast};
//! let both = Contrast::new(&[vec![0.0, 1.0], vec![0.0, 1.0], vec![1.0, 2.0], vec![1.0, 2.0]], 2);
//! let distance = both.distance(&Bootstrap::new(100, Level::P95, Seed(1)));
//! assert_eq!((distance.value, both.shift(Level::P95).unwrap().value), (0.5, 2.0));
//! ```

use crate::mean::moments;
use crate::{Bootstrap, Level};
use offnominal_core::estimate::Estimate;

/// Places at which the distribution functions of recordings are kept: hundredths of all values.
const PLACES: usize = 100;
/// Recordings of each set below which a band says nothing.
const FEWEST: usize = 3;
/// A deviation that is smaller, relative to the mean, is one of rounding.
const ROUNDING: f64 = 1e-11;

/// Two sets of recordings.
#[derive(Debug, Clone)]
pub struct Contrast {
    /// The first recording of the second set.
    second: usize,
    /// Mean and mean square around the mean of the first set, of each recording.
    moments: Vec<[f64; 2]>,
    distance: f64,
    /// Values that are quantiles of all, in their order.
    places: Vec<f64>,
    /// For each place, the share of each recording that is not above it.
    shares: Vec<Vec<f64>>,
}

impl Contrast {
    /// Compares recordings, of which the second set begins at `second`.
    ///
    /// # Panics
    /// If a set is empty, or a recording has no value.
    pub fn new(recordings: &[Vec<f64>], second: usize) -> Contrast {
        assert!(second > 0 && second < recordings.len(), "there are two sets");
        assert!(recordings.iter().all(|values| !values.is_empty()), "each recording has values");
        let means: Vec<f64> = recordings.iter().map(|values| mean(values.iter().copied())).collect();
        let origin = mean(means[..second].iter().copied());
        let square = |values: &Vec<f64>| mean(values.iter().map(|x| (x - origin).powi(2)));
        let moments = means.iter().zip(recordings).map(|(&mean, values)| [mean, square(values)]).collect();
        let (distance, places, shares) = distributions(recordings, second);
        Contrast { second, moments, distance, places, shares }
    }

    fn sizes(&self) -> [usize; 2] {
        [self.second, self.moments.len() - self.second]
    }

    /// The distance, with a band of at least the level; that of fewer than three recordings in a set is the whole range.
    pub fn distance(&self, plan: &Bootstrap) -> Estimate {
        let (n, few) = (self.moments.len(), self.sizes()[0].min(self.sizes()[1]));
        if few < FEWEST {
            return plan.level.estimate(self.distance, (0.0, 1.0), n, "no interval");
        }
        let strata: Vec<usize> = (0..n).map(|i| usize::from(i >= self.second)).collect();
        let mut moved: Vec<f64> =
            plan.replicate(&strata, &|weights| Some([self.moved(weights)])).into_iter().flatten().collect();
        moved.sort_unstable_by(f64::total_cmp);
        let at = (plan.level.get() * moved.len() as f64).ceil() as usize;
        let half = moved[at.clamp(1, moved.len()) - 1] * plan.level.t(few - 1) / plan.level.z();
        let ends = ((self.distance - half).max(0.0), (self.distance + half).min(1.0));
        plan.level.estimate(self.distance, ends, n, "bootstrap-band")
    }

    /// How far F − G moves at most if recordings count as often as they were drawn. A draw of n varies by (n − 1) / n of what n
    /// recordings do.
    fn moved(&self, weights: &[u32]) -> f64 {
        let sizes = self.sizes().map(|n| n as f64);
        let scales = sizes.map(|n| 1.0 / (n * (n - 1.0)).sqrt());
        let less =
            |i: usize| (f64::from(weights[i]) - 1.0) * [scales[0], -scales[1]][usize::from(i >= self.second)];
        let less: Vec<f64> = (0..weights.len()).map(less).collect();
        let at =
            |shares: &Vec<f64>| shares.iter().zip(&less).map(|(share, less)| share * less).sum::<f64>().abs();
        self.shares.iter().map(at).fold(0.0, f64::max)
    }

    /// The shift in standard deviations of the first set; none if that does not vary. Its interval has no ends if a set is a single
    /// recording.
    pub fn shift(&self, level: Level) -> Option<Estimate> {
        let sets = [&self.moments[..self.second], &self.moments[self.second..]];
        let unit = mean(sets[0].iter().map(|[_, square]| *square)).sqrt();
        let [first, second] =
            sets.map(|set| moments(&set.iter().map(|[mean, _]| mean / unit).collect::<Vec<_>>()));
        let change = second.0 - first.0;
        let ends = |half: f64| (change - half, change + half);
        let n = self.moments.len();
        let origin = mean(sets[0].iter().map(|[mean, _]| *mean));
        let is_known = unit > ROUNDING * origin.abs() && change.is_finite();
        let estimate = match welch([(first.1, sets[0].len()), (second.1, sets[1].len())], level) {
            Some(half) => level.estimate(change, ends(half), n, "welch"),
            None => level.estimate(change, ends(f64::INFINITY), n, "no interval"),
        };
        is_known.then_some(estimate)
    }

    /// Numbers of each recording in which a difference shows: mean, spread, and shares that are not above about each tenth of all values.
    pub fn features(&self) -> Vec<Vec<f64>> {
        let step = (self.shares.len() / 9).max(1);
        let tenths = || self.shares.iter().skip(step / 2).step_by(step);
        let origin = mean(self.moments[..self.second].iter().map(|[mean, _]| *mean));
        let of = |(i, [mean, square]): (usize, &[f64; 2])| {
            let spread = (square - (mean - origin).powi(2)).max(0.0).sqrt();
            let spread = if spread > ROUNDING * mean.abs() { spread } else { 0.0 };
            [*mean, spread].into_iter().chain(tenths().map(|shares| shares[i])).collect()
        };
        self.moments.iter().enumerate().map(of).collect()
    }

    /// The mean distribution functions of both sets: values, each with the shares that are not above it.
    pub fn distributions(&self) -> impl Iterator<Item = (f64, [f64; 2])> {
        let of = |shares: &Vec<f64>| {
            [&shares[..self.second], &shares[self.second..]].map(|set| mean(set.iter().copied()))
        };
        self.places.iter().zip(&self.shares).map(move |(&place, shares)| (place, of(shares)))
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

/// The half width of Welch's interval for a difference of means, from the variances and sizes of two sets of two values at least.
fn welch(sets: [(f64, usize); 2], level: Level) -> Option<f64> {
    let parts = sets.map(|(variance, n)| (variance / n as f64, n.saturating_sub(1) as f64));
    let sum = parts[0].0 + parts[1].0;
    // Satterthwaite's degrees of freedom, rounded down.
    let degrees = sum * sum / parts.iter().map(|(part, degrees)| part * part / degrees).sum::<f64>();
    let is_known = parts.iter().all(|(_, degrees)| *degrees > 0.0);
    is_known.then(|| if sum > 0.0 { level.t(degrees as usize) * sum.sqrt() } else { 0.0 })
}

/// The distance of the mean distribution functions, and what they are at quantiles of all values.
fn distributions(recordings: &[Vec<f64>], second: usize) -> (f64, Vec<f64>, Vec<Vec<f64>>) {
    let mut all: Vec<(f64, usize)> =
        recordings.iter().enumerate().flat_map(|(i, values)| values.iter().map(move |&x| (x, i))).collect();
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let n = recordings.len();
    let sizes = [second as f64, (n - second) as f64];
    let (mut counts, mut sums, mut distance, mut next) = (vec![0_usize; n], [0.0; 2], 0.0_f64, 1);
    let (mut places, mut shares) = (Vec::new(), Vec::new());
    for equal in all.chunk_by(|a, b| a.0 == b.0) {
        for &(_, i) in equal {
            counts[i] += 1;
            sums[usize::from(i >= second)] += 1.0 / recordings[i].len() as f64;
        }
        distance = distance.max((sums[0] / sizes[0] - sums[1] / sizes[1]).abs());
        let reached = ((sums[0] + sums[1]) / n as f64 * PLACES as f64 + 1e-9) as usize;
        if reached >= next && next < PLACES {
            places.push(equal[0].0);
            shares.push(
                counts.iter().zip(recordings).map(|(&k, values)| k as f64 / values.len() as f64).collect(),
            );
            next = reached + 1;
        }
    }
    (distance.min(1.0), places, shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drift::differences;
    use crate::level::normal_cdf;
    use offnominal_core::Seed;

    /// Recordings of a process that forgets slowly, around levels of their own.
    fn recordings(n: usize, shift: f64, seed: Seed) -> Vec<Vec<f64>> {
        let one = |i: usize| {
            let mut rng = seed.child(i).rng();
            let (mut x, own) = (rng.normal(), 0.5 * rng.normal());
            let mut next = || {
                x = 0.9 * x + (1.0_f64 - 0.81).sqrt() * rng.normal();
                x + own + if i >= n / 2 { shift } else { 0.0 }
            };
            (0..60).map(|_| next()).collect()
        };
        (0..n).map(one).collect()
    }

    #[test]
    fn intervals_cover_the_closed_form_of_shifted_normals() {
        for (n, shift) in [(6, 0.0), (12, 0.0), (12, 2.0), (40, 1.0)] {
            // Two normals of deviation s, d apart: the distance is 2 Φ(d / 2 s) − 1.
            let unit = 1.25_f64.sqrt();
            let (distance, sets) = (2.0 * normal_cdf(shift / 2.0 / unit) - 1.0, 60);
            let mut covered = [0, 0];
            for seed in 0_usize..sets {
                let both = Contrast::new(&recordings(n, shift, Seed(7).child(seed)), n / 2);
                let found = both.distance(&Bootstrap::new(200, Level::P95, Seed(seed as u64)));
                let moved = both.shift(Level::P95).unwrap();
                covered[0] += usize::from(found.covers(distance));
                // The unit is measured: the true shift in it.
                let measured = mean(both.moments[..n / 2].iter().map(|[_, square]| *square)).sqrt();
                covered[1] += usize::from(moved.covers(shift / measured));
            }
            // Of 60 intervals 57 are expected to cover, with a standard deviation of 1.7.
            assert!(covered.iter().all(|&n| n >= 53), "{n} recordings, {shift}: {covered:?} of {sets}");
        }
    }

    #[test]
    fn recordings_count_alike_and_few_have_no_interval() {
        let plan = Bootstrap::new(100, Level::P95, Seed(1));
        // The long recording of zeros is one of two.
        let both = Contrast::new(&[vec![0.0; 1000], vec![1.0], vec![1.0, 1.0]], 2);
        let found = both.distance(&plan);
        assert!((found.value - 0.5).abs() < 1e-9 && (found.low, found.high) == (0.0, 1.0), "{found}");
        let moved = both.shift(Level::P95).unwrap();
        assert_eq!((moved.value, moved.low, moved.method.as_str()), (1.0, f64::NEG_INFINITY, "no interval"));
        // A mean of more equal numbers is rounded otherwise.
        let constant = Contrast::new(&[vec![0.1; 10], vec![0.1; 10], vec![0.1; 13], vec![0.1; 77]], 2);
        let rows = constant.features();
        assert!(differences(&rows, 2, Seed(1)).iter().all(|one| one.p == 1.0), "{rows:?}");
        assert_eq!(constant.shift(Level::P95), None);
        let still = Contrast::new(&[vec![2.0; 3], vec![3.0; 3]], 1);
        assert_eq!((still.distance(&plan).value, still.shift(Level::P95)), (1.0, None));
    }
}
