//! Anybody's segmentation network: `NAME.onnx`, and `NAME.json` beside it, which says how images are fed.
//!
//! ONNX has no words for that, and a network that is fed otherwise than it was trained answers all the same, so nothing is
//! assumed:
//!
//! | key | meaning | without it |
//! |---|---|---|
//! | `mean`, `deviation` | of red, green and blue, by which levels are standardised | refused |
//! | `scale` | the level of white before that: 1 or 255 | 1 |
//! | `order` | in which channels are fed: `rgb` or `bgr` | `rgb` |
//! | `size` | `WIDTHxHEIGHT` to which images are resized | that of the input, or of the image if the input is open |
//! | `classes` | names, in the order of the logits | their number is compared |
//! | `features` | the value or node whose numbers `[1, channels, rows, columns]` are the features | there are none |

use crate::output::{NetworkOutput, total_of_probabilities};
use crate::resize::{Size, bilinear};
use anyhow::{Context as _, Result, bail, ensure};
use offnominal_engine::policies::beside;
use offnominal_files::{read, store};
use offnominal_nets::onnx::{self, Beside, Graph, Tensor, Use};
use serde::Deserialize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A file that says the least.
const LEAST: &str = r#"{"mean": [0.485, 0.456, 0.406], "deviation": [0.229, 0.224, 0.225]}"#;

/// How images are fed, and what comes out.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Feed {
    mean: [f32; 3],
    deviation: [f32; 3],
    #[serde(default = "one")]
    scale: f32,
    #[serde(default)]
    order: Order,
    #[serde(default)]
    size: Option<String>,
    #[serde(default)]
    classes: Vec<String>,
    #[serde(default)]
    features: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    #[default]
    Rgb,
    Bgr,
}

fn one() -> f32 {
    1.0
}

/// A network from an ONNX file.
#[derive(Debug, Clone)]
pub struct OnnxNet(Arc<Net>);

#[derive(Debug)]
struct Net {
    name: String,
    feed: Feed,
    /// To which images are resized, if they are.
    size: Option<Size>,
    graph: Graph,
    /// Copies that nobody uses, with their memory.
    idle: Mutex<Vec<Graph>>,
    identity: String,
}

impl OnnxNet {
    /// Reads the network and the file beside it.
    ///
    /// # Errors
    /// If one cannot be read, or the network takes no images, or gives probabilities.
    pub fn open(path: &Path) -> Result<OnnxNet> {
        let bytes = read::bytes(path)?;
        let weights = beside::read(path, &bytes).with_context(|| path.display().to_string())?;
        let feed = path.with_extension("json");
        let missing = || format!("{}: expected how images are fed, such as {LEAST}", feed.display());
        ensure!(feed.is_file(), "{}; found no such file", missing());
        OnnxNet::read(&bytes, &weights, &read::bytes(&feed)?, &path.display().to_string())
    }

    /// Reads the bytes of a network of some name, of the files in which it has weights, and of the file beside it.
    ///
    /// # Errors
    /// As [`OnnxNet::open`].
    pub fn read(bytes: &[u8], weights: &Beside, feed: &[u8], name: &str) -> Result<OnnxNet> {
        let identity = weights.values().map(|file| store::address(file)).collect::<Vec<_>>().join(" ");
        let identity = format!("{} {} {identity}", store::address(bytes), store::address(feed));
        let feed: Feed = serde_json::from_slice(feed)
            .with_context(|| format!("{name}: expected a file beside it such as {LEAST}"))?;
        feed.check().with_context(|| format!("{name}: the file beside it"))?;
        let mut graph = Graph::read(bytes, weights, Use::Image).with_context(|| name.to_string())?;
        ensure!(
            !graph.ends_with("Softmax"),
            "{name}: expected logits, found probabilities: the network ends with a softmax. Export it without"
        );
        let size = feed.size(&graph).with_context(|| name.to_string())?;
        if let Some(features) = &feed.features {
            graph = graph.with_output(features).with_context(|| format!("{name}: features"))?;
        }
        let (name, idle) = (name.to_string(), Mutex::default());
        Ok(OnnxNet(Arc::new(Net { name, feed, size, graph, idle, identity })))
    }

    /// The classes that it knows, if they are named.
    pub fn classes(&self) -> &[String] {
        &self.0.feed.classes
    }

    /// Whether it gives features.
    pub fn has_features(&self) -> bool {
        self.0.feed.features.is_some()
    }

    /// The name of its file.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// A digest of its files.
    pub fn identity(&self) -> &str {
        &self.0.identity
    }

    /// Its output for an image `[height, width, 3]`: logits in the size of the image, whatever their stride.
    ///
    /// # Errors
    /// If it does not take the image, or gives no logits.
    pub fn forward(&self, rgb: &[u8], width: usize) -> Result<NetworkOutput> {
        self.0.forward(rgb, width).with_context(|| self.0.name.clone())
    }
}

impl Feed {
    fn check(&self) -> Result<()> {
        let numbers = self.mean.iter().chain(&self.deviation);
        let mut deviations = self.deviation.iter();
        ensure!(
            numbers.clone().all(|x| x.is_finite()) && deviations.all(|&d| d > 0.0),
            "expected finite means and deviations above 0, found {:?} and {:?}",
            self.mean,
            self.deviation
        );
        ensure!([1.0, 255.0].contains(&self.scale), "scale: expected 1 or 255, found {}", self.scale);
        Ok(())
    }

    /// The size to which images are resized.
    fn size(&self, graph: &Graph) -> Result<Option<Size>> {
        let axes = graph.axes();
        let wanted = self.size.as_ref().map(|text| text.parse::<Size>().map_err(anyhow::Error::msg));
        let wanted = wanted.transpose().context("size")?;
        let [images, planes, height, width] = axes[..] else {
            bail!("input: expected [1, 3, height, width], found {}", graph.input().words());
        };
        if images.is_some_and(|n| n != 1) || planes.is_some_and(|n| n != 3) || !graph.input().kind.is_real() {
            bail!("input: expected [1, 3, height, width], found {}", graph.input().words());
        }
        let own = wanted.or(height.zip(width).map(|(height, width)| Size { width, height }));
        let fits = |size: Size| [(height, size.height), (width, size.width)];
        if let Some(size) = own {
            let fits = fits(size).into_iter().all(|(own, n)| own.is_none_or(|own| own == n));
            ensure!(fits, "size: expected that of the input {}, found {size}", graph.input().words());
        }
        ensure!(
            own.is_some() || height.is_none() && width.is_none(),
            "input: expected rows and columns both open or both fixed, found {axes:?}: name the size beside it"
        );
        Ok(own)
    }

    /// An image as channels in the units in which it is fed.
    fn channels(&self, rgb: &[u8]) -> Vec<f32> {
        let channel = |i: usize| {
            let c = if self.order == Order::Bgr { 2 - i } else { i };
            let by = [self.scale / 255.0, self.mean[c], self.deviation[c]];
            rgb.iter().skip(c).step_by(3).map(move |&v| (f32::from(v) * by[0] - by[1]) / by[2])
        };
        (0..3).flat_map(channel).collect()
    }
}

impl Net {
    fn forward(&self, rgb: &[u8], width: usize) -> Result<NetworkOutput> {
        let from = Size { width, height: rgb.len() / 3 / width };
        let to = self.size.unwrap_or(from);
        let resized = (to != from).then(|| bilinear(rgb, from, to));
        let channels = self.feed.channels(resized.as_deref().unwrap_or(rgb));
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut graph = idle().pop().unwrap_or_else(|| self.graph.clone());
        graph.reshape(&[1, 3, to.height, to.width])?;
        let logits = graph.run(&channels)?;
        let [classes, rows, columns] = planes("logits", logits)?;
        if let Some(total) = total_of_probabilities(&logits.data, classes, rows * columns) {
            bail!("expected logits, found probabilities: the {classes} values of a pixel add up to {total}");
        }
        let logits = onnx::bilinear(logits, [from.height, from.width])?;
        let features = (graph.n_outputs() > 1).then(|| graph.output(1));
        let features = features.map(|f| Ok::<_, anyhow::Error>((f.data.clone(), planes("features", f)?)));
        let features = features.transpose()?;
        idle().push(graph);
        let shape = [1, classes, from.height, from.width];
        Ok(NetworkOutput { logits: logits.data, shape, features, confidence: None })
    }
}

/// Planes, rows and columns of an output, whose numbers must be finite.
fn planes(what: &str, output: &Tensor) -> Result<[usize; 3]> {
    let [1, planes, rows, columns] = output.shape[..] else {
        bail!("{what}: expected [1, planes, rows, columns], found {}", output.words());
    };
    ensure!(planes * rows * columns > 0, "{what}: expected numbers, found {}", output.words());
    if let Some(found) = output.data.iter().find(|x| !x.is_finite()) {
        bail!("{what}: expected finite numbers, found {found}");
    }
    Ok([planes, rows, columns])
}

#[cfg(test)]
mod tests;
