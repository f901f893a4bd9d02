//! Steps along the gradient: with momentum, as in the paper, or Adam's.

use crate::weights::{Weights, numbers, vector};
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
}

const MOMENTUM: f64 = 0.9;
const SQUARES: f64 = 0.999;
const LEAST: f64 = 1e-8;

/// What an optimiser remembers: means of gradients, and of their squares.
pub struct Optimiser {
    steps: Steps,
    /// Pull towards zero.
    decay: f64,
    means: Vec<Tensor<1>>,
    squares: Vec<Tensor<1>>,
}

impl Optimiser {
    /// For these weights.
    pub fn new(steps: Steps, decay: f64, weights: &Weights) -> Optimiser {
        let zeros: Vec<_> = weights.values.iter().map(Tensor::zeros_like).collect();
        let squares = if steps == Steps::Adam { zeros.clone() } else { Vec::new() };
        Optimiser { steps, decay, means: zeros, squares }
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
        for (i, taped) in taped.iter().enumerate() {
            let Some(gradient) = taped.grad_remove(gradients) else { continue };
            let value = weights.values[i].clone();
            // Only kernels are pulled, not what scales and shifts normalised channels.
            let decay = if weights.declared()[i].shape.len() > 1 { self.decay } else { 0.0 };
            let gradient = gradient + value.clone().mul_scalar(decay);
            let change = match self.steps {
                Steps::Momentum => self.momentum(i, gradient),
                Steps::Adam => self.adam(i, gradient, step),
            };
            weights.values[i] = value - change.mul_scalar(rate);
        }
    }

    fn momentum(&mut self, i: usize, gradient: Tensor<1>) -> Tensor<1> {
        self.means[i] = self.means[i].clone().mul_scalar(MOMENTUM) + gradient;
        self.means[i].clone()
    }

    fn adam(&mut self, i: usize, gradient: Tensor<1>, step: usize) -> Tensor<1> {
        let follow = |kept: &Tensor<1>, new: Tensor<1>, beta: f64| {
            kept.clone().mul_scalar(beta) + new.mul_scalar(1.0 - beta)
        };
        self.means[i] = follow(&self.means[i], gradient.clone(), MOMENTUM);
        self.squares[i] = follow(&self.squares[i], gradient.clone() * gradient, SQUARES);
        let unbiased = |kept: &Tensor<1>, beta: f64| {
            kept.clone().div_scalar(1.0 - beta.powi(i32::try_from(step + 1).unwrap_or(i32::MAX)))
        };
        let scale = unbiased(&self.squares[i], SQUARES).sqrt() + LEAST;
        unbiased(&self.means[i], MOMENTUM) / scale
    }

    /// Adds what it remembers to the weights' tensors.
    pub fn keep(&self, weights: &Weights, tensors: &mut Tensors) {
        for (kind, values) in [("means", &self.means), ("squares", &self.squares)] {
            for (declared, value) in weights.declared().iter().zip(values) {
                tensors.insert(
                    &format!("{kind}/{}", declared.name),
                    &declared.shape,
                    &numbers(value.clone()),
                );
            }
        }
    }

    /// Takes back what was kept.
    ///
    /// # Errors
    /// If something is missing or has another shape.
    pub fn take(&mut self, weights: &Weights, tensors: &Tensors) -> Result<(), TensorError> {
        for (kind, values) in [("means", &mut self.means), ("squares", &mut self.squares)] {
            for (declared, value) in weights.declared().iter().zip(values) {
                let kept = tensors.expect(&format!("{kind}/{}", declared.name), &declared.shape)?;
                *value = vector(kept.to_vec(), weights.device());
            }
        }
        Ok(())
    }
}
