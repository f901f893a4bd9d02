//! An interval of a share under a stated assumption: what was not seen is not much worse than the worst that was.
//!
//! Of n images without a fault, one in every 1 / (1 − (α/2)^(1/n)) may have one. An interval for any images must
//! let these be entirely wrong, whatever the n were like: with twelve images it begins at .735 below a perfect AUROC. Here
//! they are wrong by at most [`WORSE`] times the spread of those that were seen.

use crate::level::Level;
use offnominal_core::estimate::Estimate;

/// Spreads below the worst image that was seen, at which those not seen may lie. With 3 or fewer, images whose AUROC has a
/// logit with a deviation of 2 are covered too rarely.
const WORSE: f64 = 4.0;
/// Fewer images have no spread to speak of.
const FEW: usize = 8;

/// The interval of a share in [0, 1] from what each image alone says of it (pseudo-values of the jackknife); none for few
/// images, or if all say the same.
pub fn interval(value: f64, images: &[f64], level: Level) -> Option<Estimate> {
    let n = images.len();
    let (least, most) =
        images.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
    if n < FEW || least >= most {
        return None;
    }
    let mean = images.iter().sum::<f64>() / n as f64;
    let variance = images.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    let half = level.t(n - 1) * (variance / n as f64).sqrt();
    let (unseen, worse) = (1.0 - level.tail().powf(1.0 / n as f64), WORSE * (most - least));
    let low = (value - half).min(value - unseen * (value - least + worse).clamp(0.0, value));
    let high = (value + half).max(value + unseen * (most - value + worse).clamp(0.0, 1.0 - value));
    Some(level.estimate(value, (low.max(0.0), high.min(1.0)), n, "images-alike"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    /// An interval of a value from what each image says.
    type Of<'a> = &'a dyn Fn(f64, &[f64]) -> (f64, f64);

    /// How often an interval contains the mean of a population, over 400 samples.
    fn coverage(n: usize, draw: &dyn Fn(&mut Rng) -> f64, of: Of<'_>) -> f64 {
        let mut rng = Rng::new(7);
        let truth = (0..200_000).map(|_| draw(&mut rng)).sum::<f64>() / 200_000.0;
        let contains = |rng: &mut Rng| {
            let images: Vec<f64> = (0..n).map(|_| draw(rng)).collect();
            let (low, high) = of(images.iter().sum::<f64>() / n as f64, &images);
            low <= truth && truth <= high
        };
        (0..400).filter(|_| contains(&mut rng)).count() as f64 / 400.0
    }

    fn logit(mean: f64, deviation: f64) -> impl Fn(&mut Rng) -> f64 {
        move |rng| 1.0 / (1.0 + (-mean - deviation * rng.normal()).exp())
    }

    fn alike(value: f64, images: &[f64]) -> (f64, f64) {
        interval(value, images, Level::P95).map_or((0.0, 1.0), |e| (e.low, e.high))
    }

    #[test]
    fn alike_images_are_covered_and_students_interval_alone_does_not_suffice() {
        let students = |value: f64, images: &[f64]| {
            let n = images.len() as f64;
            let variance = images.iter().map(|x| (x - value).powi(2)).sum::<f64>() / (n - 1.0);
            let half = Level::P95.t(images.len() - 1) * (variance / n).sqrt();
            (value - half, value + half)
        };
        for n in [8, 12, 30] {
            for (mean, deviation) in [(3.0, 1.0), (5.0, 1.0), (8.3, 1.0), (6.0, 2.0)] {
                let draw = logit(mean, deviation);
                let (found, broken) = (coverage(n, &draw, &alike), coverage(n, &draw, &students));
                assert!(found >= 0.93 && broken < 0.93, "{n} {mean} {deviation}: {found} {broken}");
            }
        }
    }

    #[test]
    fn a_kind_that_is_rare_and_other_is_what_the_assumption_leaves_out() {
        let rare = |rng: &mut Rng| if rng.uniform() < 0.05 { 0.5 } else { 0.9996 + 1e-5 * rng.normal() };
        assert!(coverage(12, &rare, &alike) < 0.93);
        // Of images that are all the same nothing is known, so there is no such interval.
        assert_eq!(
            (interval(1.0, &[1.0; 20], Level::P95), interval(0.9, &[0.8, 1.0], Level::P95)),
            (None, None)
        );
    }

    #[test]
    fn what_was_seen_decides_where_it_begins() {
        let images =
            |at: f64, spread: f64| (0..12).map(|i| at + spread * f64::from(i - 6)).collect::<Vec<f64>>();
        let low = |at, spread| interval(at, &images(at, spread), Level::P95).unwrap().low;
        assert!(low(0.9996, 5e-5) > 0.998 && (0.8..0.9).contains(&low(0.932, 0.005)));
    }
}
