//! The images of a folder, each with its labels if it has some.

use super::{Layout, Pattern};
use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use strum::VariantArray;

/// Endings of the images that are read.
const PICTURES: [&str; 4] = ["png", "jpg", "jpeg", "webp"];

/// Where the labels of an image come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelSource {
    /// A file.
    File(PathBuf),
    /// The image shows nothing unknown; no class of a pixel is named.
    AllKnown,
    /// There are none: nothing can be judged.
    Missing,
}

impl LabelSource {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            LabelSource::File(path) => Some(path),
            LabelSource::AllKnown | LabelSource::Missing => None,
        }
    }
}

/// The files of an image.
pub(crate) struct ImageFiles {
    /// Its name, with the folders below the split.
    pub name: String,
    /// The image; none if there are only labels.
    pub image: Option<PathBuf>,
    pub labels: LabelSource,
}

/// What was found in a folder.
pub(crate) struct Listing {
    /// The images, by name.
    pub images: Vec<ImageFiles>,
    /// Files beside images without labels that are no images of a format that is read.
    pub others: Vec<String>,
}

/// The layouts of which a folder has labels; abnormal images without masks still tell which ones are normal.
pub(super) fn layouts_with_labels(root: &Path) -> Result<Vec<Layout>> {
    let mut found = Vec::new();
    for &layout in Layout::VARIANTS {
        let Pattern { labels, label, .. } = layout.pattern();
        let has_labels = match layout {
            Layout::Images => false,
            Layout::Anomalib => ["normal", "abnormal"].iter().all(|folder| root.join(folder).is_dir()),
            _ => root.join(labels).is_dir() && any(&root.join(labels), &|name| name.ends_with(label))?,
        };
        found.extend(has_labels.then_some(layout));
    }
    Ok(found)
}

/// Whether there is an image anywhere in a folder.
pub(super) fn has_images(root: &Path) -> Result<bool> {
    any(root, &|name| picture(name).is_some())
}

/// The folder in which a layout keeps its images, and one beside it with images of another kind, such as labels or depths.
pub(super) fn images_and_another(root: &Path) -> Result<Option<(&'static str, String)>> {
    let kept = Layout::VARIANTS.iter().map(|layout| layout.pattern().images);
    let Some(kept) = kept.filter(|name| !name.is_empty()).find(|name| root.join(name).is_dir()) else {
        return Ok(None);
    };
    for path in entries(root)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name != kept && path.is_dir() && has_images(&path)? {
            return Ok(Some((kept, name)));
        }
    }
    Ok(None)
}

/// Whether a file somewhere in a folder has a name like that.
fn any(folder: &Path, is_like: &dyn Fn(&str) -> bool) -> Result<bool> {
    for path in entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if if path.is_dir() { any(&path, is_like)? } else { is_like(&name) } {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The name of an image without its ending; none if it is no image.
fn picture(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    PICTURES.contains(&ending.to_ascii_lowercase().as_str()).then_some(stem)
}

/// The images of a folder, by name.
///
/// # Errors
/// If there are none, two have the same name, or the layout has no splits and one is named.
pub(crate) fn samples(root: &Path, layout: Layout, split: Option<&str>) -> Result<Listing> {
    ensure!(
        split.is_none() || layout.has_splits(),
        "{}: expected no split, for the layout {} has none, found {}",
        root.display(),
        layout.name(),
        split.unwrap_or_default()
    );
    let below = |folder: &str| split.map_or(root.join(folder), |split| root.join(folder).join(split));
    let pattern = layout.pattern();
    let (mut images, others) = named_images(&below(pattern.images), pattern.image)?;
    let mut found = Vec::new();
    if layout != Layout::Images {
        for (name, path) in named(&below(pattern.labels), pattern.label)? {
            let image = images.remove(&name);
            found.push(ImageFiles { name, image, labels: LabelSource::File(path) });
        }
        ensure!(
            !found.is_empty() || layout == Layout::Anomalib,
            "{}: expected label files ending in {}, found none",
            below(pattern.labels).display(),
            pattern.label
        );
    }
    let without = |(name, image)| ImageFiles { name, image: Some(image), labels: LabelSource::Missing };
    found.extend(images.into_iter().map(without));
    if layout == Layout::Anomalib {
        found.iter_mut().for_each(|files| files.name = format!("abnormal/{}", files.name));
        let normal = named_images(&root.join("normal"), "")?.0.into_iter();
        let normal = normal.map(|(name, image)| (format!("normal/{name}"), image));
        found.extend(normal.map(|(name, image)| ImageFiles {
            name,
            image: Some(image),
            labels: LabelSource::AllKnown,
        }));
    }
    ensure!(!found.is_empty(), "{}: expected images, found none", root.display());
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Listing { images: found, others: if layout == Layout::Images { others } else { Vec::new() } })
}

/// The images in a folder, by their names without the ending of their format and of their kind; and the other files.
fn named_images(folder: &Path, kind: &str) -> Result<(BTreeMap<String, PathBuf>, Vec<String>)> {
    let (mut images, mut others) = (BTreeMap::new(), Vec::new());
    // Labels may stand without images.
    if !folder.is_dir() {
        return Ok((images, others));
    }
    for (name, path) in named(folder, "")? {
        let Some(stem) = picture(&name).and_then(|stem| stem.strip_suffix(kind)) else {
            others.push(name);
            continue;
        };
        if let Some(other) = images.insert(stem.to_string(), path.clone()) {
            bail!("expected one image of the name {stem}, found {} and {}", other.display(), path.display());
        }
    }
    others.sort();
    Ok((images, others))
}

/// Files below a folder whose names have an ending, by their names without it and with the folders before them.
fn named(folder: &Path, ending: &str) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    walk(folder, &mut files)?;
    let mut found = Vec::new();
    for path in files {
        let relative = path.strip_prefix(folder).unwrap_or(&path).to_str();
        let relative =
            relative.with_context(|| format!("expected a name in UTF-8, found {}", path.display()))?;
        if let Some(name) = relative.replace('\\', "/").strip_suffix(ending) {
            found.push((name.to_string(), path));
        }
    }
    Ok(found)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(folder)? {
        if path.is_dir() { walk(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

/// What stands in a folder; hidden files, such as those that systems leave in any folder, do not count.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let place = || format!("cannot read the folder {}", folder.display());
    let all = std::fs::read_dir(folder).with_context(place)?;
    let all = all.map(|item| Ok(item?.path())).collect::<std::io::Result<Vec<_>>>().with_context(place)?;
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
    Ok(all.into_iter().filter(|path| !is_hidden(path)).collect())
}
