//! Exact AUROC of 10⁷ scores against the sort alone, and the bootstrap of 20,000 steps.
//!
//! `cargo bench -p offnominal-stats`; the ratio of the first two rows is the cost of the metrics beyond sorting.

use divan::{Bencher, black_box};
use offnominal_core::{Rng, Seed};
use offnominal_stats::{Bootstrap, Level, Mode, ScoredEpisode, detection, tally};

fn main() {
    divan::main();
}

fn scores(n: usize) -> (Vec<f64>, Vec<bool>) {
    let mut rng = Rng::new(1);
    let labels: Vec<bool> = (0..n).map(|_| rng.bits() & 1 == 1).collect();
    let scores = labels.iter().map(|&l| rng.normal() + f64::from(u8::from(l))).collect();
    (scores, labels)
}

#[divan::bench(args = [100_000, 10_000_000], sample_count = 3, sample_size = 1)]
fn auroc(bencher: Bencher, n: usize) {
    let (scores, labels) = scores(n);
    bencher.bench(|| tally(black_box(&scores), black_box(&labels)));
}

#[divan::bench(args = [100_000, 10_000_000], sample_count = 3, sample_size = 1)]
fn sort_alone(bencher: Bencher, n: usize) {
    let (scores, _) = scores(n);
    bencher.with_inputs(|| scores.clone()).bench_values(|mut s| {
        s.sort_unstable_by(f64::total_cmp);
        s
    });
}

#[divan::bench(args = [200, 1000], sample_count = 5, sample_size = 1)]
fn bootstrap_of_20_000_steps(bencher: Bencher, replicates: usize) {
    let (scores, _) = scores(20_000);
    let episodes: Vec<_> =
        scores.chunks(200).map(|s| ScoredEpisode::persistent(s.to_vec(), 100, None)).collect();
    let plan = Bootstrap::new(replicates, Level::P95, Seed(0));
    bencher.bench(|| detection(black_box(&episodes), Mode::Global, &plan));
}
