//! The tensors of a `.pth` file: a zip with one pickle that says what they are, and their numbers beside it.
//!
//! Only the tensors that are asked for are read, and all parts together have at most [`MOST_BYTES`]: several tensors may
//! share their numbers, and a few bytes of a zip may stand for millions.

use super::Sb3Error;
use super::pickle::{Id, Node, Pickle};
use offnominal_core::limits::HEADER_BYTES;
use std::io::{Cursor, Read};

/// More bytes than all parts of a small policy have, unpacked.
const MOST_BYTES: u64 = 1 << 28;

/// Longest name of a tensor that is looked at.
const LONGEST_NAME: usize = 256;

/// Parts of an archive by name.
pub(super) struct Archive<'a> {
    zip: zip::ZipArchive<Cursor<&'a [u8]>>,
    name: String,
    /// Bytes that may still be unpacked.
    left: u64,
}

impl<'a> Archive<'a> {
    pub(super) fn open(bytes: &'a [u8], name: &str) -> Result<Archive<'a>, Sb3Error> {
        let zip = zip::ZipArchive::new(Cursor::new(bytes));
        let zip = zip.map_err(|e| Sb3Error::unsupported(name, "a zip archive", e))?;
        Ok(Archive { zip, name: name.into(), left: MOST_BYTES })
    }

    /// The bytes of a part, which is read as a whole.
    pub(super) fn part(&mut self, part: &str) -> Result<Vec<u8>, Sb3Error> {
        self.at_most(part, self.left)
    }

    /// The bytes of a part that describes something and becomes many small things in memory.
    pub(super) fn description(&mut self, part: &str) -> Result<Vec<u8>, Sb3Error> {
        self.at_most(part, self.left.min(HEADER_BYTES as u64))
    }

    fn at_most(&mut self, part: &str, most: u64) -> Result<Vec<u8>, Sb3Error> {
        let broken =
            |e: &dyn ToString| Sb3Error::unsupported(&self.name, format!("a part {part}"), e.to_string());
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
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f32>,
}

/// The tensors of a file, each read when it is asked for.
pub(super) struct Tensors<'a> {
    archive: Archive<'a>,
    root: String,
    pickle: Pickle,
}

impl<'a> Tensors<'a> {
    /// Reads what the tensors are, but not their numbers.
    pub(super) fn open(bytes: &'a [u8], name: &str) -> Result<Tensors<'a>, Sb3Error> {
        let mut archive = Archive::open(bytes, name)?;
        let root = archive.root();
        if let Ok(order) = archive.description(&format!("{root}/byteorder"))
            && order != b"little"
        {
            let order = String::from_utf8_lossy(&order[..order.len().min(20)]).into_owned();
            return Err(Sb3Error::unsupported(name, "little-endian numbers", order));
        }
        let pickle = Pickle::read(&archive.description(&format!("{root}/data.pkl"))?, name, is_tensor)?;
        Ok(Tensors { archive, root, pickle })
    }

    /// The names of all tensors.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let entries = self.pickle.entries(self.pickle.root()).iter();
        entries.filter_map(|&(key, _)| self.pickle.text(key).filter(|name| name.len() <= LONGEST_NAME))
    }

    /// Whether there is a tensor of that name.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.layout(name).is_some()
    }

    fn layout(&self, name: &str) -> Option<Layout> {
        let mut entries = self.pickle.entries(self.pickle.root()).iter();
        let (_, value) = entries.find(|(key, _)| self.pickle.text(*key) == Some(name))?;
        layout(&self.pickle, *value)
    }

    /// The tensor of that name, if there is one.
    pub(super) fn read(&mut self, name: &str) -> Result<Option<Tensor>, Sb3Error> {
        let Some(found) = self.layout(name) else { return Ok(None) };
        let storage = self.archive.part(&format!("{}/data/{}", self.root, found.storage))?;
        let what = || format!("the numbers of {name}, shape {:?}", found.shape);
        let values = found.values(&storage);
        let values = values.ok_or_else(|| Sb3Error::unsupported(&self.archive.name, what(), "too few"))?;
        Ok(Some(Tensor { shape: found.shape, values }))
    }
}

/// Names in a file of tensors.
fn is_tensor(name: &str) -> bool {
    ["collections.OrderedDict", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_parameter"]
        .contains(&name)
        || (name.starts_with("torch.") && name.ends_with("Storage"))
}

/// Where the numbers of a tensor are.
struct Layout {
    storage: String,
    offset: usize,
    shape: Vec<usize>,
    stride: Vec<usize>,
}

/// The layout, if the value is a vector or a matrix of float32.
fn layout(pickle: &Pickle, id: Id) -> Option<Layout> {
    let (_, args) = pickle.made(id).filter(|(class, _)| class.ends_with("._rebuild_tensor_v2"))?;
    let &[storage, offset, shape, stride, ..] = args else { return None };
    let Node::Persistent(address) = pickle.node(storage) else { return None };
    let &[_, kind, key, ..] = pickle.items(*address) else { return None };
    let length = |&n: &Id| usize::try_from(pickle.int(n)?).ok();
    let axes = |id| Some(pickle.items(id)).filter(|axes| axes.len() <= 2);
    let lengths = |id| axes(id)?.iter().map(length).collect::<Option<Vec<usize>>>();
    let key = pickle.text(key).filter(|_| pickle.text(kind) == Some("torch.FloatStorage"))?;
    let offset = usize::try_from(pickle.int(offset)?).ok()?;
    Some(Layout { storage: key.into(), offset, shape: lengths(shape)?, stride: lengths(stride)? })
}

impl Layout {
    /// The numbers row by row; `None` if the storage does not hold them.
    fn values(&self, storage: &[u8]) -> Option<Vec<f32>> {
        let (rows, columns) = match self.shape[..] {
            [] => (1, 1),
            [n] => (1, n),
            [rows, columns] => (rows, columns),
            _ => return None,
        };
        let (down, across) = match self.stride[..] {
            [] => (0, 0),
            [across] => (0, across),
            [down, across] => (down, across),
            _ => return None,
        };
        let numbers = storage.as_chunks::<4>().0;
        if rows.checked_mul(columns)? > numbers.len() {
            return None;
        }
        let places = (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c)));
        let number = |(r, c): (usize, usize)| {
            let at = self.offset.checked_add(r.checked_mul(down)?)?.checked_add(c.checked_mul(across)?)?;
            numbers.get(at).map(|&b| f32::from_le_bytes(b))
        };
        places.map(number).collect()
    }
}
