//! Damaged result folders: an error that names the file, or a page; never a panic.

use super::{fixture, table};
use offnominal_bench::report;
use offnominal_bench::results::{Results, Row};
use offnominal_core::rng::Rng;
use std::path::Path;

/// A few rows, traces and curves: small enough to be damaged often.
fn small() -> Results {
    let mut results = fixture::results("small");
    results.rows.truncate(60);
    results.traces.truncate(2);
    results.traces.iter_mut().for_each(|t| (t.scores.truncate(80), t.twin.truncate(80)).1);
    results.curves.truncate(2);
    results.videos.truncate(1);
    results
}

/// One to four bytes changed, or the end cut off.
fn damage(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if rng.uniform() < 0.2 {
        bytes.truncate(rng.below(bytes.len()));
    }
    for _ in 0..=rng.below(4) {
        if !bytes.is_empty() {
            let at = rng.below(bytes.len());
            bytes[at] = if rng.uniform() < 0.5 { b"0e9-,\"\n"[rng.below(7)] } else { rng.bits() as u8 };
        }
    }
    bytes
}

/// The results with the rows that a damaged table still holds.
fn own_results(csv: &[u8], otherwise: &[u8]) -> Vec<u8> {
    let rows = offnominal_files::table::from_csv::<Row>(csv, Path::new("results.csv"));
    rows.map_or(otherwise.to_vec(), |rows| serde_json::to_vec(&Results { rows, ..small() }).unwrap())
}

/// The rows that damaged results still hold: the table that belongs to them.
fn own_table(json: &[u8], otherwise: &[u8]) -> Vec<u8> {
    serde_json::from_slice::<Results>(json).map_or(otherwise.to_vec(), |results| table(&results.rows))
}

fn try_folder(folder: &Path, json: &[u8], csv: &[u8]) -> bool {
    std::fs::write(folder.join("results.json"), json).unwrap();
    std::fs::write(folder.join("results.csv"), csv).unwrap();
    match report::read(folder) {
        Ok(results) => {
            report::render(&results).unwrap();
            report::charts(&results);
            true
        }
        Err(error) => {
            let message = format!("{error:#}");
            assert!(message.contains("results.json") || message.contains("results.csv"), "{message}");
            false
        }
    }
}

#[test]
fn damage_is_an_error_or_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let (json, csv) = (serde_json::to_vec(&small()).unwrap(), table(&small().rows));
    assert!(try_folder(folder.path(), &json, &csv));
    let mut rng = Rng::new(3);
    let mut readable = 0;
    for _ in 0..150 {
        let damaged = damage(&json, &mut rng);
        readable += usize::from(try_folder(folder.path(), &damaged, &own_table(&damaged, &csv)));
        let damaged = damage(&csv, &mut rng);
        readable += usize::from(try_folder(folder.path(), &own_results(&damaged, &json), &damaged));
    }
    assert!((20..280).contains(&readable), "both ends are tried: {readable} of 300 could be read");
}
