//! Brings channels to zero mean and unit deviation, and drops those that carry no information.
//!
//! A channel is constant if its deviation is at most [`FLOOR`] times its largest magnitude: a few roundings of f32.
//! Constant channels are dropped, not divided by a small number, so that nothing is ever decided by rounding noise.

use serde::{Deserialize, Serialize};

/// Relative deviation up to which a channel counts as constant.
pub const FLOOR: f64 = 1e-6;

/// An affine map per channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standardiser {
    width: usize,
    /// Called `kept` in files.
    #[serde(rename = "kept")]
    varying: Vec<usize>,
    mean: Vec<f32>,
    scale: Vec<f32>,
}

impl Standardiser {
    /// Measures mean and deviation of each channel of row-major data; of no channels there is nothing to measure.
    ///
    /// # Panics
    /// If `rows` is empty or not a whole number of rows.
    pub fn fit(rows: &[f32], width: usize) -> Standardiser {
        let is_whole =
            if width == 0 { rows.is_empty() } else { !rows.is_empty() && rows.len().is_multiple_of(width) };
        assert!(is_whole, "expected whole rows of {width}");
        let moments: Vec<_> = (0..width).map(|channel| Moments::of(rows, width, channel)).collect();
        let varying: Vec<usize> = (0..width).filter(|&c| moments[c].varies()).collect();
        let mean = varying.iter().map(|&c| moments[c].mean as f32).collect();
        let scale = varying.iter().map(|&c| moments[c].deviation as f32).collect();
        Standardiser { width, varying, mean, scale }
    }

    /// A map from its numbers: the varying channels of `width` in ascending order, with mean and deviation of each.
    ///
    /// # Errors
    /// If they do not fit together; the text says what was expected.
    pub fn from_parts(
        width: usize,
        varying: Vec<usize>,
        mean: Vec<f32>,
        scale: Vec<f32>,
    ) -> Result<Standardiser, &'static str> {
        if !varying.is_sorted_by(|a, b| a < b) || varying.last().is_some_and(|&last| last >= width) {
            return Err("ascending channels of the row");
        }
        if [mean.len(), scale.len()] != [varying.len(); 2] || !mean.iter().all(|m| m.is_finite()) {
            return Err("a finite mean and a deviation for each channel");
        }
        if !scale.iter().all(|s| *s > 0.0 && s.is_finite()) {
            return Err("deviations above zero");
        }
        Ok(Standardiser { width, varying, mean, scale })
    }

    /// Number of channels before.
    pub fn inputs(&self) -> usize {
        self.width
    }

    /// Number of channels after: those that vary.
    pub fn outputs(&self) -> usize {
        self.varying.len()
    }

    /// The channels that vary.
    pub fn varying(&self) -> &[usize] {
        &self.varying
    }

    /// Mean of each varying channel.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// Deviation of each varying channel.
    pub fn scale(&self) -> &[f32] {
        &self.scale
    }

    /// Standardises rows.
    ///
    /// # Panics
    /// If the lengths are not the same number of rows.
    pub fn apply(&self, rows: &[f32], out: &mut [f32]) {
        assert_eq!(rows.len() * self.outputs(), out.len() * self.width, "number of rows");
        if self.varying.is_empty() {
            return;
        }
        for (row, out) in rows.chunks_exact(self.width).zip(out.chunks_exact_mut(self.varying.len())) {
            for (j, &channel) in self.varying.iter().enumerate() {
                out[j] = (row[channel] - self.mean[j]) / self.scale[j];
            }
        }
    }
}

/// Of one channel, in double precision.
struct Moments {
    mean: f64,
    deviation: f64,
    largest: f64,
}

impl Moments {
    fn of(rows: &[f32], width: usize, channel: usize) -> Moments {
        let values = || rows.iter().skip(channel).step_by(width).map(|&v| f64::from(v));
        let n = (rows.len() / width) as f64;
        let mean = values().sum::<f64>() / n;
        let deviation = (values().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        Moments { mean, deviation, largest: values().fold(0.0, |most, v| most.max(v.abs())) }
    }

    fn varies(&self) -> bool {
        // The second bound keeps the quotient finite for denormal data.
        self.deviation > FLOOR * self.largest && self.deviation > f64::from(f32::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_channels_are_dropped_and_others_standardised() {
        let rows = [1.0, 5.0, 100.0, 3.0, 5.0, 100.00001, 5.0, 5.0, 100.0, 7.0, 5.0, 100.0];
        let standard = Standardiser::fit(&rows, 3);
        assert_eq!(standard.varying(), [0]);
        let mut out = [0.0; 4];
        standard.apply(&rows, &mut out);
        let want = [-3.0, -1.0, 1.0, 3.0].map(|v: f32| v / 5.0_f32.sqrt());
        assert!(out.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-6), "{out:?}");
    }

    #[test]
    fn units_do_not_matter() {
        let rows = [1e-12, 2e-12, 4e-12];
        let mut out = [0.0; 3];
        Standardiser::fit(&rows, 1).apply(&rows, &mut out);
        assert!((out[2] - 1.336_306).abs() < 1e-4, "{out:?}");
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let made = |varying: &[usize], mean: &[f32], scale: &[f32]| {
            Standardiser::from_parts(3, varying.to_vec(), mean.to_vec(), scale.to_vec()).err()
        };
        assert_eq!(made(&[0, 2], &[1.0, 2.0], &[1.0, 0.1]), None);
        assert_eq!(made(&[0, 3], &[1.0, 2.0], &[1.0, 0.1]), Some("ascending channels of the row"));
        assert_eq!(made(&[1, 1], &[1.0, 2.0], &[1.0, 0.1]), Some("ascending channels of the row"));
        assert!(made(&[1], &[1.0, 2.0], &[1.0]).is_some_and(|e| e.contains("for each channel")));
        assert_eq!(made(&[1], &[1.0], &[0.0]), Some("deviations above zero"));
    }

    #[test]
    fn nothing_left_is_not_an_error() {
        let standard = Standardiser::fit(&[2.0; 6], 2);
        standard.apply(&[3.0; 4], &mut []);
        assert_eq!((standard.inputs(), standard.outputs()), (2, 0));
    }
}
