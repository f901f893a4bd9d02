//! Randomised prior functions: a fixed random network whose output is added to that of the one which learns.
//!
//! Q(s) = f(s) + β p(s). Where there is data, f learns to cancel p; elsewhere the members of an ensemble go on to differ
//! by their priors, however alike their data made them. Reference: Osband, Aslanides & Cassirer, "Randomized Prior
//! Functions for Deep Reinforcement Learning", NeurIPS 2018, algorithm 1.
//!
//! Both are one network with hidden layers twice as wide, whose weights between the halves are zero; so a policy file
//! needs no word of it. The second half, and its way to the output, never move.

use crate::config::TrainConfig;
use offnominal_core::Rng;
use offnominal_nets::{Activation, Init, Mlp};

/// Which parameters of a network are held.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prior {
    held: Vec<bool>,
}

impl TrainConfig {
    /// Widths of a policy's dense layers, input first.
    pub(crate) fn widths(&self, inputs: usize, outputs: usize) -> Vec<usize> {
        let factor = if self.prior > 0.0 { 2 } else { 1 };
        let hidden = self.hidden.iter().map(|width| factor * width);
        std::iter::once(inputs).chain(hidden).chain([outputs]).collect()
    }
}

impl Prior {
    /// Draws the two halves of a network of [`TrainConfig::widths`] into its parameters; nothing without a prior.
    pub(crate) fn plant(config: &TrainConfig, net: &Mlp, params: &mut [f32], rng: &mut Rng) -> Option<Prior> {
        if config.prior == 0.0 {
            return None;
        }
        let sizes = [&[net.inputs()], config.hidden.as_slice(), &[net.outputs()]].concat();
        let half = Mlp::new(&sizes, Activation::Relu);
        let (mut held, last) = (vec![true; params.len()], half.n_layers() - 1);
        params.fill(0.0);
        for side in 0..2 {
            let mut own = vec![0.0; half.n_params()];
            half.init(&mut own, Init::Uniform, rng);
            if side == 1 {
                own[half.weights(last)].iter_mut().for_each(|w| *w *= config.prior as f32);
                // A constant of the prior would be one more bias of the output.
                own[half.biases(last)].fill(0.0);
            }
            for (at, value) in places(net, &half, side).zip(own) {
                params[at] += value;
                held[at] &= side == 1;
            }
        }
        Some(Prior { held })
    }

    /// Removes the derivatives by what is held.
    pub(crate) fn hold(&self, grad: &mut [f32]) {
        grad.iter_mut().zip(&self.held).for_each(|(g, &held)| *g = if held { 0.0 } else { *g });
    }
}

/// Where the parameters of a half lie in those of the whole, in their order.
fn places<'n>(net: &'n Mlp, half: &'n Mlp, side: usize) -> impl Iterator<Item = usize> + 'n {
    (0..half.n_layers()).flat_map(move |layer| {
        let (whole, own) = (&net.sizes()[layer..], &half.sizes()[layer..]);
        // The input and the output are not doubled.
        let first = [0, 1].map(|i| if whole[i] == own[i] { 0 } else { side * own[i] });
        let (weights, biases) = (net.weights(layer).start, net.biases(layer).start + first[1]);
        let (rows, columns, stride) = (own[0], own[1], whole[1]);
        let weight = move |i: usize| weights + (first[0] + i / columns) * stride + first[1] + i % columns;
        (0..rows * columns).map(weight).chain((0..columns).map(move |i| biases + i))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(prior: f64) -> TrainConfig {
        TrainConfig { prior, hidden: vec![5, 4], ..TrainConfig::for_env("cartpole") }
    }

    fn planted(prior: f64) -> (Mlp, Vec<f32>, Prior) {
        let net = Mlp::new(&config(prior).widths(3, 2), Activation::Relu);
        let mut params = vec![9.0; net.n_params()];
        let held = Prior::plant(&config(prior), &net, &mut params, &mut Rng::new(1)).unwrap();
        (net, params, held)
    }

    #[test]
    fn the_whole_is_the_sum_of_its_halves() {
        let (net, params, _) = planted(3.0);
        let (half, mut rng, x) = (Mlp::new(&[3, 5, 4, 2], Activation::Relu), Rng::new(1), [0.3, -1.0, 0.7]);
        let mut halves = || {
            let mut own = vec![0.0; half.n_params()];
            half.init(&mut own, Init::Uniform, &mut rng);
            let out = half.forward(&own, &x, &mut half.workspace(1)).to_vec();
            (out, own[half.biases(2)].to_vec())
        };
        let ((learnt, _), (prior, constant)) = (halves(), halves());
        let found = net.forward(&params, &x, &mut net.workspace(1)).to_vec();
        for i in 0..2 {
            let want = learnt[i] + 3.0 * (prior[i] - constant[i]);
            assert!((found[i] - want).abs() < 1e-6, "expected {want}, found {}", found[i]);
        }
    }

    #[test]
    fn half_of_a_network_is_held_and_the_rest_is_not() {
        let (_, params, prior) = planted(3.0);
        let mut grad = vec![1.0; params.len()];
        prior.hold(&mut grad);
        let (half, free) = (Mlp::new(&[3, 5, 4, 2], Activation::Relu), grad.iter().sum::<f32>());
        assert_eq!(free as usize, half.n_params());
        let zero = params.iter().zip(&grad).filter(|(p, g)| **p == 0.0 && **g == 0.0).count();
        assert_eq!(zero, 2 * 5 * 4, "nothing passes from half to half");
    }

    #[test]
    fn without_a_prior_nothing_is_drawn() {
        let net = Mlp::new(&config(0.0).widths(3, 2), Activation::Relu);
        assert_eq!(net.sizes(), [3, 5, 4, 2]);
        let mut params = vec![9.0; net.n_params()];
        assert!(Prior::plant(&config(0.0), &net, &mut params, &mut Rng::new(1)).is_none());
        assert!(params.iter().all(|p| *p == 9.0));
    }
}
