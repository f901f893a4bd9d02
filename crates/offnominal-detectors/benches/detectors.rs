//! Scores per second of each detector, and training as a fraction of what the `gemm` crate reaches on the same shapes.
//!
//! `cargo bench -p offnominal-detectors`: the `fit` group is to be compared by its throughput in multiply-adds; the
//! column of allocations must be empty in the `step` group.

use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher};
use offnominal_core::detector::{Nominal, Scorer, Signals};
use offnominal_core::{Rng, Seed};
use serde_json::{Value, json};

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// The shape of HalfCheetah.
const OBS: usize = 18;
const ACT: usize = 6;
const STEPS: usize = 200;

/// Observations and actions of one episode, and how many channels they have.
struct Episode(Vec<f32>, Vec<f32>, [usize; 2]);

impl Episode {
    fn signals(&self) -> Signals<'_> {
        Signals::new(&self.0, &self.1, self.2[0], self.2[1])
    }
}

/// A gait: four phases seen through all channels, with noise; of actions that follow them.
fn gait(seed: Seed, noise: f64) -> Episode {
    gait_of([OBS, ACT], seed, noise)
}

fn gait_of([obs, act]: [usize; 2], seed: Seed, noise: f64) -> Episode {
    let mut rng = seed.rng();
    let phase: Vec<f64> = (0..4).map(|_| rng.range(0.0, 0.5)).collect();
    let wave = |t: usize, c: usize| (0.3 * t as f64 * (1.0 + (c % 4) as f64) + phase[c % 4] + c as f64).sin();
    let mut rows = |n: usize, width: usize, noise: f64| -> Vec<f32> {
        (0..n * width).map(|i| (wave(i / width, i % width) + noise * rng.normal()) as f32).collect()
    };
    Episode(rows(STEPS + 1, obs, noise), rows(STEPS, act, 0.1), [obs, act])
}

fn gaits(n: usize, noise: f64) -> Vec<Episode> {
    (0..n).map(|i| gait(Seed(1).child(i), noise)).collect()
}

fn fitted(id: &str, params: &Value, train: &[Episode]) -> Box<dyn Scorer> {
    let views: Vec<_> = train.iter().map(Episode::signals).collect();
    let recipe = offnominal_detectors::catalogue().build(id, params).unwrap();
    recipe.fit(Nominal::new(&views, &[]), &mut Rng::new(1)).unwrap()
}

/// One step after another of an episode that was not trained on.
fn stream(bencher: Bencher, mut monitor: Box<dyn Scorer>, probe: &Episode) {
    let signals = probe.signals();
    let mut t = 0;
    monitor.score(&signals.transition(0));
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        t = (t + 1) % signals.len();
        monitor.score(&signals.transition(t))
    });
}

/// Among 20,000 points.
mod step_knn {
    use super::*;

    /// The points lie near a curve, and so does the query.
    #[divan::bench]
    fn near(bencher: Bencher) {
        stream(bencher, fitted("knn", &json!({}), &gaits(100, 0.05)), &gait(Seed(2), 0.05));
    }

    /// The query is off by half a deviation in each channel.
    #[divan::bench]
    fn off(bencher: Bencher) {
        stream(bencher, fitted("knn", &json!({}), &gaits(100, 0.05)), &gait(Seed(2), 0.4));
    }

    /// Nothing but noise in 18 dimensions: no index can prune, and this is brute force.
    #[divan::bench]
    fn worst(bencher: Bencher) {
        stream(bencher, fitted("knn", &json!({}), &gaits(100, 30.0)), &gait(Seed(2), 30.0));
    }
}

mod step {
    use super::*;

    #[divan::bench(args = ["clock", "random", "isolation-forest"])]
    fn simple(bencher: Bencher, id: &str) {
        stream(bencher, fitted(id, &json!({}), &gaits(20, 0.05)), &gait(Seed(2), 0.05));
    }

    #[divan::bench]
    fn mlp_dm(bencher: Bencher) {
        stream(bencher, fitted("mlp-dm", &brief(), &gaits(4, 0.05)), &gait(Seed(2), 0.05));
    }

    #[divan::bench(args = ["analytic", "sampled-min"])]
    fn pe_dm(bencher: Bencher, score: &str) {
        let mut params = brief();
        params["score"] = json!(score);
        stream(bencher, fitted("pe-dm", &params, &gaits(4, 0.05)), &gait(Seed(2), 0.05));
    }

    /// A whole episode at once.
    #[divan::bench(args = ["analytic", "sampled-min"])]
    fn pe_dm_episode(bencher: Bencher, score: &str) {
        let mut params = brief();
        params["score"] = json!(score);
        let mut monitor = fitted("pe-dm", &params, &gaits(4, 0.05));
        let (probe, mut scores) = (gait(Seed(2), 0.05), Vec::new());
        monitor.score_episode(&probe.signals(), &mut scores);
        bencher
            .counter(ItemsCount::new(STEPS))
            .bench_local(|| monitor.score_episode(&probe.signals(), &mut scores));
    }
}

/// One step with 26 observation channels and 7 actions, monitors fitted on 4,000 steps.
mod step_wide {
    use super::*;

    const WIDE: [usize; 2] = [26, 7];

    fn wide(bencher: Bencher, id: &str, params: Value) {
        let train: Vec<Episode> = (0..20_usize).map(|i| gait_of(WIDE, Seed(1).child(i), 0.05)).collect();
        stream(bencher, fitted(id, &params, &train), &gait_of(WIDE, Seed(2), 0.05));
    }

    /// Nothing to train for long.
    #[divan::bench(args = ["knn", "knn-transition", "isolation-forest", "ocsvm"])]
    fn plain(bencher: Bencher, id: &str) {
        wide(bencher, id, json!({}));
    }

    /// With networks, trained for one epoch: the number of epochs does not change the cost of a step.
    #[divan::bench(args = ["mlp-dm", "lstm-dm", "riqn", "ensemble-dm", "multistep-dm", "residual-window", "residual-views"])]
    fn networks(bencher: Bencher, id: &str) {
        wide(bencher, id, brief());
    }

    #[divan::bench(args = ["analytic", "sampled-min"])]
    fn pe_dm(bencher: Bencher, score: &str) {
        wide(bencher, "pe-dm", json!({"score": score, "training": {"epochs": 1}}));
    }

    #[divan::bench(args = ["cusum", "e-process"])]
    fn accumulated(bencher: Bencher, id: &str) {
        wide(bencher, id, json!({"inner": {"id": "ensemble-dm", "training": {"epochs": 1}}}));
    }

    #[divan::bench]
    fn fusion(bencher: Bencher) {
        let of = |id: &str| json!({"id": id, "training": {"epochs": 1}});
        wide(
            bencher,
            "fusion",
            json!({"inner": [of("ensemble-dm"), "knn-transition", of("residual-window")]}),
        );
    }
}

fn brief() -> Value {
    json!({"training": {"epochs": 1}})
}

/// Five members, four epochs of 32 episodes; in multiply-adds per second.
mod fit {
    use super::*;

    const MEMBERS: usize = 5;
    const EPOCHS: usize = 4;
    const EPISODES: usize = 32;
    const BATCH: usize = 256;
    const SIZES: [usize; 5] = [OBS + ACT, 512, 256, 128, 2 * OBS];

    /// Multiply-adds of a forward pass, of all weight gradients, and of all input gradients but the first, per row.
    fn multiply_adds() -> usize {
        let layers = || SIZES.windows(2).map(|w| w[0] * w[1]);
        2 * layers().sum::<usize>() + layers().skip(1).sum::<usize>()
    }

    #[divan::bench(sample_count = 3, sample_size = 1)]
    fn pe_dm(bencher: Bencher) {
        let train = gaits(EPISODES, 0.05);
        let params = json!({"members": MEMBERS, "training": {"epochs": EPOCHS, "batch": BATCH}});
        bencher
            .counter(ItemsCount::new(MEMBERS * EPOCHS * EPISODES * STEPS * multiply_adds()))
            .bench_local(|| fitted("pe-dm", &params, &train));
    }

    /// The bare products of one gradient step.
    #[divan::bench]
    fn gemm_products(bencher: Bencher) {
        let widest = SIZES.iter().max().unwrap() * SIZES.iter().max().unwrap();
        let (mut x, w, mut y) = (vec![0.0; widest], vec![0.1; widest], vec![0.0; widest]);
        Rng::new(1).fill_normal(&mut x);
        bencher.counter(ItemsCount::new(BATCH * multiply_adds())).bench_local(|| {
            for (layer, s) in SIZES.windows(2).enumerate() {
                gemm([BATCH, s[1], s[0]], &mut y, (&x, s[0], 1), (&w, s[1], 1));
                gemm([s[0], s[1], BATCH], &mut y, (&x, 1, s[0]), (&w, s[1], 1));
                if layer > 0 {
                    gemm([BATCH, s[0], s[1]], &mut y, (&x, s[1], 1), (&w, 1, s[1]));
                }
            }
        });
    }

    /// c = a·b, where c is row-major and each factor is a slice with the distances between its rows and columns.
    fn gemm([m, n, k]: [usize; 3], c: &mut [f32], a: (&[f32], usize, usize), b: (&[f32], usize, usize)) {
        assert!(m * n <= c.len() && (m - 1) * a.1 + (k - 1) * a.2 < a.0.len());
        assert!((k - 1) * b.1 + (n - 1) * b.2 < b.0.len());
        let stride = |s: usize| s as isize;
        #[allow(unsafe_code)]
        // SAFETY: the pointers come from live slices, and all that is read or written lies inside them as asserted.
        // The product is given as its transpose, the orientation for which the crate is fastest.
        unsafe {
            gemm_f32::gemm::f32::get_gemm_fn()(
                n,
                m,
                k,
                c.as_mut_ptr(),
                stride(n),
                1,
                false,
                b.0.as_ptr(),
                stride(b.1),
                stride(b.2),
                a.0.as_ptr(),
                stride(a.1),
                stride(a.2),
                0.0,
                1.0,
                false,
                false,
                false,
                gemm_common::Parallelism::None,
            );
        }
    }
}
