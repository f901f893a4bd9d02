//! Trains a network, the baseline or a convolutional one, and judges how well it segments.

use crate::choice::{Modification, NetworkChoice, NetworkKind, NetworkPreset};
use crate::data_set::DataSet;
use crate::deep;
use crate::inputs::Reading;
use crate::network::{Model, Network};
use anyhow::{Result, ensure};
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
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What to train; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Labelled images to learn from.
    pub data: PathBuf,
    /// Images on which the result is judged; the training never sees them.
    pub validation: Option<PathBuf>,
    /// How data sets are read.
    pub reading: Reading,
    /// Which network.
    pub network: NetworkKind,
    /// How large a convolutional network is.
    pub preset: NetworkPreset,
    /// What is changed in a convolutional network so that a method can be used.
    pub modification: Modification,
    /// Pixels of the image that a place of the coarsest map of a small convolutional network stands for, in rows and in
    /// columns: 4 or 8; 8 if none.
    pub output_stride: Option<u8>,
    /// Steps of the training of a convolutional network; the preset's if none.
    pub steps: Option<u32>,
    /// Images in such a step; the preset's if none.
    pub batch: Option<u32>,
    /// First learning rate; the preset's if none.
    pub rate: Option<f64>,
    /// Where a convolutional network is trained.
    pub device: Device,
    /// Pixels of each class that the baseline draws from an image.
    pub pixels: u32,
    /// How often the baseline sees each of them.
    pub rounds: u32,
    /// Folder for everything that is written.
    pub out: PathBuf,
    /// The command that the card names.
    pub command: String,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            data: PathBuf::new(),
            validation: None,
            reading: Reading::default(),
            network: NetworkKind::Patches,
            preset: NetworkPreset::Small,
            modification: Modification::None,
            output_stride: None,
            steps: None,
            batch: None,
            rate: None,
            device: Device::Cpu,
            pixels: 80,
            rounds: 12,
            out: "runs/pixels".into(),
            command: String::new(),
        }
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
    let set = request.reading.open(&request.data)?;
    let validation = request.validation.as_ref().map(|root| request.reading.open(root)).transpose()?;
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
        made: Provenance { presets, ..Provenance::new(&request.command, context.seed, identity.as_bytes()) },
        recipe,
    };
    write::atomically(&request.out.join("model.json"), format!("{:#}\n", json!(card)).as_bytes())?;
    Ok(card)
}

impl Request {
    /// What the network depends on, for its checkpoint.
    fn identity(&self, set: &DataSet, seed: u64) -> Result<String> {
        let same = Request { out: PathBuf::new(), command: String::new(), validation: None, ..self.clone() };
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
        let (net, values) = deep::train(set, &choice, seed, checkpoint, context)?;
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
