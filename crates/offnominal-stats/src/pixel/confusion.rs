//! Which class is taken for which, and the mean intersection over union.
//!
//! IoU(c) = #(truth c and prediction c) / #(truth c or prediction c); the mean is over the classes that the truth has.

use crate::StatsError;
use crate::bootstrap::{Bootstrap, Range};
use offnominal_core::estimate::Estimate;

/// Counts of pixels by true and predicted class, for each image.
#[derive(Debug, Clone)]
pub struct Confusion {
    classes: usize,
    /// `[image][truth, prediction]`.
    images: Vec<Vec<u32>>,
}

impl Confusion {
    /// No images yet.
    pub fn new(classes: usize) -> Confusion {
        Confusion { classes, images: Vec::new() }
    }

    /// Adds an image. Truths that are no class are left out.
    ///
    /// # Panics
    /// If the lengths differ or a prediction is no class.
    pub fn add(&mut self, truth: &[u8], prediction: &[u8]) {
        assert_eq!(truth.len(), prediction.len(), "pixels of an image");
        let mut counts = vec![0; self.classes * self.classes];
        for (&t, &p) in truth.iter().zip(prediction).filter(|(t, _)| usize::from(**t) < self.classes) {
            counts[usize::from(t) * self.classes + usize::from(p)] += 1;
        }
        self.images.push(counts);
    }

    /// IoU of each class; none where the truth lacks it.
    pub fn per_class(&self) -> Vec<Option<f64>> {
        self.weighted(&vec![1; self.images.len()])
    }

    fn weighted(&self, weights: &[u32]) -> Vec<Option<f64>> {
        let k = self.classes;
        let mut sums = vec![0.0; k * k];
        for (image, &weight) in self.images.iter().zip(weights).filter(|(_, w)| **w > 0) {
            sums.iter_mut().zip(image).for_each(|(sum, &n)| *sum += f64::from(weight) * f64::from(n));
        }
        let row = |c: usize| (0..k).map(|p| sums[c * k + p]).sum::<f64>();
        let column = |c: usize| (0..k).map(|t| sums[t * k + c]).sum::<f64>();
        let iou = |c: usize| sums[c * k + c] / (row(c) + column(c) - sums[c * k + c]);
        (0..k).map(|c| (row(c) > 0.0).then(|| iou(c))).collect()
    }

    /// The mean over classes, with an interval from resampling images.
    ///
    /// # Errors
    /// If there is no labelled pixel.
    pub fn mean(&self, plan: &Bootstrap) -> Result<Estimate, StatsError> {
        let [mean] = plan.estimates("mean IoU", self.images.len(), [Range::Quality], |weights| {
            let present: Vec<f64> = self.weighted(weights).into_iter().flatten().collect();
            (!present.is_empty()).then(|| [present.iter().sum::<f64>() / present.len() as f64])
        })?;
        Ok(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use offnominal_core::Seed;

    #[test]
    fn intersection_over_union_by_hand() {
        let mut confusion = Confusion::new(3);
        confusion.add(&[0, 0, 1, 255], &[0, 1, 1, 0]);
        confusion.add(&[0, 1], &[0, 1]);
        assert_eq!(confusion.per_class(), [Some(2.0 / 3.0), Some(2.0 / 3.0), None]);
        let mean = confusion.mean(&Bootstrap::new(100, Level::P95, Seed(0))).unwrap();
        assert!((mean.value - 2.0 / 3.0).abs() < 1e-12 && mean.n == 2);
        assert!(Confusion::new(2).mean(&Bootstrap::new(100, Level::P95, Seed(0))).is_err());
    }
}
