//! Mutants of safetensors whose header has the length that it says.

use super::dice::Dice;
use super::{bytes, json};
use serde_json::{Value, json as value};

/// Changes the header, the numbers, or a whole tensor; false if the bytes are something else.
pub fn mutate(file: &mut Vec<u8>, dice: &mut Dice) -> bool {
    let Some((mut header, mut data)) = parts(file) else { return false };
    match dice.below(5) {
        0 => bytes::mutate(&mut data, dice),
        1 | 2 => {
            if !tensor(&mut header, &mut data, dice) {
                return false;
            }
        }
        _ => json::change(&mut header, dice),
    }
    let text = header.to_string();
    *file = [&(text.len() as u64).to_le_bytes(), text.as_bytes(), &data].concat();
    true
}

fn parts(file: &[u8]) -> Option<(Value, Vec<u8>)> {
    let length = u64::from_le_bytes(*file.first_chunk()?);
    let end = usize::try_from(length).ok()?.checked_add(8)?;
    Some((serde_json::from_slice(file.get(8..end)?).ok()?, file[end..].to_vec()))
}

/// Gives the tensor at the end of the data another shape, and the numbers for it.
fn tensor(header: &mut Value, data: &mut Vec<u8>, dice: &mut Dice) -> bool {
    let Some(entries) = header.as_object_mut() else { return false };
    let tensors = entries.iter().filter(|(name, entry)| *name != "__metadata__" && entry.is_object());
    let names: Vec<String> = tensors.map(|(name, _)| name.clone()).collect();
    if names.is_empty() {
        return false;
    }
    let name = dice.of(&names).clone();
    if dice.once_in(4) {
        // Another name; the numbers stay.
        let entry = entries.remove(&name).expect("it is there");
        let other = if dice.once_in(2) { format!("{name}.0") } else { dice.of(&names).clone() };
        entries.insert(other, entry);
        return true;
    }
    let old = offsets(&entries[&name]);
    let shape: Vec<usize> = (0..dice.below(4)).map(|_| *dice.of(&[0, 1, 1, 2, 3, 5, 8, 33])).collect();
    let width = if entries[&name]["dtype"] == "F16" { 2 } else { 4 };
    let len = width * shape.iter().product::<usize>();
    let (from, to) = (old.0.min(data.len()), old.1.min(data.len()));
    data.splice(from..to.max(from), vec![if dice.once_in(2) { 0 } else { 0x3f }; len]);
    let shift = |at: usize| if at >= old.1 { at - (old.1 - old.0) + len } else { at };
    for other in &names {
        let (start, end) = offsets(&entries[other]);
        let moved = if *other == name { [from, from + len] } else { [shift(start), shift(end)] };
        entries[other]["data_offsets"] = value!(moved);
    }
    entries[&name]["shape"] = value!(shape);
    true
}

fn offsets(entry: &Value) -> (usize, usize) {
    let at = |i: usize| entry["data_offsets"][i].as_u64().unwrap_or(0).min(1 << 40) as usize;
    (at(0), at(1).max(at(0)))
}
