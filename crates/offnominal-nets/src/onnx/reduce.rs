//! What is computed along axes, or plane by plane.

use super::OnnxError;
use super::arithmetic::{MISFIT, MISSING};
use super::budget::{Budget, FUNCTION, MOST_AXES};
use super::index::axis;
use super::node::Inputs;
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

/// The mean over axes that an attribute or an input names, or over all pixels; without names over all axes or none.
pub(super) fn mean(
    from: &Tensor,
    (axes, given): (&[i64], Option<&Tensor>),
    [is_kept, is_of_pixels, is_none_all]: [bool; 3],
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let rank = from.shape.len();
    let mut is_over = [false; MOST_AXES];
    let further = given.into_iter().flat_map(|given| given.data.iter().map(|&at| at as i64));
    for at in axes.iter().copied().chain(further) {
        is_over[axis(at, rank)?] = true;
    }
    if !is_over.contains(&true) && is_none_all {
        is_over[if is_of_pixels { rank.min(2) } else { 0 }..rank].fill(true);
    }
    let (mut kept, mut shape, mut n) = ([1; MOST_AXES], [1; MOST_AXES], 0);
    for i in 0..rank {
        kept[i] = if is_over[i] { 1 } else { from.shape[i] };
        shape[n] = kept[i];
        n += usize::from(is_kept || !is_over[i]);
    }
    let count = from.shape.iter().zip(is_over).filter(|(_, over)| *over).map(|(n, _)| n).product::<usize>();
    out.become_zeros(&shape[..n], count.saturating_mul(rank.max(1)), budget)?;
    // Neighbours that become one number.
    let run: usize = (0..rank).rev().take_while(|&i| is_over[i]).map(|i| from.shape[i]).product();
    for (i, numbers) in from.data.chunks_exact(run.max(1)).enumerate() {
        let (mut rest, mut at, mut stride) = (i * run, 0, 1);
        for axis in (0..rank).rev() {
            at += if is_over[axis] { 0 } else { rest % from.shape[axis] * stride };
            stride *= kept[axis];
            rest /= from.shape[axis];
        }
        out.data[at] += (numbers.iter().map(|&x| f64::from(x)).sum::<f64>() / count as f64) as f32;
    }
    Ok(())
}

/// (x − mean) / √(variance + ε) · scale + shift for each plane; the inputs are x, scale, shift, mean, variance.
pub(super) fn normalise(
    inputs: Inputs<'_>,
    epsilon: f32,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let from = inputs.get(0).ok_or(MISSING)?;
    let (planes, rest) = (*from.shape.get(1).ok_or(MISFIT)?, from.shape[2..].iter().product::<usize>());
    let [scale, shift, mean, variance] = [1, 2, 3, 4].map(|i| inputs.get(i).map(|v| &v.data[..]));
    let (Some(scale), Some(shift), Some(mean), Some(variance)) = (scale, shift, mean, variance) else {
        return Err(MISSING);
    };
    if [scale, shift, mean, variance].iter().any(|of| of.len() != planes) {
        return Err(MISFIT);
    }
    out.become_empty(&from.shape, 2, budget)?;
    for (i, plane) in from.data.chunks_exact(rest.max(1)).enumerate() {
        let c = i % planes;
        let factor = scale[c] / (variance[c] + epsilon).sqrt();
        out.data.extend(plane.iter().map(|x| (x - mean[c]) * factor + shift[c]));
    }
    Ok(())
}

/// Drops each unit with this probability, if units are dropped; the others grow so that the mean stays.
pub(super) fn drop_units(
    from: &Tensor,
    probability: f64,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    out.become_empty(&from.shape, FUNCTION, budget)?;
    let scale = (1.0 / (1.0 - probability)) as f32;
    match &mut budget.rng {
        None => out.data.extend_from_slice(&from.data),
        Some(rng) => {
            let drawn = |&x: &f32| if rng.uniform() < probability { x * 0.0 } else { x * scale };
            out.data.extend(from.data.iter().map(drawn));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::budget::Use;
    use super::super::kind::Kind;
    use super::*;

    fn tensor(shape: &[usize], data: &[f32]) -> Tensor {
        Tensor::new(Kind::Float, shape.to_vec(), data.to_vec()).unwrap()
    }

    #[test]
    fn shares_sum_to_one_along_the_axis() {
        let (from, mut out) = (tensor(&[2, 2], &[1000.0, 1000.0, 0.0, 1000.0]), Tensor::default());
        let mut shares =
            |along| softmax(&from, along, &mut out, &mut Budget::of(Use::Action)).map(|()| out.data.clone());
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
            arg_max(&from, at, flags, &mut out, &mut Budget::of(Use::Action)).unwrap();
            (out.shape.clone(), out.data.clone())
        };
        assert_eq!(largest(0, [true, false]), (vec![1, 2], vec![1.0, 0.0]));
        assert_eq!(largest(1, [false, true]), (vec![2], vec![1.0, 0.0]));
    }
}
