//! What a window shows of an image `[images, planes, rows, columns]`: the largest number, or the mean.

use super::OnnxError;
use super::arithmetic::{MISFIT, MISSING};
use super::budget::Budget;
use super::node::Inputs;
use super::tensor::Tensor;
use super::window::{Window, whole};
use crate::planes::Axis;
use std::ops::Range;

/// The axes of a window over an image.
fn axes(from: &Tensor, window: &Window) -> Result<[Axis; 2], OnnxError> {
    let [.., height, width] = from.shape[..] else { return Err(MISFIT) };
    window.axes([height, width], window.declared.ok_or(MISFIT)?)
}

/// Takes a shape with the outputs of the axes, for so much work each.
fn afford(
    from: &Tensor,
    axes: &[Axis; 2],
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<usize, OnnxError> {
    let [images, planes, height, width] = from.shape[..] else { return Err(MISFIT) };
    let places = axes[0].kernel.checked_mul(axes[1].kernel).ok_or(MISFIT)?;
    out.become_any(&[images, planes, axes[0].outputs(), axes[1].outputs()], places, budget)?;
    Ok((height * width).max(1))
}

/// The outputs of an axis whose tap lies on the image, and what it reads for the first of them.
fn covered(axis: &Axis, tap: usize) -> (Range<usize>, usize) {
    let (at, before) = (tap * axis.dilation, axis.padding[0]);
    let first = before.saturating_sub(at).div_ceil(axis.stride);
    let end = (axis.size + before).saturating_sub(at).div_ceil(axis.stride).min(axis.outputs());
    (first..end.max(first), (first * axis.stride + at).saturating_sub(before))
}

/// Brings every number under a window to the place of the window, row by row.
fn sweep(axes: &[Axis; 2], from: &[f32], out: &mut [f32], f: impl Fn(&mut f32, f32)) {
    let (width, wide) = (axes[1].size, axes[1].outputs());
    for r in 0..axes[0].kernel {
        let (rows, first) = covered(&axes[0], r);
        for (i, row) in rows.enumerate() {
            let from = &from[(first + i * axes[0].stride) * width..][..width];
            let out = &mut out[row * wide..][..wide];
            for c in 0..axes[1].kernel {
                let (columns, first) = covered(&axes[1], c);
                if columns.is_empty() {
                    continue;
                }
                let (out, from) = (&mut out[columns], &from[first..]);
                match axes[1].stride {
                    1 => out.iter_mut().zip(from).for_each(|(y, x)| f(y, *x)),
                    2 => out.iter_mut().zip(from.chunks(2)).for_each(|(y, x)| f(y, x[0])),
                    n => out.iter_mut().zip(from.iter().step_by(n)).for_each(|(y, x)| f(y, *x)),
                }
            }
        }
    }
}

/// The largest number in each window; what is not a number stays that.
pub(super) fn max_pool(
    from: &Tensor,
    window: &Window,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let axes = axes(from, window)?;
    let image = afford(from, &axes, out, budget)?;
    out.data.fill(f32::NEG_INFINITY);
    let planes = out.data.chunks_exact_mut(axes[0].outputs() * axes[1].outputs());
    for (out, from) in planes.zip(from.data.chunks_exact(image)) {
        sweep(&axes, from, out, |most, x| *most = if *most > x || most.is_nan() { *most } else { x });
    }
    Ok(())
}

/// The number of the first of the largest in each window, counted through the whole value.
pub(super) fn max_places(
    from: &Tensor,
    window: &Window,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let axes = axes(from, window)?;
    let image = afford(from, &axes, out, budget)?;
    let (wide, plane) = (axes[1].outputs(), axes[0].outputs() * axes[1].outputs());
    let pixel = |axis: &Axis, at: usize, tap: usize| {
        (at * axis.stride + tap * axis.dilation).checked_sub(axis.padding[0]).filter(|&i| i < axis.size)
    };
    for (i, x) in out.data.iter_mut().enumerate() {
        let (p, y0, x0) = (i / plane, i / wide % (plane / wide), i % wide);
        let rows = (0..axes[0].kernel).filter_map(|r| pixel(&axes[0], y0, r));
        let places = rows.flat_map(|y| {
            (0..axes[1].kernel).filter_map(move |c| Some(y * axes[1].size + pixel(&axes[1], x0, c)?))
        });
        let values = places.map(|at| p * image + at).map(|at| (at, from.data[at]));
        let most = values.reduce(|a, b| if b.1 > a.1 { b } else { a });
        *x = most.map_or(f32::NAN, |(at, _)| at as f32);
    }
    Ok(())
}

/// Numbers put where [`max_places`] says, in a value of zeros.
pub(super) fn max_unpool(
    inputs: Inputs<'_>,
    window: &Window,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let (from, places) = (inputs.get(0).ok_or(MISSING)?, inputs.get(1).ok_or(MISSING)?);
    let [images, planes, height, width] = from.shape[..] else { return Err(MISFIT) };
    let mut shape = [images, planes, 0, 0];
    let kernel = window.declared.ok_or(MISFIT)?;
    if let Some(wanted) = inputs.get(2) {
        let wanted: &[f32; 4] = wanted.data.as_slice().try_into().map_err(|_| MISFIT)?;
        for (length, &wanted) in shape.iter_mut().zip(wanted) {
            *length = whole(wanted).ok_or(MISFIT)?;
        }
    } else {
        let axes = window.transposed([height, width], kernel)?;
        shape = [images, planes, axes[0].size, axes[1].size];
    }
    out.become_zeros(&shape, 1, budget)?;
    if from.shape != places.shape || shape[..2] != from.shape[..2] {
        return Err(MISFIT);
    }
    // Places were counted in the value that was pooled, which may be smaller than this one.
    let pooled =
        window.transposed([height, width], kernel).map_or([shape[2], shape[3]], |a| a.map(|a| a.size));
    let (before, after) = (pooled[0] * pooled[1], shape[2] * shape[3]);
    for (&x, &place) in from.data.iter().zip(&places.data) {
        let place = whole(place).ok_or(OnnxError::Damaged("a place that is none, or beyond 2²⁴"))?;
        let at = if inputs.get(2).is_some() {
            let (plane, within) = (place / before.max(1), place % before.max(1));
            plane * after + within / pooled[1].max(1) * shape[3] + within % pooled[1].max(1)
        } else {
            place
        };
        *out.data.get_mut(at).ok_or(MISFIT)? = x;
    }
    Ok(())
}

/// The mean of each window, of the zeros around the image too if they count.
pub(super) fn average_pool(
    from: &Tensor,
    window: &Window,
    is_padded: bool,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let axes = axes(from, window)?;
    let image = afford(from, &axes, out, budget)?;
    out.data.fill(0.0);
    let counts = |i: usize| -> Vec<usize> {
        // Zeros beyond those that are asked for, under a last window that hangs over the edge, do not count.
        let counted = if is_padded { window.counted(i, axes[i].padding) } else { [0, 0] };
        (0..axes[i].outputs()).map(|at| count(&axes[i], at, counted)).collect()
    };
    let (rows, columns) = (counts(0), counts(1));
    let planes = out.data.chunks_exact_mut(rows.len() * columns.len());
    for (out, from) in planes.zip(from.data.chunks_exact(image)) {
        sweep(&axes, from, out, |sum, x| *sum += x);
        for (out, &n) in out.chunks_exact_mut(columns.len()).zip(&rows) {
            out.iter_mut().zip(&columns).for_each(|(sum, m)| *sum /= (n * m) as f32);
        }
    }
    Ok(())
}

/// How many taps of an output lie on the image, or on so many zeros before and behind it.
fn count(axis: &Axis, at: usize, [before, behind]: [usize; 2]) -> usize {
    let taps = (0..axis.kernel).map(|tap| at * axis.stride + tap * axis.dilation + before);
    taps.filter(|&i| i >= axis.padding[0] && i < axis.padding[0] + before + axis.size + behind).count()
}

/// Means over a grid of bins, which overlap where the sizes do not divide.
pub(super) fn bins(from: &Tensor, n: usize, out: &mut Tensor, budget: &mut Budget) -> Result<(), OnnxError> {
    let [images, planes, height, width] = from.shape[..] else { return Err(MISFIT) };
    let area = (height * width).div_ceil(n * n).max(1);
    out.become_empty(&[images, planes, n, n], area.saturating_mul(2), budget)?;
    let bin = |i: usize, size: usize| i * size / n..((i + 1) * size).div_ceil(n);
    for plane in from.data.chunks_exact((height * width).max(1)) {
        for i in 0..n {
            for k in 0..n {
                let (rows, columns) = (bin(i, height), bin(k, width));
                let area = (rows.len() * columns.len()) as f64;
                let rows = rows.map(|row| &plane[row * width..][columns.clone()]);
                let sum: f64 = rows.map(|row| row.iter().map(|&x| f64::from(x)).sum::<f64>()).sum();
                out.data.push((sum / area) as f32);
            }
        }
    }
    Ok(())
}
