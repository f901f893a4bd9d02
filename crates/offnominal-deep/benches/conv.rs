//! Milliseconds of each convolution of the small networks, ours and burn's, forward and with both gradients.
//!
//! `RAYON_NUM_THREADS=1 cargo bench -p offnominal-deep --features burn --bench conv`: both take turns, so that a busy
//! machine slows both; with `-- ours` or `-- burn` only one is measured. A line gives the median of the rounds, in
//! brackets their quartiles, and the fastest. `pytorch_conv.py` beside this file prints the same lines for PyTorch. A
//! batch has 12 images of 64 × 128 or 128 × 256 pixels.

use burn_tensor::ops::ConvOptions;
use burn_tensor::{Device, Tensor, TensorData, module};
use offnominal_core::Rng;
use offnominal_deep::conv;
use std::time::Instant;

const ROUNDS: usize = 21;
const BATCH: usize = 12;

/// Channels, size of the kernel, stride, dilation, and by what the image was made smaller before.
type Layer = ([usize; 2], usize, usize, usize, usize);

const LAYERS: [Layer; 10] = [
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

/// Milliseconds of the output alone, and of the output with both gradients.
fn once(
    conv2d: Convolution,
    x: &Tensor<4>,
    kernel: &Tensor<4>,
    options: impl Fn() -> ConvOptions<2>,
) -> [f64; 2] {
    let (a, b) = (x.clone(), kernel.clone());
    let forward = milliseconds(|| conv2d(a, b, None, options()));
    let [a, b] = [x, kernel].map(|t| Tensor::<4>::from_inner(t.clone()).require_grad());
    let both = milliseconds(|| {
        let gradients = conv2d(a.clone(), b.clone(), None, options()).sum().backward();
        a.grad(&gradients).zip(b.grad(&gradients)).expect("both gradients").0
    });
    [forward, both]
}

fn measure(ways: &[(&str, Convolution)], [height, width]: [usize; 2], layer: Layer) {
    let ([from, to], size, stride, dilation, smaller) = layer;
    let device = Device::flex();
    let x = normals([BATCH, from, height / smaller, width / smaller], &device);
    let kernel = normals([to, from, size, size], &device);
    let options = || ConvOptions::new([stride; 2], [dilation * (size - 1) / 2; 2], [dilation; 2], 1);
    let mut times = vec![[const { Vec::new() }; 2]; ways.len()];
    for _ in 0..ROUNDS {
        for (times, (_, conv2d)) in times.iter_mut().zip(ways) {
            let found = once(*conv2d, &x, &kernel, options);
            times.iter_mut().zip(found).for_each(|(times, time)| times.push(time));
        }
    }
    let name = format!("{height}x{width} {from}->{to} {size}x{size} s{stride} d{dilation}");
    for (times, (way, _)) in times.into_iter().zip(ways) {
        for (times, what) in times.into_iter().zip(["forward", "both"]) {
            println!("{name} {what} {way}: {}", quartiles(times));
        }
    }
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let mut ways: Vec<(&str, Convolution)> = vec![("ours", conv::conv2d), ("burn", burn)];
    ways.retain(|(way, _)| named.is_empty() || named.iter().any(|name| name == way));
    for size in [[64, 128], [128, 256]] {
        rayon::scope(|_| LAYERS.into_iter().for_each(|layer| measure(&ways, size, layer)));
    }
}
