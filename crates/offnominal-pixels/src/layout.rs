//! Where data sets keep their images and labels: which layout a folder has, and its images by name.

mod listing;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use strum::{EnumString, IntoStaticStr, VariantArray};

pub use listing::LabelSource;
pub(crate) use listing::{ImageFiles, samples};

/// How a data set is laid out in folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Layout {
    /// images/NAME.*, labels/NAME.png, and the label map classes.toml
    Offnominal,
    /// leftImg8bit/SPLIT/CITY/NAME_leftImg8bit.*, gtFine/SPLIT/CITY/NAME_gtFine_labelIds.png
    Cityscapes,
    /// leftImg8bit/SPLIT/DRIVE/NAME_leftImg8bit.*, gtFine/SPLIT/DRIVE/NAME_gtFine_labelids.png
    Idd,
    /// leftImg8bit/SPLIT/STREET/NAME_leftImg8bit.*, gtCoarse/SPLIT/STREET/NAME_gtCoarse_labelIds.png
    LostAndFound,
    /// Images/…/NAME.*, Annotations/…/NAME.xml with named polygons
    Sun2012,
    /// images/SPLIT/TOWN/NAME.*, annotations/SPLIT/TOWN/NAME.png
    StreetHazards,
    /// images/NAME.*, labels_masks/NAME_labels_semantic.png
    Smiyc,
    /// NAME_leftImg8bit.* beside NAME_labels.png
    Fishyscapes,
    /// normal/NAME.*, abnormal/NAME.*, mask/NAME.png that is 0 where all is normal
    Anomalib,
    /// Images without labels
    Images,
}

/// The folder and the ending of the names of images, then of labels. An image has an ending of its format as well.
struct Pattern {
    images: &'static str,
    image: &'static str,
    labels: &'static str,
    label: &'static str,
}

impl Layout {
    /// What is looked for; of `Anomalib` where its abnormal images are.
    fn pattern(self) -> Pattern {
        let pattern = |images, image, labels, label| Pattern { images, image, labels, label };
        match self {
            Layout::Offnominal => pattern("images", "", "labels", ".png"),
            Layout::Cityscapes => pattern("leftImg8bit", "_leftImg8bit", "gtFine", "_gtFine_labelIds.png"),
            Layout::Idd => pattern("leftImg8bit", "_leftImg8bit", "gtFine", "_gtFine_labelids.png"),
            Layout::LostAndFound => {
                pattern("leftImg8bit", "_leftImg8bit", "gtCoarse", "_gtCoarse_labelIds.png")
            }
            Layout::Sun2012 => pattern("Images", "", "Annotations", ".xml"),
            Layout::StreetHazards => pattern("images", "", "annotations", ".png"),
            Layout::Smiyc => pattern("images", "", "labels_masks", "_labels_semantic.png"),
            Layout::Fishyscapes => pattern("", "_leftImg8bit", "", "_labels.png"),
            Layout::Anomalib => pattern("abnormal", "", "mask", ".png"),
            Layout::Images => pattern("", "", "", ""),
        }
    }

    /// Whether a split is a folder of its own.
    pub(crate) fn has_splits(self) -> bool {
        use Layout::{Cityscapes, Idd, LostAndFound, StreetHazards};
        matches!(self, Cityscapes | Idd | LostAndFound | StreetHazards)
    }

    /// Whether its labels need no label map: there are none, or they say nothing but normal or not.
    pub(crate) fn has_own_meaning(self) -> bool {
        matches!(self, Layout::Anomalib | Layout::Images)
    }

    /// The name in which it is written.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A folder of images, and its layout if it was named: `DIR`, or `LAYOUT:DIR`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct ImageFolder {
    layout: Option<Layout>,
    /// Where it is.
    pub path: PathBuf,
}

impl ImageFolder {
    /// Its layout: the one that was named, or the only one of which it has labels; without labels, images.
    ///
    /// # Errors
    /// If the folder cannot be read, has labels of several layouts, neither labels nor images, or images of several kinds.
    pub fn layout(&self) -> Result<Layout> {
        if let Some(layout) = self.layout {
            return Ok(layout);
        }
        let place = self.path.display();
        std::fs::read_dir(&self.path).with_context(|| format!("cannot read the folder {place}"))?;
        match listing::layouts_with_labels(&self.path)?[..] {
            [layout] => Ok(layout),
            [] if listing::has_images(&self.path)? => self.images_alone(),
            [] => bail!("{place}: expected labels in one of the layouts {}, or images, found neither", all()),
            [a, b, ..] => bail!(
                "{place}: expected labels of one layout, found those of {} and of {}: write {}:{place} for the one \
                 that is meant",
                a.name(),
                b.name(),
                a.name()
            ),
        }
    }

    /// The layout of images without labels, if nothing in the folder looks like labels whose files are missing.
    fn images_alone(&self) -> Result<Layout> {
        let place = self.path.display();
        match listing::images_and_another(&self.path)? {
            None => Ok(Layout::Images),
            Some((kept, other)) => bail!(
                "{place}: expected labels, or images of one kind, found images in {kept} and in {other}, and no labels: \
                 write images:{place}/{kept} for the images of {kept} alone"
            ),
        }
    }
}

fn all() -> String {
    let labelled = Layout::VARIANTS.iter().filter(|layout| **layout != Layout::Images);
    labelled.map(|layout| layout.name()).collect::<Vec<_>>().join(", ")
}

impl From<PathBuf> for ImageFolder {
    fn from(path: PathBuf) -> ImageFolder {
        ImageFolder { layout: None, path }
    }
}

impl From<&Path> for ImageFolder {
    fn from(path: &Path) -> ImageFolder {
        path.to_path_buf().into()
    }
}

impl From<ImageFolder> for String {
    fn from(folder: ImageFolder) -> String {
        folder.to_string()
    }
}

impl FromStr for ImageFolder {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<ImageFolder, Infallible> {
        let named = text.split_once(':').and_then(|(name, path)| Some((name.parse().ok()?, path)));
        Ok(match named {
            Some((layout, path)) => ImageFolder { layout: Some(layout), path: path.into() },
            None => PathBuf::from(text).into(),
        })
    }
}

impl Display for ImageFolder {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.layout.iter().try_for_each(|layout| write!(out, "{}:", layout.name()))?;
        write!(out, "{}", self.path.display())
    }
}
