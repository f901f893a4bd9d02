//! What a graph may use while it computes one action.
//!
//! Every operator takes the numbers that it is about to write, and the multiplications that it is about to make, before
//! it allocates anything. Shapes do not depend on observations, so what the trial could afford every action can.

use super::OnnxError;
use super::tensor::len;
use offnominal_core::limits::{GRAPH_NUMBERS, GRAPH_WORK};

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
