//! Steps along the gradient: with momentum, as in the paper, or Adam's.

use crate::weights::{Weights, numbers};
use burn_tensor::{Gradients, Tensor};
use offnominal_nets::{TensorError, Tensors};
use serde::{Deserialize, Serialize};

/// Which steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steps {
    /// v ← 0.9 v + g, w ← w − rate v.
    Momentum,
    /// Kingma and Ba, ICLR 2015, with β = (0.9, 0.999).
    Adam,
    /// The same, but weights shrink by themselves and not by way of the gradient (Loshchilov and Hutter, ICLR 2019).
    AdamW,
}

const MOMENTUM: f64 = 0.9;
const SQUARES: f64 = 0.999;
const LEAST: f64 = 1e-8;

/// What an optimiser remembers: means of gradients, and of their squares.
pub struct Optimiser {
    steps: Steps,
    /// Pull towards zero.
    decay: f64,
    /// The longest gradient that is taken as it is.
    clip: f64,
    means: Vec<Tensor<1>>,
    squares: Vec<Tensor<1>>,
}

impl Optimiser {
    /// For these weights.
    pub fn new(steps: Steps, decay: f64, weights: &Weights) -> Optimiser {
        let zeros: Vec<_> = weights.values.iter().map(Tensor::zeros_like).collect();
        let squares = if steps == Steps::Momentum { Vec::new() } else { zeros.clone() };
        Optimiser { steps, decay, clip: f64::INFINITY, means: zeros, squares }
    }

    /// The same, but a gradient longer than this is made as short.
    pub fn clipped(self, clip: f64) -> Optimiser {
        Optimiser { clip, ..self }
    }

    /// Moves the weights; `taped` are the tensors of the run whose gradient it is, `step` counts from 0.
    pub fn step(
        &mut self,
        weights: &mut Weights,
        taped: &[Tensor<1>],
        gradients: &mut Gradients,
        rate: f64,
        step: usize,
    ) {
        let found: Vec<_> = taped.iter().map(|taped| taped.grad_remove(gradients)).collect();
        let shorter = self.shorter(&found);
        for (i, gradient) in found.into_iter().enumerate() {
            let Some(gradient) = gradient else { continue };
            let gradient = gradient.mul_scalar(shorter);
            let value = weights.values[i].clone();
            // Only kernels are pulled, not what scales and shifts normalised channels.
            let decay = if weights.declared()[i].shape.len() > 1 { self.decay } else { 0.0 };
            let pull = value.clone().mul_scalar(decay);
            let change = match self.steps {
                Steps::Momentum => self.momentum(i, gradient + pull),
                Steps::Adam => self.adam(i, gradient + pull, step),
                Steps::AdamW => self.adam(i, gradient, step) + pull,
            };
            weights.values[i] = value - change.mul_scalar(rate);
        }
    }

    /// What the gradient is multiplied with so that it is not longer than allowed.
    fn shorter(&self, gradients: &[Option<Tensor<1>>]) -> f64 {
        if self.clip.is_infinite() {
            return 1.0;
        }
        let squares = gradients.iter().flatten().map(|g| (g.clone() * g.clone()).sum());
        let length = squares.reduce(|a, b| a + b).map_or(0.0, |sum| f64::from(numbers(sum)[0]).sqrt());
        if length > self.clip { self.clip / length } else { 1.0 }
    }

    fn momentum(&mut self, i: usize, gradient: Tensor<1>) -> Tensor<1> {
        self.means[i] = self.means[i].clone().mul_scalar(MOMENTUM) + gradient;
        self.means[i].clone()
    }

    fn adam(&mut self, i: usize, gradient: Tensor<1>, step: usize) -> Tensor<1> {
        let follow = |mean: &Tensor<1>, new: Tensor<1>, beta: f64| {
            mean.clone().mul_scalar(beta) + new.mul_scalar(1.0 - beta)
        };
        self.means[i] = follow(&self.means[i], gradient.clone(), MOMENTUM);
        self.squares[i] = follow(&self.squares[i], gradient.clone() * gradient, SQUARES);
        let unbiased = |mean: &Tensor<1>, beta: f64| {
            mean.clone().div_scalar(1.0 - beta.powi(i32::try_from(step + 1).unwrap_or(i32::MAX)))
        };
        let scale = unbiased(&self.squares[i], SQUARES).sqrt() + LEAST;
        unbiased(&self.means[i], MOMENTUM) / scale
    }

    /// Adds what it remembers to the weights' tensors.
    pub fn save(&self, weights: &Weights, tensors: &mut Tensors) {
        weights.put("means/", &self.means, tensors);
        weights.put("squares/", &self.squares, tensors);
    }

    /// Reads what [`Optimiser::save`] added.
    ///
    /// # Errors
    /// If something is missing or has another shape.
    pub fn restore(&mut self, weights: &Weights, tensors: &Tensors) -> Result<(), TensorError> {
        self.means = weights.read("means/", tensors)?;
        if self.steps != Steps::Momentum {
            self.squares = weights.read("squares/", tensors)?;
        }
        Ok(())
    }
}
