//! ln p_y of each pixel, from logits and the pixel's class: one pass each way.
//!
//! With m the largest of a pixel's logits z, ln p_y = z_y − m − ln Σ exp(z − m), and the derivative by z_k is
//! [k = y] − p_k. On other devices than the processor the operations are burn's.

use crate::flex::{self, Taped, dims, numbers, tensor};
use burn_dispatch::backends::Flex;
use burn_dispatch::backends::autodiff::NodeId;
use burn_dispatch::backends::autodiff::checkpoint::base::Checkpointer;
use burn_dispatch::backends::autodiff::checkpoint::strategy::NoCheckpointing;
use burn_dispatch::backends::autodiff::grads::Gradients;
use burn_dispatch::backends::autodiff::ops::{Backward, Ops, OpsKind};
use burn_dispatch::backends::flex::FlexTensor;
use burn_tensor::activation::log_softmax;
use burn_tensor::{DType, Int, Tensor, TensorData};
use offnominal_nets::exp;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::sync::Arc;

/// Pixels that are worked on together.
const PIXELS: usize = 64;

/// ln p_y of logits `[images, classes, height, width]` as `[images, 1, height, width]`, for labels `[images, height,
/// width]`, each of them a class.
pub fn log_likelihood(logits: Tensor<4>, labels: &Arc<[u8]>) -> Tensor<4> {
    let [images, _, height, width] = logits.dims();
    if logits.dtype() == DType::F32 {
        if let Some(z) = flex::plain(&logits) {
            return flex::from_plain(apply(&z, labels));
        }
        if let Some(z) = flex::taped(&logits) {
            return flex::from_taped(record(z, labels.clone()));
        }
    }
    let ids: Vec<i32> = labels.iter().map(|&label| label.into()).collect();
    let ids: Tensor<4, Int> =
        Tensor::from_data(TensorData::new(ids, [images, 1, height, width]), &logits.device().inner());
    log_softmax(logits, 1).gather(1, ids)
}

/// What some neighbouring pixels of an image have to be normalised by: m and Σ exp(z − m).
///
/// The loops are written out, because a closure may be compiled for the oldest processors.
#[inline(always)]
fn sums(z: &[f32], plane: usize, first: usize, n: usize) -> [[f32; PIXELS]; 2] {
    let (mut most, mut sums) = ([f32::NEG_INFINITY; PIXELS], [0.0; PIXELS]);
    for row in z.chunks_exact(plane) {
        for (most, &z) in most.iter_mut().zip(&row[first..][..n]) {
            *most = z.max(*most);
        }
    }
    for row in z.chunks_exact(plane) {
        for ((sum, &most), &z) in sums.iter_mut().zip(&most).zip(&row[first..][..n]) {
            *sum += exp(z - most);
        }
    }
    [most, sums]
}

/// ln p_y of an image.
struct Image<'a> {
    z: &'a [f32],
    labels: &'a [u8],
    out: &'a mut [f32],
}

impl WithSimd for Image<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Image { z, labels, out } = self;
        let plane = labels.len();
        for first in (0..plane).step_by(PIXELS) {
            let n = PIXELS.min(plane - first);
            let [most, sums] = sums(z, plane, first, n);
            for i in 0..n {
                let chosen = z[usize::from(labels[first + i]) * plane + first + i];
                out[first + i] = chosen - most[i] - sums[i].ln();
            }
        }
    }
}

/// The derivatives of an image by its logits, for those by ln p_y.
struct Slopes<'a> {
    z: &'a [f32],
    labels: &'a [u8],
    dy: &'a [f32],
    out: &'a mut [f32],
}

impl WithSimd for Slopes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Slopes { z, labels, dy, out } = self;
        let plane = labels.len();
        for first in (0..plane).step_by(PIXELS) {
            let n = PIXELS.min(plane - first);
            let ([most, sums], mut shares) = (sums(z, plane, first, n), [0.0; PIXELS]);
            for ((share, dy), sum) in shares.iter_mut().zip(&dy[first..]).zip(&sums) {
                *share = -dy / sum;
            }
            for (z, out) in z.chunks_exact(plane).zip(out.chunks_exact_mut(plane)) {
                let (z, out) = (&z[first..][..n], &mut out[first..][..n]);
                for (((out, &z), &most), &share) in out.iter_mut().zip(z).zip(&most).zip(&shares) {
                    *out = share * exp(z - most);
                }
            }
            for i in first..first + n {
                out[usize::from(labels[i]) * plane + i] += dy[i];
            }
        }
    }
}

fn apply(z: &FlexTensor, labels: &[u8]) -> FlexTensor {
    let [images, classes, height, width] = dims(z);
    let plane = height * width;
    let mut out = vec![0.0; labels.len()];
    numbers(z, |z| {
        let work = out.par_chunks_mut(plane).zip(z.par_chunks(classes * plane)).zip(labels.par_chunks(plane));
        work.for_each(|((out, z), labels)| Arch::new().dispatch(Image { z, labels, out }));
    });
    tensor(out, &[images, 1, height, width])
}

fn back(z: &FlexTensor, dy: &FlexTensor, labels: &[u8]) -> FlexTensor {
    let [_, classes, height, width] = dims(z);
    let plane = height * width;
    let mut out = vec![0.0; classes * labels.len()];
    numbers(z, |z| {
        numbers(dy, |dy| {
            let read = z.par_chunks(classes * plane).zip(labels.par_chunks(plane)).zip(dy.par_chunks(plane));
            let work = out.par_chunks_mut(classes * plane).zip(read);
            work.for_each(|(out, ((z, labels), dy))| Arch::new().dispatch(Slopes { z, labels, dy, out }));
        });
    });
    tensor(out, &dims(z))
}

/// The step back.
#[derive(Debug)]
struct Step;

impl Backward<Flex, 1> for Step {
    /// The node of the logits.
    type State = (NodeId, Arc<[u8]>);

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, kept: &mut Checkpointer) {
        let dy = gradients.consume::<Flex>(&ops.node);
        let (z, labels) = ops.state;
        let z: FlexTensor = kept.retrieve_node_output(z);
        if let [Some(node)] = ops.parents {
            gradients.register::<Flex>(node.id, back(&z, &dy, &labels));
        }
    }
}

fn record(z: Taped, labels: Arc<[u8]>) -> Taped {
    let y = apply(z.primitive(), &labels);
    match Step.prepare::<NoCheckpointing>([z.node()]).compute_bound().stateful() {
        OpsKind::UnTracked(step) => step.finish(y),
        OpsKind::Tracked(mut step) => {
            let state = (step.checkpoint(&z), labels);
            step.finish(state, y)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::weights;
    use offnominal_core::Rng;

    #[test]
    fn it_agrees_with_the_operations_of_burn() {
        let (mut rng, cpu) = (Rng::new(1), device::cpu());
        for shape in [[1, 1, 1, 1], [2, 5, 3, 7], [3, 10, 9, 16]] {
            let [images, classes, height, width] = shape;
            let pixels = images * height * width;
            let labels: Arc<[u8]> = (0..pixels).map(|_| rng.below(classes) as u8).collect();
            let mut normals = |n: usize| (0..n).map(|_| 4.0 * rng.normal() as f32).collect::<Vec<_>>();
            let z = weights::tensor(normals(pixels * classes), shape, &cpu);
            let dy: Tensor<4> = weights::tensor(normals(pixels), [images, 1, height, width], &cpu);
            let ids = labels.iter().map(|&label| i32::from(label)).collect::<Vec<_>>();
            let ids: Tensor<4, Int> =
                Tensor::from_data(TensorData::new(ids, [images, 1, height, width]), &cpu);
            let found = [true, false].map(|is_ours| {
                let z = Tensor::<4>::from_inner(z.clone()).require_grad();
                let y = if is_ours {
                    log_likelihood(z.clone(), &labels)
                } else {
                    log_softmax(z.clone(), 1).gather(1, Tensor::from_inner(ids.clone()))
                };
                let gradients = (y.clone() * Tensor::from_inner(dy.clone())).sum().backward();
                [weights::numbers(y.inner()), weights::numbers(z.grad(&gradients).unwrap())].concat()
            });
            for (a, b) in found[0].iter().zip(&found[1]) {
                assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{shape:?}: {a} {b}");
            }
        }
    }
}
