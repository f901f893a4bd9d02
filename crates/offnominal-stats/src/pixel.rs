//! Where in an image the unknown thing is: how well a score per pixel separates unknown pixels from known ones.
//!
//! Four ways to pool the same pixels, because published numbers differ by them:
//!
//! | mode        | pixels are                                                 | areas                    | memory                  |
//! |-------------|------------------------------------------------------------|--------------------------|-------------------------|
//! | `exact`     | sorted, all images together                                | as scikit-learn          | 8 bytes a pixel         |
//! | `histogram` | counted in 2ᵇ bins of the score's bits, all images together | as scikit-learn, bounded | constant                |
//! | `paper400`  | compared with 400 thresholds linearly spaced on \[0, 1\]     | trapezoids               | constant                |
//! | `per_image` | sorted within each image, then averaged over images        | as scikit-learn          | one image               |
//!
//! Larger scores mean more unknown. Ignored pixels count nowhere.

mod alike;
pub mod components;
mod confusion;
mod curve;
mod exact;
mod histogram;
mod images;
mod paper;
mod pro;
mod tally;

pub use confusion::Confusion;
pub use curve::{Area, Curve, Group, PixelMetrics};
pub use exact::Exact;
pub use histogram::{DEFAULT_BITS, Histogram};
pub use images::Images;
pub use paper::Paper400;
pub use pro::Pro;
pub use tally::{FEW_THRESHOLDS, Judged, ModeMetrics, PixelTally, disagreement};

use crate::StatsError;

/// What a pixel truly is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Truth {
    /// Of a class that was trained on.
    Known = 0,
    /// Of something else; to be found.
    Unknown = 1,
    /// Not judged: ambiguous, at a border, or unlabelled.
    Ignored = 2,
}

/// Checks that there is a finite score for each pixel; scores of ignored pixels must be finite too.
///
/// # Errors
/// If the lengths differ or a score is NaN or infinite.
pub(crate) fn check(scores: &[f32], truth: &[Truth]) -> Result<(), StatsError> {
    StatsError::same_length("scores of an image", truth.len(), scores.len())?;
    // The sum is finite if all are, but for overflow; only then is it worth looking at each.
    let sum: f32 = scores.iter().map(|s| s * 0.0).sum();
    match scores.iter().position(|s| sum != 0.0 && !s.is_finite()) {
        None => Ok(()),
        Some(at) => Err(StatsError::PixelNotFinite { at, found: scores[at] }),
    }
}

#[cfg(test)]
mod tests;
