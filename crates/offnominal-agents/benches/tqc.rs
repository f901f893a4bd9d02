//! One gradient step of TQC against the bare matrix products that it cannot do without, by the `gemm` crate.
//!
//! `cargo bench -p offnominal-agents`: the ratio of the two throughputs is the share of gemm's rate that the whole step
//! reaches, with its activations, losses, sampling, optimisers and target networks.

#[path = "../../offnominal-nets/benches/support/gemm.rs"]
mod gemm;

use divan::{Bencher, counter::ItemsCount};
use gemm::{Factor, gemm};
use offnominal_agents::{Batch, Learner, Tqc, TrainConfig};
use offnominal_core::Rng;

fn main() {
    divan::main();
}

const OBS: usize = 17;
const ACT: usize = 6;

/// The two recipes of AnomalyGym: 256-256 with batches of 256, and 512-512-512 with batches of 512.
const PRESETS: [&str; 2] = ["sap", "mjc"];

fn config(preset: &str) -> TrainConfig {
    TrainConfig::preset(preset).unwrap()
}

fn widths(first: usize, config: &TrainConfig, last: usize) -> Vec<usize> {
    [&[first], config.hidden.as_slice(), &[last]].concat()
}

/// Every product of a step as (m, n, k) and the orientation of its factors.
#[derive(Clone, Copy)]
enum Product {
    Forward(usize, usize),
    Weights(usize, usize),
    Input(usize, usize),
}

impl Product {
    fn multiply_adds(self) -> usize {
        let (Product::Forward(i, o) | Product::Weights(i, o) | Product::Input(i, o)) = self;
        i * o
    }

    fn run(self, batch: usize, x: &[f32], w: &[f32], y: &mut [f32]) {
        match self {
            Product::Forward(i, o) => gemm((batch, o, i), y, Factor::rows(x, i), Factor::rows(w, o)),
            Product::Weights(i, o) => gemm((i, o, batch), y, Factor::columns(x, i), Factor::rows(w, o)),
            Product::Input(i, o) => gemm((batch, i, o), y, Factor::rows(x, o), Factor::columns(w, o)),
        }
    }
}

/// Actor: two forward passes and a backward pass. Each critic: three forward passes, one backward pass to the
/// parameters and one to the actions.
fn products(config: &TrainConfig) -> Vec<Product> {
    let mut all = vec![];
    let mut layers = |sizes: &[usize], forward: usize, weights: usize, input: usize| {
        for s in sizes.windows(2) {
            all.extend([Product::Forward(s[0], s[1])].repeat(forward));
            all.extend([Product::Weights(s[0], s[1])].repeat(weights));
        }
        for s in sizes.windows(2).skip(1) {
            all.extend([Product::Input(s[0], s[1])].repeat(input));
        }
    };
    layers(&widths(OBS, config, 2 * ACT), 2, 1, 1);
    for _ in 0..config.critics {
        layers(&widths(OBS + ACT, config, config.quantiles), 3, 1, 2);
    }
    all
}

fn items(config: &TrainConfig) -> ItemsCount {
    ItemsCount::new(config.batch * products(config).iter().map(|p| p.multiply_adds()).sum::<usize>())
}

#[divan::bench(args = PRESETS)]
fn gradient_step(bencher: Bencher, preset: &str) {
    let (config, mut rng) = (config(preset), Rng::new(1));
    let mut tqc = Tqc::new(&config, OBS, ACT, &mut rng);
    let mut batch = Batch::new(config.batch, OBS, ACT);
    rng.fill_normal(&mut batch.obs);
    rng.fill_normal(&mut batch.next_obs);
    rng.fill_normal(&mut batch.reward);
    bencher.counter(items(&config)).bench_local(|| tqc.update(&batch, 1e-5, &mut rng));
}

#[divan::bench(args = PRESETS)]
fn gemm_products(bencher: Bencher, preset: &str) {
    let config = config(preset);
    let (all, widest) = (products(&config), *config.hidden.iter().max().unwrap());
    let (mut x, mut w) = (vec![0.0; config.batch * widest], vec![0.0; widest * widest.max(config.batch)]);
    let mut y = w.clone();
    Rng::new(1).fill_normal(&mut x);
    Rng::new(2).fill_normal(&mut w);
    bencher
        .counter(items(&config))
        .bench_local(|| all.iter().for_each(|p| p.run(config.batch, &x, &w, &mut y)));
}
