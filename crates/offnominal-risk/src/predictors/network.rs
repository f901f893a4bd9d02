//! f as the mean of a few dense networks, each with a logistic output.
//!
//! The networks begin elsewhere and see other batches, so that where one is wrong the others seldom are. Trained by
//! cross-entropy with Adam; the number of steps is where the later examples were foreseen best.

use crate::ensemble::{self, Look, Member};
use crate::examples::Examples;
use crate::learn::cross_entropy;
use offnominal_core::Rng;
use offnominal_nets::loss::logistic;
use offnominal_nets::{Activation, Adam, AdamState, Gradients, Init, Mlp, Workspace, sigmoid};

/// Networks of one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Networks {
    pub(crate) net: Mlp,
    pub(crate) params: Vec<Vec<f32>>,
}

/// Rows per gradient step.
const BATCH: usize = 128;
/// Gradient steps between looks at the later examples.
const LOOK_EVERY: usize = 100;
/// Decoupled weight decay, as the examples are few.
const ADAM: Adam = Adam { lr: 1e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 1e-2 };

impl Networks {
    /// Trains `members` networks for up to `steps` gradient steps each, and keeps them as they were when they foresaw
    /// `later` best; also says when that was.
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
        let runs = (0..members).map(|_| Run::new(&net, train, rng)).collect();
        let loss = |params: &[Vec<f32>], later: &Examples| {
            let now = Networks { net: net.clone(), params: params.to_vec() };
            cross_entropy(&now.predict_all(later), later.failed())
        };
        let later = later.map(|later| Look { every: LOOK_EVERY, at: later, loss: &loss });
        let (params, step) = ensemble::train(runs, train, later, steps, rng);
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

/// One network in training.
struct Run<'n> {
    net: &'n Mlp,
    params: Vec<f32>,
    adam: AdamState,
    grad: Vec<f32>,
    work: Workspace,
    which: Vec<usize>,
    batch: Examples,
    delta: Vec<f32>,
}

impl<'n> Run<'n> {
    fn new(net: &'n Mlp, train: &Examples, rng: &mut Rng) -> Run<'n> {
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, rng);
        Run {
            net,
            adam: AdamState::new(params.len()),
            grad: vec![0.0; params.len()],
            params,
            work: net.workspace(BATCH),
            which: vec![0; BATCH],
            batch: train.batch(),
            delta: vec![0.0; BATCH],
        }
    }
}

impl Member for Run<'_> {
    fn step(&mut self, train: &Examples, rng: &mut Rng) {
        train.sample(&mut self.which, rng);
        train.gather(&self.which, &mut self.batch);
        let logits = self.net.forward(&self.params, self.batch.rows(), &mut self.work);
        logistic(logits, self.batch.failed(), &mut self.delta);
        let wanted = Gradients::params(&mut self.grad);
        self.net.backward(&self.params, self.batch.rows(), &mut self.work, &self.delta, wanted);
        ADAM.step(&mut self.params, &self.grad, &mut self.adam);
    }

    fn params(&self) -> &[f32] {
        &self.params
    }
}
