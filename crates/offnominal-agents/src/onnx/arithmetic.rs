//! Sums, products and functions of numbers.

use super::OnnxError;
use super::budget::{Budget, FUNCTION, MOST_AXES};
use super::node::Inputs;
use super::tensor::Tensor;

pub(super) const MISFIT: OnnxError = OnnxError::Damaged("a node whose inputs do not fit one another");

/// A function of each number.
pub(super) fn map(
    from: &Tensor,
    out: &mut Tensor,
    budget: &mut Budget,
    f: impl Fn(f32) -> f32,
) -> Result<(), OnnxError> {
    out.become_empty(&from.shape, FUNCTION, budget)?;
    out.data.extend(from.data.iter().map(|&x| f(x)));
    Ok(())
}

/// A number between bounds, of which the upper one is kept in any case; what is not a number stays that.
pub(super) fn clip(x: f32, low: f32, high: f32) -> f32 {
    let raised = if x < low { low } else { x };
    if raised > high { high } else { raised }
}

/// A function of two numbers, one value after the other, of values that are stretched to one shape: axes of length 1 and
/// missing first axes repeat.
pub(super) fn combine(
    inputs: Inputs<'_>,
    out: &mut Tensor,
    budget: &mut Budget,
    f: fn(f32, f32) -> f32,
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
    out.become_zeros(&shape[..rank], work, budget)?;
    for (i, x) in out.data.iter_mut().enumerate() {
        let numbers = inputs.all().map(|value| value.data[stretched(value, i, &shape[..rank])]);
        *x = numbers.reduce(f).unwrap_or(f32::NAN);
    }
    Ok(())
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
    use super::super::kind::Kind;
    use super::*;

    fn tensor(shape: &[usize], data: &[f32]) -> Tensor {
        Tensor::new(Kind::Float, shape.to_vec(), data.to_vec()).unwrap()
    }

    fn budget() -> Budget {
        Budget::of_an_action()
    }

    #[test]
    fn values_are_stretched_to_one_shape() {
        let mut out = Tensor::default();
        let (column, row) = (tensor(&[2, 1], &[1.0, 10.0]), tensor(&[3], &[1.0, 2.0, 3.0]));
        let values = [column, row, tensor(&[2], &[0.0, 0.0])];
        let mut product = |ids: &[Option<usize>]| {
            combine(Inputs::new(&values, ids), &mut out, &mut budget(), |a, b| a * b).map(|()| out.clone())
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
