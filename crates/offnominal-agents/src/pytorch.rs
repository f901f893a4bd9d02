//! Files that Python and PyTorch save, read without either, and without running anything that a file says.
//!
//! `pickle` reads a pickle as data, `array` the arrays of NumPy in it, [`dictionary`] a dictionary of
//! them, `tensors` the tensors of `torch.save`, and [`legacy`] those that it wrote before version 1.6.
//! Reference: PyTorch's formats (`torch/serialization.py`) and Python's `pickletools`.

pub(crate) mod array;
pub mod dictionary;
mod error;
pub mod legacy;
pub(crate) mod pickle;
pub(crate) mod tensors;

pub use error::FileError;
