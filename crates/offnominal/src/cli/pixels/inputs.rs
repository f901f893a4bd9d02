//! Options that several commands share: where the data are, and where the network is.

use crate::cli::Common;
use crate::cli::one_of::one_of;
use anyhow::{Context, Result, ensure};
use clap::Args;
use offnominal_core::Seed;
use offnominal_engine::device::Device;
use offnominal_pixels::layout::{DataSet, Layout};
use offnominal_pixels::network::Network;
use std::path::{Path, PathBuf};

/// How data sets are read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub struct Reading {
    /// How the folders are laid out
    #[arg(long, value_parser = one_of::<Layout>(), default_value = "offnominal")]
    layout: Layout,
    /// Split, where it is a folder of its own, such as val
    #[arg(long)]
    split: Option<String>,
    /// Label map [default: classes.toml of the data set]
    #[arg(long, value_name = "FILE.toml")]
    map: Option<PathBuf>,
}

impl Reading {
    /// Opens a data set.
    ///
    /// # Errors
    /// If it has no label map or no labels.
    pub fn open(&self, root: &Path) -> Result<DataSet> {
        DataSet::open(root, self.layout, self.split.as_deref(), self.map.as_deref())
    }

    /// Opens nominal pictures, whose split may be another one.
    ///
    /// # Errors
    /// As [`Reading::open`].
    pub fn open_split(&self, root: &Path, split: Option<&str>) -> Result<DataSet> {
        let split = split.or(self.split.as_deref());
        DataSet::open(root, self.layout, split, self.map.as_deref())
    }
}

/// The network whose output is judged.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Network")]
pub struct NetworkArgs {
    /// Folder of logits NAME.npy, .npz or .safetensors, [classes, H, W] or [passes, classes, H, W]; one for each --data
    #[arg(long, value_name = "DIR")]
    logits: Vec<PathBuf>,
    /// Folder of features, [channels, h, w]; one for each --logits
    #[arg(long, value_name = "DIR", requires = "logits")]
    features: Vec<PathBuf>,
    /// Folder of confidences, [H, W] from 0 to 1; one for each --logits
    #[arg(long, value_name = "DIR", requires = "logits")]
    confidence: Vec<PathBuf>,
    /// Model of `pixels train`, instead of --logits
    #[arg(long, value_name = "FILE", conflicts_with = "logits")]
    model: Option<PathBuf>,
    /// Random passes of the model; 1 is a sure one
    #[arg(long, default_value_t = 1, value_name = "N", requires = "model", value_parser = clap::value_parser!(u32).range(1..=100))]
    passes: u32,
    /// Where a convolutional model runs
    #[arg(long, value_parser = one_of::<Device>(), default_value = "cpu", requires = "model")]
    device: Device,
}

impl NetworkArgs {
    /// One network for each of `n` data sets.
    ///
    /// # Errors
    /// If the folders do not match the data sets, or there is no network.
    pub fn open(&self, n: usize, common: &Common) -> Result<Vec<Network>> {
        if let Some(model) = &self.model {
            let network = Network::model(model, self.passes as usize, Seed(common.seed), self.device)?;
            return Ok(vec![network; n]);
        }
        ensure!(!self.logits.is_empty(), "expected --logits DIR or --model FILE");
        ensure!(
            self.logits.len() == n,
            "expected one --logits for each --data ({n}), found {}",
            self.logits.len()
        );
        for (name, found) in [("features", self.features.len()), ("confidence", self.confidence.len())] {
            ensure!(found == 0 || found == n, "expected one --{name} for each --logits ({n}), found {found}");
        }
        let network = |i: usize| Network::Files {
            logits: self.logits[i].clone(),
            features: self.features.get(i).cloned(),
            confidence: self.confidence.get(i).cloned(),
        };
        Ok((0..n).map(network).collect())
    }

    /// Whether the network is a model of `pixels train`.
    pub fn is_model(&self) -> bool {
        self.model.is_some()
    }
}

/// What methods are fitted on.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Nominal pictures")]
pub struct NominalArgs {
    /// Data set without unknown pixels, on which methods are fitted that must be
    #[arg(long, value_name = "DIR")]
    nominal: Option<PathBuf>,
    /// Its split
    #[arg(long, value_name = "SPLIT", requires = "nominal")]
    nominal_split: Option<String>,
    /// Its logits, if the network is in files
    #[arg(long, value_name = "DIR", requires = "nominal")]
    nominal_logits: Option<PathBuf>,
    /// Its features, if the network is in files
    #[arg(long, value_name = "DIR", requires = "nominal_logits")]
    nominal_features: Option<PathBuf>,
    /// Pictures that are used of it at most
    #[arg(long, default_value_t = 60, value_name = "N", requires = "nominal", value_parser = clap::value_parser!(u32).range(1..))]
    nominal_images: u32,
}

impl NominalArgs {
    /// The pictures and the network, if any were named.
    ///
    /// # Errors
    /// If they cannot be opened.
    pub fn open(
        &self,
        reading: &Reading,
        network: &NetworkArgs,
        common: &Common,
    ) -> Result<Option<(DataSet, Network)>> {
        let Some(root) = &self.nominal else { return Ok(None) };
        let mut set = reading.open_split(root, self.nominal_split.as_deref())?;
        set.samples.truncate(self.nominal_images as usize);
        if network.is_model() {
            return Ok(Some((set, network.open(1, common)?.remove(0))));
        }
        let logits = self.nominal_logits.clone().context("expected --nominal-logits DIR beside --nominal")?;
        let features = self.nominal_features.clone();
        Ok(Some((set, Network::Files { logits, features, confidence: None })))
    }
}
