//! The tensors of a `.pth` file: a zip with one pickle that says what they are, and their numbers beside it.

use super::Sb3Error;
use super::pickle::{Id, Node, Pickle};
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

/// More bytes than any part of a small policy has.
const MOST_BYTES: u64 = 1 << 28;

/// Parts of an archive by name.
pub(super) struct Archive<'a> {
    zip: zip::ZipArchive<Cursor<&'a [u8]>>,
    name: String,
}

impl<'a> Archive<'a> {
    pub(super) fn open(bytes: &'a [u8], name: &str) -> Result<Archive<'a>, Sb3Error> {
        let zip = zip::ZipArchive::new(Cursor::new(bytes));
        let zip = zip.map_err(|e| Sb3Error::unsupported(name, "a zip archive", e))?;
        Ok(Archive { zip, name: name.into() })
    }

    pub(super) fn part(&mut self, part: &str) -> Result<Vec<u8>, Sb3Error> {
        let broken =
            |e: &dyn ToString| Sb3Error::unsupported(&self.name, format!("a part {part}"), e.to_string());
        let file = self.zip.by_name(part).map_err(|e| broken(&e))?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|e| broken(&e))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(broken(&format!("more than {MOST_BYTES} bytes")));
        }
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

/// All tensors of a file, by name.
pub(super) fn read(bytes: &[u8], name: &str) -> Result<BTreeMap<String, Tensor>, Sb3Error> {
    let mut archive = Archive::open(bytes, name)?;
    let root = archive.root();
    if let Ok(order) = archive.part(&format!("{root}/byteorder"))
        && order != b"little"
    {
        return Err(Sb3Error::unsupported(name, "little-endian numbers", String::from_utf8_lossy(&order)));
    }
    let pickle = Pickle::read(&archive.part(&format!("{root}/data.pkl"))?, name, is_tensor)?;
    let mut tensors = BTreeMap::new();
    for &(key, value) in pickle.entries(pickle.root()) {
        if let (Some(key), Some(found)) = (pickle.text(key), layout(&pickle, value)) {
            let storage = archive.part(&format!("{root}/data/{}", found.storage))?;
            let values = found.values(&storage).ok_or_else(|| {
                Sb3Error::unsupported(
                    name,
                    format!("the numbers of {key}, shape {:?}", found.shape),
                    "too few",
                )
            })?;
            tensors.insert(key.to_string(), Tensor { shape: found.shape, values });
        }
    }
    Ok(tensors)
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

/// The layout, if the value is a tensor of float32.
fn layout(pickle: &Pickle, id: Id) -> Option<Layout> {
    let (_, args) = pickle.made(id).filter(|(class, _)| class.ends_with("._rebuild_tensor_v2"))?;
    let &[storage, offset, shape, stride, ..] = args else { return None };
    let Node::Persistent(address) = pickle.node(storage) else { return None };
    let &[_, kind, key, ..] = pickle.items(*address) else { return None };
    let length = |&n: &Id| usize::try_from(pickle.int(n)?).ok();
    let lengths = |id| pickle.items(id).iter().map(length).collect::<Option<Vec<usize>>>();
    let key = pickle.text(key).filter(|_| pickle.text(kind) == Some("torch.FloatStorage"))?;
    let offset = usize::try_from(pickle.int(offset)?).ok()?;
    Some(Layout { storage: key.into(), offset, shape: lengths(shape)?, stride: lengths(stride)? })
}

impl Layout {
    /// The numbers row by row; `None` if the storage does not hold them. Only vectors and matrices are of use.
    fn values(&self, storage: &[u8]) -> Option<Vec<f32>> {
        let (rows, columns) = match self.shape[..] {
            [] => (1, 1),
            [n] => (1, n),
            [rows, columns] => (rows, columns),
            _ => return Some(vec![]),
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
