//! The same numbers in another shape or order.

use super::OnnxError;
use super::arithmetic::MISFIT;
use super::budget::{Budget, MOST_AXES, len};
use super::node::Inputs;
use super::tensor::Tensor;

/// An axis counted from either end.
fn axis(at: i64, rank: usize) -> Result<usize, OnnxError> {
    let found = if at < 0 { at.saturating_add(rank as i64) } else { at };
    usize::try_from(found).ok().filter(|&i| i <= rank).ok_or(MISFIT)
}

/// Copies the numbers; a shape of as many is written by the caller.
pub(super) fn copy(from: &Tensor, out: &mut Tensor, budget: &mut Budget) -> Result<(), OnnxError> {
    out.become_empty(&from.shape, 1, budget)?;
    out.data.extend_from_slice(&from.data);
    Ok(())
}

/// Axes before and from a given one become two.
pub(super) fn flatten(
    from: &Tensor,
    at: i64,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let at = axis(at, from.shape.len())?;
    copy(from, out, budget)?;
    let sides = [&from.shape[..at], &from.shape[at..]].map(|axes| axes.iter().product::<usize>());
    out.shape.clear();
    out.shape.extend(sides);
    Ok(())
}

/// A shape of which one axis may be left open (−1) and others kept (0).
pub(super) fn reshape(
    from: &Tensor,
    wanted: &Tensor,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let open = wanted.data.iter().filter(|&&length| length < 0.0).count();
    let is_sound = wanted.shape.len() == 1 && open <= 1 && wanted.data.iter().all(|&length| length >= -1.0);
    if wanted.data.len() > MOST_AXES || !is_sound {
        return Err(MISFIT);
    }
    copy(from, out, budget)?;
    out.shape.clear();
    for (i, &length) in wanted.data.iter().enumerate() {
        let kept = || from.shape.get(i).copied().ok_or(MISFIT);
        out.shape.push(if length == 0.0 { kept()? } else { length.max(1.0) as usize });
    }
    if let Some(open) = wanted.data.iter().position(|&length| length < 0.0) {
        out.shape[open] = from.data.len() / len(&out.shape)?.max(1);
    }
    let fits = len(&out.shape)? == from.data.len();
    fits.then_some(()).ok_or(MISFIT)
}

/// The named axes of length 1 go, or all of them.
pub(super) fn squeeze(
    from: &Tensor,
    axes: &[i64],
    given: Option<&Tensor>,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let rank = from.shape.len();
    let mut is_named = [axes.is_empty() && given.is_none(); MOST_AXES];
    let is_any = is_named[0];
    for at in named(axes, given) {
        let at = axis(at, rank)?;
        if from.shape.get(at) != Some(&1) {
            return Err(MISFIT);
        }
        is_named[at] = true;
    }
    copy(from, out, budget)?;
    out.shape.clear();
    let kept = from.shape.iter().enumerate().filter(|&(i, &length)| !is_named[i] || is_any && length != 1);
    out.shape.extend(kept.map(|(_, &length)| length));
    Ok(())
}

/// Axes that an attribute names, or an input.
fn named<'a>(axes: &'a [i64], given: Option<&'a Tensor>) -> impl Iterator<Item = i64> + 'a {
    axes.iter().copied().chain(given.into_iter().flat_map(|given| given.data.iter().map(|&at| at as i64)))
}

/// Axes of length 1 come where they are named.
pub(super) fn unsqueeze(
    from: &Tensor,
    axes: &[i64],
    given: Option<&Tensor>,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let rank = from.shape.len() + axes.len() + given.map_or(0, |g| g.data.len());
    if rank > MOST_AXES {
        return Err(MISFIT);
    }
    // The axes are those of the result, in whatever order they are named.
    let mut is_new = [false; MOST_AXES];
    for at in named(axes, given) {
        let at = axis(at, rank)?;
        if at >= rank || is_new[at] {
            return Err(MISFIT);
        }
        is_new[at] = true;
    }
    copy(from, out, budget)?;
    (0..rank).filter(|&at| is_new[at]).for_each(|at| out.shape.insert(at, 1));
    Ok(())
}

/// The axes in another order; the reverse one if none is given.
pub(super) fn transpose(
    from: &Tensor,
    order: &[i64],
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let rank = from.shape.len();
    if !(order.is_empty() || order.len() == rank) {
        return Err(MISFIT);
    }
    let (mut sources, mut strides) = ([0; MOST_AXES], [1; MOST_AXES]);
    for i in (1..rank).rev() {
        strides[i - 1] = strides[i] * from.shape[i];
    }
    for (i, source) in sources.iter_mut().enumerate().take(rank) {
        let wanted = order.get(i).map_or(Ok(rank - 1 - i), |&at| axis(at, rank))?;
        *source = Some(wanted).filter(|&at| at < rank).ok_or(MISFIT)?;
    }
    // Each axis once; then there are as many numbers as before.
    if !(0..rank).all(|axis| sources[..rank].contains(&axis)) {
        return Err(MISFIT);
    }
    let mut shape = [1; MOST_AXES];
    (0..rank).for_each(|i| shape[i] = from.shape[sources[i]]);
    out.become_zeros(&shape[..rank], rank, budget)?;
    for (i, x) in out.data.iter_mut().enumerate() {
        let (mut rest, mut at) = (i, 0);
        for k in (0..rank).rev() {
            at += rest % shape[k] * strides[sources[k]];
            rest /= shape[k];
        }
        *x = from.data[at];
    }
    Ok(())
}

/// One value after the other along an axis.
pub(super) fn concat(
    inputs: Inputs<'_>,
    at: i64,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let first = inputs.get(0).ok_or(MISFIT)?;
    let rank = first.shape.len();
    let at = axis(at, rank)?;
    let fits =
        |t: &Tensor| t.shape.len() == rank && (0..rank).all(|i| i == at || t.shape[i] == first.shape[i]);
    if at >= rank || !inputs.all().all(fits) {
        return Err(MISFIT);
    }
    let mut shape = [1; MOST_AXES];
    shape[..rank].copy_from_slice(&first.shape);
    let joined = inputs.all().try_fold(0_usize, |sum, t| sum.checked_add(t.shape[at]));
    shape[at] = joined.ok_or(MISFIT)?;
    out.become_empty(&shape[..rank], 1, budget)?;
    let outer: usize = first.shape[..at].iter().product();
    for row in 0..outer {
        for value in inputs.all() {
            let width = value.data.len() / outer;
            out.data.extend_from_slice(&value.data[row * width..(row + 1) * width]);
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

    fn budget() -> Budget {
        Budget::of(Use::Action)
    }

    #[test]
    fn shapes_change_and_numbers_stay() {
        let (from, mut out) = (tensor(&[2, 3, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Tensor::default());
        flatten(&from, 1, &mut out, &mut budget()).unwrap();
        assert_eq!((out.shape.as_slice(), &out.data), ([2, 3].as_slice(), &from.data));
        reshape(&from, &tensor(&[2], &[-1.0, 2.0]), &mut out, &mut budget()).unwrap();
        assert_eq!(out.shape, [3, 2]);
        assert_eq!(reshape(&from, &tensor(&[1], &[4.0]), &mut out, &mut budget()), Err(MISFIT));
        squeeze(&from, &[-1], None, &mut out, &mut budget()).unwrap();
        assert_eq!(out.shape, [2, 3]);
        unsqueeze(&from, &[4, 0], None, &mut out, &mut budget()).unwrap();
        assert_eq!(out.shape, [1, 2, 3, 1, 1], "axes are those of the result");
        assert_eq!(squeeze(&from, &[0], None, &mut out, &mut budget()), Err(MISFIT), "its length is 2");
    }

    #[test]
    fn axes_change_places() {
        let (from, mut out) = (tensor(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Tensor::default());
        transpose(&from, &[1, 0], &mut out, &mut budget()).unwrap();
        assert_eq!(out, tensor(&[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
        for order in [&[1_i64][..], &[1, 1], &[0, 2], &[i64::MIN, 0]] {
            assert_eq!(transpose(&from, order, &mut out, &mut budget()), Err(MISFIT));
        }
    }
}
