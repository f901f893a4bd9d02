//! The tensors of a `.pth` file: a zip with one pickle that says what they are, and their numbers beside it.
//!
//! Only the tensors that are asked for are read, and all parts together have at most [`MOST_BYTES`]: several tensors may
//! share their numbers, and a few bytes of a zip may stand for millions.

use super::FileError;
use super::pickle::{Id, Node, Pickle};
use offnominal_core::limits::HEADER_BYTES;
use std::io::{Cursor, Read};

/// More bytes than all parts of a small policy have, unpacked.
pub(super) const MOST_BYTES: u64 = 1 << 28;

/// Longest name of a tensor that is looked at.
pub(super) const LONGEST_NAME: usize = 256;

/// Axes of the weights of a convolution.
const MOST_AXES: usize = 4;

/// Parts of an archive by name.
pub(crate) struct Archive<'a> {
    zip: zip::ZipArchive<Cursor<&'a [u8]>>,
    name: String,
    /// Bytes that may still be unpacked.
    left: u64,
}

impl<'a> Archive<'a> {
    pub(crate) fn open(bytes: &'a [u8], name: &str) -> Result<Archive<'a>, FileError> {
        let zip = zip::ZipArchive::new(Cursor::new(bytes));
        let zip = zip.map_err(|e| FileError::unsupported(name, "a zip archive", e))?;
        Ok(Archive { zip, name: name.into(), left: MOST_BYTES })
    }

    /// The bytes of a part, which is read as a whole.
    pub(crate) fn part(&mut self, part: &str) -> Result<Vec<u8>, FileError> {
        self.at_most(part, self.left)
    }

    /// The bytes of a part that describes something and becomes many small things in memory.
    pub(crate) fn description(&mut self, part: &str) -> Result<Vec<u8>, FileError> {
        self.at_most(part, self.left.min(HEADER_BYTES as u64))
    }

    fn at_most(&mut self, part: &str, most: u64) -> Result<Vec<u8>, FileError> {
        let broken =
            |e: &dyn ToString| FileError::unsupported(&self.name, format!("a part {part}"), e.to_string());
        let file = self.zip.by_name(part).map_err(|e| broken(&e))?;
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes).map_err(|e| broken(&e))?;
        let left = most.checked_sub(bytes.len() as u64);
        if left.is_none() {
            return Err(broken(&format!("more than the {most} bytes that it may have")));
        }
        self.left -= bytes.len() as u64;
        Ok(bytes)
    }

    /// What the parts' names begin with.
    fn root(&self) -> String {
        let first = self.zip.file_names().flatten().next().unwrap_or_default();
        first.split('/').next().unwrap_or_default().to_string()
    }
}

/// A tensor: its shape, and its numbers row by row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

/// The tensors of a file, each read when it is asked for.
pub(crate) struct Tensors<'a> {
    archive: Archive<'a>,
    root: String,
    pickle: Pickle,
    /// The dictionary in which names are looked up.
    names: Id,
}

impl<'a> Tensors<'a> {
    /// Reads what the tensors are, but not their numbers; names are those of the outermost dictionary.
    pub(crate) fn open(bytes: &'a [u8], name: &str) -> Result<Tensors<'a>, FileError> {
        let mut archive = Archive::open(bytes, name)?;
        let root = archive.root();
        if let Ok(order) = archive.description(&format!("{root}/byteorder"))
            && order != b"little"
        {
            let order = String::from_utf8_lossy(&order[..order.len().min(20)]).into_owned();
            return Err(FileError::unsupported(name, "little-endian numbers", order));
        }
        let pickle = Pickle::read(&archive.description(&format!("{root}/data.pkl"))?, name, is_tensor)?;
        let names = pickle.root();
        Ok(Tensors { archive, root, pickle, names })
    }

    /// Goes into the dictionary at a key of this one; whether there is one.
    pub(crate) fn enter(&mut self, key: &str) -> bool {
        let found = self.entries().iter().find(|(k, _)| self.pickle.text(*k) == Some(key));
        self.go(found.map(|(_, inner)| *inner))
    }

    /// Goes back to the outermost dictionary.
    pub(crate) fn leave(&mut self) {
        self.names = self.pickle.root();
    }

    /// Goes into the first of several dictionaries, if the file holds a tuple of them; whether it does.
    pub(crate) fn enter_first(&mut self) -> bool {
        self.go(self.pickle.items(self.names).first().copied())
    }

    fn go(&mut self, to: Option<Id>) -> bool {
        let dictionary = to.filter(|&id| !self.pickle.entries(id).is_empty());
        self.names = dictionary.unwrap_or(self.names);
        dictionary.is_some()
    }

    fn entries(&self) -> &[(Id, Id)] {
        self.pickle.entries(self.names)
    }

    /// The names of all tensors.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries()
            .iter()
            .filter_map(|&(key, _)| self.pickle.text(key).filter(|name| name.len() <= LONGEST_NAME))
    }

    /// Whether there is a tensor of that name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.layout(name).is_some()
    }

    fn layout(&self, name: &str) -> Option<Layout> {
        let (_, value) = self.entries().iter().find(|(key, _)| self.pickle.text(*key) == Some(name))?;
        layout(&self.pickle, *value)
    }

    /// The tensor of that name, if there is one.
    pub(crate) fn read(&mut self, name: &str) -> Result<Option<Tensor>, FileError> {
        let Some(found) = self.layout(name) else { return Ok(None) };
        let storage = self.archive.part(&format!("{}/data/{}", self.root, found.storage))?;
        let what = || format!("the numbers of {name}, shape {:?}", found.shape);
        let values = found.values(&storage);
        let values = values.ok_or_else(|| FileError::unsupported(&self.archive.name, what(), "too few"))?;
        Ok(Some(Tensor { shape: found.shape, values }))
    }
}

/// Names in a file of tensors.
fn is_tensor(name: &str) -> bool {
    const NAMES: &[&str] =
        &["collections.OrderedDict", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_parameter"];
    NAMES.contains(&name) || (name.starts_with("torch.") && name.ends_with("Storage"))
}

/// Where the numbers of a tensor are.
pub(super) struct Layout {
    pub storage: String,
    offset: usize,
    pub shape: Vec<usize>,
    stride: Vec<usize>,
}

/// The layout, if the value is a tensor of float32 with at most [`MOST_AXES`].
pub(super) fn layout(pickle: &Pickle, id: Id) -> Option<Layout> {
    let (_, args) = pickle.made(id).filter(|(class, _)| class.ends_with("._rebuild_tensor_v2"))?;
    let &[storage, offset, shape, stride, ..] = args else { return None };
    let Node::Persistent(address) = pickle.node(storage) else { return None };
    let &[_, kind, key, ..] = pickle.items(*address) else { return None };
    let length = |&n: &Id| usize::try_from(pickle.int(n)?).ok();
    let axes = |id| Some(pickle.items(id)).filter(|axes| axes.len() <= MOST_AXES);
    let lengths = |id| axes(id)?.iter().map(length).collect::<Option<Vec<usize>>>();
    let key = pickle.text(key).filter(|_| pickle.text(kind) == Some("torch.FloatStorage"))?;
    let offset = usize::try_from(pickle.int(offset)?).ok()?;
    Some(Layout { storage: key.into(), offset, shape: lengths(shape)?, stride: lengths(stride)? })
}

impl Layout {
    /// How many numbers it has, if they can be counted.
    pub fn count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1_usize, |n, &length| n.checked_mul(length))
    }

    /// The numbers row by row; `None` if the storage does not hold them.
    pub fn values(&self, storage: &[u8]) -> Option<Vec<f32>> {
        let numbers = storage.as_chunks::<4>().0;
        let count = self.count()?;
        if count > numbers.len() || self.shape.len() != self.stride.len() {
            return None;
        }
        let number = |i| numbers.get(self.place(i)?).map(|&b| f32::from_le_bytes(b));
        (0..count).map(number).collect()
    }

    /// Where the storage holds the i-th number.
    fn place(&self, mut i: usize) -> Option<usize> {
        let mut at = self.offset;
        for (&length, &stride) in self.shape.iter().zip(&self.stride).rev() {
            at = at.checked_add((i % length).checked_mul(stride)?)?;
            i /= length;
        }
        Some(at)
    }
}
