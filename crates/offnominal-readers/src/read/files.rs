//! Readers of the crate of files.

use super::{mended, on_disk};
use offnominal_agents::pytorch::read_legacy;
use offnominal_bench::results::Row;
use offnominal_files::journal::Journal;
use offnominal_files::store::{State, Store};
use offnominal_files::{array, dataset, table};
use offnominal_nets::Tensors;
use offnominal_risk::estimate::block::{Block, ExperimentSpec};
use offnominal_risk::stress::again::Kept;
use serde_json::Value;
use std::path::Path;

/// Tensors of our own, and of others.
pub fn tensors(bytes: &[u8]) -> bool {
    Tensors::from_bytes_of_floats(bytes).is_ok() | Tensors::from_bytes(bytes).is_ok()
}

/// Tensors as PyTorch wrote them before its zip format.
pub fn torch_legacy(bytes: &[u8]) -> bool {
    read_legacy(bytes, "t.pth").is_ok()
}

/// An array of NumPy.
pub fn npy(bytes: &[u8]) -> bool {
    array::decode(bytes, "npy", "logits").is_ok()
}

/// An archive of arrays.
pub fn npz(bytes: &[u8]) -> bool {
    array::decode(bytes, "npz", "logits").is_ok()
}

/// Episodes as Arrow; a checksum that is the only thing that is wrong is mended.
pub fn dataset(bytes: &[u8]) -> bool {
    let decode = |bytes: &[u8]| {
        dataset::decode(bytes).map_err(|why| {
            let why = format!("{why:#}");
            let (_, rest) = why.split_once("expected the checksum ")?;
            let (stored, rest) = rest.split_once(", found ")?;
            let (found, _) = rest.split_once(':')?;
            Some((stored.as_bytes().to_vec(), found.as_bytes().to_vec()))
        })
    };
    mended(bytes, decode).is_some()
}

/// A table of results as CSV.
pub fn table_csv(bytes: &[u8]) -> bool {
    table::from_csv::<Row>(bytes, Path::new("t.csv")).is_ok()
}

/// A table of results as Parquet.
pub fn table_parquet(bytes: &[u8]) -> bool {
    table::from_parquet::<Row>(bytes, Path::new("t.parquet")).is_ok()
}

/// The journal of a run of experiments.
pub fn journal(bytes: &[u8]) -> bool {
    let first = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    let run = serde_json::from_slice::<Value>(first)
        .ok()
        .and_then(|mut line| serde_json::from_value::<ExperimentSpec>(line.get_mut("run")?.take()).ok());
    let file = on_disk(bytes);
    run.is_some_and(|run| Journal::open::<_, Block>(file.path(), &run).is_ok())
}

/// The failures of a stress test.
pub fn stress(bytes: &[u8]) -> bool {
    Kept::parse(bytes).is_ok()
}

/// The list of a finished cell's files.
pub fn cell(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let cell = folder.path().join("cells/c");
    let write = |name: &str, bytes: &[u8]| std::fs::write(cell.join(name), bytes);
    std::fs::create_dir_all(&cell).expect("a folder in it too");
    write("done.json", bytes).and_then(|()| write("a.bin", &[1, 2])).expect("and files");
    Store::new(folder.path()).state("c") == State::Done
}
