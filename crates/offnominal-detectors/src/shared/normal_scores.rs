//! Residuals as normal scores, channel by channel: the bulk of the scores of nominal residuals is standard normal, and
//! their tails are close to it.
//!
//! g(z) = sign(z) G(|z|), with P(|Z| ≤ a) = P(|N| ≤ G(a)) for a nominal residual Z and a standard normal N, up to
//! G = [`BULK`].
//!
//! Nominal residuals have heavy tails: contacts, and states in which the model has seen little. Squares of such
//! residuals are ruled by a few steps, which then set the threshold; squares of normal scores are not. G is known at
//! |N| = 0, [`STEP`], 2 [`STEP`], …, as long as two nominal residuals or more lie above, and linear in between. Beyond,
//! it grows with ln |z|, [`STEEPER`] times as steep as over the last [`LAST`] steps: an anomaly is to leave the nominal
//! outliers behind.
//!
//! Residuals of two kinds, small ones and rare jumps, would leave next to no score for all that lies between. So above
//! |N| = [`BULK`], G grows at least by [`OPENING`] times the logarithm of the ratio of neighbouring sizes. Then scores of
//! the jumps are larger than normal numbers would be, and of normal residuals those beyond the bulk are, by a fifth.

use offnominal_core::archive::{ArchiveError, Reader, Writer};

/// Distance of two levels at which residuals are known.
const STEP: f64 = 0.1;
/// Levels from which the slope of the tail is taken.
const LAST: usize = 8;
/// How much steeper the tail is.
const STEEPER: f64 = 2.0;
/// The smallest relative distance of residuals over those levels, as a logarithm.
const LEAST_SPREAD: f64 = 0.05;
/// The first level before which a gap between sizes is kept open.
const BULK: f64 = 1.0;
/// By how much G grows at least, per logarithm of sizes, above [`BULK`]. Of 0, ½, 1, 2, 4 and 8, this one finds most in
/// urm-pnp, and costs next to nothing in the other environments of the choice.
const OPENING: f64 = 2.0;
/// Smallest residual that is told from none, and least distance of two levels.
const LEAST: f64 = 1e-9;

/// How large nominal residuals of d channels are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NormalScores {
    d: usize,
    /// |z| at the levels, ascending, `[d, levels]`.
    sizes: Vec<f64>,
    /// G there.
    scores: Vec<f64>,
}

impl NormalScores {
    /// Measures nominal residuals, rows of `d` numbers.
    pub fn fit(rows: &[f64], d: usize) -> NormalScores {
        let n = rows.len() / d.max(1);
        let shares = shares(n);
        let channel = |j: usize| {
            let mut sizes: Vec<f64> = rows.iter().skip(j).step_by(d).map(|z| z.abs()).collect();
            sizes.sort_unstable_by(f64::total_cmp);
            let at = shares.iter().map(|&share| quantile(&sizes, share)).collect::<Vec<_>>();
            at.into_iter().enumerate().map(|(k, size)| size + LEAST * k as f64)
        };
        NormalScores::of((0..d).flat_map(channel).collect(), d)
    }

    fn of(sizes: Vec<f64>, d: usize) -> NormalScores {
        let levels = (sizes.len() / d.max(1)).max(1);
        let scores = sizes.chunks_exact(levels).flat_map(opened).collect();
        NormalScores { d, sizes, scores }
    }

    /// Writes the sizes.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("sizes", &self.sizes);
    }

    /// Reads the sizes of residuals of d channels.
    pub fn load(from: &Reader<'_>, d: usize) -> Result<NormalScores, ArchiveError> {
        let sizes = from.list::<f64>("sizes")?.to_vec();
        let levels = sizes.len() / d.max(1);
        let ascends = |row: &[f64]| row[0] >= 0.0 && row.windows(2).all(|w| w[0] < w[1]);
        let is_sound = d == 0 && sizes.is_empty()
            || levels >= 2 && sizes.len() == levels * d && sizes.chunks_exact(levels).all(ascends);
        from.require(is_sound, "sizes", "ascending sizes of each channel", "others")?;
        Ok(NormalScores::of(sizes, d))
    }

    /// Replaces residuals by their scores.
    pub fn apply(&self, z: &mut [f64]) {
        for (z, known) in z.iter_mut().zip(self.channels()) {
            *z = score(known, z.abs()).0.copysign(*z);
        }
    }

    /// Turns a direction in which the residuals z may lie into that in which their scores may.
    pub fn bend(&self, z: &[f64], direction: &mut [f64]) {
        for ((along, z), known) in direction.iter_mut().zip(z).zip(self.channels()) {
            *along *= score(known, z.abs()).1;
        }
    }

    /// Sizes of each channel, and their scores.
    fn channels(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        let levels = (self.sizes.len() / self.d.max(1)).max(1);
        self.sizes.chunks_exact(levels).zip(self.scores.chunks_exact(levels))
    }
}

/// P(|N| ≤ g) at the levels g that n residuals tell of; at least two.
fn shares(n: usize) -> Vec<f64> {
    let above = |k: usize| libm::erfc(STEP * k as f64 / std::f64::consts::SQRT_2);
    let levels = (0..).take_while(|&k| k < 2 || above(k) * n as f64 >= 2.0);
    levels.map(|k| 1.0 - above(k)).collect()
}

/// The number below which a share of ascending ones lie; zero if there are none.
fn quantile(ascending: &[f64], share: f64) -> f64 {
    let Some(last) = ascending.len().checked_sub(1) else { return 0.0 };
    let at = share * last as f64;
    let below = (at as usize).min(last);
    let above = (below + 1).min(last);
    ascending[below] + (at - below as f64) * (ascending[above] - ascending[below])
}

/// G at ascending sizes.
fn opened(sizes: &[f64]) -> Vec<f64> {
    let mut scores = vec![0.0];
    for (k, pair) in sizes.windows(2).enumerate() {
        let opening = OPENING * libm::log(pair[1] / pair[0].max(LEAST));
        let is_bulk = BULK > STEP * (k + 1) as f64;
        scores.push(scores[k] + if is_bulk { STEP } else { opening.max(STEP) });
    }
    scores
}

/// G and its slope.
fn score((sizes, scores): (&[f64], &[f64]), size: f64) -> (f64, f64) {
    let last = sizes.len() - 1;
    if size > sizes[last] {
        let (from, top) = (last.saturating_sub(LAST), sizes[last].max(LEAST));
        let spread = libm::log(top / sizes[from].max(LEAST)).max(LEAST_SPREAD);
        let slope = STEEPER * (scores[last] - scores[from]) / spread;
        return (scores[last] + slope * libm::log(size / top).max(0.0), slope / size.max(LEAST));
    }
    let above = sizes.partition_point(|&s| s < size).max(1);
    let (low, rise) = (sizes[above - 1], scores[above] - scores[above - 1]);
    let slope = rise / (sizes[above] - low);
    (scores[above - 1] + (slope * (size - low)).clamp(0.0, rise), slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn the_bulk_becomes_normal_and_heavy_tails_light() {
        let mut rng = Rng::new(1);
        let mut draw = |heavy: bool| {
            let mut row = || {
                let (a, b) = (rng.normal(), rng.normal());
                if heavy { a / (b * b + 0.01).sqrt() } else { a }
            };
            (0..20_000).map(|_| row()).collect::<Vec<f64>>()
        };
        let share =
            |x: &[f64], most: f64| x.iter().filter(|x| x.abs() <= most).count() as f64 / x.len() as f64;
        let kurtosis = |x: &[f64]| {
            let mean = |power: i32| x.iter().map(|x| x.powi(power)).sum::<f64>() / x.len() as f64;
            mean(4) / mean(2).powi(2)
        };
        for heavy in [false, true] {
            let scores = NormalScores::fit(&draw(heavy), 1);
            let fresh = draw(heavy);
            let mut found = fresh.clone();
            found.chunks_exact_mut(1).for_each(|g| scores.apply(g));
            for (most, want) in [(0.5, 0.3829), (0.85, 0.6047)] {
                assert!((share(&found, most) - want).abs() < 0.015, "{heavy}: {}", share(&found, most));
            }
            assert!(kurtosis(&found) < 5.0, "{heavy}: {}", kurtosis(&found));
            assert!(!heavy || kurtosis(&fresh) > 10.0, "{}", kurtosis(&fresh));
        }
    }

    #[test]
    fn what_lies_between_small_residuals_and_rare_jumps_has_a_score_of_its_own() {
        let mut rng = Rng::new(3);
        let mut draw =
            |i: usize| if i.is_multiple_of(20) { 100.0 + rng.normal() } else { 0.01 * rng.normal() };
        let rows: Vec<f64> = (0..4000).map(&mut draw).collect();
        let scores = NormalScores::fit(&rows, 1);
        let at = |z: f64| {
            let mut z = [z];
            scores.apply(&mut z);
            z[0]
        };
        let [small, between, jump] = [0.03, 50.0, 100.0].map(at);
        assert!(between > small + 5.0 && jump > between, "{small} {between} {jump}");
    }

    #[test]
    fn scores_grow_and_their_slope_is_the_derivative() {
        let mut rng = Rng::new(2);
        let rows: Vec<f64> = (0..2000).map(|_| rng.normal().powi(3)).collect();
        let scores = NormalScores::fit(&rows, 1);
        let at = |z: f64| {
            let mut z = [z];
            scores.apply(&mut z);
            z[0]
        };
        let sizes: Vec<f64> = (1..4000).map(|i| 0.0173 * f64::from(i)).collect();
        for pair in sizes.windows(2) {
            assert!(at(pair[0]) < at(pair[1]), "{pair:?}");
            assert_eq!(at(pair[0]), -at(-pair[0]));
        }
        for size in [0.05, 1.0, 90.0] {
            let mut slope = [1.0];
            scores.bend(&[size], &mut slope);
            let want = (at(size + 1e-7) - at(size - 1e-7)) / 2e-7;
            assert!((slope[0] - want).abs() < 1e-3 * want, "{size}: {want} {slope:?}");
        }
    }

    #[test]
    fn few_residuals_and_none_at_all_are_no_error() {
        for rows in [vec![], vec![0.0, 0.0], vec![0.5, 0.0, -2.0]] {
            let scores = NormalScores::fit(&rows, 1);
            let mut z = [0.0, 1e-3, 1e6];
            z.chunks_exact_mut(1).for_each(|g| scores.apply(g));
            assert!(z.iter().all(|z| z.is_finite()) && z.is_sorted(), "{z:?}");
        }
    }
}
