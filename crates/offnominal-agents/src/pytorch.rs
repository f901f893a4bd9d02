//! Files that Python and PyTorch save, read without either, and without running anything that a file says.
//!
//! `pickle` reads a pickle as data, `array` the arrays of NumPy in it, [`dictionary`] a dictionary of them, [`records`] a list
//! of such dictionaries, `tensors` the tensors of `torch.save`, and [`legacy`] those that it wrote before version 1.6.
//! Reference: PyTorch's formats (`torch/serialization.py`) and Python's `pickletools`.

pub(crate) mod array;
pub mod dictionary;
mod error;
pub mod legacy;
pub(crate) mod pickle;
pub mod records;
pub(crate) mod tensors;

pub use error::FileError;
use offnominal_core::limits::TENSORS;
use offnominal_nets::Tensors;

/// Reads all tensors of single precision of a file that PyTorch wrote before version 1.6; others, such as counters, are left
/// out. `file` names it in errors.
///
/// # Errors
/// If the bytes are not in the format, name anything that no tensor needs, are cut short or go on, or a tensor lies
/// outside its storage.
pub fn read_legacy(bytes: &[u8], file: &str) -> Result<Tensors, FileError> {
    let require = |holds: bool, expected: String, found: &str| {
        if holds { Ok(()) } else { Err(FileError::unsupported(file, expected, found)) }
    };
    require(legacy::is_legacy(bytes), "a file that PyTorch wrote before version 1.6".into(), "other bytes")?;
    let (mut from, mut tensors) = (tensors::Tensors::open(bytes, file)?, Tensors::default());
    let names: Vec<String> = from.names().take(TENSORS + 1).map(String::from).collect();
    require(names.len() <= TENSORS, format!("at most {TENSORS} tensors"), "more")?;
    for name in names {
        if let Some(tensors::Tensor { shape, values }) = from.read(&name)? {
            tensors.insert(&name, &shape, &values);
        }
    }
    Ok(tensors)
}
