//! What a segmentation network says about the pictures of a data set: from files, or by the baseline.

use super::array;
use super::layout::{DataSet, Labels, Sample};
use anyhow::{Context, Result, bail, ensure};
use offnominal_core::Seed;
use offnominal_detectors::pixel::patches::PatchClassifier;
use offnominal_detectors::pixel::{Features, Output};
use offnominal_nets::Tensors;
use std::path::{Path, PathBuf};

/// A network.
#[derive(Debug, Clone)]
pub enum Network {
    /// Arrays that somebody's model wrote: logits `[classes, H, W]` or `[passes, classes, H, W]`, features `[D, h, w]`.
    Files {
        /// Folder of the logits.
        logits: PathBuf,
        /// Folder of the features, if there are any.
        features: Option<PathBuf>,
    },
    /// The baseline, in so many passes, with the seed of its dropped units.
    Baseline {
        /// The trained network.
        model: Box<PatchClassifier>,
        /// Number of passes; random if more than one.
        passes: usize,
        /// What the random passes are drawn from.
        seed: Seed,
    },
}

/// What it says about one picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    logits: Vec<f32>,
    /// Passes, classes, height, width.
    shape: [usize; 4],
    features: Option<(Vec<f32>, [usize; 3])>,
}

impl Said {
    /// As the methods read it.
    pub fn output(&self) -> Output<'_> {
        let [passes, classes, height, width] = self.shape;
        let features = self.features.as_ref().map(|(values, [channels, rows, columns])| Features {
            values,
            channels: *channels,
            rows: *rows,
            columns: *columns,
        });
        Output { logits: &self.logits, passes, classes, height, width, features }
    }
}

impl Network {
    /// Reads the baseline's file.
    ///
    /// # Errors
    /// If it cannot be read or is none.
    pub fn baseline(path: &Path, passes: usize, seed: Seed) -> Result<Network> {
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read the model {}", path.display()))?;
        let model = Tensors::from_bytes(&bytes).and_then(|t| PatchClassifier::from_tensors(&t));
        let model =
            model.with_context(|| format!("{}: expected a model of `pixels train`", path.display()))?;
        Ok(Network::Baseline { model: Box::new(model), passes, seed })
    }

    /// What it says about a picture.
    ///
    /// # Errors
    /// If a file is missing, has another shape than the labels, or the model has other classes than the label map.
    pub fn say(&self, set: &DataSet, sample: &Sample, labels: &Labels) -> Result<Said> {
        match self {
            Network::Files { logits, features } => {
                from_files(logits, features.as_deref(), set, sample, labels)
            }
            Network::Baseline { model, passes, seed } => {
                ensure!(
                    model.names == set.meanings.map.classes,
                    "the model knows the classes {:?}, the label map has {:?}",
                    model.names,
                    set.meanings.map.classes
                );
                let rgb = set.rgb(sample, labels)?;
                let mut rng = seed.child("passes").child(sample.name.as_str()).rng();
                let said = model.say(&rgb, labels.width, *passes, &mut rng);
                let [rows, columns] = said.grid;
                let channels = said.features.len() / (rows * columns);
                let shape = [*passes, model.names.len(), labels.height, labels.width];
                Ok(Said {
                    logits: said.logits,
                    shape,
                    features: Some((said.features, [channels, rows, columns])),
                })
            }
        }
    }
}

fn from_files(
    logits: &Path,
    features: Option<&Path>,
    set: &DataSet,
    sample: &Sample,
    labels: &Labels,
) -> Result<Said> {
    let path = array::find(logits, &sample.name)?;
    let array = array::read(&path, "logits")?;
    let (k, h, w) = (set.n_classes(), labels.height, labels.width);
    let passes = match array.shape[..] {
        [classes, height, width] if [classes, height, width] == [k, h, w] => 1,
        [passes, classes, height, width] if passes > 0 && [classes, height, width] == [k, h, w] => passes,
        _ => bail!(
            "{}: expected logits [{k}, {h}, {w}] or [passes, {k}, {h}, {w}] for {k} classes and labels of {w} × {h} pixels, found {:?}",
            path.display(),
            array.shape
        ),
    };
    let features = features.map(|folder| -> Result<_> {
        let path = array::find(folder, &sample.name)?;
        let array = array::read(&path, "features")?;
        let shape: [usize; 3] = array.shape.clone().try_into().map_err(|found| {
            anyhow::anyhow!(
                "{}: expected features [channels, rows, columns], found {found:?}",
                path.display()
            )
        })?;
        ensure!(!array.values.is_empty(), "{}: expected features, found an empty array", path.display());
        Ok((array.values, shape))
    });
    Ok(Said { logits: array.values, shape: [passes, k, h, w], features: features.transpose()? })
}
