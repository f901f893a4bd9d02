//! One run through a network: its numbers, whether it learns or drops units, and what it noticed.

use crate::weights::{Key, Weights, tensor};
use burn_tensor::{Device, Tensor};
use offnominal_core::Rng;

/// How a network is run.
#[derive(Debug, Clone)]
pub enum Mode {
    /// Nothing is dropped; activations are normalised by what training saw.
    Eval,
    /// As [`Mode::Eval`], but units are dropped.
    Random(Rng),
    /// Units are dropped, activations normalised by those of the batch, and derivatives recorded.
    Train(Rng),
}

/// A run.
pub struct Pass {
    values: Vec<Tensor<1>>,
    shapes: Vec<Vec<usize>>,
    device: Device,
    mode: Mode,
    /// Means and variances of the batch that normalisations met.
    pub(crate) noticed: Vec<(Key, Tensor<1>)>,
}

impl Pass {
    /// Begins a run.
    pub fn new(weights: &Weights, mode: Mode) -> Pass {
        let declared = weights.declared();
        let tape = |(value, learned): (&Tensor<1>, bool)| match (&mode, learned) {
            (Mode::Train(_), true) => Tensor::from_inner(value.clone()).require_grad(),
            _ => value.clone(),
        };
        let values = weights.values.iter().zip(declared.iter().map(|d| d.learned)).map(tape).collect();
        let shapes = declared.iter().map(|d| d.shape.clone()).collect();
        Pass { values, shapes, device: weights.device().clone(), mode, noticed: Vec::new() }
    }

    /// The tensors, of which those that are learned remember what was done with them.
    pub fn values(&self) -> &[Tensor<1>] {
        &self.values
    }

    /// Whether derivatives are recorded.
    pub fn is_training(&self) -> bool {
        matches!(self.mode, Mode::Train(_))
    }

    /// A tensor of one axis.
    pub(crate) fn vector(&self, key: Key) -> Tensor<1> {
        key.of(&self.values).clone()
    }

    /// The kernel of a convolution.
    pub(crate) fn kernel(&self, key: Key) -> Tensor<4> {
        let shape: [usize; 4] = key.of(&self.shapes)[..].try_into().expect("kernels have four axes");
        self.vector(key).reshape(shape)
    }

    /// The matrix of a dense layer.
    pub(crate) fn matrix(&self, key: Key) -> Tensor<2> {
        let shape: [usize; 2] = key.of(&self.shapes)[..].try_into().expect("matrices have two axes");
        self.vector(key).reshape(shape)
    }

    /// Standard normal numbers while units are dropped; none in [`Mode::Eval`], which takes means.
    pub(crate) fn noise(&mut self, shape: [usize; 2]) -> Option<Tensor<2>> {
        let (Mode::Random(rng) | Mode::Train(rng)) = &mut self.mode else { return None };
        let mut numbers = vec![0.0; shape.iter().product()];
        rng.fill_normal(&mut numbers);
        Some(tensor(numbers, shape, &self.device))
    }

    /// Where the numbers are.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Drops each unit with this probability, if there is one and units are dropped; the others grow so that the mean
    /// stays.
    pub(crate) fn drop(&mut self, x: Tensor<4>, probability: Option<f64>) -> Tensor<4> {
        let Some(probability) = probability else { return x };
        let (Mode::Random(rng) | Mode::Train(rng)) = &mut self.mode else { return x };
        let (shape, scale) = (x.dims(), (1.0 / (1.0 - probability)) as f32);
        let mut draw = || if rng.uniform() < probability { 0.0 } else { scale };
        let mask = (0..shape.iter().product()).map(|_| draw()).collect();
        x * tensor(mask, shape, &self.device)
    }
}
