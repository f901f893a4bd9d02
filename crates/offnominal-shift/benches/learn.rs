//! What a gradient step of the internal model costs, and what judging a run costs.
//!
//! `cargo bench -p offnominal-shift`: one item is a multiply-add of the products, so that the throughput can be set
//! beside
//! that of `cargo bench -p offnominal-nets`.

use divan::{Bencher, counter::ItemsCount};
use offnominal_core::Rng;
use offnominal_shift::{Inputs, InternalModel, Learning, ModelRecipe, Stream};

fn main() {
    divan::main();
}

/// Widths of the hopper's observations and commands.
const WIDTHS: (usize, usize) = (15, 3);
/// Multiply-adds of a gradient step with the publication's batch: 20 sequences of 500 steps, forward and backward.
const STEP: usize = 4_500_000_000;

fn runs() -> Vec<Stream> {
    let run = |i: usize| {
        let mut stream = Stream::new(WIDTHS.0, WIDTHS.1);
        for t in 0..2000 {
            let wave = |c: usize| (0.05 * t as f32 * (1.0 + 0.1 * c as f32) + i as f32).sin();
            let all: Vec<f32> = (0..WIDTHS.0 + WIDTHS.1).map(wave).collect();
            stream.push(&all[..WIDTHS.0], &all[WIDTHS.0..]);
        }
        stream
    };
    (0..12).map(run).collect()
}

/// One gradient step.
#[divan::bench(sample_count = 12, sample_size = 1)]
fn gradient_step(bencher: Bencher) {
    let (runs, mut rng) = (runs(), Rng::new(1));
    let mut learning = Learning::begin(&runs, &ModelRecipe::default(), &mut rng).unwrap();
    bencher.counter(ItemsCount::new(STEP)).bench_local(|| learning.step(&runs));
}

/// The rate of true positives of 10,000 steps, five runs of the above.
#[divan::bench(sample_count = 12, sample_size = 1)]
fn judge(bencher: Bencher) {
    let (runs, recipe) =
        (runs(), ModelRecipe { updates: 1, inputs: Inputs::StatesAndActions, ..ModelRecipe::default() });
    let model: InternalModel =
        offnominal_shift::learn(&runs, &recipe, &mut Rng::new(1), &mut |_, _| ()).unwrap();
    bencher
        .counter(ItemsCount::new(10_000_usize))
        .bench_local(|| runs[..5].iter().map(|run| model.true_positives(run).n[0]).sum::<u64>());
}
