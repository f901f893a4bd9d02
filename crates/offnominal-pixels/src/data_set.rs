//! Images with their labels: of one folder, or of several that are judged together.

use crate::label_map::{LabelMap, Meaning, Meanings};
use crate::layout::{ImageFiles, Layout, samples};
use crate::polygons;
use crate::resize::{Size, bilinear, nearest};
use anyhow::{Context, Result, bail, ensure};
use offnominal_files::image_file::{self, Samples};
use offnominal_stats::pixel::Truth;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// An image with its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Its name, with the folders below the split; files about it have the same name.
    pub name: String,
    /// Which of the folders that are judged together has it.
    pub part: usize,
    /// The image; none if there are only labels.
    pub image: Option<PathBuf>,
    /// The labels.
    pub labels: PathBuf,
}

/// A folder of images.
#[derive(Debug, Clone)]
struct Part {
    root: PathBuf,
    /// What its labels mean.
    meanings: Meanings,
}

/// The images of a folder, or of several that are judged together.
#[derive(Debug, Clone)]
pub struct DataSet {
    parts: Vec<Part>,
    /// The size to which images and labels are brought.
    resize: Option<Size>,
    /// Its images, by part and name.
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
        let parts = vec![Part { root: root.to_path_buf(), meanings: LabelMap::load(&map)? }];
        let sample = |ImageFiles { name, image, labels }| Sample { name, part: 0, image, labels };
        let samples = samples(root, layout, split)?.into_iter().map(sample).collect();
        Ok(DataSet { parts, resize: None, samples })
    }

    /// All images of several data sets, whose classes must be the same.
    ///
    /// # Errors
    /// If they are not.
    pub fn pooled(sets: impl IntoIterator<Item = DataSet>) -> Result<DataSet> {
        let mut sets = sets.into_iter();
        let mut all = sets.next().context("expected a data set, found none")?;
        for set in sets {
            let (wanted, found, name) = (all.classes(), set.classes(), set.name());
            ensure!(
                wanted == found,
                "{name}: expected the classes {wanted:?} of {}, found {found:?}",
                all.name()
            );
            let first = all.parts.len();
            all.samples.extend(set.samples.into_iter().map(|s| Sample { part: s.part + first, ..s }));
            all.parts.extend(set.parts);
        }
        Ok(all)
    }

    /// Without the images of fewer pixels.
    ///
    /// # Errors
    /// If the size of one cannot be read, or none is left.
    pub fn of_at_least(mut self, pixels: usize) -> Result<DataSet> {
        let mut kept = Vec::new();
        for sample in std::mem::take(&mut self.samples) {
            let size = size_of_labels(&sample.labels).with_context(|| sample.labels.display().to_string())?;
            if size.pixels() >= pixels {
                kept.push(sample);
            }
        }
        ensure!(!kept.is_empty(), "{}: expected images of {pixels} pixels or more, found none", self.name());
        Ok(DataSet { samples: kept, ..self })
    }

    /// With images and labels brought to a size.
    pub fn resized(self, resize: Option<Size>) -> DataSet {
        DataSet { resize, ..self }
    }

    /// The names of its folders.
    pub fn name(&self) -> String {
        let name = |part: &Part| match part.root.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => part.root.display().to_string(),
        };
        self.parts.iter().map(name).collect::<Vec<_>>().join(" + ")
    }

    /// Names of the classes, in the order of the logits.
    pub fn classes(&self) -> &[String] {
        &self.parts[0].meanings.map.classes
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.classes().len()
    }

    /// The colour in which a class id is shown.
    pub fn colour(&self, id: u8) -> [u8; 3] {
        self.parts[0].meanings.colour(id)
    }

    /// The label maps and the size, as text.
    pub(crate) fn identity(&self) -> Result<String> {
        let maps: Vec<&LabelMap> = self.parts.iter().map(|part| &part.meanings.map).collect();
        Ok(serde_json::to_string(&(maps, self.resize))?)
    }

    /// A file about an image that our own layout keeps in another folder beside the labels.
    pub(crate) fn beside(&self, sample: &Sample, folder: &str) -> PathBuf {
        self.parts[sample.part].root.join(folder).join(format!("{}.png", sample.name))
    }

    /// The numbers of such a file, one for each pixel; none if it is not there, or holds colours.
    ///
    /// # Errors
    /// If it is damaged, or has another size than the labels.
    pub(crate) fn numbers_beside(
        &self,
        sample: &Sample,
        folder: &str,
        labels: &Labels,
    ) -> Result<Option<Vec<u16>>> {
        let path = self.beside(sample, folder);
        if !path.is_file() {
            return Ok(None);
        }
        let raster = image_file::read(&path)?;
        let Samples::Numbers(numbers) = raster.samples else { return Ok(None) };
        let size = Size { width: raster.width, height: raster.height };
        let (size, numbers) = self.brought(size, numbers);
        ensure!(
            size == labels.size(),
            "{}: expected {} pixels as the labels, found {size}",
            path.display(),
            labels.size()
        );
        Ok(Some(numbers))
    }

    /// Values of pixels at the size to which all is brought.
    fn brought<T: Copy>(&self, from: Size, values: Vec<T>) -> (Size, Vec<T>) {
        match self.resize {
            Some(to) if to != from => (to, nearest(&values, from, to)),
            _ => (from, values),
        }
    }

    /// What is true of an image.
    ///
    /// # Errors
    /// If the labels cannot be read, or are not in the label map.
    pub fn labels(&self, sample: &Sample) -> Result<Labels> {
        let (size, pixels) = self.meanings_of(sample).with_context(|| sample.labels.display().to_string())?;
        let (size, pixels) = self.brought(size, pixels);
        let (ids, truth) = pixels.iter().map(|m| (m.id(), m.truth())).unzip();
        Ok(Labels { width: size.width, height: size.height, ids, truth })
    }

    fn meanings_of(&self, sample: &Sample) -> Result<(Size, Vec<Meaning>)> {
        let meanings = &self.parts[sample.part].meanings;
        if sample.labels.extension().is_some_and(|e| e == "xml") {
            let text = offnominal_files::read::text(&sample.labels)?;
            let annotation = polygons::parse(&text)?;
            let size = Size { width: annotation.width, height: annotation.height };
            return Ok((size, annotation.paint(meanings)?));
        }
        let raster = image_file::read(&sample.labels)?;
        let pixels = match &raster.samples {
            Samples::Numbers(numbers) => translate(meanings, numbers, |n| n.to_string()),
            Samples::Colours(colours) => {
                translate(meanings, colours, |[r, g, b]| format!("#{r:02x}{g:02x}{b:02x}"))
            }
        }?;
        Ok((Size { width: raster.width, height: raster.height }, pixels))
    }

    /// The colours of an image, `[height, width, 3]`, which must be as large as its labels.
    ///
    /// # Errors
    /// If there is no image, it cannot be read, or it has another size.
    pub fn rgb(&self, sample: &Sample, labels: &Labels) -> Result<Vec<u8>> {
        let path = sample
            .image
            .as_ref()
            .with_context(|| format!("{}: expected an image, found only labels", sample.name))?;
        let raster = image_file::read_picture(path)?;
        let size = Size { width: raster.width, height: raster.height };
        let rgb = raster.rgb();
        let (size, rgb) = match self.resize {
            Some(to) if to != size => (to, bilinear(&rgb, size, to)),
            _ => (size, rgb),
        };
        ensure!(
            size == labels.size(),
            "{}: expected {} pixels as {}, found {size}",
            path.display(),
            labels.size(),
            sample.labels.display()
        );
        Ok(rgb)
    }

    /// What an image looks like: its colours, or those of its classes where it has none or they cannot be read.
    pub(crate) fn colours(&self, sample: &Sample, labels: &Labels) -> Vec<u8> {
        let of_classes = |_| labels.ids.iter().flat_map(|&id| self.colour(id)).collect();
        self.rgb(sample, labels).unwrap_or_else(of_classes)
    }
}

impl Labels {
    /// Its size.
    pub fn size(&self) -> Size {
        Size { width: self.width, height: self.height }
    }
}

/// The size of an image from the head of its labels.
fn size_of_labels(path: &Path) -> Result<Size> {
    if path.extension().is_some_and(|e| e == "xml") {
        let annotation = polygons::parse(&offnominal_files::read::text(path)?)?;
        return Ok(Size { width: annotation.width, height: annotation.height });
    }
    let [width, height] = image_file::size(path)?;
    Ok(Size { width, height })
}

/// Looks up each different value once.
fn translate<T: Copy + Eq + std::hash::Hash>(
    meanings: &Meanings,
    values: &[T],
    text: impl Fn(T) -> String,
) -> Result<Vec<Meaning>> {
    let mut distinct = HashMap::new();
    for &value in values {
        distinct.entry(value).or_insert_with(|| text(value));
    }
    let (keys, texts): (Vec<T>, Vec<String>) = distinct.into_iter().unzip();
    let known: HashMap<T, Meaning> =
        keys.into_iter().zip(meanings.of_all(texts.iter().map(String::as_str))?).collect();
    Ok(values.iter().map(|v| known[v]).collect())
}

#[cfg(test)]
mod tests;
