//! Where data sets keep their images and labels, and what a pixel of them means.

use crate::label_map::{LabelMap, Meaning, Meanings};
use crate::polygons;
use anyhow::{Context, Result, bail, ensure};
use offnominal_files::image_file::{self, Samples};
use offnominal_stats::pixel::Truth;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// How a data set is laid out in folders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr, EnumMessage)]
#[strum(serialize_all = "kebab-case")]
pub enum Layout {
    /// images/NAME.png, labels/NAME.png, and the label map classes.toml
    #[default]
    Offnominal,
    /// leftImg8bit/SPLIT/CITY/NAME_leftImg8bit.png, gtFine/SPLIT/CITY/NAME_gtFine_labelIds.png
    Cityscapes,
    /// leftImg8bit/SPLIT/DRIVE/NAME_leftImg8bit.png, gtFine/SPLIT/DRIVE/NAME_gtFine_labelids.png
    Idd,
    /// Images/…/NAME.jpg, Annotations/…/NAME.xml with named polygons
    Sun2012,
    /// images/SPLIT/TOWN/NAME.png, annotations/SPLIT/TOWN/NAME.png
    StreetHazards,
    /// images/NAME.*, labels_masks/NAME_labels_semantic.png
    Smiyc,
    /// NAME_leftImg8bit.png beside NAME_labels.png
    Fishyscapes,
}

/// Folder and ending of the images, then of the labels.
struct Pattern {
    images: &'static str,
    image_endings: &'static [&'static str],
    labels: &'static str,
    label_ending: &'static str,
}

impl Layout {
    fn pattern(self) -> Pattern {
        let pattern = |images, image_endings, labels, label_ending| Pattern {
            images,
            image_endings,
            labels,
            label_ending,
        };
        match self {
            Layout::Offnominal => pattern("images", &[".png"], "labels", ".png"),
            Layout::Cityscapes => {
                pattern("leftImg8bit", &["_leftImg8bit.png"], "gtFine", "_gtFine_labelIds.png")
            }
            Layout::Idd => pattern(
                "leftImg8bit",
                &["_leftImg8bit.png", "_leftImg8bit.jpg"],
                "gtFine",
                "_gtFine_labelids.png",
            ),
            Layout::Sun2012 => pattern("Images", &[".jpg", ".png"], "Annotations", ".xml"),
            Layout::StreetHazards => pattern("images", &[".png"], "annotations", ".png"),
            Layout::Smiyc => {
                pattern("images", &[".png", ".jpg", ".webp"], "labels_masks", "_labels_semantic.png")
            }
            Layout::Fishyscapes => pattern("", &["_leftImg8bit.png"], "", "_labels.png"),
        }
    }

    /// Whether a split is a folder of its own.
    fn has_splits(self) -> bool {
        matches!(self, Layout::Cityscapes | Layout::Idd | Layout::StreetHazards)
    }
}

/// An image with its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Its name, with the folders below the split; files about it have the same name.
    pub name: String,
    /// The image; none if there are only labels.
    pub image: Option<PathBuf>,
    /// The labels.
    pub labels: PathBuf,
}

/// A data set.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// Its folder.
    pub root: PathBuf,
    /// What its labels mean.
    pub meanings: Meanings,
    /// Its images, by name.
    pub samples: Vec<Sample>,
}

/// What is true of the pixels of an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Class ids; 254 unknown, 255 not judged.
    pub ids: Vec<u8>,
    /// What is judged.
    pub truth: Vec<Truth>,
}

/// The name of the label map of our own layout.
pub const MAP: &str = "classes.toml";

impl DataSet {
    /// Opens a folder.
    ///
    /// # Errors
    /// If there is no label map, or there are no labelled images.
    pub fn open(root: &Path, layout: Layout, split: Option<&str>, map: Option<&Path>) -> Result<DataSet> {
        let map = match (map, layout) {
            (Some(map), _) => map.to_path_buf(),
            (None, Layout::Offnominal) => root.join(MAP),
            (None, _) => bail!("expected --map FILE: the labels of this layout need a label map"),
        };
        let meanings = LabelMap::load(&map)?;
        let samples = samples(root, layout, split)?;
        Ok(DataSet { root: root.to_path_buf(), meanings, samples })
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.meanings.map.classes.len()
    }

    /// What is true of an image.
    ///
    /// # Errors
    /// If the labels cannot be read, or are not in the label map.
    pub fn labels(&self, sample: &Sample) -> Result<Labels> {
        let (width, height, pixels) =
            self.meanings_of(sample).with_context(|| sample.labels.display().to_string())?;
        let (ids, truth) = pixels.iter().map(|m| (m.id(), m.truth())).unzip();
        Ok(Labels { width, height, ids, truth })
    }

    fn meanings_of(&self, sample: &Sample) -> Result<(usize, usize, Vec<Meaning>)> {
        if sample.labels.extension().is_some_and(|e| e == "xml") {
            let text = offnominal_files::read::text(&sample.labels)?;
            let annotation = polygons::parse(&text)?;
            return Ok((annotation.width, annotation.height, annotation.paint(&self.meanings)?));
        }
        let raster = image_file::read(&sample.labels)?;
        let pixels = match &raster.samples {
            Samples::Numbers(numbers) => self.translate(numbers, |n| n.to_string()),
            Samples::Colours(colours) => {
                self.translate(colours, |[r, g, b]| format!("#{r:02x}{g:02x}{b:02x}"))
            }
        }?;
        Ok((raster.width, raster.height, pixels))
    }

    /// Looks up each different value once.
    fn translate<T: Copy + Eq + std::hash::Hash>(
        &self,
        values: &[T],
        text: impl Fn(T) -> String,
    ) -> Result<Vec<Meaning>> {
        let mut distinct = HashMap::new();
        for &value in values {
            distinct.entry(value).or_insert_with(|| text(value));
        }
        let (keys, texts): (Vec<T>, Vec<String>) = distinct.into_iter().unzip();
        let known: HashMap<T, Meaning> =
            keys.into_iter().zip(self.meanings.of_all(texts.iter().map(String::as_str))?).collect();
        Ok(values.iter().map(|v| known[v]).collect())
    }

    /// The colours of an image, `[height, width, 3]`, which must be as large as its labels.
    ///
    /// # Errors
    /// If there is no image, it is no PNG, or it has another size.
    pub fn rgb(&self, sample: &Sample, labels: &Labels) -> Result<Vec<u8>> {
        let path = sample
            .image
            .as_ref()
            .with_context(|| format!("{}: expected an image, found only labels", sample.name))?;
        let raster = image_file::read(path)?;
        ensure!(
            (raster.width, raster.height) == (labels.width, labels.height),
            "{}: expected {} × {} pixels as {}, found {} × {}",
            path.display(),
            labels.width,
            labels.height,
            sample.labels.display(),
            raster.width,
            raster.height
        );
        Ok(raster.rgb())
    }
}

/// The labelled images of a folder, by name.
fn samples(root: &Path, layout: Layout, split: Option<&str>) -> Result<Vec<Sample>> {
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
    let mut samples: Vec<Sample> = files
        .into_iter()
        .filter_map(|path| {
            let relative = path.strip_prefix(&labels).ok()?.to_str()?.replace('\\', "/");
            let name = relative.strip_suffix(pattern.label_ending)?.to_string();
            let image =
                pattern.image_endings.iter().map(|e| images.join(format!("{name}{e}"))).find(|p| p.is_file());
            Some(Sample { name, image, labels: path })
        })
        .collect();
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    ensure!(
        !samples.is_empty(),
        "{}: expected label files ending in {}, found none",
        labels.display(),
        pattern.label_ending
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with one image of 6 × 4 pixels in a layout; labels are the bytes given.
    fn folder(image: &str, label: &str, label_bytes: &[u8]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in
            [(image, image_file::colours(6, 4, &[9; 72]).unwrap()), (label, label_bytes.to_vec())]
        {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        folder
    }

    fn open(folder: &tempfile::TempDir, layout: Layout, split: Option<&str>, map: &str) -> Result<DataSet> {
        let path = folder.path().join("map.toml");
        std::fs::write(&path, map).unwrap();
        DataSet::open(folder.path(), layout, split, Some(&path))
    }

    const IDS: &str = "classes = ['road', 'car']\nunknown = ['2']\nignore = ['255']\notherwise = 'error'\n[known]\nroad = ['0']\ncar = ['1']";

    fn ids() -> Vec<u8> {
        let row = [0, 1, 2, 255, 1, 0];
        row.repeat(4)
    }

    #[test]
    fn every_layout_finds_its_image_and_its_labels() {
        let png = image_file::grey(6, 4, &ids()).unwrap();
        let cases = [
            (Layout::Offnominal, None, "images/a.png", "labels/a.png", "a"),
            (
                Layout::Cityscapes,
                Some("val"),
                "leftImg8bit/val/ulm/ulm_1_leftImg8bit.png",
                "gtFine/val/ulm/ulm_1_gtFine_labelIds.png",
                "ulm/ulm_1",
            ),
            (
                Layout::Idd,
                Some("val"),
                "leftImg8bit/val/3/07_leftImg8bit.png",
                "gtFine/val/3/07_gtFine_labelids.png",
                "3/07",
            ),
            (
                Layout::StreetHazards,
                Some("test"),
                "images/test/t5/9.png",
                "annotations/test/t5/9.png",
                "t5/9",
            ),
            (Layout::Smiyc, None, "images/x.png", "labels_masks/x_labels_semantic.png", "x"),
            (Layout::Fishyscapes, None, "0_leftImg8bit.png", "0_labels.png", "0"),
        ];
        for (layout, split, image, label, name) in cases {
            let folder = folder(image, label, &png);
            let set = open(&folder, layout, split, IDS).unwrap();
            assert_eq!((set.samples.len(), set.samples[0].name.as_str()), (1, name), "{layout:?}");
            let labels = set.labels(&set.samples[0]).unwrap();
            assert_eq!(labels.ids[..4], [0, 1, 254, 255], "{layout:?}");
            assert_eq!(set.rgb(&set.samples[0], &labels).unwrap(), [9; 72], "{layout:?}");
        }
    }

    #[test]
    fn sun_has_polygons_with_names() {
        let folder = folder("Images/s/a.png", "Annotations/s/a.xml", polygons::tests::XML.as_bytes());
        let set = open(&folder, Layout::Sun2012, None, "classes = ['road']\notherwise = 'unknown'").unwrap();
        let labels = set.labels(&set.samples[0]).unwrap();
        assert_eq!((set.samples[0].name.as_str(), &labels.ids[12..15]), ("s/a", &[0, 254, 254][..]));
        assert!(set.rgb(&set.samples[0], &labels).is_ok());
    }

    #[test]
    fn labels_may_be_colours_and_foreign_ones_are_listed() {
        let rgb: Vec<u8> = [[128, 64, 128], [0, 0, 142]].concat().repeat(12);
        let folder = folder("images/a.png", "labels/a.png", &image_file::colours(6, 4, &rgb).unwrap());
        let map = "classes = ['road']\notherwise = 'error'\n[known]\nroad = ['#804080']";
        let set = open(&folder, Layout::Offnominal, None, map).unwrap();
        let error = format!("{:#}", set.labels(&set.samples[0]).unwrap_err());
        assert!(error.ends_with("labels that the label map does not have: #00008e"), "{error}");
    }

    #[test]
    fn bad_folders_are_explained() {
        let refuse = |folder: &tempfile::TempDir| {
            format!("{:#}", open(folder, Layout::Offnominal, None, IDS).unwrap_err())
        };
        let empty = tempfile::tempdir().unwrap();
        assert!(refuse(&empty).contains("cannot read the folder"));
        std::fs::create_dir(empty.path().join("labels")).unwrap();
        assert!(refuse(&empty).contains("expected label files ending in .png, found none"));
        let small = folder("images/a.png", "labels/a.png", &image_file::grey(3, 4, &[0; 12]).unwrap());
        let set = open(&small, Layout::Offnominal, None, IDS).unwrap();
        let labels = set.labels(&set.samples[0]).unwrap();
        let error = format!("{:#}", set.rgb(&set.samples[0], &labels).unwrap_err());
        assert!(error.contains("expected 3 × 4 pixels as") && error.ends_with("found 6 × 4"), "{error}");
        let error = format!("{:#}", DataSet::open(small.path(), Layout::Idd, None, None).unwrap_err());
        assert!(error.contains("--map"), "{error}");
    }
}
