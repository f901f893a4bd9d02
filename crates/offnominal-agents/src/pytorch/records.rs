//! A list of dictionaries of texts, numbers and NumPy arrays, as `pickle.dump` writes it.
//!
//! Nothing of the pickle is executed, and only the names that an array needs are accepted.
//! Reference: Python's `pickletools`; the pickle is read by `super::pickle`.

use super::FileError;
use super::array::shaped;
use super::dictionary::is_array;
use super::pickle::{Id, Node, Pickle};
use offnominal_core::limits::{ARRAY_NUMBERS, EPISODES};
use std::collections::BTreeMap;

/// A value of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Field {
    /// A truth.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A text.
    Text(String),
    /// An array: its shape, and its numbers row by row.
    Array(Vec<usize>, Vec<f64>),
    /// A value of another kind, which is not read.
    Other,
}

/// Reads records with their fields by name. `file` names it in errors.
///
/// # Errors
/// If the bytes are no such pickle, or name anything that no array needs.
pub fn read(bytes: &[u8], file: &str) -> Result<Vec<BTreeMap<String, Field>>, FileError> {
    let pickle = Pickle::read(bytes, file, is_array)?;
    let wrong = |found: &str| FileError::unsupported(file, "a pickled list of dictionaries", found);
    let Node::List(records) = pickle.node(pickle.root()) else { return Err(wrong("something else")) };
    if records.len() > EPISODES {
        return Err(wrong(&format!("{} of them", records.len())));
    }
    let (mut found, mut n) = (Vec::new(), 0);
    for &record in records {
        let Node::Dict(entries) = pickle.node(record) else { return Err(wrong("another item")) };
        let mut fields = BTreeMap::new();
        for &(key, value) in entries {
            let name = pickle.text(key).ok_or_else(|| wrong("a key that is no text"))?;
            let field = field(&pickle, value, &format!("{file}: {name}"))?;
            // One array may stand in many records, so it is counted as often as it is copied.
            n += if let Field::Array(_, values) = &field { values.len() } else { 1 };
            fields.insert(name.to_string(), field);
            if n > ARRAY_NUMBERS {
                return Err(wrong("too many numbers"));
            }
        }
        found.push(fields);
    }
    Ok(found)
}

fn field(pickle: &Pickle, id: Id, what: &str) -> Result<Field, FileError> {
    Ok(match pickle.node(id) {
        Node::Bool(is) => Field::Bool(*is),
        Node::Int(n) => Field::Int(*n),
        Node::Text(text) => Field::Text(text.clone()),
        Node::Object { class, .. } if class.ends_with("._reconstruct") => {
            let (shape, values) = shaped(pickle, id, what)?;
            Field::Array(shape, values)
        }
        _ => Field::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by `make_records.py` beside it.
    const TWO: &[u8] = include_bytes!("../../tests/torch/records.pkl");

    #[test]
    fn fields_are_found_by_their_names() {
        let found = read(TWO, "two.pkl").unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((&found[0]["success"], &found[1]["episode_id"]), (&Field::Bool(true), &Field::Int(1)));
        assert_eq!(found[1]["task_name"], Field::Text("lift".into()));
        assert_eq!(found[1]["weight"], Field::Other);
        assert_eq!(found[1]["hidden_states"], Field::Array(vec![1, 2], vec![0.25, 0.5]));
        let Field::Array(shape, values) = &found[0]["probe_features_10"] else { panic!("an array") };
        assert_eq!((shape, values[0], values[13]), (&vec![2, 10], 0.0, 13.0));
    }

    #[test]
    fn what_is_no_list_of_records_is_refused() {
        let at = TWO.windows(7).position(|w| w == b"ndarray").unwrap();
        let mut changed = TWO.to_vec();
        changed[at..at + 7].copy_from_slice(b"runpath");
        let error = read(&changed, "two.pkl").unwrap_err().to_string();
        assert!(error.contains("found numpy.runpath; nothing was executed"), "{error}");
        for (bytes, found) in [(&b"\x80\x04}."[..], "something else"), (b"\x80\x04](K\x01e.", "another item")]
        {
            let error = read(bytes, "x.pkl").unwrap_err().to_string();
            assert_eq!(error, format!("x.pkl: expected a pickled list of dictionaries, found {found}"));
        }
    }

    #[test]
    fn damaged_files_never_panic() {
        for at in 0..TWO.len() {
            let mut damaged = TWO.to_vec();
            damaged[at] ^= 0x41;
            let _ = read(&damaged, "x");
            let _ = read(&TWO[..at], "x");
        }
    }
}
