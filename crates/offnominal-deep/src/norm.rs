//! The normalisation of a batch by its own means and variances (Ioffe and Szegedy, ICML 2015), in few passes.
//!
//! With m and v of a channel, s = 1 / √(v + ε), h = (x − m) s and N numbers in the channel:
//!
//! - y = γ h + β, of which the negative part may be dropped at once: two passes that read x, one that writes y;
//! - dβ = Σ dy, dγ = Σ dy h, dx = γ s (dy − dβ / N − h dγ / N): one pass for the sums, one that writes dx. Where the
//!   negative part was dropped, dy is zero; that is seen from x.
//!
//! Written as operations on tensors it takes about ten passes each way. Sums follow one order, whatever the number of
//! threads. On other devices than the processor the operations are burn's.

mod channel;

use crate::flex::{self, Taped, numbers, tensor};
use burn_dispatch::backends::Flex;
use burn_dispatch::backends::autodiff::NodeId;
use burn_dispatch::backends::autodiff::checkpoint::base::Checkpointer;
use burn_dispatch::backends::autodiff::checkpoint::strategy::NoCheckpointing;
use burn_dispatch::backends::autodiff::grads::Gradients;
use burn_dispatch::backends::autodiff::ops::{Backward, Ops, OpsKind};
use burn_dispatch::backends::flex::FlexTensor;
use burn_tensor::activation::relu;
use burn_tensor::{DType, Tensor, module};
use channel::{Channel, apply, back};

/// A normalised batch, with what it was normalised by; only the batch has derivatives.
pub struct Normalised {
    /// As the batch.
    pub output: Tensor<4>,
    /// Of each channel.
    pub mean: Tensor<1>,
    /// Of each channel, of the batch itself.
    pub variance: Tensor<1>,
}

/// Normalises x `[images, channels, rows, columns]`; without its negative part if it is rectified.
pub fn normalise(
    x: Tensor<4>,
    scale: Tensor<1>,
    shift: Tensor<1>,
    epsilon: f64,
    is_rectified: bool,
) -> Normalised {
    let is_covered = x.dtype() == DType::F32 && x.shape().num_elements() > 0;
    let taped = || Some((flex::taped(&x)?, flex::taped(&scale)?, flex::taped(&shift)?));
    let Some((x, scale, shift)) = is_covered.then(taped).flatten() else {
        let found = module::batch_norm_train(x, scale, shift, epsilon);
        let output = if is_rectified { relu(found.output) } else { found.output };
        return Normalised { output, mean: found.mean.inner(), variance: found.variance.inner() };
    };
    let channels = Channel::all(x.primitive(), scale.primitive(), shift.primitive(), epsilon);
    let of = |f: fn(&Channel) -> f32| {
        flex::from_plain(tensor(channels.iter().map(f).collect(), &[channels.len()]))
    };
    let (mean, variance) = (of(|c| c.mean), of(|c| c.variance));
    Normalised { output: flex::from_taped(record(x, scale, shift, channels, is_rectified)), mean, variance }
}

/// Normalises by means and variances that are given; without derivatives.
pub fn normalise_by(
    x: Tensor<4>,
    [scale, shift, mean, variance]: [Tensor<1>; 4],
    epsilon: f64,
    is_rectified: bool,
) -> Tensor<4> {
    let is_covered = x.dtype() == DType::F32 && x.shape().num_elements() > 0;
    let vector = |t: &Tensor<1>| Some(numbers(&flex::plain(t)?, <[f32]>::to_vec));
    let plain = || {
        let [scale, shift, mean, variance] = [&scale, &shift, &mean, &variance].map(vector);
        let (scale, shift, mean, variance) = (scale?, shift?, mean?, variance?);
        let channel =
            |c: usize| Channel::new(mean[c].into(), variance[c].into(), epsilon, [scale[c], shift[c]]);
        let channels: Vec<Channel> = (0..mean.len()).map(channel).collect();
        Some(apply(&flex::plain(&x)?, &channels, is_rectified))
    };
    match is_covered.then(plain).flatten() {
        Some(y) => flex::from_plain(y),
        None => {
            let y = module::batch_norm(x, scale, shift, mean, variance, epsilon);
            if is_rectified { relu(y) } else { y }
        }
    }
}

/// The step back.
#[derive(Debug)]
struct Step;

impl Backward<Flex, 3> for Step {
    /// The node of x.
    type State = (NodeId, Vec<Channel>, bool);

    fn backward(self, ops: Ops<Self::State, 3>, gradients: &mut Gradients, kept: &mut Checkpointer) {
        let dy = gradients.consume::<Flex>(&ops.node);
        let (x, channels, is_rectified) = ops.state;
        let x: FlexTensor = kept.retrieve_node_output(x);
        let slopes = back(&x, &dy, &channels, is_rectified);
        for (node, slope) in ops.parents.into_iter().zip(slopes) {
            if let Some(node) = node {
                gradients.register::<Flex>(node.id, slope);
            }
        }
    }
}

fn record(x: Taped, scale: Taped, shift: Taped, channels: Vec<Channel>, is_rectified: bool) -> Taped {
    let y = apply(x.primitive(), &channels, is_rectified);
    let step = Step.prepare::<NoCheckpointing>([x.node(), scale.node(), shift.node()]);
    match step.compute_bound().stateful() {
        OpsKind::UnTracked(step) => step.finish(y),
        OpsKind::Tracked(mut step) => {
            let state = (step.checkpoint(&x), channels, is_rectified);
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

    /// The output and the gradients of x, γ and β, for some gradient of the output.
    fn found(is_ours: bool, is_rectified: bool, shape: [usize; 4]) -> Vec<Vec<f32>> {
        let mut rng = Rng::new(1);
        let mut normals = |n: usize| (0..n).map(|_| rng.normal() as f32 + 0.5).collect::<Vec<_>>();
        let n = shape.iter().product();
        let cpu = device::cpu();
        let [x, dy] =
            [normals(n), normals(n)].map(|v| Tensor::<4>::from_inner(weights::tensor(v, shape, &cpu)));
        let vector = |v| Tensor::<1>::from_inner(weights::tensor(v, [shape[1]], &cpu)).require_grad();
        let (x, scale, shift) = (x.require_grad(), vector(normals(shape[1])), vector(normals(shape[1])));
        let (y, mean, variance) = if is_ours {
            let found = normalise(x.clone(), scale.clone(), shift.clone(), 1e-5, is_rectified);
            (found.output, found.mean, found.variance)
        } else {
            let found = module::batch_norm_train(x.clone(), scale.clone(), shift.clone(), 1e-5);
            let y = if is_rectified { relu(found.output) } else { found.output };
            (y, found.mean.inner(), found.variance.inner())
        };
        let gradients = (y.clone() * dy).sum().backward();
        let vectors = [mean, variance, scale.grad(&gradients).unwrap(), shift.grad(&gradients).unwrap()];
        let mut all = vec![weights::numbers(y.inner()), weights::numbers(x.grad(&gradients).unwrap())];
        all.extend(vectors.map(weights::numbers));
        all
    }

    #[test]
    fn given_means_and_variances_are_used() {
        let shape = [2, 3, 4, 5];
        let values = (0..120).map(|i| (i % 17) as f32).collect();
        let x: Tensor<4> = weights::tensor(values, shape, &device::cpu());
        let vectors = [[1.0, -2.0, 0.5], [0.0, 1.0, 2.0], [3.0, 8.0, 1.0], [4.0, 1.0, 9.0]]
            .map(|v| weights::tensor(v.to_vec(), [3], &device::cpu()));
        let [scale, shift, mean, variance] = vectors.clone();
        let want = relu(module::batch_norm(x.clone(), scale, shift, mean, variance, 1e-5));
        let found = weights::numbers(normalise_by(x, vectors, 1e-5, true));
        for (a, b) in found.iter().zip(weights::numbers(want)) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }

    #[test]
    fn it_agrees_with_the_operations_of_burn() {
        for shape in [[1, 1, 1, 2], [2, 3, 5, 7], [4, 20, 8, 16]] {
            for is_rectified in [false, true] {
                let [ours, burn] = [true, false].map(|is_ours| found(is_ours, is_rectified, shape));
                for (i, (ours, burn)) in ours.iter().zip(&burn).enumerate() {
                    for (a, b) in ours.iter().zip(burn) {
                        assert!(
                            (a - b).abs() < 1e-4 * (1.0 + b.abs()),
                            "{shape:?} {is_rectified} {i}: {a} {b}"
                        );
                    }
                }
            }
        }
    }
}
