//! The baseline segmentation: a small dense network that classifies each pixel by what is around it.
//!
//! No convolutions and no pretraining: a pixel is described by [`INPUTS`] numbers, its colour, its place, means and
//! deviations of the colours around it at three scales, and the mean colours of regions above, below, left and right.
//! Box means come from summed areas, so the scale costs nothing. It is a baseline, and weaker than any convolutional
//! network; it trains in minutes, drops units at random, and so gives everything that a
//! [`PixelMethod`](super::PixelMethod) can ask for.

mod description;
mod training;

use super::softmax::probabilities;
pub use description::{Described, INPUTS};
use offnominal_core::Rng;
use offnominal_nets::{Activation, Gradients, Init, Mlp, Standardiser, TensorError, Tensors, Workspace};
use std::ops::Range;
pub use training::PatchTraining;

/// Widths of the hidden layers; the last is that of the features.
const HIDDEN: [usize; 2] = [96, 32];
/// The entry of the header that tells such a file from others.
const MODEL: &str = "patch-classifier";
const DROPOUT: f32 = 0.15;
const BATCH: usize = 512;
const RATE: f64 = 2e-3;

/// Pixels to learn from: descriptions `[n, INPUTS]` and their classes.
#[derive(Debug, Clone, Default)]
pub struct Examples {
    /// Descriptions.
    pub inputs: Vec<f32>,
    /// Class ids.
    pub classes: Vec<u8>,
}

impl Examples {
    /// Adds those of another list.
    pub fn extend(&mut self, other: Examples) {
        self.inputs.extend(other.inputs);
        self.classes.extend(other.classes);
    }

    /// Adds pixels of an image, up to so many of each class, drawn at random; labels that are no class are left out.
    pub fn add(
        &mut self,
        rgb: &[u8],
        width: usize,
        labels: &[u8],
        n_classes: usize,
        of_each: usize,
        rng: &mut Rng,
    ) {
        let (described, mut row) = (Described::new(rgb, width), [0.0; INPUTS]);
        for class in 0..n_classes as u8 {
            let mut mine: Vec<usize> = (0..labels.len()).filter(|&p| labels[p] == class).collect();
            rng.shuffle(&mut mine);
            for &pixel in mine.iter().take(of_each) {
                described.write(pixel, &mut row);
                self.inputs.extend_from_slice(&row);
                self.classes.push(class);
            }
        }
    }
}

/// The trained network.
#[derive(Debug, Clone, PartialEq)]
pub struct PatchClassifier {
    net: Mlp,
    params: Vec<f32>,
    mean: Vec<f32>,
    /// One over the deviation of each input; 0 where it never varies.
    inverse: Vec<f32>,
    /// Names of the classes, in the order of the logits.
    pub names: Vec<String>,
}

/// The output of the network for an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Segmentation {
    /// `[passes, classes, pixels]`.
    pub logits: Vec<f32>,
    /// `[32, rows, columns]`.
    pub features: Vec<f32>,
    /// Rows and columns of the features.
    pub grid: [usize; 2],
}

/// Pixels from one feature to the next in a whole image.
pub const STRIDE: usize = 4;

/// The part of an image that is segmented; what surrounds it is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    /// Its rows.
    pub rows: Range<usize>,
    /// Pixels from one feature to the next.
    pub stride: usize,
}

impl Band {
    /// All of so many rows.
    pub fn whole(height: usize) -> Band {
        Band { rows: 0..height, stride: STRIDE }
    }
}

fn net(classes: usize) -> Mlp {
    Mlp::new(&[INPUTS, HIDDEN[0], HIDDEN[1], classes], Activation::Relu).with_dropout(DROPOUT)
}

impl PatchClassifier {
    fn fresh(examples: &Examples, names: Vec<String>, rng: &mut Rng) -> PatchClassifier {
        let standard = Standardiser::fit(&examples.inputs, INPUTS);
        let (mut mean, mut inverse) = (vec![0.0; INPUTS], vec![0.0; INPUTS]);
        for (i, &kept) in standard.varying().iter().enumerate() {
            (mean[kept], inverse[kept]) = (standard.mean()[i], 1.0 / standard.scale()[i]);
        }
        let net = net(names.len());
        let params = net.first_params(Init::Uniform, rng);
        PatchClassifier { net, params, mean, inverse, names }
    }

    fn standardise(&self, rows: &mut [f32]) {
        for row in rows.chunks_exact_mut(INPUTS) {
            row.iter_mut().zip(&self.mean).zip(&self.inverse).for_each(|((x, m), s)| *x = (*x - m) * s);
        }
    }

    /// The gradient of the cross-entropy of a batch, and its mean.
    fn gradient(
        &self,
        examples: &Examples,
        batch: &[usize],
        work: &mut Workspace,
        grad: &mut [f32],
        rng: &mut Rng,
    ) -> f64 {
        let mut x: Vec<f32> =
            batch.iter().flat_map(|&i| examples.inputs[i * INPUTS..][..INPUTS].iter().copied()).collect();
        self.standardise(&mut x);
        let k = self.names.len();
        let mut delta = self.net.forward_train(&self.params, &x, work, rng).to_vec();
        let mut loss = 0.0;
        for (z, &i) in delta.chunks_exact_mut(k).zip(batch) {
            let class = usize::from(examples.classes[i]);
            let mut p = vec![0.0; k];
            probabilities(z, 1, 1.0, &mut p);
            loss -= f64::from(p[class].max(1e-12)).ln();
            for (j, z) in z.iter_mut().enumerate() {
                *z = (p[j] - f32::from(u8::from(j == class))) / batch.len() as f32;
            }
        }
        self.net.backward(&self.params, &x, work, &delta, Gradients::params(grad));
        loss / batch.len() as f64
    }

    /// Its output for some rows of an image, which costs as much less as there are fewer rows: of one pass without dropout
    /// if `passes` is 1, else in so many random ones.
    ///
    /// # Panics
    /// If the image has fewer rows.
    pub fn segment(
        &self,
        rgb: &[u8],
        width: usize,
        band: &Band,
        passes: usize,
        rng: &mut Rng,
    ) -> Segmentation {
        let (height, stride, k) = (band.rows.len(), band.stride, self.names.len());
        let n = height * width;
        let (columns, rows) = (width.div_ceil(stride), height.div_ceil(stride));
        let mut output = Segmentation {
            logits: vec![0.0; passes * k * n],
            features: vec![0.0; HIDDEN[1] * rows * columns],
            grid: [rows, columns],
        };
        let (described, mut work) = (Described::new(rgb, width), self.net.workspace(width));
        let mut x = vec![0.0; width * INPUTS];
        for row in 0..height {
            for (column, x) in x.chunks_exact_mut(INPUTS).enumerate() {
                described.write((band.rows.start + row) * width + column, x);
            }
            self.standardise(&mut x);
            for pass in 0..passes {
                let z = if passes == 1 {
                    self.net.forward(&self.params, &x, &mut work)
                } else {
                    self.net.forward_train(&self.params, &x, &mut work, rng)
                };
                for (i, &z) in z.iter().enumerate() {
                    output.logits[(pass * k + i % k) * n + row * width + i / k] = z;
                }
            }
            // Features are those of the middle of a place, without anything dropped.
            if row % stride == (stride / 2).min(height - 1 - row / stride * stride) {
                self.net.forward(&self.params, &x, &mut work);
                for column in 0..columns {
                    let from = (column * stride + stride / 2).min(width - 1) * HIDDEN[1];
                    let feature = &work.features()[from..from + HIDDEN[1]];
                    let at = row / stride * columns + column;
                    feature
                        .iter()
                        .enumerate()
                        .for_each(|(c, &f)| output.features[c * rows * columns + at] = f);
                }
            }
        }
        output
    }

    /// The network as named tensors.
    pub fn to_tensors(&self) -> Tensors {
        let mut tensors = Tensors::default();
        tensors.put("params", &self.params);
        tensors.put("mean", &self.mean);
        tensors.put("inverse_scale", &self.inverse);
        tensors.put_entry("model", MODEL);
        tensors.put_entry("classes", self.names.join("\n"));
        tensors
    }

    /// Reads what [`PatchClassifier::to_tensors`] wrote.
    ///
    /// # Errors
    /// If a tensor is missing or has another shape.
    pub fn from_tensors(tensors: &Tensors) -> Result<PatchClassifier, TensorError> {
        tensors.expect_entry("model", MODEL)?;
        let names: Vec<String> = tensors.entry("classes").split('\n').map(String::from).collect();
        let net = net(names.len());
        let params = tensors.expect("params", &[net.n_params()])?.to_vec();
        let mean = tensors.expect("mean", &[INPUTS])?.to_vec();
        let inverse = tensors.expect("inverse_scale", &[INPUTS])?.to_vec();
        Ok(PatchClassifier { net, params, mean, inverse, names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Left half red and smooth, right half grey and rough.
    fn image(seed: u64) -> (Vec<u8>, Vec<u8>) {
        let (mut rng, width) = (Rng::new(seed), 32);
        let mut rgb = Vec::new();
        for p in 0..width * 20 {
            let wobble = (30.0 * rng.uniform()) as u8;
            rgb.extend(if p % width < 16 { [150, 20, 20] } else { [90 + wobble, 90 + wobble, 90 + wobble] });
        }
        (rgb, (0..width * 20).map(|p| u8::from(p % width >= 16)).collect())
    }

    fn begun() -> (Examples, PatchTraining) {
        let (mut examples, mut rng) = (Examples::default(), Rng::new(1));
        for seed in 0..3 {
            let (rgb, labels) = image(seed);
            examples.add(&rgb, 32, &labels, 2, 200, &mut rng);
        }
        let training = PatchTraining::begin(&examples, vec!["red".into(), "rough".into()], 8, rng);
        (examples, training)
    }

    fn finished(examples: &Examples, mut training: PatchTraining) -> PatchClassifier {
        while !training.is_done() {
            training.advance(examples);
        }
        training.into_model()
    }

    fn trained() -> PatchClassifier {
        let (examples, training) = begun();
        finished(&examples, training)
    }

    #[test]
    fn a_training_that_was_interrupted_ends_with_the_same_bits() {
        let (examples, mut first) = begun();
        for _ in 0..3 {
            first.advance(&examples);
        }
        let state = Tensors::from_bytes(&first.state().to_bytes()).unwrap();
        let (examples, mut second) = begun();
        second.restore(&state).unwrap();
        assert_eq!((second.round(), finished(&examples, second)), (3, trained()));
        assert!(begun().1.restore(&Tensors::default()).is_err());
    }

    #[test]
    fn it_learns_two_halves_and_says_so_in_the_right_layout() {
        let ((rgb, labels), model) = (image(9), trained());
        let output = model.segment(&rgb, 32, &Band::whole(20), 1, &mut Rng::new(0));
        let n = labels.len();
        let right = (0..n).filter(|&p| (output.logits[n + p] > output.logits[p]) == (labels[p] == 1)).count();
        assert!(right as f64 > 0.97 * n as f64, "{right} of {n}");
        assert_eq!((output.grid, output.features.len()), ([5, 8], 32 * 40));
        assert!(output.features.chunks_exact(40).any(|plane| plane.iter().any(|&f| f > 0.0)));
    }

    #[test]
    fn random_passes_differ_and_files_keep_every_bit() {
        let ((rgb, labels), model) = (image(9), trained());
        let output = model.segment(&rgb, 32, &Band::whole(20), 2, &mut Rng::new(0));
        assert!(output.logits[..2 * labels.len()] != output.logits[2 * labels.len()..]);
        let again =
            PatchClassifier::from_tensors(&Tensors::from_bytes(&model.to_tensors().to_bytes()).unwrap())
                .unwrap();
        assert!(again.segment(&rgb, 32, &Band::whole(20), 2, &mut Rng::new(0)).logits == output.logits);
        assert!(PatchClassifier::from_tensors(&Tensors::default()).is_err());
    }
}
