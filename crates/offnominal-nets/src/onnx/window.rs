//! How a window goes over an image, as nodes declare it.

use super::OnnxError;
use super::arithmetic::MISFIT;
use super::node::Written;
use crate::planes::Axis;

/// The largest size, stride, dilation and padding of a window, in pixels: more than any image has.
const MOST: usize = 1 << 16;

/// Zeros around an image that a node leaves to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Automatic {
    /// None: they are given in numbers.
    No,
    /// As few as give size / stride places, rounded up; an odd one behind, or before.
    Same { is_before: bool },
    /// No zeros.
    Valid,
}

/// A window.
#[derive(Debug, Clone)]
pub(super) struct Window {
    /// The size as a node declares it.
    pub(super) declared: Option<[usize; 2]>,
    pub(super) strides: [usize; 2],
    dilations: [usize; 2],
    /// Zeros above and to the left, then below and to the right.
    pads: [usize; 4],
    automatic: Automatic,
    /// Whether a last window may hang over the edge.
    is_ceiled: bool,
    pub(super) groups: usize,
    /// Of transposed convolutions: rows and columns more, or in all.
    further: [usize; 2],
    outputs: Option<[usize; 2]>,
}

/// A length as a whole number, if it is one.
pub(super) fn whole(x: f32) -> Option<usize> {
    (x >= 0.0 && x.fract() == 0.0).then_some(x as usize)
}

impl Window {
    /// The window of a node.
    ///
    /// # Errors
    /// If it has other axes than rows and columns, or is larger than any image.
    pub(super) fn read(node: &Written) -> Result<Window, OnnxError> {
        let two = |name, otherwise| -> Result<Option<[usize; 2]>, OnnxError> {
            Ok(read::<2>(node, name)?.map(|found| found.map(|n| n.max(otherwise))))
        };
        let automatic = match node.text("auto_pad") {
            "" | "NOTSET" => Automatic::No,
            "SAME_UPPER" => Automatic::Same { is_before: false },
            "SAME_LOWER" => Automatic::Same { is_before: true },
            "VALID" => Automatic::Valid,
            other => return Err(node.unsupported("pads in numbers, SAME_UPPER, SAME_LOWER or VALID", other)),
        };
        let groups = usize::try_from(node.number("group", 1)).ok().filter(|&n| n > 0);
        Ok(Window {
            declared: two("kernel_shape", 0)?,
            strides: two("strides", 1)?.unwrap_or([1; 2]),
            dilations: two("dilations", 1)?.unwrap_or([1; 2]),
            pads: read::<4>(node, "pads")?.unwrap_or([0; 4]),
            automatic,
            is_ceiled: node.number("ceil_mode", 0) != 0,
            groups: groups.ok_or_else(|| node.unsupported("one group or more", "none"))?,
            further: two("output_padding", 0)?.unwrap_or([0; 2]),
            outputs: two("output_shape", 0)?,
        })
    }

    /// A square with the zeros that keep the size.
    pub(super) fn around(size: usize, stride: usize, dilation: usize) -> Window {
        Window {
            declared: None,
            strides: [stride; 2],
            dilations: [dilation; 2],
            pads: [dilation * (size - 1) / 2; 4],
            automatic: Automatic::No,
            is_ceiled: false,
            groups: 1,
            further: [0; 2],
            outputs: None,
        }
    }

    /// Both axes over an image of a size.
    ///
    /// # Errors
    /// If the window does not fit.
    pub(super) fn axes(&self, image: [usize; 2], kernel: [usize; 2]) -> Result<[Axis; 2], OnnxError> {
        self.check(kernel)?;
        let axis = |i: usize| {
            let (stride, dilation) = (self.strides[i], self.dilations[i]);
            let padding = match self.automatic {
                Automatic::No => [self.pads[i], self.pads[i + 2]],
                Automatic::Valid => [0; 2],
                Automatic::Same { is_before } => {
                    let reach = dilation * (kernel[i] - 1) + 1;
                    let all = (image[i].div_ceil(stride).max(1) - 1) * stride + reach;
                    split(all.saturating_sub(image[i]), is_before)
                }
            };
            let axis = Axis { size: image[i], kernel: kernel[i], stride, dilation, padding };
            if self.is_ceiled { ceiled(axis) } else { axis }
        };
        let axes = [axis(0), axis(1)];
        axes.iter().all(|axis| axis.outputs() > 0).then_some(axes).ok_or(MISFIT)
    }

    /// Both axes of the convolution whose outputs are an image of a size: its inputs are what comes out.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn transposed(&self, image: [usize; 2], kernel: [usize; 2]) -> Result<[Axis; 2], OnnxError> {
        self.check(kernel)?;
        // Each place within a stride has taps of its own.
        (self.strides[0] * self.strides[1] <= MOST).then_some(()).ok_or(MISFIT)?;
        let axis = |i: usize| {
            let (stride, dilation) = (self.strides[i], self.dilations[i]);
            let all = (image[i].max(1) - 1) * stride + dilation * (kernel[i] - 1) + 1 + self.further[i];
            let padding = match (self.outputs, self.automatic) {
                (Some(wanted), found) => {
                    split(all.saturating_sub(wanted[i]), found == Automatic::Same { is_before: true })
                }
                (None, Automatic::No) => [self.pads[i], self.pads[i + 2]],
                (None, Automatic::Valid) => [0; 2],
                (None, Automatic::Same { is_before }) => {
                    split(all.saturating_sub(image[i] * stride), is_before)
                }
            };
            let size = match self.outputs {
                Some(wanted) => wanted[i],
                None => all.checked_sub(padding[0] + padding[1]).ok_or(MISFIT)?,
            };
            let axis = Axis { size, kernel: kernel[i], stride, dilation, padding };
            (size > 0 && axis.outputs() == image[i]).then_some(axis).ok_or(MISFIT)
        };
        Ok([axis(0)?, axis(1)?])
    }

    /// Zeros of an axis that count in a mean: those that are there without a last window that hangs over the edge.
    pub(super) fn counted(&self, axis: usize, padding: [usize; 2]) -> [usize; 2] {
        match self.automatic {
            Automatic::No => [self.pads[axis], self.pads[axis + 2]],
            _ => padding,
        }
    }

    /// Requires a kernel as it is declared, with at least one tap and no more than any image has pixels in a row.
    fn check(&self, kernel: [usize; 2]) -> Result<(), OnnxError> {
        let taps = kernel[0].checked_mul(kernel[1]);
        let fits = taps.is_some_and(|n| (1..=MOST).contains(&n));
        (fits && self.declared.is_none_or(|size| size == kernel)).then_some(()).ok_or(MISFIT)
    }
}

/// Zeros before and behind.
fn split(all: usize, is_before: bool) -> [usize; 2] {
    let less = all / 2;
    if is_before { [all - less, less] } else { [less, all - less] }
}

/// With zeros for a last window that begins on the image and hangs over its edge.
fn ceiled(axis: Axis) -> Axis {
    let reach = axis.dilation * (axis.kernel - 1) + 1;
    let padded = axis.size + axis.padding[0] + axis.padding[1];
    let Some(rest) = padded.checked_sub(reach) else { return axis };
    let mut places = rest.div_ceil(axis.stride) + 1;
    places -= usize::from((places - 1) * axis.stride >= axis.size + axis.padding[0]);
    let end = ((places - 1) * axis.stride + reach).saturating_sub(axis.size + axis.padding[0]);
    Axis { padding: [axis.padding[0], end.max(axis.padding[1])], ..axis }
}

/// The numbers of an attribute, if it is there.
fn read<const N: usize>(node: &Written, name: &str) -> Result<Option<[usize; N]>, OnnxError> {
    let values = node.numbers(name);
    if values.is_empty() {
        return Ok(None);
    }
    if values.len() != N {
        return Err(node.unsupported("windows of rows and columns", "a window of other axes"));
    }
    let mut found = [0; N];
    for (found, &value) in found.iter_mut().zip(&values) {
        let length = usize::try_from(value).ok().filter(|&n| n <= MOST);
        *found =
            length.ok_or_else(|| node.unsupported("numbers from 0 to 65536", format!("{:?}", [value])))?;
    }
    Ok(Some(found))
}
