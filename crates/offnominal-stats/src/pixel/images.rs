//! What is remembered of each image: its own metrics, and a small histogram from which intervals are resampled.
//!
//! Pixels of one image depend on one another, images do not, so intervals resample whole images. A replicate weighs
//! the images' histograms of 2¹⁶ bins, of which an image stores only those that it uses.

use super::{Area, Exact, Group, Histogram, PixelMetrics, Truth, alike};
use crate::bootstrap::{Bootstrap, Range};
use crate::pixel::histogram::key;
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;

const BITS: u32 = 16;

/// Of AUROC, AUPRC, FPR95 and MaxIoU.
const RANGES: [Range; 4] = [Range::Unit, Range::Quality, Range::Unit, Range::Quality];

/// A bin of one image: number, unknown and known pixels.
type Bin = (u16, u32, u32);

/// One image.
#[derive(Debug, Clone)]
struct Image {
    bins: Vec<Bin>,
    /// None where only one class is present.
    metrics: Option<PixelMetrics>,
}

/// The images of a data set.
#[derive(Debug, Clone, Default)]
pub struct Images {
    images: Vec<Image>,
}

impl Images {
    /// Adds an image.
    ///
    /// # Errors
    /// If the lengths differ or a score is not finite.
    pub fn add(&mut self, scores: &[f32], truth: &[Truth]) -> Result<(), StatsError> {
        let mut exact = Exact::default();
        exact.add(scores, truth)?;
        let curve = exact.curve();
        let bins = bins(curve.groups());
        self.images.push(Image { bins, metrics: curve.metrics(Area::Steps).ok() });
        Ok(())
    }

    /// All images, and those that have unknown and known pixels, hence metrics of their own.
    pub fn counts(&self) -> (usize, usize) {
        (self.images.len(), self.images.iter().filter(|i| i.metrics.is_some()).count())
    }

    /// Each image's own AUROC, AUPRC, FPR95 and MaxIoU; none where only one class is present.
    pub fn metrics(&self) -> impl Iterator<Item = Option<&PixelMetrics>> {
        self.images.iter().map(|i| i.metrics.as_ref())
    }

    /// Means over the images that have metrics, with intervals from resampling images.
    ///
    /// # Errors
    /// If no image has both classes.
    pub fn means(&self, plan: &Bootstrap) -> Result<[Estimate; 4], StatsError> {
        let all: Vec<[f64; 4]> = self.metrics().flatten().map(PixelMetrics::shares).collect();
        plan.estimates("mean over images", all.len(), RANGES, |weights| {
            let total: u32 = weights.iter().sum();
            let sum = |k: usize| all.iter().zip(weights).map(|(m, &w)| m[k] * f64::from(w)).sum::<f64>();
            (total > 0).then(|| std::array::from_fn(|k| sum(k) / f64::from(total)))
        })
    }

    /// Pooled metrics with intervals from resampling images.
    ///
    /// # Errors
    /// If there are no unknown or no known pixels.
    pub fn pooled(&self, plan: &Bootstrap) -> Result<[Estimate; 4], StatsError> {
        let pool = std::cell::RefCell::new(Histogram::new(BITS));
        plan.estimates("pooled pixels", self.images.len(), RANGES, |weights| {
            self.weighted(&mut pool.borrow_mut(), weights)
        })
    }

    /// Pooled metrics where each image counts as often as its weight says; none without unknown or known pixels.
    fn weighted(&self, pool: &mut Histogram, weights: &[u32]) -> Option<[f64; 4]> {
        pool.clear();
        for (image, &weight) in self.images.iter().zip(weights).filter(|(_, w)| **w > 0) {
            for &(bin, unknown, known) in &image.bins {
                let counts = [known, unknown].map(|n| u64::from(weight) * u64::from(n));
                pool.count(usize::from(bin), counts);
            }
        }
        pool.curve().metrics(Area::Steps).ok().map(|m| m.shares())
    }

    /// An interval of the pooled AUROC that holds if images which were not seen are alike those that were
    /// ([`alike::interval`]); none for few images, or if these do not differ.
    pub fn if_alike(&self, auroc: f64, level: Level) -> Option<Estimate> {
        let (n, mut pool) = (self.images.len(), Histogram::new(BITS));
        let all = self.weighted(&mut pool, &vec![1; n])?[0];
        let mut weights = vec![1; n];
        let mut without = |image: usize| {
            weights[image] = 0;
            let found = self.weighted(&mut pool, &weights);
            weights[image] = 1;
            Some(n as f64 * all - (n - 1) as f64 * found?[0])
        };
        let values = (0..n).map(&mut without).collect::<Option<Vec<f64>>>()?;
        alike::interval(auroc, &values, level)
    }
}

/// The groups of an image, gathered by the leading bits of their thresholds.
fn bins(groups: &[Group]) -> Vec<Bin> {
    let bin = |g: &Group| (key(g.threshold as f32) >> (32 - BITS)) as u16;
    let same = groups.chunk_by(|a, b| bin(a) == bin(b));
    let count = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    same.map(|tied| {
        let (unknown, known) = tied.iter().fold((0, 0), |(u, k), g| (u + g.unknown, k + g.known));
        (bin(&tied[0]), count(unknown), count(known))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::{Rng, Seed};

    /// Images whose scores are shifted as a whole, half of them without anything unknown.
    fn images(n: usize) -> Images {
        let (mut rng, mut images) = (Rng::new(3), Images::default());
        for i in 0..n {
            let offset = rng.normal();
            let truth: Vec<Truth> =
                (0..400).map(|p| if i % 2 == 0 && p < 40 { Truth::Unknown } else { Truth::Known }).collect();
            let score = |t: &Truth| (rng.normal() + offset + 2.0 * f64::from(*t as u8)) as f32;
            let scores: Vec<f32> = truth.iter().map(score).collect();
            images.add(&scores, &truth).unwrap();
        }
        images
    }

    fn plan() -> Bootstrap {
        Bootstrap::new(200, Level::P95, Seed(1))
    }

    #[test]
    fn the_mean_over_images_forgives_what_pooling_does_not() {
        let images = images(400);
        assert_eq!(images.counts(), (400, 200));
        let (pooled, means) = (images.pooled(&plan()).unwrap(), images.means(&plan()).unwrap());
        // Φ(2/√2) = .921 within an image, Φ(2/√4) = .841 with offsets between them.
        assert!((means[0].value - 0.9214).abs() < 0.01, "{}", means[0]);
        assert!((pooled[0].value - 0.8413).abs() < 0.04, "{}", pooled[0]);
        assert_eq!((pooled[0].n, means[0].n), (400, 200));
    }

    #[test]
    fn intervals_are_those_of_images_not_of_pixels() {
        let few = images(10).pooled(&plan()).unwrap();
        let many = images(160).pooled(&plan()).unwrap();
        let width = |e: &Estimate| e.high - e.low;
        assert!(width(&few[0]) > 2.0 * width(&many[0]), "{} {}", few[0], many[0]);
    }

    #[test]
    fn without_unknown_pixels_there_is_no_number() {
        let mut images = Images::default();
        images.add(&[0.1, 0.2], &[Truth::Known; 2]).unwrap();
        assert!(images.pooled(&plan()).is_err() && images.means(&plan()).is_err());
    }
}
