//! Sums, products and functions of numbers.

use super::OnnxError;
use super::budget::{Budget, FUNCTION, MOST_AXES};
use super::node::Inputs;
use super::tensor::Tensor;

pub(super) const MISFIT: OnnxError = OnnxError::Damaged("a node whose inputs do not fit one another");

pub(super) const MISSING: OnnxError = OnnxError::Damaged("too few inputs");

/// A function of each number.
pub(super) fn map(
    from: &Tensor,
    out: &mut Tensor,
    budget: &mut Budget,
    f: impl Fn(&[f32], &mut Vec<f32>),
) -> Result<(), OnnxError> {
    out.become_empty(&from.shape, FUNCTION, budget)?;
    f(&from.data, &mut out.data);
    Ok(())
}

/// Appends a function of each number. It is a part of the operators' own functions, so that each is compiled for it.
#[inline(always)]
pub(super) fn each(from: &[f32], out: &mut Vec<f32>, f: impl Fn(f32) -> f32) {
    out.extend(from.iter().map(|&x| f(x)));
}

/// Second numbers of some neighbours.
pub(super) enum With<'a> {
    /// One for each.
    Each(&'a [f32]),
    /// The same for all.
    Same(f32),
}

/// Puts a function of two numbers in place of the first ones.
pub(super) type Pairs = fn(&mut [f32], With<'_>);

/// As [`each`], of two numbers.
#[inline(always)]
pub(super) fn pairs(first: &mut [f32], second: With<'_>, f: impl Fn(f32, f32) -> f32) {
    match second {
        With::Each(second) => first.iter_mut().zip(second).for_each(|(a, &b)| *a = f(*a, b)),
        With::Same(b) => first.iter_mut().for_each(|a| *a = f(*a, b)),
    }
}

/// A number between bounds, of which the upper one is kept in any case; what is not a number stays that.
pub fn clip(x: f32, low: f32, high: f32) -> f32 {
    let raised = if x < low { low } else { x };
    if raised > high { high } else { raised }
}

/// A function of two numbers, one value after the other, of values that are stretched to one shape: axes of length 1 and
/// missing first axes repeat.
pub(super) fn combine(
    inputs: Inputs<'_>,
    out: &mut Tensor,
    budget: &mut Budget,
    f: Pairs,
) -> Result<(), OnnxError> {
    let rank = inputs.all().map(|value| value.shape.len()).max().unwrap_or(0);
    let mut shape = [1; MOST_AXES];
    for (axis, length) in shape.iter_mut().enumerate().take(rank) {
        for own in inputs.all().map(|value| length_of(value, axis, rank)) {
            *length = if *length == 1 { own } else { *length };
            if own != 1 && own != *length {
                return Err(MISFIT);
            }
        }
    }
    let work = (FUNCTION + rank).saturating_mul(inputs.all().count().max(2) - 1);
    let shape = &shape[..rank];
    out.become_any(shape, work, budget)?;
    for (i, value) in inputs.all().enumerate() {
        let (run, is_same) = run_of(value, shape);
        for (k, numbers) in out.data.chunks_exact_mut(run.max(1)).enumerate() {
            let at = stretched(value, k * run, shape);
            match (i, is_same) {
                (0, true) => numbers.fill(value.data[at]),
                (0, false) => numbers.copy_from_slice(&value.data[at..at + run]),
                (_, true) => f(numbers, With::Same(value.data[at])),
                (_, false) => f(numbers, With::Each(&value.data[at..at + run])),
            }
        }
    }
    Ok(())
}

/// How many neighbours of a shape are neighbours in a value that is stretched to it too, or all the same number there.
fn run_of(value: &Tensor, shape: &[usize]) -> (usize, bool) {
    let (mut run, mut is_same) = (1, None);
    for axis in (0..shape.len()).rev().filter(|&axis| shape[axis] != 1) {
        let repeats = length_of(value, axis, shape.len()) == 1;
        if *is_same.get_or_insert(repeats) != repeats {
            break;
        }
        run *= shape[axis];
    }
    (run, is_same.unwrap_or(false))
}

/// The length of an axis among `rank`, the last of which is the value's last.
fn length_of(value: &Tensor, axis: usize, rank: usize) -> usize {
    (axis + value.shape.len()).checked_sub(rank).map_or(1, |own| value.shape[own])
}

/// Where the i-th number of a stretched value stands in the value itself.
fn stretched(value: &Tensor, i: usize, shape: &[usize]) -> usize {
    let (mut rest, mut at, mut stride) = (i, 0, 1);
    for axis in (0..shape.len()).rev() {
        let own = length_of(value, axis, shape.len());
        at += if own == 1 { 0 } else { rest % shape[axis] * stride };
        stride *= own;
        rest /= shape[axis];
    }
    at
}

/// α A B + β C.
pub(super) fn gemm(
    a: &Tensor,
    b: &Tensor,
    c: Option<&Tensor>,
    (alpha, beta): (f32, f32),
    transposed: [bool; 2],
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let (a, b) = (Matrix::of(a, transposed[0])?, Matrix::of(b, transposed[1])?);
    if a.columns != b.rows {
        return Err(MISFIT);
    }
    let shape = [a.rows, b.columns];
    out.become_zeros(&shape, a.columns, budget)?;
    for (i, x) in out.data.iter_mut().enumerate() {
        *x = alpha * dot(&a, i / shape[1], &b, i % shape[1]);
    }
    let Some(c) = c else { return Ok(()) };
    let fits = c.shape.len() <= 2 && (0..2).all(|axis| [1, shape[axis]].contains(&length_of(c, axis, 2)));
    if !fits {
        return Err(MISFIT);
    }
    for (i, x) in out.data.iter_mut().enumerate() {
        *x += beta * c.data[stretched(c, i, &shape)];
    }
    Ok(())
}

/// A B, where a vector on either side is a row or a column.
pub(super) fn matmul(a: &Tensor, b: &Tensor, out: &mut Tensor, budget: &mut Budget) -> Result<(), OnnxError> {
    let [.., rows, columns] = b.shape.as_slice() else { return Err(MISFIT) };
    let (rows, columns) = (*rows, *columns);
    if b.shape.len() != 2 || a.shape.last() != Some(&rows) {
        return Err(MISFIT);
    }
    let b = Matrix { data: &b.data, rows, columns, is_transposed: false };
    let a_rows = a.data.len() / rows.max(1);
    let whole = Matrix { data: &a.data, rows: a_rows, columns: rows, is_transposed: false };
    let (mut shape, rank) = ([1; MOST_AXES], a.shape.len());
    shape[..rank].copy_from_slice(&a.shape);
    shape[rank - 1] = columns;
    out.become_empty(&shape[..rank], rows, budget)?;
    out.data.extend((0..a_rows * columns).map(|i| dot(&whole, i / columns, &b, i % columns)));
    Ok(())
}

/// Numbers in rows and columns.
struct Matrix<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    is_transposed: bool,
}

impl<'a> Matrix<'a> {
    fn of(value: &'a Tensor, is_transposed: bool) -> Result<Matrix<'a>, OnnxError> {
        let [rows, columns] = value.shape[..] else { return Err(MISFIT) };
        let (rows, columns) = if is_transposed { (columns, rows) } else { (rows, columns) };
        Ok(Matrix { data: &value.data, rows, columns, is_transposed })
    }

    fn at(&self, row: usize, column: usize) -> f32 {
        let i = if self.is_transposed { column * self.rows + row } else { row * self.columns + column };
        self.data[i]
    }
}

fn dot(a: &Matrix<'_>, row: usize, b: &Matrix<'_>, column: usize) -> f32 {
    (0..a.columns).map(|k| a.at(row, k) * b.at(k, column)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::budget::Use;
    use super::super::kind::Kind;
    use super::*;

    fn tensor(shape: &[usize], data: &[f32]) -> Tensor {
        Tensor::new(Kind::Float, shape.to_vec(), data.to_vec()).unwrap()
    }

    fn budget() -> Budget {
        Budget::of(Use::Action)
    }

    #[test]
    fn values_are_stretched_to_one_shape() {
        let mut out = Tensor::default();
        let (column, row) = (tensor(&[2, 1], &[1.0, 10.0]), tensor(&[3], &[1.0, 2.0, 3.0]));
        let values = [column, row, tensor(&[2], &[0.0, 0.0])];
        let mut product = |ids: &[Option<usize>]| {
            combine(Inputs::new(&values, &[], ids), &mut out, &mut budget(), |y, x| pairs(y, x, |a, b| a * b))
                .map(|()| out.clone())
        };
        let wanted = tensor(&[2, 3], &[1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
        assert_eq!(product(&[Some(0), Some(1)]), Ok(wanted));
        let squared = tensor(&[2, 3], &[1.0, 4.0, 9.0, 10.0, 40.0, 90.0]);
        assert_eq!(product(&[Some(0), Some(1), Some(1)]), Ok(squared));
        assert_eq!(product(&[Some(1), Some(2)]), Err(MISFIT));
    }

    #[test]
    fn products_of_matrices() {
        let mut out = Tensor::default();
        let (a, b) = (tensor(&[1, 2], &[1.0, 2.0]), tensor(&[2, 2], &[1.0, 2.0, 3.0, 4.0]));
        gemm(&a, &b, Some(&tensor(&[2], &[1.0, 1.0])), (2.0, 3.0), [false, true], &mut out, &mut budget())
            .unwrap();
        assert_eq!(out, tensor(&[1, 2], &[2.0 * 5.0 + 3.0, 2.0 * 11.0 + 3.0]));
        matmul(&a, &b, &mut out, &mut budget()).unwrap();
        assert_eq!(out, tensor(&[1, 2], &[7.0, 10.0]));
        assert_eq!(matmul(&b, &a, &mut out, &mut budget()), Err(MISFIT));
    }
}
