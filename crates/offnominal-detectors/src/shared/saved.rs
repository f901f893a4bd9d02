//! What several detectors read of an archive in the same way.

use super::ranges::TooLarge;
use offnominal_core::archive::{ArchiveError, Reader};
use offnominal_core::limits::WEIGHTS;
use offnominal_nets::Mlp;

/// More than any sound recipe asks for; larger numbers would take all memory before anything else is checked.
pub(crate) const MOST: usize = 1 << 20;

/// Requires that a number of the recipe, or a width that follows from it, can be one.
pub(crate) fn within(from: &Reader<'_>, name: &str, found: usize) -> Result<usize, ArchiveError> {
    from.require(found <= MOST, name, format_args!("at most {MOST}"), found).map(|()| found)
}

/// Requires widths of layers that can be ones.
pub(crate) fn widths(
    from: &Reader<'_>,
    sizes: Result<Vec<usize>, TooLarge>,
) -> Result<Vec<usize>, ArchiveError> {
    let found = sizes.as_ref().map_or_else(|TooLarge(weights)| *weights, |_| 0);
    from.require(sizes.is_ok(), "hidden", format_args!("at most {WEIGHTS} weights"), found)?;
    Ok(sizes.unwrap_or_default())
}

/// The parameters of a network.
pub(crate) fn params(from: &Reader<'_>, net: &Mlp) -> Result<Vec<f32>, ArchiveError> {
    Ok(from.exactly("params", net.n_params())?.to_vec())
}

/// Numbers that are indices below a bound.
pub(crate) fn indices(from: &Reader<'_>, name: &str, below: usize) -> Result<Vec<usize>, ArchiveError> {
    let list = from.list::<u64>(name)?;
    let bad = list.iter().find(|&&i| i >= below as u64);
    from.require(bad.is_none(), name, format_args!("indices below {below}"), bad.unwrap_or(&0))?;
    Ok(list.iter().map(|&i| i as usize).collect())
}
