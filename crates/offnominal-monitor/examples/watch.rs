//! A monitor is fitted, written as one file, opened again, and watches: `cargo run -p offnominal-monitor --example watch`.
//!
//! A controller pushes a cart to the origin. In the watched episode its position sensor fails at step 30.

use offnominal_core::alarm::{Event, Settings};
use offnominal_core::prelude::*;
use offnominal_monitor::{About, Calibrated, ChannelName, DetectorRecipe, FORMAT, Identity, Monitor, encode};
use offnominal_stats::{Level, Promise, Rule, Threshold};
use serde_json::json;

const STEPS: usize = 60;
/// Where the sensor fails.
const ONSET: usize = 30;

/// An episode of the cart: observations `[STEPS + 1]` and actions `[STEPS]`.
fn episode(seed: u64, sensor_fails: bool) -> (Vec<f32>, Vec<f32>) {
    let mut rng = Rng::new(seed);
    let (mut x, mut observations, mut actions) = (rng.range(-1.0, 1.0), Vec::new(), Vec::new());
    for t in 0..=STEPS {
        let offset = if sensor_fails && t > ONSET { 0.5 } else { 0.0 };
        observations.push((x + offset + 0.01 * rng.normal()) as f32);
        actions.push(-0.2 * observations[t]);
        x += f64::from(actions[t]);
    }
    actions.pop();
    (observations, actions)
}

fn episodes(seeds: std::ops::Range<u64>) -> Vec<(Vec<f32>, Vec<f32>)> {
    seeds.map(|seed| episode(seed, false)).collect()
}

fn signals((observations, actions): &(Vec<f32>, Vec<f32>)) -> Signals<'_> {
    Signals::new(observations, actions, 1, 1)
}

fn about(detector: DetectorRecipe, rule: Rule, threshold: &Threshold) -> About {
    let identity = |id: &str| Identity { id: id.into(), digest: String::new() };
    let channel =
        |name: &str| vec![ChannelName { name: name.into(), unit: "m".into(), ..ChannelName::default() }];
    About {
        format: FORMAT,
        engine: env!("CARGO_PKG_VERSION").into(),
        detector,
        environment: identity("cart"),
        policy: identity("proportional"),
        observation: channel("position"),
        action: channel("push"),
        dt_secs: 0.1,
        train_episodes: 20,
        seed: 1,
        diagnoses: false,
        hypotheses: vec![],
        threshold: Calibrated::new(rule, threshold, 40),
        alarm: Settings::default(),
        missing: offnominal_core::partial::Missing::Held,
        lost_after: 10,
        usual: vec![],
        groups: None,
        mapping: None,
    }
}

/// Fits on 20 episodes, sets the threshold on 40 others, and returns the bytes of the file.
fn fitted() -> Vec<u8> {
    let (train, calibration) = (episodes(0..20), episodes(20..60));
    let recipe = DetectorRecipe { id: "residual-views".into(), params: json!({}) };
    let detector =
        offnominal_detectors::catalogue().build(&recipe.id, &recipe.params).expect("it is built in");
    let views: Vec<_> = train.iter().map(signals).collect();
    let mut scorer =
        detector.fit(Nominal::new(&views, &[]), &mut Rng::new(1)).expect("the episodes are sound");
    let score = |episode| {
        let mut scores = Vec::new();
        scorer.score_episode(&signals(episode), &mut scores);
        scores
    };
    let scores: Vec<Vec<f64>> = calibration.iter().map(score).collect();
    let rule = Rule::Conformal(Promise::on_average(0.05));
    let threshold = rule.threshold(&scores, Level::P95).expect("40 episodes are enough");
    let archive = Monitor::archive(scorer.as_ref(), &threshold, None, None).expect("it can be kept");
    encode(&about(recipe, rule, &threshold), &archive)
}

fn main() {
    let path = std::env::temp_dir().join("cart.monitor");
    std::fs::write(&path, fitted()).expect("the temporary folder can be written");
    let mut monitor = Monitor::open(&path).expect("the file is sound");
    let (observations, actions) = episode(1000, true);
    for t in 0..STEPS {
        let verdict = monitor.step(&observations[t..=t], &actions[t..=t]).expect("the numbers are finite");
        let Some(verdict) = verdict.filter(|v| v.event == Some(Event::Raised)) else { continue };
        let (step, statistic, threshold) = (verdict.step, verdict.statistic, verdict.threshold);
        println!(
            "alarm at step {step}: {statistic:.1} is above {threshold:.1}; the sensor failed at step {ONSET}"
        );
    }
}
