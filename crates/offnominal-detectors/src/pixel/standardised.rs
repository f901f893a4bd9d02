//! Standardised max logit: the largest logit in units of what is usual for the class it speaks for.
//!
//! score = (μ_c − max z) / σ_c, with c the predicted class and μ_c, σ_c the mean and deviation of the largest logit
//! over nominal pixels that were predicted to be c. Then the scores at boundaries between predicted classes are replaced
//! by those of their surroundings, and all are smoothed.
//!
//! Reference: Jung et al., "Standardized max logits", ICCV 2021, equations 3–7. Deviates: its widths are meant for
//! images of 1,024 rows, and shrink or grow with the image; at least a pixel stays.

use super::boundary::{smooth, suppress};
use super::softmax::{argmax, map};
use super::{Fitting, Needs, Output, PixelError, PixelMethod, PixelScorer};
use crate::shared::recipe::recipe;

recipe! {
    /// The recipe; the defaults are those of the paper.
    #[derive(Copy)]
    pub struct StandardisedMaxLogit {
        /// Width of the boundaries that are suppressed, in pixels of an image of 1,024 rows; 0 suppresses none.
        pub boundary: usize = 4,
        /// Such pixels between the taps of the 7 × 7 smoothing filter; 0 does not smooth.
        pub dilation: usize = 6,
    }
}

/// Rows of the images for which the widths are given.
const ROWS: f64 = 1024.0;

/// A width in the pixels of an image with so many rows.
fn scaled(width: usize, rows: usize) -> usize {
    if width == 0 { 0 } else { ((width * rows) as f64 / ROWS).round().max(1.0) as usize }
}

impl PixelMethod for StandardisedMaxLogit {
    fn needs(&self) -> Needs {
        Needs { nominal: true, ..Needs::default() }
    }

    fn begin(&self) -> Box<dyn Fitting> {
        Box::new(Counting { recipe: *self, sums: Vec::new() })
    }
}

/// Number, sum and sum of squares of the largest logit for each predicted class.
struct Counting {
    recipe: StandardisedMaxLogit,
    sums: Vec<[f64; 3]>,
}

impl Fitting for Counting {
    fn rounds(&self) -> usize {
        1
    }

    fn see(&mut self, _: usize, output: &Output<'_>, _: &[u8]) {
        self.sums.resize(output.classes, [0.0; 3]);
        let (classes, tops) = largest(output);
        for (class, top) in classes.into_iter().zip(tops) {
            let (sums, top) = (&mut self.sums[usize::from(class)], f64::from(top));
            sums.iter_mut().zip([1.0, top, top * top]).for_each(|(sum, x)| *sum += x);
        }
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn PixelScorer>, PixelError> {
        let total = self.sums.iter().fold([0.0; 3], |t, s| std::array::from_fn(|i| t[i] + s[i]));
        if total[0] < 2.0 {
            return Err(PixelError::TooFew { expected: "nominal pixels", found: total[0] as usize });
        }
        // A class that was never predicted is judged like the others together.
        let of = |s: &[f64; 3]| if s[0] < 2.0 { moments(total) } else { moments(*s) };
        Ok(Box::new(Fitted { recipe: self.recipe, moments: self.sums.iter().map(of).collect() }))
    }
}

/// Mean and deviation.
fn moments([n, sum, squares]: [f64; 3]) -> (f32, f32) {
    let mean = sum / n;
    (mean as f32, (squares / n - mean * mean).max(1e-6).sqrt() as f32)
}

/// The class and the value of the largest logit of each pixel.
fn largest(output: &Output<'_>) -> (Vec<u8>, Vec<f32>) {
    let (logits, mut top) = (output.mean_logits(), vec![0.0; output.pixels()]);
    map(&logits, 1.0, &mut top, |s| s.top);
    (argmax(&logits, output.pixels()), top)
}

struct Fitted {
    recipe: StandardisedMaxLogit,
    moments: Vec<(f32, f32)>,
}

impl PixelScorer for Fitted {
    fn score(&self, output: &Output<'_>, scores: &mut [f32]) {
        let (prediction, tops) = largest(output);
        for ((score, &class), top) in scores.iter_mut().zip(&prediction).zip(tops) {
            let (mean, deviation) = self.moments[usize::from(class)];
            *score = (mean - top) / deviation;
        }
        suppress(scores, &prediction, output.width, scaled(self.recipe.boundary, output.height));
        smooth(scores, output.width, scaled(self.recipe.dilation, output.height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_paper_in_its_images_and_follow_the_size() {
        assert_eq!([1024, 2048, 512, 128, 64].map(|rows| scaled(6, rows)), [6, 12, 3, 1, 1]);
        assert_eq!(scaled(0, 1024), 0);
    }
}
