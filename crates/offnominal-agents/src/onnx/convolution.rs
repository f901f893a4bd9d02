//! Convolutions and pools of images `[1, planes, rows, columns]`.

use super::OnnxError;
use super::arithmetic::MISFIT;
use super::budget::Budget;
use super::node::Written;
use super::tensor::Tensor;

/// The largest size, stride and padding of a window, in pixels: more than any image has.
const MOST: usize = 1 << 16;

/// How a window goes over an image.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// Rows and columns; of a convolution, those of its weights.
    size: [usize; 2],
    /// The size as a node declares it.
    declared: Option<[usize; 2]>,
    strides: [usize; 2],
    /// Zeros above and to the left, then below and to the right.
    pads: [usize; 4],
}

impl Window {
    /// The window of a node.
    ///
    /// # Errors
    /// If it leaves out pixels, goes in groups, or pads by itself.
    pub(super) fn read(node: &Written, size: &[i64]) -> Result<Window, OnnxError> {
        let is_padded = ["", "NOTSET"].contains(&node.text("auto_pad"));
        let plain = node.number("group", 1) == 1 && node.numbers("dilations").iter().all(|&d| d == 1);
        if !plain || !is_padded || node.number("ceil_mode", 0) != 0 {
            return Err(node.unsupported("one group, no dilation, and pads in numbers", "something else"));
        }
        let read = |values: &[i64], i: usize, otherwise| {
            let value = values.get(i).map_or(Some(otherwise), |&n| usize::try_from(n).ok());
            let value = value.filter(|&n| n <= MOST);
            value.ok_or_else(|| node.unsupported("numbers from 0 to 65536", format!("{:?}", &values[i..=i])))
        };
        let (strides, pads, kernel) =
            (node.numbers("strides"), node.numbers("pads"), node.numbers("kernel_shape"));
        let counts = [(&strides, 2), (&pads, 4), (&kernel, 2)];
        if counts.iter().any(|(values, n)| !values.is_empty() && values.len() != *n) {
            return Err(node.unsupported("windows of rows and columns", "a window of other axes"));
        }
        let declared = (!kernel.is_empty()).then(|| Ok([read(&kernel, 0, 1)?, read(&kernel, 1, 1)?]));
        Ok(Window {
            size: [read(size, 0, 1)?, read(size, 1, 1)?],
            declared: declared.transpose()?,
            strides: [read(&strides, 0, 1)?.max(1), read(&strides, 1, 1)?.max(1)],
            pads: [read(&pads, 0, 0)?, read(&pads, 1, 0)?, read(&pads, 2, 0)?, read(&pads, 3, 0)?],
        })
    }

    /// Rows or columns that come out.
    fn count(&self, direction: usize, length: usize, size: usize) -> Result<usize, OnnxError> {
        let pads = self.pads[direction] + self.pads[direction + 2];
        let padded = length.checked_add(pads).ok_or(MISFIT)?;
        Ok(padded.checked_sub(size).ok_or(MISFIT)? / self.strides[direction] + 1)
    }

    /// The pixel below a place of the window; none where it hangs over the edge.
    fn pixel(&self, direction: usize, at: usize, within: usize, length: usize) -> Option<usize> {
        (at * self.strides[direction] + within).checked_sub(self.pads[direction]).filter(|&i| i < length)
    }
}

/// A convolution with weights `[out, in, rows, columns]` and a bias.
pub(super) fn convolve(
    from: &Tensor,
    weights: &Tensor,
    bias: Option<&Tensor>,
    window: &Window,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let ([1, planes, height, width], [made, read, rows, columns]) = (&from.shape[..], &weights.shape[..])
    else {
        return Err(MISFIT);
    };
    let (planes, height, width, rows, columns) = (*planes, *height, *width, *rows, *columns);
    let is_declared = window.declared.is_none_or(|size| size == [rows, columns]);
    if planes != *read || !is_declared || bias.is_some_and(|b| b.data.len() != *made) {
        return Err(MISFIT);
    }
    let (tall, wide) = (window.count(0, height, rows)?, window.count(1, width, columns)?);
    let places = within(&[planes, rows, columns])?;
    out.become_zeros(&[1, *made, tall, wide], places, budget)?;
    for (i, x) in out.data.iter_mut().enumerate() {
        let (k, y0, x0) = (i / (tall * wide), i / wide % tall, i % wide);
        let mut sum = bias.map_or(0.0, |b| b.data[k]);
        for p in 0..planes {
            for r in 0..rows {
                let Some(y) = window.pixel(0, y0, r, height) else { continue };
                for c in 0..columns {
                    let Some(x) = window.pixel(1, x0, c, width) else { continue };
                    let weight = weights.data[((k * planes + p) * rows + r) * columns + c];
                    sum += weight * from.data[(p * height + y) * width + x];
                }
            }
        }
        *x = sum;
    }
    Ok(())
}

/// How many numbers a window covers, also where it hangs over the edge.
fn within(lengths: &[usize]) -> Result<usize, OnnxError> {
    lengths.iter().try_fold(1_usize, |n, &length| n.checked_mul(length)).ok_or(MISFIT)
}

/// The largest number in each window.
pub(super) fn pool(
    from: &Tensor,
    window: &Window,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let [1, planes, height, width] = from.shape[..] else { return Err(MISFIT) };
    let [rows, columns] = window.size;
    let (tall, wide) = (window.count(0, height, rows)?, window.count(1, width, columns)?);
    out.become_zeros(&[1, planes, tall, wide], within(&[rows, columns])?, budget)?;
    for (i, x) in out.data.iter_mut().enumerate() {
        let (p, y0, x0) = (i / (tall * wide), i / wide % tall, i % wide);
        let places = (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c)));
        let pixels = places
            .filter_map(|(r, c)| Some((window.pixel(0, y0, r, height)?, window.pixel(1, x0, c, width)?)));
        let numbers = pixels.map(|(y, x)| from.data[(p * height + y) * width + x]);
        // What is not a number stays that.
        *x = numbers.fold(f32::NEG_INFINITY, |most, x| if most > x || most.is_nan() { most } else { x });
    }
    Ok(())
}
