//! What several requests share: where the images are, where the network is, and what methods are fitted on.

use crate::data_set::{DataSet, MAP, Sample};
use crate::layout::{ImageFolder, Layout};
use crate::network::Network;
use crate::resize::Size;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use clap::value_parser as number;
use offnominal_core::Seed;
use offnominal_engine::context::Context;
use offnominal_engine::device::Device;
use offnominal_files::store::address;
use offnominal_work::cli::{self, word_of};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// How data sets are read.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
#[command(next_help_heading = "Data")]
pub struct Reading {
    /// Split with its own folder, such as val; one, or one per data set
    #[arg(long)]
    pub split: Vec<String>,
    /// Label map; one, or one per data set [default: its classes.toml]
    #[arg(long, value_name = "FILE.toml")]
    pub map: Vec<PathBuf>,
    /// Leave out images with fewer pixels
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub least_pixels: usize,
    /// Resize images and labels
    #[arg(long, value_name = "WIDTHxHEIGHT")]
    pub resize: Option<Size>,
}

impl Reading {
    /// Opens a data set.
    ///
    /// # Errors
    /// If it has no label map or no images, or several splits or label maps are named.
    pub fn open(&self, folder: &ImageFolder) -> Result<DataSet> {
        Ok(self.open_each(std::slice::from_ref(folder))?.remove(0))
    }

    /// Opens data sets, each with its own split and label map, or all with the only ones.
    ///
    /// # Errors
    /// As [`Reading::open`]; or if there are other numbers of splits and label maps.
    pub fn open_each(&self, folders: &[ImageFolder]) -> Result<Vec<DataSet>> {
        let n = folders.len();
        let maps =
            one_each(&self.map, n).with_context(|| format!("--map: {}", of_each(n, self.map.len())))?;
        let layouts = folders.iter().map(ImageFolder::layout).collect::<Result<Vec<_>>>()?;
        let split = layouts.iter().filter(|layout| layout.has_splits()).count();
        let expected = || format!("--split: {}", of_each(split, self.split.len()));
        let mut splits = one_each(&self.split, split).with_context(expected)?.into_iter();
        let open = |((folder, layout), map): ((&ImageFolder, &Layout), Option<&PathBuf>)| {
            let split = if layout.has_splits() { splits.next().flatten() } else { None };
            self.open_as(folder, split.map(String::as_str), map.map(PathBuf::as_path))
        };
        folders.iter().zip(&layouts).zip(maps).map(open).collect()
    }

    /// The images of data sets of which something is known; tells which are left out.
    ///
    /// # Errors
    /// As [`Reading::open_each`]; or if nothing is known of any image of a data set.
    pub(crate) fn open_labelled(&self, folders: &[ImageFolder], context: &Context) -> Result<Vec<DataSet>> {
        let sets = self.open_each(folders)?.into_iter().map(DataSet::labelled).collect::<Result<Vec<_>>>()?;
        sets.iter().for_each(|set| tell_left_out(set, context));
        Ok(sets)
    }

    /// Opens a data set of another role, with a split and a label map of its own, or the only ones there are.
    fn open_role(&self, role: &Role<'_>) -> Result<DataSet> {
        let Role { name, folder, split, map } = *role;
        let has_splits = folder.layout()?.has_splits();
        ensure!(
            split.is_none() || has_splits,
            "--{name}-split: expected none, for the layout of {folder} has no splits"
        );
        let own = |what: &str| format!("expected --{name}-{what}, because there are several --{what}");
        let map = map.map_or_else(|| only(&self.map).with_context(|| own("map")), |map| Ok(Some(map)))?;
        let split = match split {
            None if has_splits => only(&self.split).with_context(|| own("split"))?,
            own => own,
        };
        self.open_as(folder, split.map(String::as_str), map.map(PathBuf::as_path))
    }

    fn open_as(&self, folder: &ImageFolder, split: Option<&str>, map: Option<&Path>) -> Result<DataSet> {
        let set = DataSet::open(folder, split, map)?.resized(self.resize);
        if self.least_pixels > 1 { set.of_at_least(self.least_pixels) } else { Ok(set) }
    }
}

/// One thing for each of so many data sets: each its own, or all the only one; none if there are other numbers of them.
fn one_each<T>(things: &[T], n: usize) -> Option<Vec<Option<&T>>> {
    match things {
        [] => Some(vec![None; n]),
        [one] if n > 0 => Some(vec![Some(one); n]),
        all if all.len() == n => Some(all.iter().map(Some).collect()),
        _ => None,
    }
}

/// The only thing of a list, if it is not empty; none where there are several.
fn only<T>(things: &[T]) -> Option<Option<&T>> {
    (things.len() < 2).then(|| things.first())
}

fn of_each(n: usize, found: usize) -> String {
    format!("expected one, or one for each data set that can have it ({n}), found {found}")
}

/// A data set that is not judged, with what it has of its own.
struct Role<'a> {
    name: &'a str,
    folder: &'a ImageFolder,
    split: Option<&'a String>,
    map: Option<&'a PathBuf>,
}

/// Tells what of a data set is left out.
pub(crate) fn tell_left_out(set: &DataSet, context: &Context) {
    let (n, first) = (set.left_out.len(), set.left_out.iter().take(3).cloned().collect::<Vec<_>>());
    if n > 0 {
        let more = if n > first.len() { "; …" } else { "" };
        context.note(&format!("{}: {n} files are left out: {}{more}", set.name(), first.join("; ")));
    }
}

/// The network whose output is scored.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
#[command(next_help_heading = "Network")]
pub struct NetworkSource {
    /// Folder of logits (docs/reference/pixels.md); one per --data
    #[arg(long, value_name = "DIR")]
    pub logits: Vec<PathBuf>,
    /// Folder of features; one per --logits
    #[arg(long, value_name = "DIR", requires = "logits")]
    pub features: Vec<PathBuf>,
    /// Folder of confidences; one per --logits
    #[arg(long, value_name = "DIR", requires = "logits")]
    pub confidence: Vec<PathBuf>,
    /// Model of `pixels train` or NAME.onnx, instead of --logits
    #[arg(long, value_name = "FILE", conflicts_with = "logits")]
    pub model: Option<PathBuf>,
    /// Random forward passes of the model
    #[arg(long, default_value_t = 1, value_name = "N", requires = "model", value_parser = number!(u32).range(1..=100))]
    pub passes: u32,
    /// Where a convolutional model runs
    #[arg(long, value_parser = word_of::<Device>(), default_value = "cpu", requires = "model")]
    pub device: Device,
}

impl Default for Reading {
    fn default() -> Reading {
        cli::defaults()
    }
}

impl Default for NetworkSource {
    fn default() -> NetworkSource {
        cli::defaults()
    }
}

impl NetworkSource {
    /// One network for each of `n` data sets.
    ///
    /// # Errors
    /// If the folders do not match the data sets, or there is no network.
    pub fn open(&self, n: usize, seed: Seed) -> Result<Vec<Network>> {
        if self.model.is_some() {
            return Ok(vec![self.open_for(1, seed)?; n]);
        }
        self.check_folders(n)?;
        let one = |all: &[PathBuf], i: usize| all.get(i).cloned().into_iter().collect();
        let network = |i: usize| Network::Files {
            logits: one(&self.logits, i),
            features: one(&self.features, i),
            confidence: one(&self.confidence, i),
        };
        Ok((0..n).map(network).collect())
    }

    /// The network for a data set of so many parts.
    ///
    /// # Errors
    /// As [`NetworkSource::open`].
    pub fn open_for(&self, parts: usize, seed: Seed) -> Result<Network> {
        if let Some(model) = &self.model {
            return Network::model(model, self.passes as usize, seed, self.device);
        }
        self.check_folders(parts)?;
        let NetworkSource { logits, features, confidence, .. } = self.clone();
        Ok(Network::Files { logits, features, confidence })
    }

    /// The network for images of another role, whose logits and features may be in files.
    fn open_role(&self, folder: &ImageFolder, files: [&Option<PathBuf>; 2], seed: Seed) -> Result<Network> {
        if self.model.is_some() {
            return self.open_for(1, seed);
        }
        let missing = || format!("{folder}: expected a folder of its logits, as the network is in files");
        let [logits, features] = files;
        let logits = vec![logits.clone().with_context(missing)?];
        let features = features.clone().into_iter().collect();
        Ok(Network::Files { logits, features, confidence: Vec::new() })
    }

    /// Whether no network is named.
    pub fn is_none(&self) -> bool {
        self.model.is_none() && self.logits.is_empty()
    }

    fn check_folders(&self, n: usize) -> Result<()> {
        let found = self.logits.len();
        ensure!(found > 0, "expected --logits DIR or --model FILE");
        ensure!(found == n, "expected one --logits for each --data ({n}), found {found}");
        for (name, found) in [("features", self.features.len()), ("confidence", self.confidence.len())] {
            ensure!(found == 0 || found == n, "expected one --{name} for each --logits ({n}), found {found}");
        }
        Ok(())
    }
}

/// Images on which methods are fitted: without unknown pixels, or with pasted things.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Args)]
#[command(next_help_heading = "Nominal images")]
pub struct NominalSource {
    /// Nominal data set, on which methods are fitted
    #[arg(long, value_name = "DIR")]
    pub nominal: Option<ImageFolder>,
    /// Its split
    #[arg(long, value_name = "SPLIT", requires = "nominal")]
    pub nominal_split: Option<String>,
    /// Its label map [default: the only --map, or its classes.toml]
    #[arg(long, value_name = "FILE.toml", requires = "nominal")]
    pub nominal_map: Option<PathBuf>,
    /// Its logits, if the network is in files
    #[arg(long, value_name = "DIR", requires = "nominal")]
    pub nominal_logits: Option<PathBuf>,
    /// Its features, if the network is in files
    #[arg(long, value_name = "DIR", requires = "nominal_logits")]
    pub nominal_features: Option<PathBuf>,
    /// Most images taken from it [default: all]
    #[arg(long, value_name = "N", requires = "nominal", value_parser = number!(u32).range(1..))]
    pub nominal_images: Option<u32>,
}

/// Images with pasted things, on which outlier-head is fitted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Args)]
#[command(next_help_heading = "Images with pasted things")]
pub struct OutlierSource {
    /// Data set of `pixels paste`, to fit outlier-head
    #[arg(long, value_name = "DIR")]
    pub outliers: Option<ImageFolder>,
    /// Its logits, if the network is in files
    #[arg(long, value_name = "DIR", requires = "outliers")]
    pub outlier_logits: Option<PathBuf>,
    /// Its features, if the network is in files
    #[arg(long, value_name = "DIR", requires = "outlier_logits")]
    pub outlier_features: Option<PathBuf>,
}

impl OutlierSource {
    /// The images and the network, if any were named. The label map is the one that `pixels paste` wrote.
    ///
    /// # Errors
    /// If they cannot be opened.
    pub fn open(
        &self,
        reading: &Reading,
        network: &NetworkSource,
        seed: Seed,
    ) -> Result<Option<(DataSet, Network)>> {
        let Some(folder) = &self.outliers else { return Ok(None) };
        let own = folder.path.join(MAP);
        let role = Role { name: "outlier", folder, split: None, map: Some(&own) };
        let set = reading.open_role(&role)?.labelled()?;
        let files = [&self.outlier_logits, &self.outlier_features];
        Ok(Some((set, network.open_role(folder, files, seed)?)))
    }
}

impl NominalSource {
    /// The images and the network, if any were named.
    ///
    /// # Errors
    /// If they cannot be opened.
    pub fn open(
        &self,
        reading: &Reading,
        network: &NetworkSource,
        context: &Context,
    ) -> Result<Option<(DataSet, Network)>> {
        let Some(folder) = &self.nominal else { return Ok(None) };
        let (split, map) = (self.nominal_split.as_ref(), self.nominal_map.as_ref());
        let role = Role { name: "nominal", folder, split, map };
        let (mut set, unlabelled) = reading.open_role(&role)?.all_known();
        set.samples.truncate(self.nominal_images.map_or(usize::MAX, |n| n as usize));
        tell_left_out(&set, context);
        if unlabelled > 0 {
            context.note(&format!(
                "{folder}: {unlabelled} images have no labels: everything in them is taken as known, and of the \
                 class that the network predicts"
            ));
        }
        let files = [&self.nominal_logits, &self.nominal_features];
        Ok(Some((set, network.open_role(folder, files, Seed(context.seed))?)))
    }
}

/// Which files a data set and the output of a network for it come from, as a digest: it changes with each of them.
///
/// # Errors
/// If a file cannot be looked up.
pub fn digest(set: &DataSet, network: &Network) -> Result<String> {
    let files = |sample: &Sample| -> Vec<PathBuf> {
        let beside = ["shadows", "depth"].map(|folder| set.beside(sample, folder));
        let own = sample.labels.file().map(Path::to_path_buf).into_iter().chain(sample.image.clone());
        own.chain(beside).chain(network.files(sample)).filter(|path| path.is_file()).collect()
    };
    let files = of_files(set.samples.iter().flat_map(files))?;
    Ok(address(format!("{}\n{}\n{files}", set.identity()?, network.identity()).as_bytes()))
}

/// Names, sizes and times of files, as text; the time of the last change, which nobody can set, where a system keeps one.
///
/// # Errors
/// If one cannot be looked up.
pub(crate) fn of_files(paths: impl Iterator<Item = PathBuf>) -> Result<String> {
    let mut text = String::new();
    for path in paths {
        let found = path.metadata().with_context(|| format!("cannot read {}", path.display()))?;
        let changed = found.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
        let changed = changed.unwrap_or_default().as_nanos();
        text += &format!("{} {} {changed} {}\n", path.display(), found.len(), last_change(&found));
    }
    Ok(text)
}

/// When a file or what is known of it was changed last, in nanoseconds: copies that keep the time of their content differ in it.
#[cfg(unix)]
fn last_change(found: &std::fs::Metadata) -> i128 {
    use std::os::unix::fs::MetadataExt;
    i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec())
}

#[cfg(not(unix))]
fn last_change(_: &std::fs::Metadata) -> i128 {
    0
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_file_that_is_replaced_is_another_one_though_its_size_and_time_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let written = |content: &[u8]| {
            fs::write(&path, content).unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
            of_files(std::iter::once(path.clone())).unwrap()
        };
        let first = written(b"1");
        assert_eq!(of_files(std::iter::once(path.clone())).unwrap(), first);
        // Clocks of files tick every few milliseconds.
        std::thread::sleep(Duration::from_millis(30));
        assert_ne!(written(b"2"), first);
    }
}
