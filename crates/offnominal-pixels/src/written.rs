//! What commands that write a folder of files come to.

use anyhow::Result;
use offnominal_files::array::to_npy;
use offnominal_files::write;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A folder that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The folder.
    pub folder: PathBuf,
    /// Images in it, or images that its files are about.
    pub images: usize,
}

/// Writes an array as the .npy file of an image.
pub(crate) fn write_array(folder: &Path, name: &str, shape: &[usize], values: &[f32]) -> Result<()> {
    write::atomically(&folder.join(format!("{name}.npy")), &to_npy(shape, values))
}
