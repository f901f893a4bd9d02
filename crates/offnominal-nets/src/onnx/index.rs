//! Which numbers of a value stand where in another one, and shapes as numbers.

use super::OnnxError;
use super::arithmetic::{MISFIT, MISSING};
use super::budget::{Budget, MOST_AXES};
use super::node::{Inputs, Written};
use super::tensor::Tensor;

/// An axis of a shape, counted from either end.
pub(super) fn axis(at: i64, rank: usize) -> Result<usize, OnnxError> {
    let found = if at < 0 { at.saturating_add(rank as i64) } else { at };
    usize::try_from(found).ok().filter(|&axis| axis < rank).ok_or(MISFIT)
}

/// Writes, for each place of a shape, the number at the place that the function names on each axis, or another one
/// where it names none.
fn take(
    from: &Tensor,
    shape: &[usize],
    other: f32,
    at: impl Fn(usize, usize) -> Option<usize>,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    out.become_empty(shape, shape.len(), budget)?;
    let (Some((&width, outer)), false) = (shape.split_last(), shape.contains(&0)) else {
        out.data.extend((shape.is_empty()).then(|| from.data[0]));
        return Ok(());
    };
    for row in 0..outer.iter().product() {
        let (mut rest, mut start, mut stride) = (row, Some(0), from.shape[outer.len()]);
        for i in (0..outer.len()).rev() {
            start = start.and_then(|start| Some(start + at(i, rest % outer[i])? * stride));
            stride *= from.shape[i];
            rest /= outer[i];
        }
        let number = |i| Some(from.data[start? + at(outer.len(), i)?]);
        out.data.extend((0..width).map(|i| number(i).unwrap_or(other)));
    }
    Ok(())
}

/// The lengths of the axes from one to another.
pub(super) fn shape_of(
    from: &Tensor,
    (start, end): (i64, i64),
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let rank = from.shape.len() as i64;
    let bound = |at: i64| (if at < 0 { at.saturating_add(rank) } else { at }).clamp(0, rank) as usize;
    let some = bound(start)..bound(end).max(bound(start));
    out.become_empty(&[some.len()], 1, budget)?;
    out.data.extend(from.shape[some].iter().map(|&length| length as f32));
    Ok(())
}

/// Rows by their numbers along an axis.
pub(super) fn gather(
    from: &Tensor,
    which: &Tensor,
    at: i64,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let at = axis(at, from.shape.len())?;
    let (before, behind) = (&from.shape[..at], &from.shape[at + 1..]);
    let rank = before.len() + which.shape.len() + behind.len();
    let mut shape = [1; MOST_AXES];
    let lengths = before.iter().chain(&which.shape).chain(behind);
    (rank <= MOST_AXES).then_some(()).ok_or(MISFIT)?;
    shape.iter_mut().zip(lengths).for_each(|(to, &length)| *to = length);
    out.become_empty(&shape[..rank], 1, budget)?;
    let run: usize = behind.iter().product();
    for block in 0..before.iter().product() {
        for &i in &which.data {
            let i = axis(i as i64, from.shape[at]).ok().filter(|_| i.fract() == 0.0).ok_or(MISFIT)?;
            out.data.extend_from_slice(&from.data[(block * from.shape[at] + i) * run..][..run]);
        }
    }
    Ok(())
}

/// The shape in a value, or what is asked for where that is 1 or missing.
pub(super) fn expand(
    from: &Tensor,
    wanted: &Tensor,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let rank = wanted.data.len().max(from.shape.len());
    (rank <= MOST_AXES).then_some(()).ok_or(MISFIT)?;
    let own = |i: usize| (i + from.shape.len()).checked_sub(rank).map_or(1, |i| from.shape[i]);
    let mut shape = [1; MOST_AXES];
    for (i, length) in shape.iter_mut().enumerate().take(rank) {
        let asked = (i + wanted.data.len()).checked_sub(rank).map_or(1.0, |i| wanted.data[i]);
        *length = if own(i) == 1 { asked.max(0.0) as usize } else { own(i) };
        if asked != 1.0 && asked != *length as f32 {
            return Err(MISFIT);
        }
    }
    let lifted: Vec<usize> = (0..rank).map(own).collect();
    let lifted = Tensor { kind: from.kind, shape: lifted, data: from.data.clone() };
    take(&lifted, &shape[..rank], 0.0, |i, at| Some(if own(i) == 1 { 0 } else { at }), out, budget)
}

/// A shape full of one number.
pub(super) fn constant_of_shape(
    shape: &Tensor,
    value: &Tensor,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    (shape.data.len() <= MOST_AXES).then_some(()).ok_or(MISFIT)?;
    let lengths: Vec<usize> = shape.data.iter().map(|&n| n.max(0.0) as usize).collect();
    out.become_empty(&lengths, 1, budget)?;
    out.data.resize(lengths.iter().product(), value.data[0]);
    Ok(())
}

/// From where to where numbers are taken, where attributes say it.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    starts: Vec<i64>,
    ends: Vec<i64>,
    axes: Vec<i64>,
}

impl Cut {
    pub(super) fn read(node: &Written) -> Option<Cut> {
        let [starts, ends, axes] = ["starts", "ends", "axes"].map(|name| node.numbers(name));
        node.attributes.contains_key("starts").then_some(Cut { starts, ends, axes })
    }
}

/// Every so many-th number from one to another along some axes.
pub(super) fn slice(
    inputs: Inputs<'_>,
    cut: Option<&Cut>,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let from = inputs.get(0).ok_or(MISSING)?;
    let rank = from.shape.len();
    let given = |i: usize, of: fn(&Cut) -> &Vec<i64>| -> Option<Vec<i64>> {
        let numbers = |t: &Tensor| t.data.iter().map(|&x| x as i64).collect();
        cut.map(of).cloned().or_else(|| inputs.get(i).map(numbers))
    };
    let (starts, ends) = (given(1, |c| &c.starts).ok_or(MISSING)?, given(2, |c| &c.ends).ok_or(MISSING)?);
    let axes = given(3, |c| &c.axes).filter(|axes| !axes.is_empty());
    let steps = inputs.get(4).map(|t| &t.data[..]);
    let mut places = [(0, 1); MOST_AXES];
    let mut shape = [1; MOST_AXES];
    shape[..rank].copy_from_slice(&from.shape);
    if starts.len() != ends.len() || axes.as_ref().is_some_and(|axes| axes.len() != starts.len()) {
        return Err(MISFIT);
    }
    for (k, (&start, &end)) in starts.iter().zip(&ends).enumerate() {
        let i = axis(axes.as_ref().map_or(k as i64, |axes| axes[k]), rank)?;
        let step = match steps {
            Some(steps) => *steps.get(k).ok_or(MISFIT)? as i64,
            None => 1,
        };
        let length = from.shape[i] as i64;
        let from_end = |at: i64| if at < 0 { at.saturating_add(length) } else { at };
        let (start, end) = match step {
            1.. => (from_end(start).clamp(0, length), from_end(end).clamp(0, length)),
            0 => return Err(MISFIT),
            _ => (from_end(start).min(length - 1).max(0), from_end(end).min(length - 1).max(-1)),
        };
        let n = if step > 0 { end - start } else { start - end };
        places[i] = (start, step);
        shape[i] = n.max(0).unsigned_abs().div_ceil(step.unsigned_abs()) as usize;
    }
    let at = |i: usize, at: usize| usize::try_from(places[i].0 + at as i64 * places[i].1).ok();
    take(from, &shape[..rank], 0.0, at, out, budget)
}

/// What stands around a value.
#[derive(Debug, Clone)]
pub(super) struct Padding {
    how: How,
    /// As attributes of old versions have it.
    pads: Vec<i64>,
    value: f32,
}

#[derive(Debug, Clone, Copy)]
enum How {
    Constant,
    Reflected,
    Edge,
}

impl Padding {
    pub(super) fn read(node: &Written) -> Result<Padding, OnnxError> {
        let how = match node.text("mode") {
            "" | "constant" => How::Constant,
            "reflect" => How::Reflected,
            "edge" => How::Edge,
            other => return Err(node.unsupported("the mode constant, reflect or edge", other)),
        };
        Ok(Padding { how, pads: node.numbers("pads"), value: node.float("value", 0.0) })
    }
}

/// Numbers around a value; fewer than none cut it.
pub(super) fn pad(
    inputs: Inputs<'_>,
    padding: &Padding,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let from = inputs.get(0).ok_or(MISSING)?;
    let rank = from.shape.len();
    let value = inputs.get(2).and_then(|v| v.data.first().copied()).unwrap_or(padding.value);
    let pads: Vec<i64> = match inputs.get(1) {
        Some(given) => given.data.iter().map(|&x| x as i64).collect(),
        None => padding.pads.clone(),
    };
    let axes: Vec<usize> = match inputs.get(3) {
        Some(axes) => axes.data.iter().map(|&x| axis(x as i64, rank)).collect::<Result<_, _>>()?,
        None => (0..rank).collect(),
    };
    let is_small = pads.iter().all(|pad| pad.unsigned_abs() < 1 << 40);
    (is_small && pads.len() == 2 * axes.len()).then_some(()).ok_or(MISFIT)?;
    let (mut before, mut shape) = ([0_i64; MOST_AXES], [1; MOST_AXES]);
    shape[..rank].copy_from_slice(&from.shape);
    for (k, &i) in axes.iter().enumerate() {
        let all =
            (from.shape[i] as i64).checked_add(pads[k]).and_then(|n| n.checked_add(pads[k + axes.len()]));
        (before[i], shape[i]) = (pads[k], all.and_then(|n| usize::try_from(n).ok()).ok_or(MISFIT)?);
    }
    let at = |i: usize, at: usize| {
        let (place, length) = (at as i64 - before[i], from.shape[i] as i64);
        let place = match padding.how {
            How::Edge => place.min(length - 1).max(0),
            // As in a mirror on the last number, and another one on the first.
            How::Reflected => {
                let period = (2 * (length - 1)).max(1);
                let within = place.rem_euclid(period);
                within.min(period - within).min(length - 1)
            }
            How::Constant => place,
        };
        usize::try_from(place).ok().filter(|&place| place < from.shape[i])
    };
    take(from, &shape[..rank], value, at, out, budget)
}

#[cfg(test)]
mod tests {
    use super::super::budget::Use;
    use super::super::kind::Kind;
    use super::*;

    fn tensor(shape: &[usize], data: &[f32]) -> Tensor {
        Tensor::new(Kind::Float, shape.to_vec(), data.to_vec()).unwrap()
    }

    /// Rows 0 1 2, 3 4 5 cut by starts, ends, axes and steps.
    fn cut(by: [&[f32]; 4]) -> Result<(Vec<usize>, Vec<f32>), OnnxError> {
        let values: Vec<Tensor> = std::iter::once(tensor(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))
            .chain(by.iter().map(|numbers| tensor(&[numbers.len()], numbers)))
            .collect();
        let (mut out, ids) = (Tensor::default(), [0, 1, 2, 3, 4].map(Some));
        slice(Inputs::new(&values, &[], &ids), None, &mut out, &mut Budget::of(Use::Action))?;
        Ok((out.shape, out.data))
    }

    #[test]
    fn numbers_are_taken_along_axes() {
        let end = i64::MAX as f32;
        let found = cut([&[1.0], &[end], &[1.0], &[1.0]]).unwrap();
        assert_eq!(found, (vec![2, 2], vec![1.0, 2.0, 4.0, 5.0]));
        let found = cut([&[-1.0, 0.0], &[-end, 1.0], &[1.0, 0.0], &[-1.0, 1.0]]).unwrap();
        assert_eq!(found, (vec![1, 3], vec![2.0, 1.0, 0.0]));
        assert_eq!(cut([&[0.0], &[end], &[1.0], &[2.0]]).unwrap().1, [0.0, 2.0, 3.0, 5.0]);
        assert_eq!(cut([&[2.0], &[1.0], &[0.0], &[1.0]]).unwrap().0, [0, 3], "nothing is left");
        assert_eq!(cut([&[0.0], &[1.0], &[2.0], &[1.0]]), Err(MISFIT), "no such axis");
        assert_eq!(cut([&[0.0], &[1.0], &[0.0], &[0.0]]), Err(MISFIT), "a step of zero");
    }
}
