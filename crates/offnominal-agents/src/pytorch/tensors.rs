//! The tensors of a `.pth` file: a zip with one pickle that says what they are, and their numbers beside it; before version
//! 1.6 of PyTorch the same in a row ([`legacy`]).
//!
//! Only the tensors that are asked for are read, and all parts together have at most [`MOST_BYTES`]: several tensors may
//! share their numbers, and a few bytes of a zip may stand for millions.

use super::FileError;
use super::legacy::{self, Storages};
use super::pickle::{Id, Node, Pickle};
use offnominal_core::limits::HEADER_BYTES;
use std::borrow::Cow;
use std::io::{Cursor, Read};

/// More bytes than all parts of a small policy have, unpacked.
const MOST_BYTES: u64 = 1 << 28;

/// Longest name of a tensor that is looked at.
const LONGEST_NAME: usize = 256;

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
        if self.zip.index_for_name(part).is_none() {
            return Err(FileError::unsupported(&self.name, format!("a part {part}"), self.parts()));
        }
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

    /// The first names of parts: those of an archive of policies, say, each of which must be unpacked.
    fn parts(&self) -> String {
        let names: Vec<_> = self.zip.file_names().flatten().take(4).collect();
        let more = if self.zip.len() > names.len() { ", …" } else { "" };
        format!("{} parts: {}{more}", self.zip.len(), names.join(", "))
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

/// Where the numbers are.
enum Stored<'a> {
    /// In parts of an archive whose names begin like that.
    Zip(Archive<'a>, String),
    /// In the file; so many bytes of them may still be taken.
    Row(Storages<'a>, u64),
}

impl Stored<'_> {
    /// The bytes of a storage, if there is one.
    fn bytes(&mut self, key: &str) -> Result<Option<Cow<'_, [u8]>>, FileError> {
        match self {
            Stored::Zip(archive, root) => Ok(Some(archive.part(&format!("{root}/data/{key}"))?.into())),
            Stored::Row(storages, left) => {
                let Some(bytes) = storages.get(key) else { return Ok(None) };
                let most = || format!("storages of at most {MOST_BYTES} bytes in all");
                let rest = left.checked_sub(bytes.len() as u64);
                *left = rest.ok_or_else(|| FileError::unsupported(key, most(), "more"))?;
                Ok(Some((*bytes).into()))
            }
        }
    }
}

/// The tensors of a file, each read when it is asked for.
pub(crate) struct Tensors<'a> {
    stored: Stored<'a>,
    file: String,
    pickle: Pickle,
    /// The dictionary in which names are looked up.
    names: Id,
}

impl<'a> Tensors<'a> {
    /// Reads what the tensors are, but not their numbers; names are those of the outermost dictionary.
    pub(crate) fn open(bytes: &'a [u8], name: &str) -> Result<Tensors<'a>, FileError> {
        if legacy::is_legacy(bytes) {
            let (pickle, storages) = legacy::parts(bytes, name)?;
            return Ok(Tensors::of(Stored::Row(storages, MOST_BYTES), name, pickle));
        }
        let mut archive = Archive::open(bytes, name)?;
        let root = archive.root();
        if let Ok(order) = archive.description(&format!("{root}/byteorder"))
            && order != b"little"
        {
            let order = String::from_utf8_lossy(&order[..order.len().min(20)]).into_owned();
            return Err(FileError::unsupported(name, "little-endian numbers", order));
        }
        let pickle = Pickle::read(&archive.description(&format!("{root}/data.pkl"))?, name, is_tensor)?;
        Ok(Tensors::of(Stored::Zip(archive, root), name, pickle))
    }

    fn of(stored: Stored<'a>, file: &str, pickle: Pickle) -> Tensors<'a> {
        Tensors { stored, file: file.into(), names: pickle.root(), pickle }
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
        let what = || format!("the numbers of {name}, shape {:?}", found.shape);
        let values = self.stored.bytes(&found.storage)?.and_then(|storage| found.values(&storage));
        let values = values.ok_or_else(|| FileError::unsupported(&self.file, what(), "too few"))?;
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
struct Layout {
    storage: String,
    offset: usize,
    shape: Vec<usize>,
    stride: Vec<usize>,
}

/// The layout, if the value is a tensor of float32 with at most [`MOST_AXES`].
fn layout(pickle: &Pickle, id: Id) -> Option<Layout> {
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
    /// The numbers row by row; `None` if the storage does not hold them.
    fn values(&self, storage: &[u8]) -> Option<Vec<f32>> {
        let numbers = storage.as_chunks::<4>().0;
        let count = self.shape.iter().try_fold(1_usize, |n, &length| n.checked_mul(length))?;
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
