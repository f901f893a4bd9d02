//! Trains a network, the baseline or a convolutional one, and judges how well it segments.

use crate::choice::{Modification, NetworkChoice, NetworkKind, NetworkPreset};
use crate::data_set::DataSet;
use crate::deep;
use crate::inputs::Reading;
use crate::layout::ImageFolder;
use crate::net_file;
use crate::network::{Model, Network};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use clap::value_parser as number;
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_detectors::pixel::patches::{Examples, PatchClassifier, PatchTraining};
use offnominal_engine::context::Context;
use offnominal_engine::device::Device;
use offnominal_engine::request::within;
use offnominal_files::checkpoint::Checkpoint;
use offnominal_files::lock::Lock;
use offnominal_files::provenance::Provenance;
use offnominal_files::write;
use offnominal_stats::pixel::Confusion;
use offnominal_stats::{Bootstrap, Level};
use offnominal_work::cli::{one_of, word_of};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// What to train; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
pub struct Request {
    /// Labelled training images
    #[arg(long, value_name = "DIR")]
    pub data: ImageFolder,
    /// Validation images
    #[arg(long, value_name = "DIR")]
    pub validation: Option<ImageFolder>,
    /// Network; patches is the baseline, the others are convolutional
    #[arg(long, value_parser = word_of::<NetworkKind>(), default_value = "patches")]
    pub network: NetworkKind,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs/pixels")]
    pub out: PathBuf,
    /// How data sets are read.
    #[command(flatten)]
    pub reading: Reading,
    /// Size: small trains on two cores within an hour; paper as published
    #[arg(long, value_parser = word_of::<NetworkPreset>(), default_value = "small", help_heading = CONVOLUTIONAL)]
    pub preset: NetworkPreset,
    /// Change that a method needs
    #[arg(long, value_parser = one_of::<Modification>(), default_value = "none", help_heading = CONVOLUTIONAL)]
    pub modification: Modification,
    /// Stride of the coarsest map of a small network [default: 8]
    #[arg(long, value_name = "4|8", value_parser = output_stride, help_heading = CONVOLUTIONAL)]
    pub output_stride: Option<u8>,
    /// Gradient steps [default: the preset's]
    #[arg(long, value_name = "N", value_parser = number!(u32).range(1..), help_heading = CONVOLUTIONAL)]
    pub steps: Option<u32>,
    /// Batch size [default: the preset's]
    #[arg(long, value_name = "N", value_parser = number!(u32).range(1..=1024), help_heading = CONVOLUTIONAL)]
    pub batch: Option<u32>,
    /// Initial learning rate [default: the preset's]
    #[arg(long, value_name = "RATE", value_parser = rate, help_heading = CONVOLUTIONAL)]
    pub rate: Option<f64>,
    /// Where to train
    #[arg(long, value_parser = word_of::<Device>(), default_value = "cpu", help_heading = CONVOLUTIONAL)]
    pub device: Device,
    /// Sampled pixels per class and image
    #[arg(long, default_value_t = 80, value_parser = number!(u32).range(1..=100_000), help_heading = "Baseline")]
    pub pixels: u32,
    /// Epochs
    #[arg(long, default_value_t = 12, value_parser = number!(u32).range(1..=10_000), help_heading = "Baseline")]
    pub rounds: u32,
}

/// The heading of the options of convolutional networks.
const CONVOLUTIONAL: &str = "PSPNet and DeepLabV3+";

/// Reads the stride of the coarsest map.
pub(crate) fn output_stride(text: &str) -> Result<u8, String> {
    match text {
        "4" => Ok(4),
        "8" => Ok(8),
        _ => Err(format!("expected 4 or 8, found {text:?}")),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err(format!("expected a rate above 0, up to 1, found {text:?}")),
    }
}

/// What is known of a trained network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelCard {
    /// The model's file.
    pub model: PathBuf,
    /// Its kind.
    pub network: NetworkKind,
    /// The classes that it knows.
    pub classes: Vec<String>,
    /// IoU of each class on the images for validation.
    pub iou: Option<Vec<Option<f64>>>,
    /// Their mean.
    pub mean_iou: Option<Estimate>,
    /// What made it.
    #[serde(flatten)]
    pub made: Provenance,
    /// How a convolutional network was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<Value>,
}

/// Name of the checkpoint in the output folder.
const CHECKPOINT: &str = "checkpoint.safetensors";

/// Trains, from where a run that was killed had left it, and writes model.safetensors and its card model.json.
///
/// # Errors
/// If the data cannot be read or the model cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<ModelCard> {
    within("pixels", request.pixels, 1..=100_000)?;
    within("rounds", request.rounds, 1..=10_000)?;
    within("batch", request.batch.unwrap_or(1), 1..=1024)?;
    let folders: Vec<_> = [&request.data].into_iter().chain(&request.validation).cloned().collect();
    let mut sets = request.reading.open_labelled(&folders, context)?.into_iter();
    let (set, validation) = (sets.next().context("no data set")?, sets.next());
    let model = request.out.join("model.safetensors");
    let identity = request.identity(&set, context.seed)?;
    let _held = Lock::folder(&request.out)?;
    let mut checkpoint = Checkpoint::open(&request.out.join(CHECKPOINT), identity.as_str())?;
    let Trained { network, recipe, presets } = request.train(&set, &model, &mut checkpoint, context)?;
    checkpoint.remove()?;
    let (iou, mean_iou) = validation.map(|set| judge(&network, &set, context)).transpose()?.unzip();
    let card = ModelCard {
        model,
        network: request.network,
        classes: set.classes().to_vec(),
        iou,
        mean_iou,
        made: Provenance { presets, ..Provenance::new(&context.command, context.seed, identity.as_bytes()) },
        recipe,
    };
    write::atomically(&request.out.join("model.json"), format!("{:#}\n", json!(card)).as_bytes())?;
    Ok(card)
}

impl Request {
    /// What the network depends on, for its checkpoint.
    fn identity(&self, set: &DataSet, seed: u64) -> Result<String> {
        let same = Request { out: PathBuf::new(), validation: None, ..self.clone() };
        Ok(json!({ "request": same, "images": set.samples.len(), "seed": seed }).to_string())
    }

    /// Trains and writes the network.
    fn train(
        &self,
        set: &DataSet,
        model: &Path,
        checkpoint: &mut Checkpoint,
        context: &Context,
    ) -> Result<Trained> {
        let seed = Seed(context.seed);
        if self.network == NetworkKind::Patches {
            ensure!(
                self.modification == Modification::None,
                "the baseline has no modifications: name --network pspnet or deeplab"
            );
            ensure!(
                self.output_stride.is_none(),
                "the baseline has no output stride: name --network pspnet or deeplab"
            );
            let recipe = BaselineRecipe { pixels: self.pixels as usize, rounds: self.rounds as usize, seed };
            let net = baseline(set, &recipe, checkpoint, context)?;
            write::atomically(model, &net.to_tensors().to_bytes())?;
            let network = Network::Model { model: Model::Baseline(Box::new(net)), passes: 1, seed };
            return Ok(Trained { network, recipe: None, presets: BTreeMap::new() });
        }
        let Request { network, preset, modification, output_stride, device, steps, batch, rate, .. } = *self;
        let choice =
            NetworkChoice { network, preset, modification, output_stride, device, steps, batch, rate };
        let (tensors, values) = deep::train(set, &choice, seed, checkpoint, context)?;
        let net = net_file::open(&tensors, device)?;
        write::atomically(model, &net.to_tensors().to_half_bytes())?;
        let (recipe, presets) =
            (Some(net.recipe()), BTreeMap::from([(<&str>::from(network).into(), values)]));
        let network = Network::Model { model: Model::Convolutional(net), passes: 1, seed };
        Ok(Trained { network, recipe, presets })
    }
}

/// A trained network, and how it was made if it is convolutional.
struct Trained {
    network: Network,
    recipe: Option<Value>,
    /// The values of its training, by the name of the network.
    presets: BTreeMap<String, Value>,
}

/// How to train the baseline.
#[derive(Debug, Clone, Copy)]
struct BaselineRecipe {
    pixels: usize,
    rounds: usize,
    seed: Seed,
}

/// Trains the baseline on the images of a data set.
fn baseline(
    set: &DataSet,
    recipe: &BaselineRecipe,
    checkpoint: &mut Checkpoint,
    context: &Context,
) -> Result<PatchClassifier> {
    let of_each = context.map(set.samples.len(), "images", |i| examples(set, i, recipe))?;
    let mut all = Examples::default();
    of_each.into_iter().for_each(|some| all.extend(some));
    ensure!(!all.classes.is_empty(), "{}: expected pixels of the known classes, found none", set.name());
    let rng = recipe.seed.child("training").rng();
    let mut training = PatchTraining::begin(&all, set.classes().to_vec(), recipe.rounds, rng);
    if let Some(state) = checkpoint.load()? {
        training.restore(&state)?;
    }
    let task = context.resumed(training.round() as u64..recipe.rounds as u64, "rounds");
    while !training.is_done() {
        let loss = training.advance(&all);
        task.set_message(&format!("loss {loss:.3}"));
        task.inc(1);
        context.save(checkpoint, || training.state())?;
    }
    Ok(training.into_model())
}

fn examples(set: &DataSet, number: usize, recipe: &BaselineRecipe) -> Result<Examples> {
    let (sample, mut examples) = (&set.samples[number], Examples::default());
    let labels = set.labels(sample)?;
    let (rgb, mut rng) = (set.rgb(sample, &labels)?, recipe.seed.child("pixels").child(number).rng());
    examples.add(&rgb, labels.width, &labels.ids, set.n_classes(), recipe.pixels, &mut rng);
    Ok(examples)
}

/// IoU of each class, and their mean, over a data set.
///
/// # Errors
/// If an image cannot be read.
pub(crate) fn judge(
    network: &Network,
    set: &DataSet,
    context: &Context,
) -> Result<(Vec<Option<f64>>, Estimate)> {
    let predicted = context.map(set.samples.len(), "validation", |i| {
        let (labels, output) = network.predict(set, &set.samples[i])?;
        Ok((labels.ids, output.view().prediction()))
    })?;
    let mut confusion = Confusion::new(set.n_classes());
    predicted.iter().for_each(|(truth, prediction)| confusion.add(truth, prediction));
    let mean = confusion.mean(&Bootstrap::new(200, Level::P95, Seed(context.seed)))?;
    Ok((confusion.per_class(), mean))
}

impl Display for ModelCard {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (class, iou) in self.classes.iter().zip(self.iou.iter().flatten()) {
            writeln!(out, "  {class:<16}{}", iou.map_or("–".into(), |iou| format!("{iou:.3}")))?;
        }
        self.mean_iou.iter().try_for_each(|mean| writeln!(out, "mean IoU {mean:.3}"))?;
        write!(out, "{}", self.model.display())
    }
}
