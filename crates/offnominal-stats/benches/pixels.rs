//! Pixels counted per second: the histogram, the paper's thresholds, and sorting.
//!
//! `cargo bench -p offnominal-stats --bench pixels`; each row also gives items per second.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use offnominal_core::Rng;
use offnominal_stats::pixel::{Exact, Histogram, Paper400, Truth};

fn main() {
    divan::main();
}

const PIXELS: usize = 1 << 21;

/// An image of two million pixels, a twentieth of them unknown.
fn image() -> (Vec<f32>, Vec<Truth>) {
    let mut rng = Rng::new(1);
    let truth: Vec<Truth> =
        (0..PIXELS).map(|_| if rng.uniform() < 0.05 { Truth::Unknown } else { Truth::Known }).collect();
    let scores =
        truth.iter().map(|&t| (rng.normal() + f64::from(t as u8)).clamp(-4.0, 4.0) as f32 / 8.0 + 0.5);
    (scores.collect(), truth)
}

#[divan::bench(args = [16, 18, 20], sample_count = 20, sample_size = 1)]
fn histogram(bencher: Bencher, bits: u32) {
    let ((scores, truth), mut counts) = (image(), Histogram::new(bits));
    bencher
        .counter(ItemsCount::new(PIXELS))
        .bench_local(|| counts.add(black_box(&scores), black_box(&truth)));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn paper400(bencher: Bencher) {
    let ((scores, truth), mut counts) = (image(), Paper400::default());
    bencher
        .counter(ItemsCount::new(PIXELS))
        .bench_local(|| counts.add(black_box(&scores), black_box(&truth)));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn exact(bencher: Bencher) {
    let (scores, truth) = image();
    bencher.counter(ItemsCount::new(PIXELS)).bench_local(|| {
        let mut pixels = Exact::default();
        pixels.add(black_box(&scores), black_box(&truth)).map(|()| pixels.curve().distinct())
    });
}
