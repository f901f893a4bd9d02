//! Convolutional networks that need automatic differentiation: trained with checkpoints, and those of published sizes.

use crate::choice::NetworkChoice;
use crate::data_set::DataSet;
use crate::net::{Net, design};
use anyhow::{Context as _, Result, ensure};
use offnominal_core::{Rng, Seed};
use offnominal_deep::train::{TrainConfig, Training};
use offnominal_deep::{Design, Image, Segmenter, device};
use offnominal_engine::context::Context;
use offnominal_engine::device::Device;
use offnominal_files::checkpoint::Checkpoint;
use offnominal_nets::Tensors;
use std::path::Path;
use std::sync::Arc;

/// A network of any design, on a device.
///
/// # Errors
/// If the tensors are none, or the device is not there.
pub fn open(tensors: &Tensors, on: Device) -> Result<Net> {
    Ok(Net(Arc::new(Segmenter::from_tensors(tensors, &on.open()?)?)))
}

/// A network of any design from its weights.
///
/// # Errors
/// If they are of another network.
pub fn named(design: &Design, tensors: &Tensors) -> Result<Net> {
    let mut net = Segmenter::new(design, &mut Rng::new(0), &device::cpu());
    net.weights.load(tensors)?;
    Ok(Net(Arc::new(net)))
}

/// From weights that were published for torchvision's `deeplabv3_resnet50`.
///
/// # Errors
/// If the file cannot be read, or is another network.
pub fn import(path: &Path, classes: Vec<String>) -> Result<Net> {
    let bytes = offnominal_files::read::bytes(path)?;
    let expected = || format!("{}: expected weights of deeplabv3_resnet50 as safetensors", path.display());
    let tensors = Tensors::from_bytes_of_floats(&bytes).with_context(expected)?;
    let net = Segmenter::from_torchvision(&tensors, classes, &device::cpu()).with_context(expected)?;
    Ok(Net(Arc::new(net)))
}

/// Trains on the images of a data set, and goes on where the checkpoint was left; the network, and the values of its
/// training.
///
/// # Errors
/// If there is no such device, an image cannot be read, nothing is labelled, or the checkpoint is of another training.
pub fn train(
    set: &DataSet,
    choice: &NetworkChoice,
    seed: Seed,
    checkpoint: &mut Checkpoint,
    context: &Context,
) -> Result<(Tensors, serde_json::Value)> {
    let design = design(choice, set.classes())?;
    let (counts, size) = survey(set, context)?;
    let mut recipe = TrainConfig::of(&design, size, seed);
    recipe.steps = choice.steps.map_or(recipe.steps, |n| n as usize);
    recipe.batch = choice.batch.map_or(recipe.batch, |n| n as usize);
    recipe.rate = choice.rate.unwrap_or(recipe.rate);
    let (steps, values) = (recipe.steps, serde_json::to_value(&recipe)?);
    let mut training = Training::begin(&design, recipe, &counts, &choice.device.open()?);
    if let Some(state) = checkpoint.load()? {
        training.restore(&state)?;
    }
    let task = context.resumed(training.step() as u64..steps as u64, "steps");
    let image = |number: usize| image(set, number);
    while !training.is_done() {
        let loss = training.advance(set.samples.len(), &image)?;
        task.set_message(&format!("loss {loss:.3}"));
        task.inc(1);
        context.save(checkpoint, || training.state())?;
    }
    // Models are written with half as many bytes, and judged as they are written.
    Ok((training.net().to_tensors().halved(), values))
}

fn image(set: &DataSet, number: usize) -> Result<Image> {
    let sample = &set.samples[number];
    let labels = set.labels(sample)?;
    let rgb = set.rgb(sample, &labels)?;
    Ok(Image { rgb, labels: labels.ids, width: labels.width })
}

/// Pixels of each class, and the rows and columns of the first image.
fn survey(set: &DataSet, context: &Context) -> Result<(Vec<u64>, [usize; 2])> {
    let of_each = context.map(set.samples.len(), "images", |i| {
        let labels = set.labels(&set.samples[i])?;
        let mut counts = vec![0_u64; set.n_classes()];
        for &id in labels.ids.iter().filter(|&&id| usize::from(id) < set.n_classes()) {
            counts[usize::from(id)] += 1;
        }
        Ok((counts, [labels.height, labels.width]))
    })?;
    let mut counts = vec![0; set.n_classes()];
    of_each.iter().for_each(|(some, _)| counts.iter_mut().zip(some).for_each(|(sum, n)| *sum += n));
    let labelled = counts.iter().any(|&n| n > 0);
    ensure!(labelled, "{}: expected pixels of the known classes, found none", set.name());
    Ok((counts, of_each[0].1))
}
