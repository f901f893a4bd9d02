//! Arrays of numbers in files: `.npy`, `.npz` and `.safetensors`, as PyTorch and NumPy write them, and HDF5.

mod hdf5;
mod narrow;

use crate::half;
use anyhow::{Context, Result, anyhow, bail, ensure};
use offnominal_core::limits::{ARRAY_NUMBERS, HEADER_BYTES};
use offnominal_nets::Tensors;
use std::path::{Path, PathBuf};

/// An array in C order.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// The numbers.
    pub values: Vec<f32>,
    /// A number that many different numbers of 64 bits became.
    merged: Option<f32>,
}

impl Array {
    fn new(shape: Vec<usize>, values: Vec<f32>) -> Array {
        Array { shape, values, merged: None }
    }

    /// An array of numbers that have more digits than are kept.
    fn of_wide(shape: Vec<usize>, wide: &[f64]) -> Array {
        let values = wide.iter().map(|&v| v as f32).collect();
        Array { shape, values, merged: narrow::merged(wide) }
    }

    /// Requires that the numbers have the order which they have in the file.
    ///
    /// # Errors
    /// If more than a thousandth of them differ there and are one number here.
    pub fn in_order(self) -> Result<Array> {
        match self.merged {
            None => Ok(self),
            Some(one) => bail!(
                "expected numbers that differ in 32 bits if they do in 64, found many that become {one}: write them on a \
                 scale that tells them apart, such as before a sigmoid or as logarithms"
            ),
        }
    }
}

/// The endings that are read.
pub const ENDINGS: [&str; 5] = ["npy", "npz", "safetensors", "hdf5", "h5"];

/// The file of that name with one of the endings.
///
/// # Errors
/// If there is none, or several.
pub fn find(folder: &Path, name: &str) -> Result<PathBuf> {
    let candidates = ENDINGS.map(|ending| folder.join(format!("{name}.{ending}")));
    let found: Vec<&PathBuf> = candidates.iter().filter(|path| path.is_file()).collect();
    match found[..] {
        [one] => Ok(one.clone()),
        [] => {
            bail!("expected {} (or .npz, .safetensors, .hdf5), found no such file", candidates[0].display())
        }
        [a, b, ..] => bail!("expected one array {name}, found {} and {}", a.display(), b.display()),
    }
}

/// Reads an array of finite numbers. A file with several arrays must have one called `name`.
///
/// # Errors
/// If the file cannot be read, is damaged, or holds a number that is not finite.
pub fn read(path: &Path, name: &str) -> Result<Array> {
    let bytes = crate::read::bytes(path)?;
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    decode(&bytes, ending, name).with_context(|| path.display().to_string())
}

/// The array of finite numbers in the bytes of a file with that ending.
///
/// # Errors
/// As [`read`].
pub fn decode(bytes: &[u8], ending: &str, name: &str) -> Result<Array> {
    let array = match ending {
        "npy" => npy(bytes),
        "npz" => npz(bytes, name),
        "safetensors" => safetensors(bytes, name),
        "hdf5" | "h5" => hdf5::decode(bytes, name),
        other => Err(anyhow!("expected a file ending in .npy, .npz, .safetensors or .hdf5, found {other:?}")),
    }?;
    match array.values.iter().position(|v| !v.is_finite()) {
        None => Ok(array),
        Some(at) => bail!("expected finite numbers, found {} at index {at}", array.values[at]),
    }
}

pub use hdf5::encode as to_hdf5;

/// An array as a `.npy` file.
pub fn to_npy(shape: &[usize], values: &[f32]) -> Vec<u8> {
    let axes: Vec<String> = shape.iter().map(|n| format!("{n},")).collect();
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", axes.join(" "));
    // The data begin at a multiple of 64 bytes.
    let padding = 64 - (10 + header.len() + 1) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

fn npy(bytes: &[u8]) -> Result<Array> {
    ensure!(
        bytes.starts_with(b"\x93NUMPY") && bytes.len() >= 12,
        "expected a NumPy array, found other bytes"
    );
    let (start, length): (usize, usize) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))),
        2 | 3 => (12, u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize),
        other => bail!("expected version 1 to 3 of the NumPy format, found {other}"),
    };
    let header = bytes.get(start..start.saturating_add(length)).context("the header is cut off")?;
    let header = std::str::from_utf8(header).context("the header is no text")?;
    ensure!(!header.contains("'fortran_order': True"), "expected C order, found Fortran order");
    let shape = shape(field(header, "'shape': (", ")")?)?;
    let kind = field(header, "'descr': '", "'")?;
    numbers(&bytes[start + length..], kind, shape)
}

fn field<'a>(header: &'a str, before: &str, after: &str) -> Result<&'a str> {
    let rest = header.split_once(before).map(|(_, rest)| rest);
    rest.and_then(|r| r.split_once(after))
        .map(|(value, _)| value)
        .with_context(|| format!("the header lacks {before}"))
}

fn shape(text: &str) -> Result<Vec<usize>> {
    let axes = text.split(',').map(str::trim).filter(|axis| !axis.is_empty());
    let shape: Vec<usize> = axes.map(str::parse).collect::<Result<_, _>>().context("the shape")?;
    let size = shape.iter().try_fold(1_usize, |product, &n| product.checked_mul(n.max(1)));
    ensure!(
        size.is_some_and(|n| n <= ARRAY_NUMBERS),
        "expected at most {ARRAY_NUMBERS} numbers, found the shape {shape:?}"
    );
    Ok(shape)
}

fn numbers(data: &[u8], kind: &str, shape: Vec<usize>) -> Result<Array> {
    let wide = match kind {
        "<f8" => each(data, &shape, f64::from_le_bytes),
        "<i4" => each(data, &shape, |b| f64::from(i32::from_le_bytes(b))),
        "<i8" => each(data, &shape, |b| i64::from_le_bytes(b) as f64),
        _ => return narrow_numbers(data, kind, shape),
    };
    Ok(Array::of_wide(shape, &wide?))
}

/// The numbers of types that 32 bits hold as they are.
fn narrow_numbers(data: &[u8], kind: &str, shape: Vec<usize>) -> Result<Array> {
    let values = match kind {
        "<f4" => each(data, &shape, f32::from_le_bytes),
        "<f2" => each(data, &shape, |b| half::of_bits(u16::from_le_bytes(b))),
        "|i1" => each(data, &shape, |[b]| f32::from(b as i8)),
        "|u1" | "|b1" => each(data, &shape, |[b]| f32::from(b)),
        other => bail!("expected numbers of type <f2, <f4, <f8, <i4, <i8, |u1 or |b1, found {other}"),
    }?;
    Ok(Array::new(shape, values))
}

/// The numbers of so many bytes each.
fn each<const WIDTH: usize, T>(
    data: &[u8],
    shape: &[usize],
    number: impl Fn([u8; WIDTH]) -> T,
) -> Result<Vec<T>> {
    let (expected, found) = (WIDTH * shape.iter().product::<usize>(), data.len());
    ensure!(found == expected, "expected {expected} bytes of numbers for the shape {shape:?}, found {found}");
    Ok(data.as_chunks().0.iter().map(|&b| number(b)).collect())
}

fn npz(bytes: &[u8], name: &str) -> Result<Array> {
    let mut archive =
        zip::ZipArchive::new(std::io::Cursor::new(bytes)).context("expected a NumPy archive")?;
    let names: Vec<String> =
        archive.file_names().filter_map(Result::ok).map(|name| name.to_string()).collect();
    let entry = chosen(&names, &format!("{name}.npy"))?;
    let most = 4 * ARRAY_NUMBERS + HEADER_BYTES;
    npy(&crate::read::unpacked(archive.by_name(&entry)?, most as u64).with_context(|| entry.clone())?)
}

fn safetensors(bytes: &[u8], name: &str) -> Result<Array> {
    let tensors = Tensors::from_bytes(bytes)?;
    let names: Vec<String> = tensors.shapes().map(|(name, _)| name.to_string()).collect();
    let (shape, values) = tensors.get(&chosen(&names, name)?)?;
    Ok(Array::new(shape.to_vec(), values.to_vec()))
}

/// The entry of that name, or the only one.
fn chosen(names: &[String], wanted: &str) -> Result<String> {
    let found = names.iter().find(|n| *n == wanted).or(if names.len() == 1 { names.first() } else { None });
    found.cloned().with_context(|| format!("expected one array, or one called {wanted:?}, found {names:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn arrays_come_back_as_they_were_written() {
        for shape in [vec![], vec![3], vec![2, 3], vec![2, 1, 5]] {
            let values: Vec<f32> = (0..shape.iter().product::<usize>()).map(|i| i as f32 - 1.5).collect();
            let bytes = to_npy(&shape, &values);
            assert_eq!(bytes.len() % 64, (4 * values.len()) % 64);
            assert_eq!(npy(&bytes).unwrap(), Array::new(shape, values));
        }
    }

    #[test]
    fn other_kinds_of_numbers_are_read() {
        let read = |kind: &str, data: &[u8]| numbers(data, kind, vec![1]).unwrap().values[0];
        assert_eq!(read("<f8", &(-2.5_f64).to_le_bytes()), -2.5);
        assert_eq!(read("<i8", &7_i64.to_le_bytes()), 7.0);
        assert_eq!((read("|u1", &[200]), read("|i1", &[255])), (200.0, -1.0));
    }

    #[test]
    fn bad_files_are_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let refuse = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            format!("{:#}", read(&path, "logits").unwrap_err())
        };
        let nan = refuse("a.npy", &to_npy(&[3], &[0.0, f32::NAN, 1.0]));
        assert!(nan.ends_with("a.npy: expected finite numbers, found NaN at index 1"), "{nan}");
        assert!(refuse("b.npy", b"hello").contains("expected a NumPy array"));
        let cut = to_npy(&[3], &[0.0; 3]);
        assert!(refuse("c.npy", &cut[..cut.len() - 2]).contains("expected 12 bytes of numbers"));
        let huge = String::from_utf8_lossy(&to_npy(&[3], &[])).replace("(3,)", "(1073741824,)");
        let header = [b"\x93NUMPY\x01\x00\x76\x00", &huge.as_bytes()[huge.find('{').unwrap()..]].concat();
        assert!(refuse("f.npy", &header).contains("expected at most 536870912 numbers"));
        assert!(refuse("d.npz", b"PK").contains("NumPy archive"));
        assert!(refuse("e.txt", b"").contains("found \"txt\""));
        let missing = format!("{:#}", find(folder.path(), "z").unwrap_err());
        assert!(missing.contains("z.npy"), "{missing}");
        std::fs::write(folder.path().join("c.hdf5"), b"").unwrap();
        let two = format!("{:#}", find(folder.path(), "c").unwrap_err());
        assert!(two.contains("c.npy and ") && two.contains("c.hdf5"), "{two}");
    }

    proptest! {
        #[test]
        fn damaged_arrays_never_panic(at in 0_usize..200, value in any::<u8>(), cut in 0_usize..200) {
            let mut bytes = to_npy(&[2, 3], &[1.0; 6]);
            let n = bytes.len();
            bytes[at % n] = value;
            let _ = npy(&bytes);
            let _ = npy(&bytes[..cut % n]);
        }
    }
}
