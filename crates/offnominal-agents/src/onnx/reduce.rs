//! What is computed along one axis.

use super::OnnxError;
use super::arithmetic::MISFIT;
use super::budget::{Budget, FUNCTION, MOST_AXES};
use super::tensor::Tensor;

/// Numbers that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Along {
    /// Those along an axis.
    Axis(i64),
    /// Those of all axes from one on.
    From(i64),
}

/// A shape around some of its axes: what is before, along and behind them.
#[derive(Debug, Clone, Copy)]
struct Around {
    before: usize,
    along: usize,
    behind: usize,
}

impl Around {
    fn of(shape: &[usize], axis: usize, end: usize) -> Around {
        let of = |axes: &[usize]| axes.iter().product();
        Around { before: of(&shape[..axis]), along: of(&shape[axis..end]), behind: of(&shape[end..]) }
    }

    /// Where the numbers stand, for each place before and behind.
    fn rows(self) -> impl Iterator<Item = impl Iterator<Item = usize> + Clone> {
        (0..self.before * self.behind).map(move |row| {
            let from = row / self.behind * self.along * self.behind + row % self.behind;
            (0..self.along).map(move |k| from + k * self.behind)
        })
    }
}

/// An axis of a shape, counted from either end.
fn axis(at: i64, rank: usize) -> Result<usize, OnnxError> {
    let found = if at < 0 { at.saturating_add(rank as i64) } else { at };
    usize::try_from(found).ok().filter(|&axis| axis < rank).ok_or(MISFIT)
}

/// Shares of the numbers that belong together.
pub(super) fn softmax(
    from: &Tensor,
    along: Along,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let rank = from.shape.len();
    let around = match along {
        Along::Axis(at) => axis(at, rank).map(|at| Around::of(&from.shape, at, at + 1))?,
        Along::From(at) => axis(at, rank).map(|at| Around::of(&from.shape, at, rank))?,
    };
    out.become_empty(&from.shape, FUNCTION, budget)?;
    out.data.extend_from_slice(&from.data);
    for row in around.rows() {
        let most = row.clone().map(|i| from.data[i]).fold(f32::MIN, f32::max);
        row.clone().for_each(|i| out.data[i] = (out.data[i] - most).exp());
        let sum: f32 = row.clone().map(|i| out.data[i]).sum();
        row.for_each(|i| out.data[i] /= sum);
    }
    Ok(())
}

/// The number of the largest along an axis, which stays with length 1 or goes; of equals the first one or the last.
/// Not a number, if one of them is not finite.
pub(super) fn arg_max(
    from: &Tensor,
    at: i64,
    [is_kept, is_last]: [bool; 2],
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let rank = from.shape.len();
    let at = axis(at, rank)?;
    let around = Around::of(&from.shape, at, at + 1);
    let (mut shape, mut n) = ([1; MOST_AXES], 0);
    for (i, &length) in from.shape.iter().enumerate().filter(|&(i, _)| is_kept || i != at) {
        shape[n] = if i == at { 1 } else { length };
        n += 1;
    }
    out.become_empty(&shape[..n], around.along, budget)?;
    for row in around.rows() {
        let is_more = |x: f32, best: f32| x > best || is_last && x == best;
        let mut found: Option<(usize, f32)> = None;
        let mut is_finite = true;
        for (k, x) in row.map(|i| from.data[i]).enumerate() {
            is_finite &= x.is_finite();
            found = found.filter(|&(_, best)| !is_more(x, best)).or(Some((k, x)));
        }
        let largest = found.filter(|_| is_finite).map(|(k, _)| k as f32);
        out.data.push(largest.unwrap_or(f32::NAN));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::kind::Kind;
    use super::*;

    fn tensor(shape: &[usize], data: &[f32]) -> Tensor {
        Tensor::new(Kind::Float, shape.to_vec(), data.to_vec()).unwrap()
    }

    #[test]
    fn shares_sum_to_one_along_the_axis() {
        let (from, mut out) = (tensor(&[2, 2], &[1000.0, 1000.0, 0.0, 1000.0]), Tensor::default());
        let mut shares =
            |along| softmax(&from, along, &mut out, &mut Budget::of_an_action()).map(|()| out.data.clone());
        assert_eq!(shares(Along::Axis(-1)).unwrap(), [0.5, 0.5, 0.0, 1.0]);
        assert_eq!(shares(Along::Axis(0)).unwrap(), [1.0, 0.5, 0.0, 0.5]);
        let third = 1.0 / 3.0;
        assert_eq!(shares(Along::From(0)).unwrap(), [third, third, 0.0, third]);
        assert_eq!(shares(Along::Axis(2)), Err(MISFIT));
    }

    #[test]
    fn the_largest_is_found_along_the_axis() {
        let (from, mut out) = (tensor(&[2, 2], &[1.0, 1.0, 3.0, 0.0]), Tensor::default());
        let mut largest = |at, flags| {
            arg_max(&from, at, flags, &mut out, &mut Budget::of_an_action()).unwrap();
            (out.shape.clone(), out.data.clone())
        };
        assert_eq!(largest(0, [true, false]), (vec![1, 2], vec![1.0, 0.0]));
        assert_eq!(largest(1, [false, true]), (vec![2], vec![1.0, 0.0]));
    }
}
