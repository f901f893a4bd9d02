//! Every pixel kept and sorted.

use super::histogram::{key, value};
use super::{Curve, Group, Truth, check};
use crate::StatsError;

/// Pixels in the order in which they came: the bits of the score, then one for the truth.
#[derive(Debug, Clone, Default)]
pub struct Exact {
    pixels: Vec<u64>,
}

impl Exact {
    /// Adds the pixels of an image.
    ///
    /// # Errors
    /// If the lengths differ or a score is not finite.
    pub fn add(&mut self, scores: &[f32], truth: &[Truth]) -> Result<(), StatsError> {
        check(scores, truth)?;
        let judged = scores.iter().zip(truth).filter(|(_, t)| **t != Truth::Ignored);
        self.pixels.extend(judged.map(|(&s, &t)| u64::from(key(s)) << 1 | t as u64));
        Ok(())
    }

    /// Judged pixels.
    pub fn len(&self) -> usize {
        self.pixels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pixels.is_empty()
    }

    /// Sorts the pixels; one group for each distinct score.
    pub fn curve(&mut self) -> Curve {
        self.pixels.sort_unstable_by(|a, b| b.cmp(a));
        let same = self.pixels.chunk_by(|a, b| a >> 1 == b >> 1);
        Curve::new(same.map(|tied| {
            let unknown = tied.iter().filter(|p| *p & 1 == 1).count() as u64;
            let threshold = f64::from(value((tied[0] >> 1) as u32));
            Group { threshold, unknown, known: tied.len() as u64 - unknown }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Area;
    use super::*;

    /// Scores, labels, AUROC, average precision, FPR95 of cases made with scikit-learn by `make_pixels.py`.
    fn reference() -> Vec<(Vec<f32>, Vec<Truth>, Vec<f64>)> {
        let file: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/data/scikit_learn_pixels.json")).unwrap();
        let floats = |v: &serde_json::Value| -> Vec<f64> {
            v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
        };
        let case = |c: &serde_json::Value| {
            let scores = floats(&c["scores"]).into_iter().map(|s| s as f32).collect();
            let truth = |l: &f64| [Truth::Known, Truth::Unknown, Truth::Ignored][*l as usize];
            (scores, floats(&c["labels"]).iter().map(truth).collect(), floats(&c["want"]))
        };
        file["cases"].as_array().unwrap().iter().map(case).collect()
    }

    #[test]
    fn agrees_with_scikit_learn() {
        let cases = reference();
        assert!(cases.len() >= 20);
        for (scores, truth, want) in cases {
            let mut exact = Exact::default();
            exact.add(&scores, &truth).unwrap();
            let m = exact.curve().metrics(Area::Steps).unwrap();
            let found = [m.auroc, m.auprc, m.fpr95, m.max_iou, m.best_f1];
            let far = found.iter().zip(&want).any(|(f, w)| (f - w).abs() > 1e-9);
            assert!(!far, "expected {want:?}, found {found:?} for {scores:?} {truth:?}");
        }
    }

    #[test]
    fn bad_scores_are_refused_by_place() {
        let refuse =
            |scores: &[f32]| Exact::default().add(scores, &[Truth::Known; 2]).unwrap_err().to_string();
        assert_eq!(refuse(&[0.0, f32::NAN]), "pixel 1: expected a finite score, found NaN");
        assert_eq!(refuse(&[0.0, f32::INFINITY]), "pixel 1: expected a finite score, found inf");
        assert_eq!(refuse(&[0.0]), "scores of an image: expected 2 values, found 1");
    }
}
