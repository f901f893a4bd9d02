//! Folders that commands write: data sets in our own layout, and arrays about images.

use crate::data_set::MAP;
use crate::label_map::LabelMap;
use anyhow::{Context as _, Result, ensure};
use offnominal_files::array::to_npy;
use offnominal_files::write;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
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

/// Makes a data set in a folder that is not there yet, with a folder in it for each kind of image. `draw` writes the
/// images, and its result, the list of what they show, stands beside them. The folder appears when all is written.
///
/// # Errors
/// If the folder exists, or a file cannot be written.
pub(crate) fn data_set<T: Serialize>(
    folder: &Path,
    kinds: &[&str],
    map: &LabelMap,
    list: &str,
    draw: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
    ensure!(!folder.exists(), "{} exists already; name a folder that does not", folder.display());
    let map = toml::to_string(map)?;
    let parent = folder.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let aside = write::FolderAside::new(parent)?;
    for kind in kinds {
        std::fs::create_dir(aside.path().join(kind)).with_context(|| format!("cannot make {kind}"))?;
    }
    let found = draw(aside.path())?;
    std::fs::write(aside.path().join(list), serde_json::to_string_pretty(&found)?)?;
    std::fs::write(aside.path().join(MAP), map)?;
    aside.put(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(found)
}

/// Writes one kind of image of a data set.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write_image(root: &Path, kind: &str, name: &str, png: &[u8]) -> Result<()> {
    let path = root.join(kind).join(format!("{name}.png"));
    std::fs::write(&path, png).with_context(|| format!("cannot write {}", path.display()))
}

impl Display for Written {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} images", self.folder.display(), self.images)
    }
}
