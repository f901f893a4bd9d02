//! An encoder of this project: each patch of 8 × 8 pixels becomes twelve numbers from which it can be drawn again.
//!
//! Images are brought to 128 × 128 by area averaging; a patch is encoded by 192 → 96 → 48 → 12 and decoded by the
//! mirror image, trained on patches of nominal frames to give them back (self-supervised: no label, no anomaly). A
//! thirteenth number says how badly that went, ½ ln(mean squared error + 10⁻⁴): patches unlike any seen are drawn badly.

use super::resize::Resize;
use super::{Backbone, Encoder, Features};
use crate::{
    Activation, Adam, AdamState, Gradients, Init, Mlp, Passes, TensorError, Tensors, Workspace, loss,
};
use offnominal_core::Rng;
use std::sync::Arc;

/// Value of the entry `format` of the header of a file.
const FORMAT: &str = "offnominal patch coder 1";
/// Pixels on a side of a patch.
pub const PATCH: usize = 8;
/// Pixels on a side of an image.
pub const SIDE: usize = 128;
/// Patches on a side.
pub const GRID: usize = SIDE / PATCH;
/// Numbers of a patch in an image.
pub const PIXELS: usize = PATCH * PATCH * 3;
/// Numbers that a patch becomes, without the last one.
const CODE: usize = 12;
/// Rows of a gradient step.
const BATCH: usize = 256;
/// Mean squared error below which patches are drawn well enough.
const FLOOR: f32 = 1e-4;

/// Encoder and decoder with their weights.
#[derive(Debug, Clone, PartialEq)]
pub struct PatchCoder {
    encoder: Mlp,
    decoder: Mlp,
    /// Those of the encoder, then those of the decoder.
    params: Vec<f32>,
}

fn shapes() -> (Mlp, Mlp) {
    let net = |sizes: &[usize]| Mlp::new(sizes, Activation::LeakyRelu);
    (net(&[PIXELS, 96, 48, CODE]), net(&[CODE, 48, 96, PIXELS]))
}

impl PatchCoder {
    /// Learns from patches, rows of [`PIXELS`] numbers between −½ and ½; tells the loss of each epoch.
    ///
    /// # Panics
    /// If there are fewer patches than a gradient step takes.
    pub fn train(
        patches: &[f32],
        epochs: usize,
        rng: &mut Rng,
        mut tell: impl FnMut(usize, f64),
    ) -> PatchCoder {
        let mut training = CoderTraining::begin(patches, epochs, rng.clone());
        while !training.is_done() {
            let loss = training.advance(patches);
            tell(training.epoch(), loss);
        }
        *rng = training.passes.rng;
        training.coder
    }

    fn fresh(rng: &mut Rng) -> PatchCoder {
        let (encoder, decoder) = shapes();
        let mut coder =
            PatchCoder { params: vec![0.0; encoder.n_params() + decoder.n_params()], encoder, decoder };
        let (first, second) = coder.params.split_at_mut(coder.encoder.n_params());
        coder.encoder.init(first, Init::TruncatedNormal, rng);
        coder.decoder.init(second, Init::TruncatedNormal, rng);
        coder
    }

    /// As named tensors.
    pub fn to_tensors(&self) -> Tensors {
        let mut tensors = Tensors::default();
        let (first, second) = self.params.split_at(self.encoder.n_params());
        tensors.put("encoder", first);
        tensors.put("decoder", second);
        tensors.put_entry("format", FORMAT);
        tensors
    }

    /// From named tensors.
    ///
    /// # Errors
    /// If one is missing or has another shape, or the format is another one.
    pub fn from_tensors(tensors: &Tensors) -> Result<PatchCoder, TensorError> {
        tensors.expect_entry("format", FORMAT)?;
        let (encoder, decoder) = shapes();
        let mut params = tensors.expect("encoder", &[encoder.n_params()])?.to_vec();
        params.extend_from_slice(tensors.expect("decoder", &[decoder.n_params()])?);
        Ok(PatchCoder { encoder, decoder, params })
    }
}

/// A training that is under way, epoch by epoch; one that was saved goes on with the same bits.
pub struct CoderTraining {
    coder: PatchCoder,
    passes: Passes,
    step: Step,
    epochs: usize,
}

impl CoderTraining {
    /// A training of so many epochs before the first one.
    ///
    /// # Panics
    /// If there are fewer patches than a gradient step takes.
    pub fn begin(patches: &[f32], epochs: usize, mut rng: Rng) -> CoderTraining {
        let n = patches.len() / PIXELS;
        assert!(n >= BATCH, "expected at least {BATCH} patches, found {n}");
        let coder = PatchCoder::fresh(&mut rng);
        let passes = Passes::new(coder.params.len(), n, rng);
        CoderTraining { step: Step::new(&coder), coder, passes, epochs }
    }

    /// Epochs that were made.
    pub fn epoch(&self) -> usize {
        self.passes.done
    }

    /// Whether all were.
    pub fn is_done(&self) -> bool {
        self.epoch() >= self.epochs
    }

    /// The coder as it is now.
    pub fn into_coder(self) -> PatchCoder {
        self.coder
    }

    /// One epoch over the patches of the beginning; returns its mean loss.
    pub fn advance(&mut self, patches: &[f32]) -> f64 {
        let Passes { adam, order, rng, done } = &mut self.passes;
        let steps = order.len() / BATCH;
        rng.shuffle(order);
        let mut sum = 0.0;
        for batch in order.chunks_exact(BATCH) {
            self.step.gather(patches, batch);
            sum += self.step.take(&mut self.coder, adam, self.epochs * steps);
        }
        *done += 1;
        sum / steps as f64
    }

    /// Everything that is needed to go on.
    pub fn state(&self) -> Tensors {
        let mut tensors = self.coder.to_tensors();
        self.passes.save(&mut tensors);
        tensors
    }

    /// Goes on where [`CoderTraining::state`] was called, with the same patches.
    ///
    /// # Errors
    /// If the state is of other patches, or damaged.
    pub fn restore(&mut self, state: &Tensors) -> Result<(), TensorError> {
        self.coder = PatchCoder::from_tensors(state)?;
        self.passes.restore(state)
    }
}

/// A gradient step with its buffers.
struct Step {
    work: (Workspace, Workspace),
    input: Vec<f32>,
    d_output: Vec<f32>,
    d_code: Vec<f32>,
    grad: Vec<f32>,
}

impl Step {
    fn new(coder: &PatchCoder) -> Step {
        Step {
            work: (coder.encoder.workspace(BATCH), coder.decoder.workspace(BATCH)),
            input: vec![0.0; BATCH * PIXELS],
            d_output: vec![0.0; BATCH * PIXELS],
            d_code: vec![0.0; BATCH * CODE],
            grad: vec![0.0; coder.params.len()],
        }
    }

    fn gather(&mut self, patches: &[f32], rows: &[usize]) {
        for (input, &row) in self.input.chunks_exact_mut(PIXELS).zip(rows) {
            input.copy_from_slice(&patches[row * PIXELS..(row + 1) * PIXELS]);
        }
    }

    /// One step, of so many in all; the learning rate falls along half a cosine.
    fn take(&mut self, coder: &mut PatchCoder, state: &mut AdamState, total: usize) -> f64 {
        let done = state.steps as f64 / total as f64;
        let lr = 2e-3 * (0.02 + 0.49 * (1.0 + (std::f64::consts::PI * done).cos()));
        let (first, second) = coder.params.split_at(coder.encoder.n_params());
        let code = coder.encoder.forward(first, &self.input, &mut self.work.0).to_vec();
        let drawn = coder.decoder.forward(second, &code, &mut self.work.1);
        let found = loss::mse(drawn, &self.input, &mut self.d_output);
        let (grad, d_decoder) = self.grad.split_at_mut(first.len());
        let wanted = Gradients { params: Some(d_decoder), input: Some((0..CODE, &mut self.d_code)) };
        coder.decoder.backward(second, &code, &mut self.work.1, &self.d_output, wanted);
        let wanted = Gradients::params(grad);
        coder.encoder.backward(first, &self.input, &mut self.work.0, &self.d_code, wanted);
        Adam { lr, ..Adam::default() }.step(&mut coder.params, &self.grad, state);
        found
    }
}

impl Backbone for Arc<PatchCoder> {
    fn at(&self, height: usize, width: usize) -> Box<dyn Encoder> {
        let n = GRID * GRID;
        Box::new(PatchEncoder {
            work: (self.encoder.workspace(n), self.decoder.workspace(n)),
            coder: self.clone(),
            resize: Resize::new((height, width), (SIDE, SIDE)),
            back: Resize::new((SIDE, SIDE), (height, width)),
            input: vec![0.0; n * PIXELS],
            features: Features {
                rows: GRID,
                columns: GRID,
                width: CODE + 1,
                patches: vec![0.0; n * (CODE + 1)],
                whole: vec![0.0; 2 * (CODE + 1)],
            },
        })
    }
}

#[derive(Clone)]
struct PatchEncoder {
    coder: Arc<PatchCoder>,
    resize: Resize,
    back: Resize,
    input: Vec<f32>,
    work: (Workspace, Workspace),
    features: Features,
}

/// Where a number of a patch lies in the image.
fn place(patch: usize, number: usize) -> usize {
    let (row, column) = (patch / GRID * PATCH + number / (PATCH * 3), patch % GRID * PATCH * 3);
    row * SIDE * 3 + column + number % (PATCH * 3)
}

impl Encoder for PatchEncoder {
    fn encode(&mut self, image: &[u8]) -> &Features {
        let pixels = self.resize.of(image);
        for (patch, input) in self.input.chunks_exact_mut(PIXELS).enumerate() {
            for (run, out) in input.chunks_exact_mut(PATCH * 3).enumerate() {
                let from = place(patch, run * PATCH * 3);
                out.iter_mut().zip(&pixels[from..]).for_each(|(out, p)| *out = p / 255.0 - 0.5);
            }
        }
        let (first, second) = self.coder.params.split_at(self.coder.encoder.n_params());
        let code = self.coder.encoder.forward(first, &self.input, &mut self.work.0);
        let drawn = self.coder.decoder.forward(second, code, &mut self.work.1);
        let rows = self.features.patches.chunks_exact_mut(CODE + 1).zip(code.chunks_exact(CODE));
        let drawn = drawn.chunks_exact(PIXELS).zip(self.input.chunks_exact(PIXELS));
        for ((row, code), (drawn, input)) in rows.zip(drawn) {
            let error: f32 = drawn.iter().zip(input).map(|(d, i)| (d - i).powi(2)).sum();
            row[..CODE].copy_from_slice(code);
            row[CODE] = 0.5 * (error / PIXELS as f32 + FLOOR).ln();
        }
        summarise(&mut self.features);
        &self.features
    }

    fn decode(&mut self, patches: &[f32]) -> Option<Vec<u8>> {
        let code: Vec<f32> = patches.chunks_exact(CODE + 1).flat_map(|row| &row[..CODE]).copied().collect();
        let params = &self.coder.params[self.coder.encoder.n_params()..];
        let drawn = self.coder.decoder.forward(params, &code, &mut self.work.1);
        let mut image = vec![0; SIDE * SIDE * 3];
        for (patch, drawn) in drawn.chunks_exact(PIXELS).enumerate() {
            for (number, value) in drawn.iter().enumerate() {
                image[place(patch, number)] = ((value + 0.5) * 255.0).round().clamp(0.0, 255.0) as u8;
            }
        }
        Some(self.back.bytes(&image))
    }

    fn fork(&self) -> Box<dyn Encoder> {
        Box::new(self.clone())
    }
}

/// Mean and deviation of each number over the patches stand for the whole image.
fn summarise(features: &mut Features) {
    let (n, width) = (features.n_patches() as f32, features.width);
    for j in 0..width {
        let column = || features.patches.iter().skip(j).step_by(width);
        let mean = column().sum::<f32>() / n;
        let variance = column().map(|v| (v - mean).powi(2)).sum::<f32>() / n;
        features.whole[j] = mean;
        features.whole[width + j] = variance.sqrt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Patches of two halves of grey: three numbers describe them.
    fn halves(n: usize, rng: &mut Rng) -> Vec<f32> {
        let mut patch = || {
            let (a, b, cut) = (rng.range(-0.5, 0.5) as f32, rng.range(-0.5, 0.5) as f32, rng.below(PATCH));
            (0..PIXELS).map(move |i| if i / (PATCH * 3) < cut { a } else { b })
        };
        (0..n).flat_map(|_| patch().collect::<Vec<_>>()).collect()
    }

    #[test]
    fn patches_are_drawn_again_and_the_weights_survive_writing() {
        let mut rng = Rng::new(1);
        let patches = halves(4096, &mut rng);
        let mut losses = vec![];
        let coder = PatchCoder::train(&patches, 6, &mut rng, |_, loss| losses.push(loss));
        assert!(losses[5] < 0.2 * losses[0] && losses[5] < 0.02, "{losses:?}");
        let again = Tensors::from_bytes(&coder.to_tensors().to_bytes()).unwrap();
        assert_eq!(PatchCoder::from_tensors(&again).unwrap(), coder);
        let mut newer = again;
        newer.metadata.insert("format".into(), "offnominal patch coder 2".into());
        let message = PatchCoder::from_tensors(&newer).unwrap_err().to_string();
        assert!(message.contains("patch coder 1") && message.contains("patch coder 2"), "{message}");
    }

    #[test]
    fn a_training_that_was_interrupted_ends_with_the_same_bits() {
        let mut rng = Rng::new(3);
        let patches = halves(1024, &mut rng);
        let begin = || CoderTraining::begin(&patches, 3, Rng::new(4));
        let (mut whole, mut first, mut second) = (begin(), begin(), begin());
        for _ in 0..3 {
            whole.advance(&patches);
        }
        first.advance(&patches);
        second.restore(&Tensors::from_bytes(&first.state().to_bytes()).unwrap()).unwrap();
        while !second.is_done() {
            second.advance(&patches);
        }
        assert!(second.epoch() == 3 && second.into_coder() == whole.into_coder());
        assert!(begin().restore(&Tensors::default()).is_err());
    }

    #[test]
    fn images_of_any_size_have_the_same_grid_and_noise_is_drawn_badly() {
        let mut rng = Rng::new(2);
        let patches = halves(4096, &mut rng);
        let coder = Arc::new(PatchCoder::train(&patches, 6, &mut rng, |_, _| ()));
        let grey = vec![90; 64 * 96 * 3];
        let mut encoder = coder.at(64, 96);
        let flat = encoder.encode(&grey).clone();
        assert_eq!((flat.n_patches(), flat.patches.len()), (GRID * GRID, GRID * GRID * 13));
        let drawn = encoder.decode(&flat.patches).unwrap();
        assert!(drawn.len() == grey.len() && drawn.iter().all(|&p| p.abs_diff(90) < 40));
        let noise: Vec<u8> = grey.iter().map(|_| rng.below(256) as u8).collect();
        let mut native = coder.at(SIDE, SIDE);
        let noisy = native.encode(&noise.iter().cycle().take(SIDE * SIDE * 3).copied().collect::<Vec<_>>());
        assert!(noisy.whole[12] > flat.whole[12] + 0.5, "{} {}", noisy.whole[12], flat.whole[12]);
    }
}
