//! Convolutions of images `[images, planes, rows, columns]`, and transposed ones, by [`planes`](crate::planes).

use super::OnnxError;
use super::arithmetic::{MISFIT, MISSING};
use super::budget::Budget;
use super::node::Inputs;
use super::tensor::Tensor;
use super::window::Window;
use crate::planes::{Filters, Kernel, Sweep, Work};
use std::sync::{Arc, OnceLock};

/// A convolution as a node has it.
#[derive(Debug, Clone)]
pub(super) struct Convolution {
    pub(super) window: Window,
    pub(super) is_transposed: bool,
    /// Whether what is negative becomes zero.
    pub(super) is_rectified: bool,
}

/// What is prepared for images of a shape.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    shape: Vec<usize>,
    work: Work,
    /// Of each group; of constant weights.
    filters: Vec<Vec<Filters>>,
}

/// What a node keeps, and what the first run prepared for all copies.
pub(super) type Kept<'a> = (&'a mut Option<Arc<Ready>>, &'a OnceLock<Arc<Ready>>);

/// How many planes go in and come out of each group, and how many groups there are.
#[derive(Debug, Clone, Copy)]
struct Groups {
    n: usize,
    from: usize,
    to: usize,
    taps: usize,
}

/// A convolution with weights `[out, in / groups, rows, columns]`, or a transposed one with `[in, out / groups, rows,
/// columns]`, and a bias.
pub(super) fn convolve(
    inputs: Inputs<'_>,
    by: &Convolution,
    out: &mut Tensor,
    (kept, once): Kept<'_>,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let (from, weights) = (inputs.get(0).ok_or(MISSING)?, inputs.get(1).ok_or(MISSING)?);
    let bias = inputs.get(2).map(|bias| &bias.data[..]);
    let groups = Groups::of(from, weights, bias, by)?;
    let [images, _, height, width] = from.shape[..] else { return Err(MISFIT) };
    if kept.as_ref().is_none_or(|ready| ready.shape != from.shape) {
        let sweep = sweep(by, [height, width], [weights.shape[2], weights.shape[3]])?;
        afford(&sweep, groups, by, images, out, budget)?;
        *kept = once.get().filter(|ready| ready.shape == from.shape).cloned();
        if kept.is_none() {
            let is_constant = (1..3).all(|i| inputs.is_constant(i) || inputs.get(i).is_none());
            let filters = if is_constant { groups.filters(&sweep, weights, bias, by) } else { vec![] };
            let ready = Arc::new(Ready { shape: from.shape.clone(), work: Work::new(sweep), filters });
            *kept =
                Some(once.get_or_init(|| ready.clone()).clone()).filter(|ready| ready.shape == from.shape);
            kept.get_or_insert(ready);
        }
    } else if let Some(ready) = kept {
        afford(&ready.work.sweep, groups, by, images, out, budget)?;
    }
    let ready = kept.as_ref().ok_or(MISFIT)?;
    let fresh = ready.filters.is_empty().then(|| groups.filters(&ready.work.sweep, weights, bias, by));
    let filters = fresh.as_ref().unwrap_or(&ready.filters);
    let (read, made) = (groups.from * height * width, groups.to * ready.work.pixels());
    let parts = from.data.chunks_exact(read).zip(out.data.chunks_exact_mut(made));
    for (i, (from, out)) in parts.enumerate() {
        ready.work.run(&filters[i % groups.n], from, out, by.is_rectified, &mut budget.scratch);
    }
    Ok(())
}

fn sweep(by: &Convolution, image: [usize; 2], kernel: [usize; 2]) -> Result<Sweep, OnnxError> {
    if by.is_transposed {
        return Ok(Sweep::backward(&by.window.transposed(image, kernel)?, image));
    }
    Ok(Sweep::forward(&by.window.axes(image, kernel)?))
}

/// Takes what comes out, and room for the planes that are read.
fn afford(
    sweep: &Sweep,
    groups: Groups,
    by: &Convolution,
    images: usize,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let Groups { n, from, to, taps } = groups;
    // Of a transposed convolution only some of the taps meet each pixel.
    let phases = if by.is_transposed { by.window.strides[0] * by.window.strides[1] } else { 1 };
    let work = from.checked_mul(taps).ok_or(MISFIT)?.div_ceil(phases);
    let [height, width] = sweep.size;
    budget.lend(sweep.planes.len().checked_mul(from))?;
    out.become_any(&[images, n.checked_mul(to).ok_or(MISFIT)?, height, width], work, budget)
}

impl Groups {
    fn of(
        from: &Tensor,
        weights: &Tensor,
        bias: Option<&[f32]>,
        by: &Convolution,
    ) -> Result<Groups, OnnxError> {
        let ([_, planes, ..], [first, second, rows, columns]) = (&from.shape[..], &weights.shape[..]) else {
            return Err(MISFIT);
        };
        let (n, planes) = (by.window.groups, *planes);
        let (read, made) = if by.is_transposed {
            (*first, second.checked_mul(n).ok_or(MISFIT)?)
        } else {
            (second.checked_mul(n).ok_or(MISFIT)?, *first)
        };
        let fits = read == planes && planes > 0 && made > 0 && planes % n == 0 && made % n == 0;
        if !fits || bias.is_some_and(|bias| bias.len() != made) || weights.data.is_empty() {
            return Err(MISFIT);
        }
        Ok(Groups { n, from: planes / n, to: made / n, taps: rows * columns })
    }

    /// The weights in the order in which they are read.
    fn filters(
        self,
        sweep: &Sweep,
        weights: &Tensor,
        bias: Option<&[f32]>,
        by: &Convolution,
    ) -> Vec<Vec<Filters>> {
        let Groups { n, from, to, taps } = self;
        let (to_stride, from_stride) = if by.is_transposed { (taps, to * taps) } else { (from * taps, taps) };
        let of = |group: usize| {
            let weights = &weights.data[group * from * to * taps..][..from * to * taps];
            let kernel = Kernel { weights, to, to_stride, from, from_stride };
            Filters::all(sweep, kernel, bias.map(|bias| &bias[group * to..][..to]))
        };
        (0..n).map(of).collect()
    }
}
