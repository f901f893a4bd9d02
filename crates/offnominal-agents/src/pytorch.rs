//! Files that Python and PyTorch save, read without either, and without running anything that a file says.
//!
//! `pickle` reads a pickle as data, `array` the arrays of NumPy in it, and `tensors` the tensors of `torch.save`.
//! Reference: PyTorch's zip format (`torch/serialization.py`) and Python's `pickletools`.

pub(crate) mod array;
mod error;
pub(crate) mod pickle;
pub(crate) mod tensors;

pub use error::FileError;
