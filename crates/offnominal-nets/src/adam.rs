//! Adam (Kingma & Ba 2015) with decoupled weight decay (Loshchilov & Hutter 2019).
//!
//! m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← (1 − ηλ)θ − η·m̂ / (√v̂ + ε), with m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ).

use crate::simd;
use serde::{Deserialize, Serialize};

/// The recipe.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adam {
    /// η, the learning rate.
    pub lr: f64,
    /// β₁, the memory of the mean.
    pub beta1: f64,
    /// β₂, the memory of the square.
    pub beta2: f64,
    /// ε, which bounds the step where the gradient vanishes.
    pub eps: f64,
    /// λ, the decoupled weight decay.
    pub weight_decay: f64,
}

impl Default for Adam {
    /// The values of the paper, without weight decay.
    fn default() -> Self {
        Adam { lr: 1e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0 }
    }
}

/// What Adam remembers between steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdamState {
    /// Number of steps taken.
    pub steps: u64,
    /// Running mean of the gradient.
    pub mean: Vec<f32>,
    /// Running mean of its square.
    pub square: Vec<f32>,
}

impl AdamState {
    /// The state before the first step.
    pub fn new(n_params: usize) -> AdamState {
        AdamState { steps: 0, mean: vec![0.0; n_params], square: vec![0.0; n_params] }
    }
}

impl Adam {
    /// Moves the parameters by one step.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn step(&self, params: &mut [f32], grad: &[f32], state: &mut AdamState) {
        let n = state.mean.len();
        assert_eq!((params.len(), grad.len(), state.square.len()), (n, n, n), "number of parameters");
        state.steps += 1;
        let unbiased = |beta: f64| 1.0 - beta.powf(state.steps as f64);
        let rate = (self.lr / unbiased(self.beta1)) as f32;
        let scale = (1.0 / unbiased(self.beta2)) as f32;
        let (b1, b2, eps) = (self.beta1 as f32, self.beta2 as f32, self.eps as f32);
        // Rounded after the subtraction: 1 − β₂ formed in single precision would be wrong in the fifth digit.
        let (new1, new2) = ((1.0 - self.beta1) as f32, (1.0 - self.beta2) as f32);
        let keep = (1.0 - self.lr * self.weight_decay) as f32;
        let moments = state.mean.iter_mut().zip(&mut state.square);
        simd(
            #[inline(always)]
            || {
                for ((p, &g), (m, v)) in params.iter_mut().zip(grad).zip(moments) {
                    *m = b1 * *m + new1 * g;
                    *v = b2 * *v + new2 * g * g;
                    *p = keep * *p - rate * *m / ((scale * *v).sqrt() + eps);
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three steps on the gradients 0.5, −0.25, 1 from θ = 1, by the formulas in double precision.
    fn reference(adam: Adam) -> Vec<f64> {
        let (mut theta, mut m, mut v) = (1.0, 0.0, 0.0);
        let mut path = vec![];
        for (t, g) in [0.5, -0.25, 1.0_f64].into_iter().enumerate() {
            m = adam.beta1 * m + (1.0 - adam.beta1) * g;
            v = adam.beta2 * v + (1.0 - adam.beta2) * g * g;
            let t = t as i32 + 1;
            let (m_hat, v_hat) = (m / (1.0 - adam.beta1.powi(t)), v / (1.0 - adam.beta2.powi(t)));
            theta -= adam.lr * (m_hat / (v_hat.sqrt() + adam.eps) + adam.weight_decay * theta);
            path.push(theta);
        }
        path
    }

    #[test]
    fn steps_follow_the_formulas() {
        let adam = Adam { lr: 0.1, weight_decay: 0.3, ..Adam::default() };
        let (mut params, mut state) = (vec![1.0; 37], AdamState::new(37));
        for (g, want) in [0.5, -0.25, 1.0].into_iter().zip(reference(adam)) {
            adam.step(&mut params, &[g; 37], &mut state);
            assert!(params.iter().all(|&p| (f64::from(p) - want).abs() < 1e-6), "{want} {params:?}");
        }
    }

    #[test]
    fn the_first_step_is_the_learning_rate() {
        let (mut params, mut state) = (vec![0.0, 0.0], AdamState::new(2));
        Adam::default().step(&mut params, &[1e-3, -70.0], &mut state);
        assert!((params[0] + 1e-3).abs() < 1e-7 && (params[1] - 1e-3).abs() < 1e-7, "{params:?}");
    }
}
