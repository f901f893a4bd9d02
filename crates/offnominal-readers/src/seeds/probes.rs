//! Seeds of failure probes.

use offnominal_core::Rng;
use offnominal_engine::context::Context;
use offnominal_rollouts::probe::fit::{Request, fit};
use offnominal_rollouts::read::{Collected, Settings, json_lines};
use offnominal_rollouts::rollout::Rollouts;
use serde_json::{Value, json};
use std::path::Path;

/// Detectors that between them read signals, embeddings, networks and other detectors.
const DETECTORS: [(&str, &str); 5] = [
    ("hazard", "hazard"),
    ("both", "and(band(mean(tce)),-acm)"),
    ("knn", "knn"),
    ("network", "actprobe"),
    ("together", "odds(hazard,survival,task-prior)"),
];

/// A probe of each.
pub fn probes() -> Vec<(String, Vec<u8>)> {
    let (data, context) = (drawn(), Context::silent(1, 1));
    let one = |(name, detector): (&str, &str)| {
        let detector = detector.parse().expect("a detector");
        let request = Request { detector, alpha: 0.2, ..Request::default() };
        (name.to_string(), fit(&request, &data, &context).expect("enough rollouts").encode())
    };
    DETECTORS.map(one).into()
}

/// Short rollouts of two tasks with two signals and embeddings.
fn drawn() -> Rollouts {
    let (mut rng, mut lines, mut into) = (Rng::new(1), String::new(), Collected::new(Settings::default()));
    for i in 0..60 {
        let (fails, task) = (i % 3 == 0, ["cup", "door"][i / 3 % 2]);
        let steps: Vec<Value> = (0..if fails { 9 } else { 6 })
            .map(|t| {
                let [acm, tce] = [(); 2].map(|()| (100.0 * rng.uniform()).round() / 100.0);
                json!({"step": t, "acm": acm, "tce": tce, "embedding": [acm, tce]})
            })
            .collect();
        lines += &format!("{}\n", json!({"rollout": i, "task": task, "success": !fails, "steps": steps}));
    }
    json_lines::read(lines.as_bytes(), Path::new("drawn.jsonl"), &mut into).expect("sound lines");
    into.end().expect("both outcomes")
}
