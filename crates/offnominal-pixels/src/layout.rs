//! Where data sets keep their images and labels.

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// How a data set is laid out in folders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Layout {
    /// images/NAME.*, labels/NAME.png, and the label map classes.toml
    #[default]
    Offnominal,
    /// leftImg8bit/SPLIT/CITY/NAME_leftImg8bit.*, gtFine/SPLIT/CITY/NAME_gtFine_labelIds.png
    Cityscapes,
    /// leftImg8bit/SPLIT/DRIVE/NAME_leftImg8bit.*, gtFine/SPLIT/DRIVE/NAME_gtFine_labelids.png
    Idd,
    /// Images/…/NAME.*, Annotations/…/NAME.xml with named polygons
    Sun2012,
    /// images/SPLIT/TOWN/NAME.*, annotations/SPLIT/TOWN/NAME.png
    StreetHazards,
    /// images/NAME.*, labels_masks/NAME_labels_semantic.png
    Smiyc,
    /// NAME_leftImg8bit.* beside NAME_labels.png
    Fishyscapes,
}

/// Endings of the images that are read, in the order in which they are looked for.
const PICTURES: [&str; 4] = ["png", "jpg", "jpeg", "webp"];

/// The folder and the ending of the names of images, then of labels. An image ends in one of [`PICTURES`] as well.
struct Pattern {
    images: &'static str,
    image: &'static str,
    labels: &'static str,
    label: &'static str,
}

impl Layout {
    fn pattern(self) -> Pattern {
        let pattern = |images, image, labels, label| Pattern { images, image, labels, label };
        match self {
            Layout::Offnominal => pattern("images", "", "labels", ".png"),
            Layout::Cityscapes => pattern("leftImg8bit", "_leftImg8bit", "gtFine", "_gtFine_labelIds.png"),
            Layout::Idd => pattern("leftImg8bit", "_leftImg8bit", "gtFine", "_gtFine_labelids.png"),
            Layout::Sun2012 => pattern("Images", "", "Annotations", ".xml"),
            Layout::StreetHazards => pattern("images", "", "annotations", ".png"),
            Layout::Smiyc => pattern("images", "", "labels_masks", "_labels_semantic.png"),
            Layout::Fishyscapes => pattern("", "_leftImg8bit", "", "_labels.png"),
        }
    }

    /// Whether a split is a folder of its own.
    fn has_splits(self) -> bool {
        matches!(self, Layout::Cityscapes | Layout::Idd | Layout::StreetHazards)
    }
}

/// The files of an image.
pub(crate) struct ImageFiles {
    /// Its name, with the folders below the split.
    pub name: String,
    /// The image; none if there are only labels.
    pub image: Option<PathBuf>,
    /// The labels.
    pub labels: PathBuf,
}

/// The labelled images of a folder, by name.
///
/// # Errors
/// If there are none, or the layout has no splits and one is named.
pub(crate) fn samples(root: &Path, layout: Layout, split: Option<&str>) -> Result<Vec<ImageFiles>> {
    let pattern = layout.pattern();
    let below = |folder: &str| match (layout.has_splits(), split) {
        (true, Some(split)) => root.join(folder).join(split),
        _ => root.join(folder),
    };
    ensure!(
        split.is_none() || layout.has_splits(),
        "this layout has no splits, found --split {}",
        split.unwrap_or_default()
    );
    let (images, labels) = (below(pattern.images), below(pattern.labels));
    let mut files = Vec::new();
    walk(&labels, &mut files)?;
    let mut samples: Vec<ImageFiles> = files
        .into_iter()
        .filter_map(|path| {
            let relative = path.strip_prefix(&labels).ok()?.to_str()?.replace('\\', "/");
            let name = relative.strip_suffix(pattern.label)?.to_string();
            let image = PICTURES
                .map(|e| images.join(format!("{name}{}.{e}", pattern.image)))
                .into_iter()
                .find(|p| p.is_file());
            Some(ImageFiles { name, image, labels: path })
        })
        .collect();
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    ensure!(
        !samples.is_empty(),
        "{}: expected label files ending in {}, found none",
        labels.display(),
        pattern.label
    );
    Ok(samples)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let list =
        std::fs::read_dir(folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
    for item in list {
        let path = item?.path();
        if path.is_dir() { walk(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
