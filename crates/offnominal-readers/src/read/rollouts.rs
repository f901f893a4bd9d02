//! Readers of rollouts of generative policies, and of what a command says about them.

use offnominal_agents::pytorch::dictionary;
use offnominal_rollouts::detector::Detector;
use offnominal_rollouts::read::{Collected, Settings, json_lines, pickle, table};
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

/// Rollouts as ActProbe pickles them.
pub fn rollout_pickle(bytes: &[u8]) -> bool {
    let mut into = Collected::new(Settings::default());
    pickle::read(bytes, Path::new("r.pkl"), &mut into).is_ok() && into.end().is_ok()
}

/// A detector or a split of a command.
pub fn rollout_request(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).map(str::trim);
    text.is_ok_and(|text| text.parse::<Detector>().is_ok() || text.parse::<Split>().is_ok())
}

/// Embeddings of instructions: a dictionary of arrays that NumPy pickled.
pub fn task_embeddings(bytes: &[u8]) -> bool {
    dictionary::read(bytes, "t.npy").is_ok()
}
