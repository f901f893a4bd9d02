//! Recordings of two tanks, and what a page asks for with them.

use offnominal_core::Rng;
use offnominal_web::desk::{self, Parts};
use offnominal_work::progress::Silent;
use serde_json::{Value, json};
use std::sync::Arc;

/// A recording as CSV; a leak begins at a step, if at all.
pub fn recording(seed: u64, leaks_from: Option<usize>) -> Vec<u8> {
    let (mut rng, mut levels) = (Rng::new(seed), [0.5, 0.3]);
    let mut text = String::from("time,level,flow,valve\n");
    for step in 0..200 {
        let valve = 0.5 + 0.4 * (step as f64 / 9.0).sin();
        let leak = if leaks_from.is_some_and(|from| step >= from) { 0.05 } else { 0.0 };
        levels[0] += 0.1 * (valve - levels[0]);
        levels[1] += 0.1 * (levels[0] - levels[1]) - leak * levels[1] + 0.001 * rng.normal();
        text += &format!("{},{},{},{valve}\n", step as f64 / 10.0, levels[1], levels[0]);
    }
    text.into_bytes()
}

/// Nominal ones, each with its name.
pub fn nominal(n: u64) -> Vec<(String, Vec<u8>)> {
    (0..n).map(|i| (format!("run{i:02}.csv"), recording(i, None))).collect()
}

/// Which column is what.
pub const MAPPING: &str = "version = 1\nobservation = [{ column = \"level\" }, { column = \"flow\" }]\n\
                           command = [{ column = \"valve\" }]\n[clock]\ncolumn = \"time\"\n";

/// Asks for something with files.
pub fn ask(request: &Value, files: &[&[u8]]) -> anyhow::Result<Parts> {
    let request = request.to_string().into_bytes();
    let given = std::iter::once(request).chain(files.iter().map(|file| file.to_vec())).collect();
    desk::run(given, Arc::new(Silent))
}

/// What a page asks for to fit a detector, which is an id or a table.
pub fn fit_request(logs: &[(String, Vec<u8>)], detector: &Value) -> Value {
    let names: Vec<&String> = logs.iter().map(|(name, _)| name).collect();
    let fit = json!({ "logs": names, "detector": detector, "alpha": 0.1, "diagnosis": false, "file": "tanks.monitor" });
    json!({ "command": "fit", "request": fit, "mapping": MAPPING, "seed": 0 })
}

/// The file of a monitor.
pub fn fitted(detector: &Value) -> Vec<u8> {
    let logs = nominal(16);
    let files: Vec<&[u8]> = logs.iter().map(|(_, bytes)| &bytes[..]).collect();
    ask(&fit_request(&logs, detector), &files).unwrap().remove(1)
}

/// What a page asks for to score one log.
pub fn score_request(mapping: Option<&str>) -> Value {
    json!({ "command": "score", "monitor": "tanks.monitor", "logs": ["leak.csv"], "mapping": mapping, "seed": 0 })
}
