//! Readers of rollouts of generative policies, and of what a command says about them.

use super::{digits, mended};
use offnominal_agents::pytorch::dictionary;
use offnominal_rollouts::detector::Detector;
use offnominal_rollouts::probe::{Probe, Rollout, digest_error};
use offnominal_rollouts::read::{Collected, Settings, json_lines, table};
use offnominal_rollouts::split::Split;
use std::path::Path;

/// Rollouts as JSON lines.
pub fn rollout_lines(bytes: &[u8]) -> bool {
    let mut into = Collected::new(Settings::default());
    json_lines::read(bytes, Path::new("r.jsonl"), &mut into).is_ok() && into.end().is_ok()
}

/// Rollouts as Parquet.
pub fn rollout_table(bytes: &[u8]) -> bool {
    let mut into = Collected::new(Settings::default());
    table::read(bytes, Path::new("r.parquet"), &mut into).is_ok() && into.end().is_ok()
}

/// A detector or a split of a command.
pub fn rollout_request(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).map(str::trim);
    text.is_ok_and(|text| text.parse::<Detector>().is_ok() || text.parse::<Split>().is_ok())
}

/// A failure probe, which then watches a few steps of a task that it knows and of another; a digest that is the only thing that
/// is wrong is mended.
pub fn failure_probe(bytes: &[u8]) -> bool {
    let read = |bytes: &[u8]| {
        Probe::decode(bytes)
            .map_err(|why| digest_error(&why).map(|(expected, found)| (digits(expected), digits(found))))
    };
    let Some(probe) = mended(bytes, read) else { return false };
    let about = probe.about();
    for task in [about.tasks[0].name.as_str(), "another"] {
        let Ok(mut watcher) = probe.begin(&Rollout { task, ..Rollout::default() }) else { continue };
        for x in [0.0, 1.0, 1e300, -1.0] {
            let found = watcher.seen(&vec![x; about.signals.len()], &vec![x as f32; about.embedding]);
            assert!(found.is_ok_and(|verdict| verdict.score.is_finite()) || x.abs() > 0.0, "a score at zero");
        }
    }
    true
}

/// Embeddings of instructions: a dictionary of arrays that NumPy pickled.
pub fn task_embeddings(bytes: &[u8]) -> bool {
    dictionary::read(bytes, "t.npy").is_ok()
}
