//! A recurrent state-space model: a memory that is sure, and a state that is guessed before and after looking.
//!
//! Reference: Hafner et al., ICML 2019 and ICLR 2020 (Dreamer).

use super::dense::{Dense, Gru, Mlp};
use crate::pass::Pass;
use crate::weights::Plan;
use burn_tensor::Tensor;
use burn_tensor::activation::{relu, softplus};
use serde::{Deserialize, Serialize};

/// Sizes of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// Numbers of the guessed state.
    pub state: usize,
    /// Units of the memory.
    pub memory: usize,
    /// Units through which state and action enter the memory.
    pub enter: usize,
    /// Units of the guess before looking.
    pub prior: usize,
    /// Units of the guess after looking.
    pub posterior: usize,
}

impl Sizes {
    /// What is wrong with them, if anything.
    pub fn anomaly_spec(&self) -> Option<String> {
        let all = [self.state, self.memory, self.enter, self.prior, self.posterior];
        all.contains(&0).then(|| format!("sizes: expected at least 1 each, found {self:?}"))
    }
}

/// The smallest deviation of a guess.
const LEAST: f64 = 0.1;

/// A guess of the state: independent normal numbers.
#[derive(Debug, Clone)]
pub struct Guess {
    /// Means.
    pub mean: Tensor<2>,
    /// Deviations.
    pub deviation: Tensor<2>,
}

impl Guess {
    fn new(numbers: Tensor<2>) -> Guess {
        let [mean, spread]: [Tensor<2>; 2] = numbers.chunk(2, 1).try_into().expect("means and deviations");
        Guess { mean, deviation: softplus(spread, 1.0) + LEAST }
    }

    /// A state: drawn while learning, else the mean.
    pub fn draw(&self, pass: &mut Pass) -> Tensor<2> {
        match pass.noise(self.mean.dims()) {
            Some(noise) => self.mean.clone() + self.deviation.clone() * noise,
            None => self.mean.clone(),
        }
    }

    /// How many nats this guess is away from another, for each row: Σ ln σ₂/σ₁ + (σ₁² + (μ₁ − μ₂)²) / 2σ₂² − ½.
    pub fn nats_from(&self, other: &Guess) -> Tensor<2> {
        let square = |x: Tensor<2>| x.clone() * x;
        let ratio = square(self.deviation.clone() / other.deviation.clone());
        let moved = square((self.mean.clone() - other.mean.clone()) / other.deviation.clone());
        ((ratio.clone() + moved - 1.0 - ratio.log()).mul_scalar(0.5)).sum_dim(1)
    }
}

/// Memory and state.
#[derive(Debug, Clone)]
pub struct Now {
    /// What is remembered.
    pub memory: Tensor<2>,
    /// What is guessed.
    pub state: Tensor<2>,
}

impl Now {
    /// Both as one row.
    pub fn all(&self) -> Tensor<2> {
        Tensor::cat(vec![self.memory.clone(), self.state.clone()], 1)
    }
}

/// The model.
#[derive(Debug, Clone)]
pub struct Rssm {
    enter: Dense,
    memory: Gru,
    prior: Mlp,
    posterior: Mlp,
    sizes: Sizes,
}

impl Rssm {
    /// For actions of so many numbers and images of so many features.
    pub fn new(plan: &mut Plan, sizes: &Sizes, act_width: usize, features: usize) -> Rssm {
        let Sizes { state, memory, enter, prior, posterior } = *sizes;
        Rssm {
            enter: Dense::new(plan, "enter", [state + act_width, enter]),
            memory: Gru::new(plan, "memory", [enter, memory]),
            prior: Mlp::new(plan, "prior", &[memory, prior, 2 * state]),
            posterior: Mlp::new(plan, "posterior", &[memory + features, posterior, 2 * state]),
            sizes: sizes.clone(),
        }
    }

    /// Nothing remembered, nothing guessed, for so many episodes.
    pub fn empty(&self, n: usize, pass: &Pass) -> Now {
        let zeros = |size: usize| Tensor::zeros([n, size], pass.device());
        Now { memory: zeros(self.sizes.memory), state: zeros(self.sizes.state) }
    }

    /// What is remembered after an action.
    pub fn remember(&self, now: Now, action: Tensor<2>, pass: &Pass) -> Tensor<2> {
        let entering = relu(self.enter.forward(Tensor::cat(vec![now.state, action], 1), pass));
        self.memory.forward(entering, now.memory, pass)
    }

    /// The guess before looking.
    pub fn prior(&self, memory: &Tensor<2>, pass: &Pass) -> Guess {
        Guess::new(self.prior.forward(memory.clone(), pass))
    }

    /// The guess after looking.
    pub fn posterior(&self, memory: &Tensor<2>, features: Tensor<2>, pass: &Pass) -> Guess {
        Guess::new(self.posterior.forward(Tensor::cat(vec![memory.clone(), features], 1), pass))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::weights::{numbers, tensor};

    #[test]
    fn nats_between_normal_numbers_are_those_of_the_closed_form() {
        let row = |v: [f32; 2]| tensor(v.to_vec(), [1, 2], &device::cpu());
        let a = Guess { mean: row([1.0, 0.0]), deviation: row([1.0, 2.0]) };
        let b = Guess { mean: row([0.0, 0.0]), deviation: row([1.0, 1.0]) };
        // ½ from the mean; (4 − 1 − ln 4) / 2 from the deviation.
        let want = 0.5 + (3.0 - 4.0_f32.ln()) / 2.0;
        assert!((numbers(a.nats_from(&b))[0] - want).abs() < 1e-5);
        assert!(numbers(a.nats_from(&a))[0].abs() < 1e-6);
    }
}
