//! Against the definition in double precision, against burn, and with one thread and two.

use super::run::{Kernel, run, run_by};
use super::weights::{to_weights, to_weights_by};
use super::*;
use burn_tensor::{Device, TensorData};
use offnominal_core::Rng;
use offnominal_nets::planes::Sweep;
use pulp::{Scalar, Simd, WithSimd};

/// A convolution: images, channels, sizes, and the options of both axes.
#[derive(Debug, Clone, Copy)]
struct Case {
    images: usize,
    from: usize,
    to: usize,
    size: [usize; 2],
    kernel: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
    padding: [usize; 2],
}

impl Case {
    fn options(&self) -> ConvOptions<2> {
        ConvOptions::new(self.stride, self.padding, self.dilation, 1)
    }

    fn outputs(&self) -> [usize; 2] {
        [0, 1].map(|i| {
            (self.size[i] + 2 * self.padding[i] - self.dilation[i] * (self.kernel[i] - 1) - 1)
                / self.stride[i]
                + 1
        })
    }

    /// Calls with the place of each product in y, x and the kernel.
    fn products(&self, mut each: impl FnMut(usize, usize, usize)) {
        let [height, width] = self.outputs();
        for (image, to, from) in grid([self.images, self.to, self.from]) {
            for (i, j, row) in grid([self.kernel[0], self.kernel[1], height]) {
                for column in 0..width {
                    let y = (row * self.stride[0] + i * self.dilation[0]).wrapping_sub(self.padding[0]);
                    let x = (column * self.stride[1] + j * self.dilation[1]).wrapping_sub(self.padding[1]);
                    if y < self.size[0] && x < self.size[1] {
                        let source = ((image * self.from + from) * self.size[0] + y) * self.size[1] + x;
                        let weight = ((to * self.from + from) * self.kernel[0] + i) * self.kernel[1] + j;
                        each(((image * self.to + to) * height + row) * width + column, source, weight);
                    }
                }
            }
        }
    }

    fn shapes(&self) -> [[usize; 4]; 3] {
        let [y, x] = [self.outputs(), self.size];
        [
            [self.images, self.to, y[0], y[1]],
            [self.images, self.from, x[0], x[1]],
            [self.to, self.from, self.kernel[0], self.kernel[1]],
        ]
    }
}

fn grid([a, b, c]: [usize; 3]) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..a).flat_map(move |i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k))))
}

/// Many of them, small, around the borders of tiles and vectors.
fn cases() -> Vec<Case> {
    let mut rng = Rng::new(1);
    let mut cases = Vec::new();
    for kernel in [1, 3, 4, 5, 7] {
        for stride in [1, 2, 3] {
            for dilation in [1, 2, 3, 4] {
                let mut draw = |from: usize, to: usize| from + rng.below(to - from);
                let reach = dilation * (kernel - 1) + 1;
                let padding = [draw(0, reach / 2 + 1), draw(0, reach / 2 + 2)];
                let size = [0, 1].map(|i| draw(1, 40).max(reach.saturating_sub(2 * padding[i])));
                let (images, from, to) = (draw(1, 4), draw(1, 8), draw(1, 20));
                let (kernel, stride, dilation) = ([kernel, kernel], [stride; 2], [dilation; 2]);
                cases.push(Case { images, from, to, size, kernel, stride, dilation, padding });
            }
        }
    }
    let plain = Case {
        images: 2,
        from: 3,
        to: 9,
        size: [6, 32],
        kernel: [3, 1],
        stride: [2, 1],
        dilation: [1, 2],
        padding: [1, 0],
    };
    cases.extend([
        plain,
        Case { kernel: [1, 1], stride: [1, 1], padding: [0, 0], to: 4, ..plain },
        Case { kernel: [1, 1], stride: [1, 1], padding: [0, 0], size: [1, 1], ..plain },
        Case { kernel: [1, 1], stride: [2, 2], padding: [0, 0], size: [5, 7], ..plain },
        Case {
            kernel: [1, 3],
            stride: [1, 1],
            dilation: [1, 1],
            padding: [0, 1],
            size: [4, 16],
            to: 1,
            ..plain
        },
    ]);
    cases
}

fn normals(shape: [usize; 4], seed: u64) -> Tensor<4> {
    let mut numbers = vec![0.0; shape.iter().product()];
    Rng::new(seed).fill_normal(&mut numbers);
    Tensor::from_data(TensorData::new(numbers, shape.to_vec()), &Device::flex())
}

fn numbers<const D: usize>(x: &Tensor<D>) -> Vec<f32> {
    x.to_data().try_to_vec().unwrap()
}

fn assert_close(found: &Tensor<4>, shape: [usize; 4], want: &[f64], what: &Case) {
    assert_eq!(found.dims(), shape, "{what:?}");
    for (i, (found, want)) in numbers(found).iter().zip(want).enumerate() {
        assert!((f64::from(*found) - want).abs() < 1e-3 * (1.0 + want.abs()), "{what:?}: {i} {want} {found}");
    }
}

/// y and the gradients of x and the kernel, by the definition.
fn truth(case: &Case, [dy, x, kernel]: [&Tensor<4>; 3]) -> [Vec<f64>; 3] {
    let [dy, x, kernel] = [dy, x, kernel].map(numbers);
    let (mut y, mut dx, mut dk) = (vec![0.0; dy.len()], vec![0.0; x.len()], vec![0.0; kernel.len()]);
    case.products(|to, from, weight| {
        y[to] += f64::from(x[from]) * f64::from(kernel[weight]);
        dx[from] += f64::from(dy[to]) * f64::from(kernel[weight]);
        dk[weight] += f64::from(dy[to]) * f64::from(x[from]);
    });
    [y, dx, dk]
}

/// What comes out, and the gradients of x and the kernel for a gradient of what comes out.
fn taped(
    conv: impl Fn(Tensor<4>, Tensor<4>) -> Tensor<4>,
    [x, kernel]: [&Tensor<4>; 2],
    dy: &Tensor<4>,
) -> [Tensor<4>; 3] {
    let [x, kernel] = [x, kernel].map(|t| Tensor::from_inner(t.clone()).require_grad());
    let y = conv(x.clone(), kernel.clone());
    let gradients = (y.clone() * Tensor::from_inner(dy.clone())).sum().backward();
    [y.inner(), x.grad(&gradients).unwrap(), kernel.grad(&gradients).unwrap()]
}

#[test]
fn convolutions_and_their_gradients_agree_with_the_definition() {
    for case in cases() {
        let shapes = case.shapes();
        let [dy, x, kernel] = [1, 2, 3].map(|i| normals(shapes[i as usize - 1], i));
        let truth = truth(&case, [&dy, &x, &kernel]);
        let found = taped(|x, kernel| conv2d(x, kernel, None, case.options()), [&x, &kernel], &dy);
        for i in 0..3 {
            assert_close(&found[i], shapes[i], &truth[i], &case);
        }
        assert_close(&conv2d(x, kernel, None, case.options()), shapes[0], &truth[0], &case);
    }
}

#[test]
fn transposed_convolutions_and_their_gradients_agree_with_the_definition() {
    for case in cases() {
        let shapes = case.shapes();
        let [dy, x, kernel] = [1, 2, 3].map(|i| normals(shapes[i as usize - 1], i));
        let [y, dx, dk] = truth(&case, [&dy, &x, &kernel]);
        let reach =
            |i: usize| (shapes[0][i + 2] - 1) * case.stride[i] + case.dilation[i] * (case.kernel[i] - 1) + 1;
        let out = [0, 1].map(|i| case.size[i] + 2 * case.padding[i] - reach(i));
        let options = || ConvTransposeOptions::new(case.stride, case.padding, out, case.dilation, 1);
        // What was y goes in, what was x comes out.
        let found = taped(|y, kernel| conv_transpose2d(y, kernel, None, options()), [&dy, &kernel], &x);
        assert_close(&found[0], shapes[1], &dx, &case);
        assert_close(&found[1], shapes[0], &y, &case);
        assert_close(&found[2], shapes[2], &dk, &case);
    }
}

#[test]
fn a_bias_is_added_and_has_a_gradient() {
    let (x, kernel) = (normals([2, 3, 9, 20], 1), normals([5, 3, 3, 3], 2));
    let bias = Tensor::<1>::from_floats([1.0, -2.0, 3.0, 0.5, 0.0], &Device::flex());
    let options = || ConvOptions::new([2; 2], [1; 2], [1; 2], 1);
    let bare = numbers(&conv2d(x.clone(), kernel.clone(), None, options()));
    let leaf = Tensor::from_inner(bias.clone()).require_grad();
    // An input without a tape meets weights with one, as in the first layer of a network.
    let y = conv2d(x, kernel, Some(leaf.clone()), options());
    let [_, _, rows, columns] = y.dims();
    let (bias, found) = (numbers(&bias), numbers(&y.clone().inner()));
    for (i, (found, bare)) in found.iter().zip(bare).enumerate() {
        assert!((found - bare - bias[i / (rows * columns) % 5]).abs() < 1e-5, "{i}");
    }
    let slope = leaf.grad(&y.sum().backward()).unwrap();
    assert_eq!(numbers(&slope), vec![(2 * rows * columns) as f32; 5]);
}

/// y by vectors of other lengths, with all bits, and the gradient of the kernel up to rounding.
#[test]
fn vectors_of_other_processors_give_the_same() {
    for case in cases() {
        let [dy, x, kernel] = [0, 1, 2].map(|i| numbers(&normals(case.shapes()[i], i as u64)));
        let axis = |i: usize| {
            let (size, kernel, stride) = (case.size[i], case.kernel[i], case.stride[i]);
            Axis { size, kernel, stride, dilation: case.dilation[i], padding: [case.padding[i]; 2] }
        };
        let sweep = Sweep::forward(&[axis(0), axis(1)]);
        let taps = case.kernel[0] * case.kernel[1];
        let (from, to) = (case.from, case.to);
        let packed = Kernel { weights: &kernel, to, to_stride: from * taps, from, from_stride: taps };
        let want = (run(&sweep, &x, packed, None), to_weights(&sweep, &x, &dy, [from, to]));
        let check = |found: (Vec<f32>, Vec<f32>)| {
            assert_eq!(found.0, want.0, "{case:?}");
            for (a, b) in found.1.iter().zip(&want.1) {
                assert!((a - b).abs() < 1e-3 * (1.0 + b.abs()), "{case:?}: {a} {b}");
            }
        };
        let y = run_by(1, |block| block.with_simd(Scalar), &sweep, &x, packed, None);
        check((y, to_weights_by(1, |task| task.with_simd(Scalar), &sweep, &x, &dy, [from, to])));
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            let y = run_by(8, |block| Simd::vectorize(simd, block), &sweep, &x, packed, None);
            check((y, to_weights_by(8, |task| Simd::vectorize(simd, task), &sweep, &x, &dy, [from, to])));
        }
    }
}

#[test]
fn what_is_not_covered_is_burns() {
    let (x, kernel) = (normals([2, 6, 9, 9], 1), normals([6, 1, 3, 3], 2));
    let options = || ConvOptions::new([1; 2], [1; 2], [1; 2], 6);
    let (found, want) =
        (conv2d(x.clone(), kernel.clone(), None, options()), module::conv2d(x, kernel, None, options()));
    assert_eq!(numbers(&found), numbers(&want));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let case = |&case: &Case| {
            let [dy, x, kernel] = [0, 1, 2].map(|i| normals(case.shapes()[i], i as u64));
            let found = taped(|x, kernel| conv2d(x, kernel, None, case.options()), [&x, &kernel], &dy);
            found.map(|t| numbers(&t))
        };
        pool.install(|| cases().iter().step_by(7).map(case).collect::<Vec<_>>())
    };
    let one = run(1);
    assert_eq!(run(2), one);
    assert_eq!(run(5), one);
}
