//! The output of a segmentation network for the images of a data set: from files, or by a model of `pixels train`.

use crate::data_set::{DataSet, Labels, Sample};
use crate::net::Net;
use crate::net_file;
use crate::onnx::OnnxNet;
use crate::output::{NetworkOutput, total_of_probabilities};
use anyhow::{Context, Result, bail, ensure};
use offnominal_core::{Rng, Seed};
use offnominal_detectors::pixel::Needs;
use offnominal_detectors::pixel::patches::{Band, PatchClassifier};
use offnominal_engine::device::Device;
use offnominal_files::{array, store};
use offnominal_nets::Tensors;
use std::path::{Path, PathBuf};

/// Rows that a convolutional network sees above and below those that are segmented: beyond its image it would see zeros.
const AROUND: usize = 32;
/// The coarsest stride of features; rows begin at one.
const ALIGNED: usize = 8;

/// A network.
#[derive(Debug, Clone)]
pub enum Network {
    /// None: nothing is predicted.
    None,
    /// Arrays that somebody's model wrote, in one folder for each part of a data set: logits `[classes, H, W]` or
    /// `[passes, classes, H, W]`, features `[D, h, w]`.
    Files {
        /// Folders of the logits.
        logits: Vec<PathBuf>,
        /// Folders of the features, if there are any.
        features: Vec<PathBuf>,
        /// Folders of confidences `[H, W]`, if there are any.
        confidence: Vec<PathBuf>,
    },
    /// A trained network, in so many passes, with the seed of its dropped units.
    Model {
        /// The trained network.
        model: Model,
        /// Number of passes; random if more than one.
        passes: usize,
        /// What the random passes are drawn from.
        seed: Seed,
    },
}

/// A trained network.
#[derive(Debug, Clone)]
pub enum Model {
    /// The baseline.
    Baseline(Box<PatchClassifier>),
    /// A convolutional one of ours.
    Convolutional(Net),
    /// Anybody's.
    Onnx(OnnxNet),
}

impl Network {
    /// Reads a model's file.
    ///
    /// # Errors
    /// If it cannot be read or is none, or several passes of it would be alike.
    pub fn model(path: &Path, passes: usize, seed: Seed, device: Device) -> Result<Network> {
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("onnx")) {
            ensure!(
                passes == 1,
                "{}: expected one pass, found --passes {passes}: a network in a file of ONNX drops no units",
                path.display()
            );
            ensure!(device == Device::Cpu, "{}: expected --device cpu, for networks of ONNX", path.display());
            return Ok(Network::Model { model: Model::Onnx(OnnxNet::open(path)?), passes, seed });
        }
        let bytes = offnominal_files::read::bytes(path)?;
        Network::read(&bytes, path, passes, seed, device)
    }

    /// Reads a model from the bytes of the file of some path.
    ///
    /// # Errors
    /// As [`Network::model`].
    pub fn read(bytes: &[u8], path: &Path, passes: usize, seed: Seed, device: Device) -> Result<Network> {
        let expected =
            || format!("{}: expected a model of `pixels train`, or a network NAME.onnx", path.display());
        let tensors = Tensors::from_bytes(bytes).with_context(expected)?;
        if tensors.metadata.get("model").is_none_or(|model| model == "patch-classifier") {
            let model = Box::new(PatchClassifier::from_tensors(&tensors).with_context(expected)?);
            return Ok(Network::Model { model: Model::Baseline(model), passes, seed });
        }
        let net = net_file::open(&tensors, device).with_context(expected)?;
        ensure!(
            passes == 1 || net.drops_units(),
            "{}: expected a network that drops units, whose passes differ: train one with --modification dropout, \
             or leave out --passes",
            path.display()
        );
        Ok(Network::Model { model: Model::Convolutional(net), passes, seed })
    }

    /// What methods can be given by it; of files, as for the first image of the data set.
    ///
    /// # Errors
    /// If that file cannot be read.
    pub fn gives(&self, set: &DataSet) -> Result<Needs> {
        let (features, passes, confidence) = match self {
            Network::None => (false, false, false),
            Network::Files { features, confidence, .. } => {
                let (_, output) = self.predict(set, &set.samples[0])?;
                (!features.is_empty(), output.view().passes > 1, !confidence.is_empty())
            }
            Network::Model { model, passes, .. } => {
                (model.has_features(), *passes > 1, model.has_confidence())
            }
        };
        Ok(Needs { features, passes, confidence, ..Needs::default() })
    }

    /// Names of its classes for a data set whose labels name none: their numbers, where it does not name them.
    ///
    /// # Errors
    /// If these cannot be read.
    pub(crate) fn class_names(&self, set: &DataSet) -> Result<Option<Vec<String>>> {
        match self {
            Network::None => Ok(None),
            _ if set.n_classes() > 0 => Ok(None),
            _ if !self.classes().is_empty() => Ok(Some(self.classes().to_vec())),
            _ => {
                let (_, output) = self.predict(set, &set.samples[0])?;
                Ok(Some((0..output.view().classes).map(|class| class.to_string()).collect()))
            }
        }
    }

    /// The labels of an image of a data set, and the network's output for it.
    ///
    /// # Errors
    /// If a file is missing, has another shape than the labels, or the model has other classes than the label map.
    pub fn predict(&self, set: &DataSet, sample: &Sample) -> Result<(Labels, NetworkOutput)> {
        let labels = set.labels(sample)?;
        let output = match self {
            Network::None => NetworkOutput::none(labels.height, labels.width),
            Network::Files { logits, features, confidence } => {
                let features = features.get(sample.part).map(PathBuf::as_path);
                let output = from_files(&logits[sample.part], features, set, sample, &labels)?;
                let confidence =
                    confidence.get(sample.part).map(|folder| confidences(folder, sample, &labels));
                NetworkOutput { confidence: confidence.transpose()?, ..output }
            }
            Network::Model { model, passes, seed } => {
                model.check_classes(set)?;
                let rgb = set.rgb(sample, &labels)?;
                let mut rng = seed.child("passes").child(sample.name.as_str()).rng();
                let output = model.forward(&rgb, labels.width, *passes, &mut rng)?;
                model.check_count(output.shape[1], set)?;
                output
            }
        };
        Ok((labels, output))
    }

    /// The output of a model for any image, `[height, width, 3]`.
    ///
    /// # Errors
    /// If there is no model, or the image is not one that it takes.
    pub fn forward(&self, rgb: &[u8], width: usize, rng: &mut Rng) -> Result<NetworkOutput> {
        let Network::Model { model, passes, .. } = self else { bail!("expected a model, found files") };
        model.forward(rgb, width, *passes, rng)
    }

    /// The classes that a model knows; of files none is known.
    pub fn classes(&self) -> &[String] {
        match self {
            Network::Model { model, .. } => model.classes(),
            _ => &[],
        }
    }

    /// The output of a model for some rows of an image, which sees rows around them too.
    ///
    /// # Errors
    /// As [`Network::forward`].
    pub fn forward_band(
        &self,
        rgb: &[u8],
        width: usize,
        band: &Band,
        rng: &mut Rng,
    ) -> Result<NetworkOutput> {
        let Network::Model { model, passes, .. } = self else { bail!("expected a model, found files") };
        Ok(match model {
            Model::Baseline(model) => baseline(model, rgb, width, band, *passes, rng),
            Model::Convolutional(_) => {
                let (row, rows) = (3 * width, &band.rows);
                let above = rows.start.min(AROUND) / ALIGNED * ALIGNED;
                let end = (rows.end + AROUND).min(rgb.len() / row);
                let seen = &rgb[row * (rows.start - above)..row * end];
                model.forward(seen, width, *passes, rng)?.rows(above..above + rows.len())
            }
            // How far it sees is not known.
            Model::Onnx(net) => net.forward(rgb, width)?.rows(band.rows.clone()),
        })
    }

    /// What it is, as text: the bytes of a model, or the folders of files.
    pub(crate) fn identity(&self) -> String {
        let Network::Model { model, passes, seed } = self else {
            return if matches!(self, Network::None) { "none" } else { "files" }.into();
        };
        let tensors = match model {
            Model::Baseline(model) => model.to_tensors(),
            Model::Convolutional(net) => net.to_tensors(),
            Model::Onnx(net) => return net.identity().into(),
        };
        format!("{} {passes} {}", store::address(&tensors.to_bytes()), seed.0)
    }

    /// The files that hold its output for an image.
    pub(crate) fn files(&self, sample: &Sample) -> Vec<PathBuf> {
        let Network::Files { logits, features, confidence } = self else { return Vec::new() };
        let folders = [logits, features, confidence].into_iter().filter_map(|all| all.get(sample.part));
        folders.filter_map(|folder| array::find(folder, &sample.name).ok()).collect()
    }
}

impl Model {
    /// The classes that it knows.
    fn classes(&self) -> &[String] {
        match self {
            Model::Baseline(model) => &model.names,
            Model::Convolutional(net) => net.classes(),
            Model::Onnx(net) => net.classes(),
        }
    }

    /// Whether it gives features.
    fn has_features(&self) -> bool {
        !matches!(self, Model::Onnx(net) if !net.has_features())
    }

    /// Requires the classes of a data set, if the names of its own are known.
    fn check_classes(&self, set: &DataSet) -> Result<()> {
        let (classes, wanted) = (self.classes(), set.classes());
        ensure!(
            classes.is_empty() || wanted.is_empty() || classes == wanted,
            "the model knows the classes {classes:?}, the label map has {wanted:?}"
        );
        Ok(())
    }

    /// Requires as many classes as a data set has, if it has some.
    fn check_count(&self, found: usize, set: &DataSet) -> Result<()> {
        let Model::Onnx(net) = self else { return Ok(()) };
        let (expected, name) = (set.n_classes(), net.name());
        ensure!(
            expected == 0 || found == expected,
            "{name}: expected logits of the {expected} classes of the label map, found {found} classes"
        );
        Ok(())
    }

    /// Whether it has an output for its confidence.
    fn has_confidence(&self) -> bool {
        matches!(self, Model::Convolutional(net) if net.has_confidence())
    }

    fn forward(&self, rgb: &[u8], width: usize, passes: usize, rng: &mut Rng) -> Result<NetworkOutput> {
        let height = rgb.len() / 3 / width;
        match self {
            Model::Convolutional(net) => net.forward(rgb, [passes, self.classes().len(), height, width], rng),
            Model::Baseline(model) => Ok(baseline(model, rgb, width, &Band::whole(height), passes, rng)),
            Model::Onnx(net) => net.forward(rgb, width),
        }
    }
}

fn baseline(
    model: &PatchClassifier,
    rgb: &[u8],
    width: usize,
    band: &Band,
    passes: usize,
    rng: &mut Rng,
) -> NetworkOutput {
    let output = model.segment(rgb, width, band, passes, rng);
    let [rows, columns] = output.grid;
    let channels = output.features.len() / (rows * columns);
    NetworkOutput {
        logits: output.logits,
        shape: [passes, model.names.len(), band.rows.len(), width],
        features: Some((output.features, [channels, rows, columns])),
        confidence: None,
    }
}

fn confidences(folder: &Path, sample: &Sample, labels: &Labels) -> Result<Vec<f32>> {
    let path = array::find(folder, &sample.name)?;
    let array = array::read(&path, "confidence")?;
    let size = [labels.height, labels.width];
    ensure!(
        array.shape == size || array.shape == [1, size[0], size[1]],
        "{}: expected confidences {size:?}, found {:?}",
        path.display(),
        array.shape
    );
    if let Some(at) = array.values.iter().position(|c| !(0.0..=1.0).contains(c)) {
        let (row, column, found) = (at / size[1], at % size[1], array.values[at]);
        bail!(
            "{}: expected confidences from 0 to 1, found {found} in row {row}, column {column}",
            path.display()
        );
    }
    Ok(array.values)
}

fn from_files(
    logits: &Path,
    features: Option<&Path>,
    set: &DataSet,
    sample: &Sample,
    labels: &Labels,
) -> Result<NetworkOutput> {
    let path = array::find(logits, &sample.name)?;
    let array = array::read(&path, "logits")?;
    let (h, w) = (labels.height, labels.width);
    // Without a label map any number of classes is right.
    let k = match (set.n_classes(), &array.shape[..]) {
        (0, [.., classes, _, _]) => *classes,
        (classes, _) => classes,
    };
    let passes = match array.shape[..] {
        [classes, height, width] if [classes, height, width] == [k, h, w] => 1,
        [passes, classes, height, width] if passes > 0 && [classes, height, width] == [k, h, w] => passes,
        _ => bail!(
            "{}: expected logits [{k}, {h}, {w}] or [passes, {k}, {h}, {w}] for {k} classes and labels of {w} × {h} pixels, found {:?}",
            path.display(),
            array.shape
        ),
    };
    if let Some(total) = total_of_probabilities(&array.values, k, h * w) {
        bail!(
            "{}: expected logits, found probabilities: the {k} values of a pixel add up to {total}, and none is negative. \
             Write what the network says before the softmax, or the logarithm of its probabilities",
            path.display()
        );
    }
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
    let features = features.transpose()?;
    Ok(NetworkOutput { logits: array.values, shape: [passes, k, h, w], features, confidence: None })
}
