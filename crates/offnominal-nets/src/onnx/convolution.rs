//! Convolutions of images `[images, planes, rows, columns]`, and transposed ones, by [`planes`](crate::planes).

use super::OnnxError;
use super::arithmetic::{MISFIT, MISSING};
use super::budget::Budget;
use super::node::Inputs;
use super::tensor::Tensor;
use super::window::Window;
use crate::planes::{Axis, Filters, Kernel, Sweep, Work};
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
    let known = kept.as_ref().or(once.get()).filter(|ready| ready.shape == from.shape).cloned();
    let axes = axes(by, [height, width], [weights.shape[2], weights.shape[3]])?;
    let size = axes.map(|axis| if by.is_transposed { axis.size } else { axis.outputs() });
    out.become_any(&[images, groups.made()?, size[0], size[1]], groups.work(by)?, budget)?;
    if known.is_none() {
        let sweep =
            if by.is_transposed { Sweep::backward(&axes, [height, width]) } else { Sweep::forward(&axes) };
        budget.lend(sweep.planes.numbers().checked_mul(groups.from))?;
        let is_constant = (1..3).all(|i| inputs.is_constant(i) || inputs.get(i).is_none());
        let filters = if is_constant { groups.filters(&sweep, weights, bias, by) } else { vec![] };
        let ready = Arc::new(Ready { shape: from.shape.clone(), work: Work::new(sweep), filters });
        // All copies of the graph share what the first run of the first of them prepared.
        let shared = once.get_or_init(|| ready.clone());
        *kept = Some(if shared.shape == ready.shape { shared.clone() } else { ready });
    } else {
        *kept = known;
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

/// The axes of the convolution, whose outputs are what is read if it is transposed.
fn axes(by: &Convolution, image: [usize; 2], kernel: [usize; 2]) -> Result<[Axis; 2], OnnxError> {
    if by.is_transposed { by.window.transposed(image, kernel) } else { by.window.axes(image, kernel) }
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
        if !fits
            || bias.is_some_and(|bias| bias.len() != made)
            || weights.data.is_empty()
            || from.data.is_empty()
        {
            return Err(MISFIT);
        }
        Ok(Groups { n, from: planes / n, to: made / n, taps: rows * columns })
    }

    /// Planes that come out.
    fn made(self) -> Result<usize, OnnxError> {
        self.n.checked_mul(self.to).ok_or(MISFIT)
    }

    /// Multiplications for each number; of a transposed convolution only some of the taps meet each pixel.
    fn work(self, by: &Convolution) -> Result<usize, OnnxError> {
        let phases = if by.is_transposed { by.window.strides[0] * by.window.strides[1] } else { 1 };
        Ok(self.from.checked_mul(self.taps).ok_or(MISFIT)?.div_ceil(phases))
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
