//! Milliseconds of each convolution of the small networks, ours and burn's, forward and with both gradients.
//!
//! `RAYON_NUM_THREADS=2 cargo bench -p offnominal-deep --features burn --bench conv`: both take turns, so that a busy
//! machine slows both; a line gives the median of the rounds and, in brackets, their quartiles. `pytorch_conv.py`
//! beside this file prints the same lines for PyTorch. A batch has 12 images of 64 × 128 or 128 × 256 pixels.

use burn_tensor::ops::ConvOptions;
use burn_tensor::{Device, Tensor, TensorData, module};
use offnominal_core::Rng;
use offnominal_deep::conv;
use std::time::Instant;

const ROUNDS: usize = 21;
const BATCH: usize = 12;

/// Channels, size of the kernel, stride, dilation, and by what the image was made smaller before.
const LAYERS: [([usize; 2], usize, usize, usize, usize); 10] = [
    ([3, 16], 3, 2, 1, 1),
    ([16, 16], 3, 1, 1, 2),
    ([16, 32], 3, 2, 1, 2),
    ([32, 32], 3, 1, 1, 4),
    ([32, 64], 3, 2, 1, 4),
    ([64, 64], 3, 1, 1, 8),
    ([64, 64], 3, 1, 2, 8),
    ([64, 64], 3, 1, 4, 8),
    ([128, 64], 3, 1, 1, 8),
    ([64, 64], 1, 1, 1, 8),
];

type Convolution = fn(Tensor<4>, Tensor<4>, Option<Tensor<1>>, ConvOptions<2>) -> Tensor<4>;

fn burn(x: Tensor<4>, kernel: Tensor<4>, bias: Option<Tensor<1>>, options: ConvOptions<2>) -> Tensor<4> {
    module::conv2d(x, kernel, bias, options)
}

fn normals(shape: [usize; 4], device: &Device) -> Tensor<4> {
    let mut numbers = vec![0.0; shape.iter().product()];
    Rng::new(1).fill_normal(&mut numbers);
    Tensor::from_data(TensorData::new(numbers, shape.to_vec()), device)
}

fn milliseconds(work: impl FnOnce() -> Tensor<4>) -> f64 {
    let start = Instant::now();
    let y = work();
    let time = start.elapsed().as_secs_f64() * 1e3;
    assert!(y.dims()[0] > 0);
    time
}

fn quartiles(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[(times.len() - 1) * share / 4];
    format!("{:.3} [{:.3}, {:.3}], fastest {:.3}", at(2), at(1), at(3), at(0))
}

fn main() {
    let device = Device::flex();
    let ways: [(&str, Convolution); 2] = [("ours", conv::conv2d), ("burn", burn)];
    for [height, width] in [[64, 128], [128, 256]] {
        for ([from, to], size, stride, dilation, smaller) in LAYERS {
            let x = normals([BATCH, from, height / smaller, width / smaller], &device);
            let kernel = normals([to, from, size, size], &device);
            let options = || ConvOptions::new([stride; 2], [dilation * (size - 1) / 2; 2], [dilation; 2], 1);
            let mut times = [const { Vec::new() }; 4];
            for _ in 0..ROUNDS {
                for (i, (_, conv2d)) in ways.iter().enumerate() {
                    let (a, b) = (x.clone(), kernel.clone());
                    times[i].push(milliseconds(|| conv2d(a, b, None, options())));
                    let taped = |t: &Tensor<4>| Tensor::from_inner(t.clone()).require_grad();
                    let (a, b) = (taped(&x), taped(&kernel));
                    times[2 + i].push(milliseconds(|| {
                        let y = conv2d(a.clone(), b.clone(), None, options());
                        let gradients = y.sum().backward();
                        a.grad(&gradients).zip(b.grad(&gradients)).expect("both gradients").0
                    }));
                }
            }
            let name = format!("{height}x{width} {from}->{to} {size}x{size} s{stride} d{dilation}");
            for (times, what) in
                times.into_iter().zip(["forward ours", "forward burn", "both ours", "both burn"])
            {
                println!("{name} {what}: {}", quartiles(times));
            }
        }
    }
}
