//! A dictionary of NumPy arrays in a file of NumPy, as `numpy.save` writes it: an array of one object, which is a pickle.
//!
//! Nothing of the pickle is executed, and only the names that an array needs are accepted.
//! Reference: NumPy's format (`numpy/lib/format.py`); the pickle is read by `super::pickle`.

use super::FileError;
use super::array::numbers;
use super::pickle::{Node, Pickle};
use offnominal_core::limits::{ARRAY_NUMBERS, TENSORS};
use std::collections::BTreeMap;

/// Reads arrays by their keys, which are texts or whole numbers; shapes are not kept. `file` names it in errors.
///
/// # Errors
/// If the bytes are no such file, or the pickle names anything that no array needs.
pub fn read(bytes: &[u8], file: &str) -> Result<BTreeMap<String, Vec<f32>>, FileError> {
    let wrong = |found: &str| FileError::unsupported(file, "a dictionary of arrays, saved by NumPy", found);
    let pickle = pickled(bytes).ok_or_else(|| wrong("other bytes"))?;
    let pickle = Pickle::read(pickle, file, is_array)?;
    let Node::Dict(entries) = pickle.node(root(&pickle)) else { return Err(wrong("something else")) };
    if entries.len() > TENSORS {
        return Err(wrong(&format!("{} arrays", entries.len())));
    }
    let (mut found, mut n) = (BTreeMap::new(), 0);
    for &(key, value) in entries {
        let name = pickle.text(key).map(String::from).or_else(|| Some(pickle.int(key)?.to_string()));
        let name = name.ok_or_else(|| wrong("a key that is no text and no number"))?;
        let values: Vec<f32> = numbers(&pickle, value, &name)?.into_iter().map(|x| x as f32).collect();
        n += values.len();
        if n > ARRAY_NUMBERS {
            return Err(wrong("too many numbers"));
        }
        found.insert(name, values);
    }
    Ok(found)
}

/// The dictionary: what the array's list of objects holds, or what was pickled itself.
fn root(pickle: &Pickle) -> usize {
    let root = pickle.root();
    let state = match pickle.node(root) {
        Node::Object { state: Some(state), .. } => pickle.items(*state),
        _ => return root,
    };
    match state.last().map(|&list| pickle.items(list)) {
        Some(&[only]) => only,
        _ => root,
    }
}

/// What follows the header of an array of objects.
fn pickled(bytes: &[u8]) -> Option<&[u8]> {
    let (start, length) = match bytes.strip_prefix(b"\x93NUMPY")?.first()? {
        1 => (10, usize::from(u16::from_le_bytes(bytes.get(8..10)?.try_into().ok()?))),
        2 | 3 => (12, u32::from_le_bytes(bytes.get(8..12)?.try_into().ok()?) as usize),
        _ => return None,
    };
    let end = length.checked_add(start)?;
    let header = std::str::from_utf8(bytes.get(start..end)?).ok()?;
    header.contains("'descr': '|O'").then(|| &bytes[end..])
}

/// Names in such a file. None of them is ever called.
pub(super) fn is_array(name: &str) -> bool {
    const NAMES: [&str; 5] = [
        "numpy.core.multiarray._reconstruct",
        "numpy._core.multiarray._reconstruct",
        "numpy.ndarray",
        "numpy.dtype",
        "_codecs.encode",
    ];
    NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.save("two.npy", {0: numpy.float32([1, 2]), 7: numpy.float32([-0.5])}, allow_pickle=True)`.
    const TWO: &[u8] = include_bytes!("../../tests/torch/two.npy");

    #[test]
    fn arrays_are_found_by_their_keys() {
        let found = read(TWO, "two.npy").unwrap();
        let want = [("0".to_string(), vec![1.0, 2.0]), ("7".to_string(), vec![-0.5])];
        assert_eq!(found, BTreeMap::from(want));
    }

    #[test]
    fn a_pickle_that_names_a_command_is_refused() {
        let at = TWO.windows(5).position(|w| w == b"dtype").unwrap();
        let mut changed = TWO.to_vec();
        changed[at..at + 5].copy_from_slice(b"popen");
        let error = read(&changed, "two.npy").unwrap_err().to_string();
        assert!(error.contains("found numpy.popen; nothing was executed"), "{error}");
    }

    #[test]
    fn damaged_files_never_panic() {
        assert!(read(b"", "x").is_err() && read(b"\x93NUMPY\x01", "x").is_err());
        for at in 0..TWO.len() {
            let mut damaged = TWO.to_vec();
            damaged[at] ^= 0x41;
            let _ = read(&damaged, "x");
            let _ = read(&TWO[..at], "x");
        }
    }
}
