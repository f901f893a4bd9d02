//! DropConnect: weights dropped at random (Wan et al., ICML 2013), afresh for every stochastic pass.
//!
//! A hidden layer uses W ⊙ m with mᵢⱼ = 0 with probability p and 1/(1 − p) otherwise, so that the mean of the weights
//! stays; biases are kept. All rows of a batch share the mask.
//!
//! The output layer keeps its weights, as in that paper. Its noise would not be shared by the outputs, and what matters
//! of the values of choices is their difference, which is small beside them. The layer that reads the input keeps its
//! weights where another hidden layer follows: of four numbers that a policy reads each matters, and DQN did not learn to
//! balance a pole with such blinks of its sensors.

use offnominal_core::Rng;
use std::ops::Range;

/// The parameters of the last pass, if some of their weights were dropped.
#[derive(Debug, Clone)]
pub(crate) struct Thinned {
    /// Probability that a weight is dropped.
    p: f32,
    /// Factor of each parameter; empty for a network without DropConnect.
    mask: Vec<f32>,
    params: Vec<f32>,
    live: bool,
}

impl Thinned {
    pub(crate) fn new(p: f32, n_params: usize) -> Thinned {
        let n = if p > 0.0 { n_params } else { 0 };
        Thinned { p, mask: vec![1.0; n], params: vec![0.0; n], live: false }
    }

    /// Drops weights of some layers for a stochastic pass; without a generator, or without DropConnect, the
    /// parameters are used whole.
    pub(crate) fn draw(
        &mut self,
        params: &[f32],
        weights: impl Iterator<Item = Range<usize>>,
        rng: Option<&mut Rng>,
    ) {
        self.live = false;
        let (Some(rng), true) = (rng, self.p > 0.0) else { return };
        weights.for_each(|layer| fill(self.p, &mut self.mask[layer], rng));
        for ((out, &p), &m) in self.params.iter_mut().zip(params).zip(&self.mask) {
            *out = p * m;
        }
        self.live = true;
    }

    /// The parameters that the last pass used.
    pub(crate) fn of<'a>(&'a self, params: &'a [f32]) -> &'a [f32] {
        if self.live { &self.params } else { params }
    }

    /// Takes derivatives by the thinned parameters to those by the parameters.
    pub(crate) fn chain(&self, grad: &mut [f32]) {
        if self.live {
            grad.iter_mut().zip(&self.mask).for_each(|(g, m)| *g *= m);
        }
    }
}

/// The layers of so many that lose weights: the hidden ones, but for the first of several.
pub(crate) fn layers(n_layers: usize) -> Range<usize> {
    let hidden = n_layers - 1;
    usize::from(hidden > 1)..hidden
}

/// Fills a mask; each 64 random bits decide two weights.
fn fill(p: f32, mask: &mut [f32], rng: &mut Rng) {
    let (kept, dropped) = (1.0 / (1.0 - p), (f64::from(p) * 2.0_f64.powi(32)) as u64);
    for pair in mask.chunks_mut(2) {
        let bits = rng.bits();
        for (m, half) in pair.iter_mut().zip([bits & 0xffff_ffff, bits >> 32]) {
            *m = if half < dropped { 0.0 } else { kept };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_dropped_weights_is_p_and_the_mean_stays() {
        let mut mask = vec![0.0; 100_001];
        fill(0.2, &mut mask, &mut Rng::new(1));
        let dropped = mask.iter().filter(|&&m| m == 0.0).count() as f64 / mask.len() as f64;
        assert!((dropped - 0.2).abs() < 0.004, "{dropped}");
        assert!(mask.iter().all(|&m| m == 0.0 || m == 1.25));
    }

    #[test]
    fn weights_of_input_and_output_stay_where_there_are_others() {
        assert_eq!((layers(3), layers(2), layers(1)), (1..2, 0..1, 0..0));
    }
}
