//! f as the mean of a few dense networks, each with a logistic output.
//!
//! The networks begin elsewhere and see other batches, so that where one is wrong the others seldom are. Trained by
//! cross-entropy with Adam; the number of steps is where the later examples were predicted best.

use crate::ensemble::{self, Plan, Validation};
use crate::examples::Examples;
use offnominal_core::Rng;
use offnominal_nets::loss::logistic;
use offnominal_nets::{Activation, Adam, Gradients, Init, Mlp, Workspace, sigmoid};

/// Networks of one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Networks {
    pub(crate) net: Mlp,
    pub(crate) params: Vec<Vec<f32>>,
}

/// Rows per gradient step.
const BATCH: usize = 128;
/// Gradient steps between validations on the later examples.
const VALIDATE_EVERY: usize = 100;
/// Decoupled weight decay, as the examples are few.
const ADAM: Adam = Adam { lr: 1e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 1e-2 };

impl Networks {
    /// Trains `members` networks for up to `steps` gradient steps each, with the parameters that predict `later` best;
    /// also returns after how many steps that was.
    pub(crate) fn fit(
        hidden: &[usize],
        members: usize,
        train: &Examples,
        later: Option<&Examples>,
        steps: usize,
        rng: &mut Rng,
    ) -> (Networks, usize) {
        let sizes = [&[train.row_width()], hidden, &[1]].concat();
        let net = Mlp::new(&sizes, Activation::Relu);
        let draw = |_| {
            let mut params = vec![0.0; net.n_params()];
            net.init(&mut params, Init::Uniform, rng);
            params
        };
        let first = (0..members).map(draw).collect();
        let loss = |params: &[Vec<f32>], later: &Examples| {
            let now = Networks { net: net.clone(), params: params.to_vec() };
            later.cross_entropy(&now.predict_all(later))
        };
        let validation = later.map(|later| Validation { every: VALIDATE_EVERY, at: later, loss: &loss });
        let (mut work, mut delta) = (net.workspace(BATCH), vec![0.0; BATCH]);
        let gradient = |batch: &Examples, params: &[f32], grad: &mut [f32]| {
            logistic(net.forward(params, batch.rows(), &mut work), batch.failed(), &mut delta);
            net.backward(params, batch.rows(), &mut work, &delta, Gradients::params(grad));
        };
        let plan = Plan { batch: BATCH, steps, adam: &|_| ADAM };
        let (params, step) = ensemble::train(first, train, &plan, validation, gradient, rng);
        (Networks { net, params }, step)
    }

    /// The chance to fail of one row.
    pub(crate) fn predict(&self, row: &[f32], work: &mut Workspace) -> f64 {
        let one = |p: &Vec<f32>| f64::from(sigmoid(self.net.forward(p, row, work)[0]));
        self.params.iter().map(one).sum::<f64>() / self.params.len() as f64
    }

    /// The chances of all examples.
    pub(crate) fn predict_all(&self, examples: &Examples) -> Vec<f64> {
        let mut work = self.workspace();
        examples.rows().chunks_exact(examples.row_width()).map(|row| self.predict(row, &mut work)).collect()
    }

    pub(crate) fn workspace(&self) -> Workspace {
        self.net.workspace(1)
    }
}
