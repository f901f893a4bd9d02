//! Convolutional networks: from files, and trained with checkpoints.

use crate::choice::{Choice, Kind, Modification, Preset};
use crate::layout::DataSet;
use crate::network::Said;
use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::{Rng, Seed};
use offnominal_deep::train::{Recipe, Training};
use offnominal_deep::{Design, Picture, Segmenter, device};
use offnominal_engine::context::Context;
use offnominal_engine::device::Device;
use offnominal_engine::parallel;
use offnominal_files::write;
use offnominal_nets::Tensors;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a checkpoint is called.
const CHECKPOINT: &str = "checkpoint.safetensors";

/// Time between checkpoints.
const KEPT_EVERY: Duration = Duration::from_secs(60);

/// A trained network.
#[derive(Debug, Clone)]
pub struct Net(Arc<Segmenter>);

impl Net {
    /// From the tensors of a file.
    ///
    /// # Errors
    /// If they are none, or the device is not there.
    pub fn open(tensors: &Tensors, on: Device) -> Result<Net> {
        Ok(Net(Arc::new(Segmenter::from_tensors(tensors, &place(on)?)?)))
    }

    /// From weights that were published for torchvision's `deeplabv3_resnet50`.
    ///
    /// # Errors
    /// If the file cannot be read, or is another network.
    pub fn import(path: &Path, classes: Vec<String>) -> Result<Net> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let expected =
            || format!("{}: expected weights of deeplabv3_resnet50 as safetensors", path.display());
        let tensors = Tensors::from_bytes_of_floats(&bytes).with_context(expected)?;
        let net = Segmenter::from_torchvision(&tensors, classes, &device::cpu()).with_context(expected)?;
        Ok(Net(Arc::new(net)))
    }

    /// The classes that it knows.
    pub fn classes(&self) -> &[String] {
        &self.0.design.classes
    }

    /// Whether its passes can differ.
    pub fn drops_units(&self) -> bool {
        self.0.drops_units()
    }

    /// Whether it says how sure it is.
    pub fn has_confidence(&self) -> bool {
        self.0.has_confidence()
    }

    /// As a file.
    pub fn to_tensors(&self) -> Tensors {
        self.0.to_tensors()
    }

    /// How it was made, for its card.
    pub fn recipe(&self) -> serde_json::Value {
        serde_json::json!({ "design": self.0.design, "parameters": self.0.weights.n_learned() })
    }

    /// What it says about a picture; the shape is that of its logits.
    pub fn say(&self, rgb: &[u8], shape: [usize; 4], rng: &mut Rng) -> Said {
        let said = self.0.say(rgb, shape[3], shape[0], rng);
        let features = Some((said.features, said.grid));
        Said { logits: said.logits, shape, features, confidence: said.confidence }
    }
}

/// Runs a command; if a device is lost on the way, its panic becomes an error.
///
/// # Errors
/// Those of the command, or that a device was lost.
pub fn guard<T>(command: impl FnOnce() -> Result<T>) -> Result<T> {
    device::guard(command)?
}

/// Where tensors are.
pub(crate) fn place(on: Device) -> Result<offnominal_deep::device::Device> {
    match on {
        Device::Cpu => Ok(device::cpu()),
        Device::Gpu => Ok(device::gpu()?),
    }
}

fn design(choice: &Choice, classes: &[String]) -> Result<Design> {
    let network = match choice.network {
        Kind::Patches => bail!("expected a convolutional network, found the baseline"),
        Kind::Pspnet => offnominal_deep::Kind::Pspnet,
        Kind::Deeplab => offnominal_deep::Kind::Deeplab,
    };
    let preset = match choice.preset {
        Preset::Small => offnominal_deep::Preset::Small,
        Preset::Paper => offnominal_deep::Preset::Paper,
    };
    let modification = match choice.modification {
        Modification::None => offnominal_deep::Modification::None,
        Modification::DimReduce => offnominal_deep::Modification::DimReduce,
        Modification::Dropout => offnominal_deep::Modification::Dropout,
        Modification::Confidence => offnominal_deep::Modification::Confidence,
    };
    Ok(Design { network, preset, modification, classes: classes.to_vec() })
}

/// Trains on the pictures of a data set, and goes on where a checkpoint in the folder was left.
///
/// # Errors
/// If there is no such device, a picture cannot be read, nothing is labelled, or the checkpoint is of another training.
pub fn train(set: &DataSet, choice: &Choice, seed: Seed, out: &Path, context: &Context) -> Result<Net> {
    let place = place(choice.device)?;
    let design = design(choice, &set.meanings.map.classes)?;
    let (counts, size) = survey(set, context)?;
    let mut recipe = Recipe::of(&design, size, seed);
    recipe.steps = choice.steps.map_or(recipe.steps, |n| n as usize);
    recipe.batch = choice.batch.map_or(recipe.batch, |n| n as usize);
    recipe.rate = choice.rate.unwrap_or(recipe.rate);
    let steps = recipe.steps;
    let mut training = Training::begin(&design, recipe, &counts, &place);
    let checkpoint = out.join(CHECKPOINT);
    if checkpoint.is_file() {
        resume(&mut training, &checkpoint).with_context(|| checkpoint.display().to_string())?;
    }
    let bar = context.resumed(training.step() as u64..steps as u64, "steps");
    let mut kept = Instant::now();
    let mut picture = |number: usize| picture(set, number);
    while !training.is_done() {
        let loss = training.advance(set.samples.len(), &mut picture)?;
        bar.set_message(&format!("loss {loss:.3}"));
        bar.inc(1);
        if kept.elapsed() > KEPT_EVERY && !training.is_done() {
            write::atomically(&checkpoint, &training.keep().to_bytes())?;
            kept = Instant::now();
        }
    }
    // Models are written with half as many bytes, and judged as they are written.
    Net::open(&training.net().to_tensors().halved(), choice.device)
}

/// Removes the checkpoint of a training that is finished and written.
///
/// # Errors
/// If it is there and cannot be removed.
pub fn forget(out: &Path) -> Result<()> {
    let path = out.join(CHECKPOINT);
    if path.is_file() {
        std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(())
}

fn resume(training: &mut Training, checkpoint: &Path) -> Result<()> {
    training.take(&Tensors::from_bytes(&std::fs::read(checkpoint)?)?)?;
    Ok(())
}

fn picture(set: &DataSet, number: usize) -> Result<Picture> {
    let sample = &set.samples[number];
    let labels = set.labels(sample)?;
    let rgb = set.rgb(sample, &labels)?;
    Ok(Picture { rgb, labels: labels.ids, width: labels.width })
}

/// Pixels of each class, and the rows and columns of the first picture.
fn survey(set: &DataSet, context: &Context) -> Result<(Vec<u64>, [usize; 2])> {
    let bar = context.task(set.samples.len(), "pictures");
    let of_each = parallel::map(context.jobs, set.samples.len(), &bar, |i| {
        let labels = set.labels(&set.samples[i])?;
        let mut counts = vec![0_u64; set.n_classes()];
        for &id in labels.ids.iter().filter(|&&id| usize::from(id) < set.n_classes()) {
            counts[usize::from(id)] += 1;
        }
        anyhow::Ok((counts, [labels.height, labels.width]))
    })?;
    let mut counts = vec![0; set.n_classes()];
    of_each.iter().for_each(|(some, _)| counts.iter_mut().zip(some).for_each(|(sum, n)| *sum += n));
    let labelled = counts.iter().any(|&n| n > 0);
    ensure!(labelled, "{}: expected pixels of the known classes, found none", set.root.display());
    Ok((counts, of_each[0].1))
}
