//! What a graph may use while it computes one action.
//!
//! Every operator takes the numbers that it is about to write, and the multiplications that it is about to make, before
//! it allocates anything. Shapes do not depend on observations, so what the trial could afford every action can.

use super::OnnxError;
use offnominal_core::limits::{GRAPH_NUMBERS, GRAPH_WORK};

/// More axes than anybody's network has.
pub(super) const MOST_AXES: usize = 8;

/// Multiplications that a function of one number costs as much as.
pub(super) const FUNCTION: usize = 16;

/// What is left of numbers and multiplications.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    numbers: usize,
    work: usize,
}

impl Budget {
    /// What one action may use.
    pub(super) fn of_an_action() -> Budget {
        Budget { numbers: GRAPH_NUMBERS, work: GRAPH_WORK }
    }

    /// Takes the numbers of a shape, each of which costs so much.
    ///
    /// # Errors
    /// If the shape is none, or more than is left.
    pub(super) fn take(&mut self, shape: &[usize], work_each: usize) -> Result<(), OnnxError> {
        let numbers = len(shape)?;
        let left = |what, left: usize, wanted: Option<usize>, most| {
            let found = wanted.unwrap_or(usize::MAX).saturating_add(most - left);
            let rest = wanted.and_then(|wanted| left.checked_sub(wanted));
            rest.ok_or(OnnxError::TooLarge { what, most, found })
        };
        self.numbers = left("numbers of all values", self.numbers, Some(numbers), GRAPH_NUMBERS)?;
        let work = numbers.checked_mul(work_each.max(1));
        self.work = left("multiplications per action", self.work, work, GRAPH_WORK)?;
        Ok(())
    }
}

/// How many numbers have that shape.
///
/// # Errors
/// If it has too many axes, or more numbers than a graph may hold; axes without length do not make room for others.
pub(super) fn len(shape: &[usize]) -> Result<usize, OnnxError> {
    let too_large = |what, most, found| OnnxError::TooLarge { what, most, found };
    if shape.len() > MOST_AXES {
        return Err(too_large("axes of a tensor", MOST_AXES, shape.len()));
    }
    let product = shape.iter().try_fold(1_usize, |n, &axis| n.checked_mul(axis.max(1)));
    let fits = product.filter(|&n| n <= GRAPH_NUMBERS);
    let size = fits.ok_or(too_large("numbers of a tensor", GRAPH_NUMBERS, product.unwrap_or(usize::MAX)))?;
    Ok(if shape.contains(&0) { 0 } else { size })
}
