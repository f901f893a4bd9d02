//! Trains the baseline and says how well it segments.

use crate::layout::DataSet;
use crate::network::Network;
use anyhow::{Result, ensure};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_detectors::pixel::patches::{Examples, PatchClassifier};
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_stats::pixel::Confusion;
use offnominal_stats::{Bootstrap, Level};

/// How to train.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// Pixels of each class that are drawn from a picture.
    pub pixels: usize,
    /// How often each is seen.
    pub rounds: usize,
    /// The root of all randomness.
    pub seed: Seed,
}

/// Trains on the pictures of a data set.
///
/// # Errors
/// If pictures or labels cannot be read, or nothing is labelled.
pub fn train(set: &DataSet, recipe: &Recipe, context: &Context) -> Result<PatchClassifier> {
    let bar = context.task(set.samples.len(), "pictures");
    let of_each = parallel::map(context.jobs, set.samples.len(), &bar, |i| examples(set, i, recipe))?;
    let mut all = Examples::default();
    of_each.into_iter().for_each(|some| all.extend(some));
    ensure!(
        !all.classes.is_empty(),
        "{}: expected pixels of the known classes, found none",
        set.root.display()
    );
    let bar = context.task(recipe.rounds, "rounds");
    let mut rng = recipe.seed.child("training").rng();
    let names = set.meanings.map.classes.clone();
    Ok(PatchClassifier::train(&all, names, recipe.rounds, &mut rng, |_, loss| {
        bar.set_message(&format!("loss {loss:.3}"));
        bar.inc(1);
    }))
}

fn examples(set: &DataSet, number: usize, recipe: &Recipe) -> Result<Examples> {
    let (sample, mut examples) = (&set.samples[number], Examples::default());
    let labels = set.labels(sample)?;
    let (rgb, mut rng) = (set.rgb(sample, &labels)?, recipe.seed.child("pixels").child(number).rng());
    examples.add(&rgb, labels.width, &labels.ids, set.n_classes(), recipe.pixels, &mut rng);
    Ok(examples)
}

/// IoU of each class, and their mean, over a data set.
///
/// # Errors
/// If a picture cannot be read.
pub fn judge(network: &Network, set: &DataSet, context: &Context) -> Result<(Vec<Option<f64>>, Estimate)> {
    let bar = context.task(set.samples.len(), "validation");
    let said = parallel::map(context.jobs, set.samples.len(), &bar, |i| {
        let labels = set.labels(&set.samples[i])?;
        let said = network.say(set, &set.samples[i], &labels)?;
        anyhow::Ok((labels.ids, said.output().prediction()))
    })?;
    let mut confusion = Confusion::new(set.n_classes());
    said.iter().for_each(|(truth, prediction)| confusion.add(truth, prediction));
    let mean = confusion.mean(&Bootstrap::new(200, Level::P95, Seed(context.seed)))?;
    Ok((confusion.per_class(), mean))
}
