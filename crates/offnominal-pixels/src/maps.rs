//! Score maps as files: what `pixels score` writes, or anybody's method that is no network with logits.

use crate::data_set::{DataSet, Labels, Sample};
use anyhow::{Context as _, Result, ensure};
use offnominal_files::array;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The score maps `NAME.npy`, `[H, W]`, of one method; larger is more unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScoreMaps {
    /// The name of the method, which is that of its folder.
    pub id: String,
    /// A folder for each part of the data set.
    folders: Vec<PathBuf>,
}

impl ScoreMaps {
    /// The methods in folders, one folder for each part of a data set: the folder holds the maps of one method, or
    /// folders of methods.
    ///
    /// # Errors
    /// If there are none, or the parts have different ones.
    pub fn find(folders: &[PathBuf], set: &DataSet) -> Result<Vec<ScoreMaps>> {
        let mut found = BTreeMap::<String, Vec<PathBuf>>::new();
        for (part, folder) in folders.iter().enumerate() {
            let own = set.samples.iter().filter(|sample| sample.part == part);
            let names: Vec<&str> = own.map(|sample| &sample.name[..]).collect();
            for (id, folder) in methods(folder, &names)? {
                found.entry(id).or_default().push(folder);
            }
        }
        for (id, there) in &found {
            ensure!(
                there.len() == folders.len(),
                "{id}: expected score maps for each of {} data sets that are pooled, found them for {}",
                folders.len(),
                there.len()
            );
        }
        Ok(found.into_iter().map(|(id, folders)| ScoreMaps { id, folders }).collect())
    }

    /// The scores of an image, one for each pixel.
    ///
    /// # Errors
    /// If there is no file, or it has another shape than the labels.
    pub fn read(&self, sample: &Sample, labels: &Labels) -> Result<Vec<f32>> {
        let path = array::find(&self.folders[sample.part], &sample.name)?;
        let array = array::read(&path, "scores")?.in_order().with_context(|| path.display().to_string())?;
        let (h, w) = (labels.height, labels.width);
        ensure!(
            array.shape == [h, w] || array.shape == [1, h, w],
            "{}: expected scores [{h}, {w}] as the labels, found {:?}",
            path.display(),
            array.shape
        );
        Ok(array.values)
    }

    /// The file of an image, if it is there.
    pub(crate) fn file(&self, sample: &Sample) -> Option<PathBuf> {
        array::find(&self.folders[sample.part], &sample.name).ok()
    }
}

/// The methods that have a map of any of the images in a folder: the folder itself, or folders in it.
fn methods(folder: &Path, names: &[&str]) -> Result<Vec<(String, PathBuf)>> {
    let Some(name) = names.first() else { return Ok(Vec::new()) };
    let has = |folder: &Path| names.iter().any(|name| array::find(folder, name).is_ok());
    let named = |path: PathBuf| Some((path.file_name()?.to_str()?.to_string(), path));
    if has(folder) {
        return Ok(named(folder.canonicalize()?).into_iter().collect());
    }
    let list = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let inside = list.map(|item| Ok(item?.path())).collect::<std::io::Result<Vec<PathBuf>>>()?;
    let methods: Vec<_> = inside.into_iter().filter(|path| has(path)).filter_map(named).collect();
    ensure!(
        !methods.is_empty(),
        "{}: expected score maps {name}.npy, or METHOD/{name}.npy of several methods, found none",
        folder.display()
    );
    Ok(methods)
}
