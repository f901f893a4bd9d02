//! What a graph may use while it is computed, and what it has for that: memory, and random numbers.
//!
//! Every operator takes the numbers that it is about to write, and the multiplications that it is about to make, before
//! it allocates anything. Shapes do not depend on what is fed, so what one run could afford every run can.

use super::OnnxError;
use crate::planes::Scratch;
use offnominal_core::Rng;
use offnominal_core::limits::{ARRAY_NUMBERS, GRAPH_NUMBERS, GRAPH_WORK, IMAGE_WORK};

/// More axes than anybody's network has.
pub(super) const MOST_AXES: usize = 8;

/// Multiplications that a function of one number costs as much as.
pub(super) const FUNCTION: usize = 16;

/// What a graph is computed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// An action: soon, and every value keeps its memory for the next one.
    Action,
    /// What an image shows: a value whose last reader has read it gives its memory to others.
    Image,
}

/// What numbers of all values and multiplications are called.
type Names = [&'static str; 2];

impl Use {
    fn names(self) -> Names {
        match self {
            Use::Action => ["numbers of all values", "multiplications per action"],
            Use::Image => ["numbers of all values at once", "multiplications per image"],
        }
    }

    /// The most of both for an input of so many numbers: of a small image nobody makes as much as of a large one.
    fn most(self, input: usize) -> [usize; 2] {
        let of = |each: usize, least: usize, most: usize| input.saturating_mul(each).clamp(least, most);
        match self {
            Use::Action => [GRAPH_NUMBERS, GRAPH_WORK],
            Use::Image => [of(1 << 10, 1 << 22, ARRAY_NUMBERS), of(1 << 20, GRAPH_WORK, IMAGE_WORK)],
        }
    }
}

/// What is left of numbers and multiplications.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    for_what: Use,
    most: [usize; 2],
    numbers: usize,
    work: usize,
    /// Memory that nobody uses.
    free: Vec<Vec<f32>>,
    pub(super) scratch: Scratch,
    /// What dropped units are drawn from; without it none is dropped.
    pub(super) rng: Option<Rng>,
}

impl Budget {
    /// What one run may use.
    pub(super) fn of(for_what: Use) -> Budget {
        let most = for_what.most(usize::MAX);
        let (free, scratch, rng) = (vec![], Scratch::default(), None);
        Budget { for_what, most, numbers: most[0], work: most[1], free, scratch, rng }
    }

    /// Begins a run with an input of so many numbers, and the memory of the last one.
    pub(super) fn renew(&mut self, input: usize) {
        self.most = self.for_what.most(input);
        [self.numbers, self.work] = self.most;
    }

    /// Takes the numbers of a shape, each of which costs so much.
    ///
    /// # Errors
    /// If the shape is none, or more than is left.
    pub(super) fn take(&mut self, shape: &[usize], work_each: usize) -> Result<(), OnnxError> {
        let ([what, of_work], [most, most_work]) = (self.for_what.names(), self.most);
        let numbers = len_within(shape, most)?;
        let work = numbers.checked_mul(work_each.max(1));
        self.numbers = left(what, self.numbers, Some(numbers), most)?;
        self.work = left(of_work, self.work, work, most_work)?;
        Ok(())
    }

    /// Requires that there is room for so many numbers for a while.
    ///
    /// # Errors
    /// If there is not.
    pub(super) fn lend(&self, numbers: Option<usize>) -> Result<(), OnnxError> {
        left(self.for_what.names()[0], self.numbers, numbers, self.most[0]).map(drop)
    }

    /// Takes back the numbers of a value that is read no more.
    pub(super) fn give_back(&mut self, data: &mut Vec<f32>) {
        self.numbers += data.len();
        self.keep(data);
    }

    /// Keeps memory for others.
    pub(super) fn keep(&mut self, data: &mut Vec<f32>) {
        if data.capacity() > 0 {
            self.free.push(std::mem::take(data));
        }
    }

    /// Memory for so many numbers: the least of what is free that suffices.
    pub(super) fn memory(&mut self, numbers: usize) -> Vec<f32> {
        let fits = self.free.iter().enumerate().filter(|(_, free)| free.capacity() >= numbers);
        let least = fits.min_by_key(|(_, free)| free.capacity()).map(|(i, _)| i);
        least.map_or(Vec::new(), |i| self.free.swap_remove(i))
    }
}

/// What is left after something is taken.
fn left(what: &'static str, left: usize, wanted: Option<usize>, most: usize) -> Result<usize, OnnxError> {
    let found = wanted.unwrap_or(usize::MAX).saturating_add(most - left);
    let rest = wanted.and_then(|wanted| left.checked_sub(wanted));
    rest.ok_or(OnnxError::TooLarge { what, most, found })
}

/// How many numbers have that shape.
///
/// # Errors
/// If it has too many axes, or more numbers than a file may hold; axes without length do not make room for others.
pub fn len(shape: &[usize]) -> Result<usize, OnnxError> {
    len_within(shape, GRAPH_NUMBERS)
}

fn len_within(shape: &[usize], most: usize) -> Result<usize, OnnxError> {
    let too_large = |what, most, found| OnnxError::TooLarge { what, most, found };
    if shape.len() > MOST_AXES {
        return Err(too_large("axes of a tensor", MOST_AXES, shape.len()));
    }
    let product = shape.iter().try_fold(1_usize, |n, &axis| n.checked_mul(axis.max(1)));
    let fits = product.filter(|&n| n <= most);
    let size = fits.ok_or(too_large("numbers of a tensor", most, product.unwrap_or(usize::MAX)))?;
    Ok(if shape.contains(&0) { 0 } else { size })
}
