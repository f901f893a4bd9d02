//! Mutants of zips whose entries have the checksums that they say.

use super::dice::Dice;
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;

/// Changes one entry as its own format allows, or which entries there are; false if the bytes are no zip.
pub fn mutate(file: &mut Vec<u8>, dice: &mut Dice) -> bool {
    let Some(mut entries) = entries(file) else { return false };
    if entries.is_empty() {
        return false;
    }
    let at = dice.below(entries.len());
    match dice.below(12) {
        0 => drop(entries.remove(at)),
        1 => {
            let name = entries[dice.below(entries.len())].0.clone() + if dice.once_in(2) { "x" } else { "" };
            entries[at].0 = name;
        }
        _ => {
            let (name, content) = &mut entries[at];
            super::inner(name, content, dice);
        }
    }
    *file = written(&entries);
    true
}

fn entries(file: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(file)).ok()?;
    let n = archive.len();
    let read = |i: usize| {
        let entry = archive.by_index(i).ok()?;
        let name = entry.name().ok()?.to_string();
        let mut content = Vec::new();
        entry.take(1 << 20).read_to_end(&mut content).ok()?;
        Some((name, content))
    };
    (0..n).map(read).collect()
}

/// A zip of these entries; of two with one name the first.
pub fn written(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut to = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        if to.start_file(name, SimpleFileOptions::default()).is_ok() {
            to.write_all(content).expect("memory can be written");
        }
    }
    to.finish().expect("memory can be written").into_inner()
}
