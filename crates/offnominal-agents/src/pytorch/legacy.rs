//! The tensors of a file as PyTorch wrote it before version 1.6: five pickles one after another, then the numbers.
//!
//! The pickles are a mark of the format, its version, a few words about the machine, a dictionary of tensors by name, and
//! the keys of the storages. The numbers of each storage follow in that order, after their count in eight bytes. A tensor
//! says where in its storage it begins and how far its neighbours lie apart along each axis, which need not be the order
//! of its axes.
//!
//! Nothing of a pickle is executed, and only the four names that such a file needs are accepted.
//!
//! Reference: `_legacy_save` and `_legacy_load` of PyTorch's `torch/serialization.py`.

use super::FileError;
use super::pickle::{Id, Node, Pickle};
use offnominal_core::limits::TENSORS;
use std::collections::HashMap;

/// What the file begins with: a pickle of the number 0x1950a86a20f9469cfc6c.
const MARK: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// The version of the format, the only one there was.
const VERSION: i64 = 1001;

/// Whether the bytes are in this format.
pub fn is_legacy(bytes: &[u8]) -> bool {
    bytes.starts_with(MARK)
}

/// What describes the tensors, and the bytes of each storage.
///
/// # Errors
/// If the bytes name anything that no tensor needs, are cut short or go on.
pub(super) fn parts<'a>(bytes: &'a [u8], file: &str) -> Result<(Pickle, Storages<'a>), FileError> {
    let mut rest = Rest { bytes, at: MARK.len(), file };
    let version = rest.pickle()?;
    let number = version.int(version.root());
    rest.require(number == Some(VERSION), "version 1001 of the format", format!("{number:?}"))?;
    let machine = rest.pickle()?;
    let little = machine.get(machine.root(), "little_endian").map(|id| machine.node(id).clone());
    rest.require(little == Some(Node::Bool(true)), "little-endian numbers", format!("{little:?}"))?;
    let described = rest.pickle()?;
    let keys = rest.pickle()?;
    let storages = rest.storages(&described, &keys)?;
    Ok((described, storages))
}

/// Names in such a file.
fn is_tensor(name: &str) -> bool {
    const NAMES: [&str; 4] = [
        "collections.OrderedDict",
        "torch._utils._rebuild_tensor_v2",
        "torch.FloatStorage",
        "torch.LongStorage",
    ];
    NAMES.contains(&name)
}

/// The bytes of each storage by its key.
pub(super) type Storages<'a> = HashMap<String, &'a [u8]>;

/// What has not been read yet.
struct Rest<'a, 'f> {
    bytes: &'a [u8],
    at: usize,
    file: &'f str,
}

impl<'a> Rest<'a, '_> {
    fn require(&self, holds: bool, expected: &str, found: impl ToString) -> Result<(), FileError> {
        if holds { Ok(()) } else { Err(FileError::unsupported(self.file, expected, found)) }
    }

    fn pickle(&mut self) -> Result<Pickle, FileError> {
        let (pickle, length) = Pickle::read_first(&self.bytes[self.at..], self.file, is_tensor)?;
        self.at += length;
        Ok(pickle)
    }

    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(taken)
    }

    /// All storages, which end where the file ends.
    fn storages(&mut self, described: &Pickle, keys: &Pickle) -> Result<Storages<'a>, FileError> {
        let (sizes, keys_of) = (sizes(described), keys.items(keys.root()));
        self.require(keys_of.len() <= TENSORS, &format!("at most {TENSORS} storages"), keys_of.len())?;
        let mut storages = HashMap::new();
        for &id in keys_of {
            let key = keys.text(id).unwrap_or_default();
            let size = sizes.get(key).copied();
            self.require(size.is_some(), "storages that a tensor uses", format!("the key {key:?}"))?;
            let (count, width) = size.unwrap_or_default();
            let stored = self.take(8).and_then(|b| b.first_chunk()).map(|&b| u64::from_le_bytes(b));
            let expected = format!("{count} numbers in the storage {key:?}");
            self.require(stored == Some(count), &expected, format!("{stored:?}"))?;
            let length = usize::try_from(count).ok().and_then(|n| n.checked_mul(width));
            let numbers = length.and_then(|n| self.take(n));
            self.require(numbers.is_some(), &expected, "the end of the file")?;
            storages.insert(key.to_string(), numbers.unwrap_or_default());
        }
        let left = self.bytes.len() - self.at;
        self.require(left == 0, "the end of the file after the last storage", format!("{left} bytes"))?;
        Ok(storages)
    }
}

/// How many numbers each storage has, and their bytes, as the tensors say.
fn sizes(described: &Pickle) -> HashMap<String, (u64, usize)> {
    let size = |id: &Id| {
        let (_, args) = described.made(*id)?;
        let Node::Persistent(address) = described.node(*args.first()?) else { return None };
        let &[_, kind, key, _, count, view] = described.items(*address) else { return None };
        let width = match described.text(kind)? {
            "torch.FloatStorage" => 4,
            "torch.LongStorage" => 8,
            _ => return None,
        };
        // A storage that is a part of another one is of an older format still.
        let is_whole = *described.node(view) == Node::None;
        let count = u64::try_from(described.int(count)?).ok().filter(|_| is_whole)?;
        Some((described.text(key)?.to_string(), (count, width)))
    };
    described.entries(described.root()).iter().filter_map(|(_, value)| size(value)).collect()
}

#[cfg(test)]
mod tests {
    use crate::pytorch::read_legacy as read;

    const FILE: &[u8] = include_bytes!("../../tests/torch/legacy.pth");

    fn refusal(bytes: &[u8]) -> String {
        read(bytes, "x.pth").unwrap_err().to_string()
    }

    fn replaced(from: &[u8], to: &[u8]) -> Vec<u8> {
        let at = FILE.windows(from.len()).position(|w| w == from).expect("the bytes are there");
        [&FILE[..at], to, &FILE[at + from.len()..]].concat()
    }

    #[test]
    fn numbers_come_in_the_order_of_the_axes_whatever_their_strides() {
        let found = read(FILE, "legacy.pth").unwrap();
        let expected: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/torch/legacy.json")).unwrap();
        for (name, tensor) in expected.as_object().unwrap() {
            let shape: Vec<usize> = serde_json::from_value(tensor["shape"].clone()).unwrap();
            let values: Vec<f32> = serde_json::from_value(tensor["values"].clone()).unwrap();
            assert_eq!(found.get(name).unwrap(), (&*shape, &*values), "{name}");
        }
        assert_eq!(found.shapes().count(), expected.as_object().unwrap().len(), "counters are left out");
    }

    #[test]
    fn damage_is_named() {
        let cut = refusal(&FILE[..FILE.len() - 1]);
        assert!(cut.contains("numbers in the storage") && cut.contains("found the end of the file"), "{cut}");
        assert!(refusal(&[FILE, b"x"].concat()).contains("after the last storage, found 1 bytes"));
        assert!(refusal(b"PK\x03\x04").contains("before version 1.6, found other bytes"));
        let version = refusal(&replaced(b"M\xe9\x03.", b"M\xea\x03."));
        assert!(version.contains("version 1001 of the format, found Some(1002)"), "{version}");
        // The tensor `part` begins at 3 and has four numbers of a storage of twelve.
        let outside = refusal(&replaced(b"K\x03K\x04\x85", b"K\x0aK\x04\x85"));
        assert!(outside.contains("the numbers of part, shape [4], found too few"), "{outside}");
    }

    #[test]
    fn a_command_is_refused_at_its_name() {
        let hostile = replaced(b"ccollections\nOrderedDict", b"cposix\nsystem");
        assert!(refusal(&hostile).contains("found posix.system; nothing was executed"));
        let other = replaced(b"ctorch\nLongStorage", b"ctorch\nHalfStorage");
        assert!(refusal(&other).contains("found torch.HalfStorage"));
    }
}
