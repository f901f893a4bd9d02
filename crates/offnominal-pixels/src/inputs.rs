//! What several requests share: where the images are, where the network is, and what methods are fitted on.

use crate::data_set::{DataSet, Sample};
use crate::layout::Layout;
use crate::network::Network;
use crate::resize::Size;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use clap::value_parser as number;
use offnominal_core::Seed;
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
    /// Folder layout (docs/reference/pixels.md)
    #[arg(long, value_parser = word_of::<Layout>(), default_value = "offnominal")]
    pub layout: Layout,
    /// Split with its own folder, such as val
    #[arg(long)]
    pub split: Option<String>,
    /// Label map [default: classes.toml of the data set]
    #[arg(long, value_name = "FILE.toml")]
    pub map: Option<PathBuf>,
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
    /// If it has no label map or no labels.
    pub fn open(&self, root: &Path) -> Result<DataSet> {
        self.open_split(root, None)
    }

    fn open_split(&self, root: &Path, split: Option<&str>) -> Result<DataSet> {
        let split = split.or(self.split.as_deref());
        let set = DataSet::open(root, self.layout, split, self.map.as_deref())?.resized(self.resize);
        if self.least_pixels > 1 { set.of_at_least(self.least_pixels) } else { Ok(set) }
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
    pub nominal: Option<PathBuf>,
    /// Its split
    #[arg(long, value_name = "SPLIT", requires = "nominal")]
    pub nominal_split: Option<String>,
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
    pub outliers: Option<PathBuf>,
    /// Its logits, if the network is in files
    #[arg(long, value_name = "DIR", requires = "outliers")]
    pub outlier_logits: Option<PathBuf>,
    /// Its features, if the network is in files
    #[arg(long, value_name = "DIR", requires = "outlier_logits")]
    pub outlier_features: Option<PathBuf>,
}

impl OutlierSource {
    /// The images and the network, if any were named.
    ///
    /// # Errors
    /// If they cannot be opened.
    pub fn open(&self, network: &NetworkSource, seed: Seed) -> Result<Option<(DataSet, Network)>> {
        let OutlierSource { outliers, outlier_logits, outlier_features } = self.clone();
        let (nominal, nominal_logits, nominal_features) = (outliers, outlier_logits, outlier_features);
        let source = NominalSource { nominal, nominal_logits, nominal_features, ..NominalSource::default() };
        source.open(&Reading::default(), network, seed)
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
        seed: Seed,
    ) -> Result<Option<(DataSet, Network)>> {
        let Some(root) = &self.nominal else { return Ok(None) };
        let mut set = reading.open_split(root, self.nominal_split.as_deref())?;
        set.samples.truncate(self.nominal_images.map_or(usize::MAX, |n| n as usize));
        if network.model.is_some() {
            return Ok(Some((set, network.open_for(1, seed)?)));
        }
        let logits = self.nominal_logits.clone().with_context(|| {
            format!("{}: expected a folder of its logits, as the network is in files", root.display())
        })?;
        let (logits, features) = (vec![logits], self.nominal_features.clone().into_iter().collect());
        Ok(Some((set, Network::Files { logits, features, confidence: Vec::new() })))
    }
}

/// Which files a data set and the output of a network for it come from, as a digest: it changes with each of them.
///
/// # Errors
/// If a file cannot be looked up.
pub fn digest(set: &DataSet, network: &Network) -> Result<String> {
    let files = |sample: &Sample| -> Vec<PathBuf> {
        let beside = ["shadows", "depth"].map(|folder| set.beside(sample, folder));
        let own = std::iter::once(sample.labels.clone()).chain(sample.image.clone());
        own.chain(beside).chain(network.files(sample)).filter(|path| path.is_file()).collect()
    };
    let files = of_files(set.samples.iter().flat_map(files))?;
    Ok(address(format!("{}\n{}\n{files}", set.identity()?, network.identity()).as_bytes()))
}

/// Names, sizes and times of files, as text.
///
/// # Errors
/// If one cannot be looked up.
pub(crate) fn of_files(paths: impl Iterator<Item = PathBuf>) -> Result<String> {
    let mut text = String::new();
    for path in paths {
        let found = path.metadata().with_context(|| format!("cannot read {}", path.display()))?;
        let changed = found.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
        text += &format!("{} {} {}\n", path.display(), found.len(), changed.unwrap_or_default().as_nanos());
    }
    Ok(text)
}
