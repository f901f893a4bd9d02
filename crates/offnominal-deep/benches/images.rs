//! How many images a second each trained image detector scores and learns, on one core.
//!
//! `RAYON_NUM_THREADS=1 cargo bench -p offnominal-deep --features burn`: one item is an image of 128 × 128 pixels. The
//! `small` preset has to score thirty of them in a second.

use divan::{Bencher, counter::ItemsCount};
use offnominal_core::prelude::*;
use offnominal_deep::images::{self, Runtime, TrainedMonitor};
use serde_json::{Value, json};

const IDS: [&str; 5] = ["pred-ae", "prednet", "ldm", "lrdm", "rssm-ppm"];

fn main() {
    divan::main();
}

fn video(steps: usize) -> Video {
    let mut rng = Rng::new(1);
    let frames = (0..(steps + 1) * 128 * 128 * 3).map(|_| rng.below(256) as u8).collect();
    Video::new((128, 128), frames, (0..steps).map(|_| rng.normal() as f32).collect(), 1)
}

fn fitted(id: &str, params: &Value) -> Box<dyn TrainedMonitor> {
    let detector = images::find(id).unwrap().detector(params, Runtime::default()).unwrap();
    let videos = [video(640)];
    let mut fit = detector.begin(&videos, &[], &mut Rng::new(1)).unwrap();
    while !fit.is_done() {
        fit.advance().unwrap();
    }
    fit.finish()
}

/// Frame in, score out.
#[divan::bench(args = IDS, sample_count = 20, sample_size = 1)]
fn score(bencher: Bencher, id: &str) {
    let (mut monitor, video) = (fitted(id, &json!({ "learning": { "steps": 1 } })), video(20));
    bencher.counter(ItemsCount::new(20_usize)).bench_local(|| monitor.score_video(&video));
}

/// Steps of videos that are learned, with everything around them; twenty steps of the optimiser.
#[divan::bench(args = IDS, sample_count = 3, sample_size = 1)]
fn learn(bencher: Bencher, id: &str) {
    let params = json!({ "learning": { "steps": 20 } });
    let recipe = images::find(id).unwrap().recipe(&params).unwrap();
    let of = |name: &str| recipe["learning"][name].as_u64().unwrap() as usize;
    bencher.counter(ItemsCount::new(20 * of("batch") * of("window"))).bench_local(|| fitted(id, &params));
}
