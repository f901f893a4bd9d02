//! Images with their labels: of one folder, or of several that are judged together.

use crate::label_map::{KNOWN_ANY, LabelMap, Meaning, Meanings};
use crate::layout::{ImageFiles, ImageFolder, LabelSource, Layout, samples};
use crate::output::NetworkOutput;
use crate::polygons;
use crate::resize::{Size, bilinear, nearest};
use anyhow::{Context, Result, ensure};
use offnominal_files::image_file::{self, Raster, Samples};
use offnominal_stats::pixel::Truth;
use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
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
    /// Where its labels come from.
    pub labels: LabelSource,
}

/// An image that cannot be read, as the outermost context of an error.
#[derive(Debug, Clone)]
pub struct Unreadable;

impl Display for Unreadable {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("the image cannot be read")
    }
}

/// A folder of images.
#[derive(Debug, Clone)]
struct Part {
    root: PathBuf,
    layout: Layout,
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
    /// Images and other files that are left out, each with the reason.
    pub left_out: Vec<String>,
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
    /// Opens a folder. Without a map its own one is taken, `classes.toml`, where the layout needs one.
    ///
    /// # Errors
    /// If there is no label map, or there are no images.
    pub fn open(folder: &ImageFolder, split: Option<&str>, map: Option<&Path>) -> Result<DataSet> {
        let (root, layout) = (folder.path.clone(), folder.layout()?);
        let meanings = match map {
            Some(map) => LabelMap::load(map)?,
            None if layout.has_own_meaning() => Meanings::masks(),
            None => {
                let own = root.join(MAP);
                let missing = "expected --map FILE, or the label map classes.toml in the folder";
                ensure!(
                    own.is_file(),
                    "{}: the labels of {} need a label map: {missing}",
                    root.display(),
                    layout.name()
                );
                LabelMap::load(&own)?
            }
        };
        let listing = samples(&root, layout, split)?;
        let sample = |f: ImageFiles| Sample { name: f.name, part: 0, image: f.image, labels: f.labels };
        let samples = listing.images.into_iter().map(sample).collect();
        let left_out =
            listing.others.iter().map(|name| format!("{name}: no PNG, JPEG or WebP image")).collect();
        Ok(DataSet { parts: vec![Part { root, layout, meanings }], resize: None, samples, left_out })
    }

    /// The layout of each of its folders.
    pub fn layouts(&self) -> Vec<Layout> {
        self.parts.iter().map(|part| part.layout).collect()
    }

    /// Only the images of which something is known; the others are left out.
    ///
    /// # Errors
    /// If none is left.
    pub fn labelled(mut self) -> Result<DataSet> {
        let (labelled, others): (Vec<_>, Vec<_>) =
            self.samples.into_iter().partition(|sample| sample.labels != LabelSource::Missing);
        self.left_out.extend(others.into_iter().map(|sample| format!("{}: no labels", sample.name)));
        self.samples = labelled;
        ensure!(
            !self.samples.is_empty(),
            "{}: expected images with labels, found none that has any",
            self.name()
        );
        Ok(self)
    }

    /// Images without labels taken as known, as somebody said who named them as nominal; how many there are.
    pub fn all_known(mut self) -> (DataSet, usize) {
        let missing = self.samples.iter_mut().filter(|sample| sample.labels == LabelSource::Missing);
        let n = missing.map(|sample| sample.labels = LabelSource::AllKnown).count();
        (self, n)
    }

    /// All images of several data sets, whose classes must be the same where they have some.
    ///
    /// # Errors
    /// If they are not.
    pub fn pooled(sets: impl IntoIterator<Item = DataSet>) -> Result<DataSet> {
        let mut sets = sets.into_iter();
        let mut all = sets.next().context("expected a data set, found none")?;
        for set in sets {
            let (wanted, found, name) = (all.classes(), set.classes(), set.name());
            ensure!(
                wanted == found || wanted.is_empty() || found.is_empty(),
                "{name}: expected the classes {wanted:?} of {}, found {found:?}",
                all.name()
            );
            let first = all.parts.len();
            all.samples.extend(set.samples.into_iter().map(|s| Sample { part: s.part + first, ..s }));
            all.parts.extend(set.parts);
            all.left_out.extend(set.left_out);
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
            let found = size_of(&sample)?;
            if found.pixels() >= pixels {
                kept.push(sample);
            } else {
                self.left_out.push(format!("{}: {found} pixels", sample.name));
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

    /// Names of the classes, in the order of the logits: those of the first folder that names some.
    pub fn classes(&self) -> &[String] {
        &self.named().map.classes
    }

    fn named(&self) -> &Meanings {
        let named = self.parts.iter().find(|part| !part.meanings.map.classes.is_empty());
        &named.unwrap_or(&self.parts[0]).meanings
    }

    /// With these names of classes, where its label maps have none.
    pub(crate) fn with_classes(mut self, names: Vec<String>) -> DataSet {
        if self.classes().is_empty() {
            self.parts[0].meanings.map.classes = names;
        }
        self
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.classes().len()
    }

    /// The colour in which a class id is shown.
    pub fn colour(&self, id: u8) -> [u8; 3] {
        self.named().colour(id)
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
        let (size, pixels) = match &sample.labels {
            LabelSource::File(path) => {
                self.meanings_of(sample, path).with_context(|| path.display().to_string())?
            }
            LabelSource::AllKnown => same(sample, Meaning::KnownAny)?,
            LabelSource::Missing => same(sample, Meaning::Ignored)?,
        };
        let (size, pixels) = self.brought(size, pixels);
        let (ids, truth) = pixels.iter().map(|m| (m.id(), m.truth())).unzip();
        Ok(Labels { width: size.width, height: size.height, ids, truth })
    }

    fn meanings_of(&self, sample: &Sample, path: &Path) -> Result<(Size, Vec<Meaning>)> {
        let meanings = &self.parts[sample.part].meanings;
        if path.extension().is_some_and(|e| e == "xml") {
            let text = offnominal_files::read::text(path)?;
            let annotation = polygons::parse(&text)?;
            let size = Size { width: annotation.width, height: annotation.height };
            return Ok((size, annotation.paint(meanings)?));
        }
        let raster = image_file::read(path)?;
        let colour = |[r, g, b]: [u8; 3]| format!("#{r:02x}{g:02x}{b:02x}");
        let pixels = match &raster.samples {
            Samples::Numbers(numbers) if !raster.palette.is_empty() && meanings.name_colours() => {
                // An index without a colour is black, as programs show it.
                let seen = |index| raster.palette.get(usize::from(index)).copied().unwrap_or_default();
                translate(meanings, numbers, |index| colour(seen(index)))
            }
            Samples::Numbers(numbers) => translate(meanings, numbers, |n| n.to_string()),
            Samples::Colours(colours) => translate(meanings, colours, colour),
        }?;
        Ok((size_of_raster(&raster), pixels))
    }

    /// The colours of an image, `[height, width, 3]`, which must be as large as its labels.
    ///
    /// # Errors
    /// If there is no image, it cannot be read ([`Unreadable`]), or it has another size.
    pub fn rgb(&self, sample: &Sample, labels: &Labels) -> Result<Vec<u8>> {
        let path = image_of(sample)?;
        let raster = image_file::read_picture(path).context(Unreadable)?;
        let (size, rgb) = (size_of_raster(&raster), raster.rgb());
        let (size, rgb) = match self.resize {
            Some(to) if to != size => (to, bilinear(&rgb, size, to)),
            _ => (size, rgb),
        };
        let labelled = || sample.labels.file().unwrap_or(path).display();
        let expected = labels.size();
        ensure!(
            size == expected,
            "{}: expected {expected} pixels as {}, found {size}",
            path.display(),
            labelled()
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
    /// With the predicted class where a known pixel's is not named, which methods that are fitted by class need.
    pub(crate) fn named(mut self, output: &NetworkOutput) -> Labels {
        if self.ids.contains(&KNOWN_ANY)
            && let Some(prediction) = output.prediction()
        {
            let unnamed = self.ids.iter_mut().zip(prediction).filter(|(id, _)| **id == KNOWN_ANY);
            unnamed.for_each(|(id, class)| *id = class);
        }
        self
    }

    /// Its size.
    pub fn size(&self) -> Size {
        Size { width: self.width, height: self.height }
    }
}

fn image_of(sample: &Sample) -> Result<&Path> {
    sample.image.as_deref().with_context(|| format!("{}: expected an image, found only labels", sample.name))
}

/// The same for all pixels of an image.
fn same(sample: &Sample, meaning: Meaning) -> Result<(Size, Vec<Meaning>)> {
    let size = size_of(sample)?;
    Ok((size, vec![meaning; size.pixels()]))
}

fn size_of_raster(raster: &Raster) -> Size {
    Size { width: raster.width, height: raster.height }
}

/// The size of an image from the head of its labels, or of itself where it has none.
fn size_of(sample: &Sample) -> Result<Size> {
    let path = match sample.labels.file() {
        Some(path) if path.extension().is_some_and(|e| e == "xml") => {
            let annotation = polygons::parse(&offnominal_files::read::text(path)?);
            let annotation = annotation.with_context(|| path.display().to_string())?;
            return Ok(Size { width: annotation.width, height: annotation.height });
        }
        Some(path) => path,
        None => image_of(sample)?,
    };
    let [width, height] = image_file::size(path).context(Unreadable)?;
    Ok(Size { width, height })
}

/// Looks up each different value once; neighbours are mostly alike, so few pixels are looked up at all.
fn translate<T: Copy + Eq + std::hash::Hash>(
    meanings: &Meanings,
    values: &[T],
    text: impl Fn(T) -> String,
) -> Result<Vec<Meaning>> {
    let mut distinct = HashMap::new();
    for run in values.chunk_by(T::eq) {
        distinct.entry(run[0]).or_insert_with(|| text(run[0]));
    }
    let (keys, texts): (Vec<T>, Vec<String>) = distinct.into_iter().unzip();
    let known: HashMap<T, Meaning> =
        keys.into_iter().zip(meanings.of_all(texts.iter().map(String::as_str))?).collect();
    let mut found = Vec::with_capacity(values.len());
    values.chunk_by(T::eq).for_each(|run| found.resize(found.len() + run.len(), known[&run[0]]));
    Ok(found)
}

#[cfg(test)]
mod tests;
