//! Time per step of every vector detector, with 26 observation channels and 7 actions: median and 99th percentile, and
//! the latter as a part of what a step may take (100 µs; 50 µs for `panel`).
//!
//! `cargo bench -p offnominal-detectors --bench latency`. Monitors are fitted on 4,000 steps. Every step of a probe is
//! scored seven times, and its fastest time counts: what is left is what the detector does, without what the system
//! does in between. The other times are in the last column: all steps as they came, on whatever else the machine did.

use offnominal_core::detector::{Nominal, Scorer, Signals};
use offnominal_core::{Rng, Seed};
use serde_json::{Value, json};
use std::time::Instant;

const OBS: usize = 26;
const ACT: usize = 7;
const STEPS: usize = 200;
const TIMES: usize = 7;
const PROBES: usize = 20;

/// Four phases seen through all channels, with noise.
fn gait(seed: Seed) -> (Vec<f32>, Vec<f32>) {
    let mut rng = seed.rng();
    let phase: Vec<f64> = (0..4).map(|_| rng.range(0.0, 0.5)).collect();
    let wave = |t: usize, c: usize| (0.3 * t as f64 * (1.0 + (c % 4) as f64) + phase[c % 4] + c as f64).sin();
    let mut rows = |n: usize, width: usize, noise: f64| -> Vec<f32> {
        (0..n * width).map(|i| (wave(i / width, i % width) + noise * rng.normal()) as f32).collect()
    };
    (rows(STEPS + 1, OBS, 0.05), rows(STEPS, ACT, 0.1))
}

fn gaits(seed: Seed, n: usize) -> Vec<(Vec<f32>, Vec<f32>)> {
    (0..n).map(|i| gait(seed.child(i))).collect()
}

fn signals((obs, actions): &(Vec<f32>, Vec<f32>)) -> Signals<'_> {
    Signals::new(obs, actions, OBS, ACT)
}

/// Each detector with its default widths; the number of epochs does not change the cost of a step.
fn recipes() -> Vec<(&'static str, &'static str, Value, f64)> {
    let brief = || json!({"training": {"epochs": 1}});
    let of = |id: &str| json!({"id": id, "training": {"epochs": 1}});
    let pe_dm = |score: &str| json!({"score": score, "training": {"epochs": 1}});
    let all = ["ensemble-dm", "residual-window"].map(of);
    vec![
        ("clock", "clock", json!({}), 100.0),
        ("random", "random", json!({}), 100.0),
        ("knn", "knn", json!({}), 100.0),
        ("isolation-forest", "isolation-forest", json!({}), 100.0),
        ("ocsvm", "ocsvm", json!({}), 100.0),
        ("mewma", "mewma", json!({}), 100.0),
        ("dpca", "dpca", json!({}), 100.0),
        ("riqn", "riqn", brief(), 100.0),
        ("mlp-dm", "mlp-dm", brief(), 100.0),
        ("lstm-dm", "lstm-dm", brief(), 100.0),
        ("pe-dm, analytic", "pe-dm", pe_dm("analytic"), 100.0),
        ("pe-dm, sampled-min", "pe-dm", pe_dm("sampled-min"), 100.0),
        ("knn-transition", "knn-transition", json!({}), 100.0),
        ("ensemble-dm", "ensemble-dm", brief(), 100.0),
        ("multistep-dm", "multistep-dm", brief(), 100.0),
        ("residual-window", "residual-window", brief(), 100.0),
        ("cusum", "cusum", json!({"inner": of("ensemble-dm")}), 100.0),
        ("e-process", "e-process", json!({"inner": of("ensemble-dm")}), 100.0),
        ("fusion", "fusion", json!({"inner": [all[0].clone(), "knn-transition", all[1].clone()]}), 100.0),
        (
            "panel",
            "panel",
            json!({"inner": [[{"id": "mewma", "statistic": "farthest", "reference": "beginning"}, {"id": "mewma", "reference": "offsets"}], of("residual-views")]}),
            50.0,
        ),
        ("rnd", "rnd", brief(), 100.0),
    ]
}

/// Fastest time of each step, and every time, in microseconds.
fn times(monitor: &mut dyn Scorer, probes: &[(Vec<f32>, Vec<f32>)]) -> (Vec<f64>, Vec<f64>) {
    let (mut fastest, mut all) = (vec![f64::INFINITY; probes.len() * STEPS], Vec::new());
    for _ in 0..TIMES {
        for (probe, fastest) in probes.iter().zip(fastest.chunks_exact_mut(STEPS)) {
            monitor.reset();
            for (seen, fastest) in signals(probe).transitions().zip(fastest) {
                let began = Instant::now();
                std::hint::black_box(monitor.score(&seen));
                let time = began.elapsed().as_secs_f64() * 1e6;
                *fastest = fastest.min(time);
                all.push(time);
            }
        }
    }
    (fastest, all)
}

fn percentile(times: &mut [f64], share: f64) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[((times.len() - 1) as f64 * share).round() as usize]
}

fn main() {
    let (train, probes) = (gaits(Seed(1), 20), gaits(Seed(2), PROBES));
    let views: Vec<_> = train.iter().map(signals).collect();
    println!("{:<20} {:>8} {:>8} {:>8} {:>14}", "detector", "p50 µs", "p99 µs", "of limit", "p99 µs, as run");
    for (name, id, params, limit) in recipes() {
        let recipe = offnominal_detectors::catalogue().build(id, &params).expect("a sound recipe");
        let mut monitor = recipe.fit(Nominal::new(&views, &[]), &mut Rng::new(1)).expect("sound episodes");
        let (mut fastest, mut all) = times(monitor.as_mut(), &probes);
        let (p50, p99) = (percentile(&mut fastest, 0.5), percentile(&mut fastest, 0.99));
        println!(
            "{name:<20} {p50:>8.1} {p99:>8.1} {:>8.2} {:>14.1}",
            p99 / limit,
            percentile(&mut all, 0.99)
        );
    }
}
