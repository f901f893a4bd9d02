//! What detectors with public weights have in common.

use offnominal_core::catalogue::BuildError;
use std::num::NonZeroUsize;

/// Pixels on a side of images for networks with public weights: more take longer than a frame of 30 a second.
pub(super) const SIDE: usize = 128;

/// Nominal patches that are kept, if no number is given.
pub(super) const MOST: NonZeroUsize = NonZeroUsize::new(8192).unwrap();

/// Requires a size of images that a network can see.
pub(super) fn check_side(side: usize, least: usize) -> Result<(), BuildError> {
    let why = || BuildError::Parameters(format!("side: expected {least} to 1024 pixels, found {side}"));
    (least..=1024).contains(&side).then_some(()).ok_or_else(why)
}

/// That the weights are not there, or of another network.
pub(super) fn missing(error: anyhow::Error) -> BuildError {
    BuildError::Missing(format!("{error:#}").into())
}
