//! Weights that were trained elsewhere, taken over as a model: of torchvision's deeplabv3_resnet50 as they were published,
//! or of one of our networks under the names of its own tensors.

use crate::choice::{Modification, NetworkChoice, NetworkKind, NetworkPreset};
use crate::deep;
use crate::inputs::Reading;
use crate::label_map::LabelMap;
use crate::layout::ImageFolder;
use crate::net::Net;
use crate::net_file;
use crate::network::{Model, Network};
use crate::train::output_stride;
use crate::train::{ModelCard, judge};
use anyhow::{Result, bail};
use clap::Args;
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_engine::context::Context;
use offnominal_engine::device::Device;
use offnominal_files::provenance::Provenance;
use offnominal_files::write;
use offnominal_work::cli::word_of;
use serde::Serialize;
use serde_json::json;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// What to import; the seed of the intervals is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
pub struct Request {
    /// Weights, saved by `safetensors.torch.save_file`
    #[arg(value_name = "FILE.safetensors")]
    pub weights: PathBuf,
    /// Network of `pixels train` [default: torchvision's deeplabv3_resnet50]
    #[arg(long, value_parser = word_of::<NetworkKind>())]
    pub network: Option<NetworkKind>,
    /// Size: small trains on two cores within an hour; paper as published
    #[arg(long, value_parser = word_of::<NetworkPreset>(), default_value = "small", requires = "network")]
    pub preset: NetworkPreset,
    /// Change that a method needs
    #[arg(long, value_parser = word_of::<Modification>(), default_value = "none", requires = "network")]
    pub modification: Modification,
    /// Stride of the coarsest map of a small network [default: 8]
    #[arg(long, value_name = "4|8", value_parser = output_stride, requires = "network")]
    pub output_stride: Option<u8>,
    /// Validation images; without --map they name the classes
    #[arg(long, value_name = "DIR")]
    pub validation: Option<ImageFolder>,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs/pixels")]
    pub out: PathBuf,
    /// How data sets are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// What was imported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Imported {
    /// The model's file.
    pub model: PathBuf,
    /// The classes that it knows.
    pub classes: Vec<String>,
    /// IoU of each class on the images for validation.
    pub iou: Option<Vec<Option<f64>>>,
    /// Their mean.
    pub mean_iou: Option<Estimate>,
}

/// Writes the model; and its card, if it is one of our networks.
///
/// # Errors
/// If a file cannot be read, or holds another network or other classes.
pub fn run(request: &Request, context: &Context) -> Result<Imported> {
    let folders: Vec<_> = request.validation.iter().cloned().collect();
    let validation = request.reading.open_labelled(&folders, context)?.pop();
    let classes = match (request.reading.map.first(), &validation) {
        (Some(map), _) => LabelMap::load(map)?.map.classes,
        (None, Some(set)) => set.classes().to_vec(),
        (None, None) => bail!("expected the classes of the network, found none: name --map or --validation"),
    };
    let net = request.open(classes)?;
    let model = request.out.join("model.safetensors");
    let (classes, recipe) = (net.classes().to_vec(), net.recipe());
    // Ours are written with half as many bytes, as `pixels train` does, and judged as they are written.
    let tensors = net.to_tensors();
    let tensors = if request.network.is_some() { tensors.halved() } else { tensors };
    let bytes = if request.network.is_some() { tensors.to_half_bytes() } else { tensors.to_bytes() };
    write::atomically(&model, &bytes)?;
    let net = net_file::open(&tensors, Device::Cpu)?;
    let network = Network::Model { model: Model::Convolutional(net), passes: 1, seed: Seed(context.seed) };
    let (iou, mean_iou) = validation.map(|set| judge(&network, &set, context)).transpose()?.unzip();
    if let Some(kind) = request.network {
        let card = ModelCard {
            model: model.clone(),
            network: kind,
            classes: classes.clone(),
            iou: iou.clone(),
            mean_iou: mean_iou.clone(),
            made: Provenance::new(&context.command, context.seed, json!(request).to_string().as_bytes()),
            recipe: Some(recipe),
        };
        write::atomically(&request.out.join("model.json"), format!("{:#}\n", json!(card)).as_bytes())?;
    }
    Ok(Imported { model, classes, iou, mean_iou })
}

impl Request {
    fn open(&self, classes: Vec<String>) -> Result<Net> {
        let Request { preset, modification, output_stride, .. } = *self;
        let Some(network) = self.network else { return deep::import(&self.weights, classes) };
        let (device, steps, batch, rate) = (Device::Cpu, None, None, None);
        let choice =
            NetworkChoice { network, preset, modification, output_stride, device, steps, batch, rate };
        net_file::named(&self.weights, &choice, &classes)
    }
}

impl Display for Imported {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.mean_iou.iter().try_for_each(|mean| writeln!(out, "mean IoU {mean:.3}"))?;
        write!(out, "{}", self.model.display())
    }
}
