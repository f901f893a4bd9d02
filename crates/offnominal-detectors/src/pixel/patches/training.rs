//! Training of the baseline, round by round; a training that was saved goes on with the same bits.

use super::{BATCH, Examples, PatchClassifier, RATE};
use offnominal_core::Rng;
use offnominal_nets::{Adam, Passes, TensorError, Tensors, Workspace};

/// A training of the baseline that is under way.
pub struct PatchTraining {
    model: PatchClassifier,
    passes: Passes,
    rounds: usize,
    grad: Vec<f32>,
    work: Workspace,
}

impl PatchTraining {
    /// A training of so many rounds before the first one.
    ///
    /// # Panics
    /// If there are no examples, or a class is not one of the names.
    pub fn begin(examples: &Examples, names: Vec<String>, rounds: usize, mut rng: Rng) -> PatchTraining {
        assert!(!examples.classes.is_empty(), "examples to learn from");
        let model = PatchClassifier::fresh(examples, names, &mut rng);
        let (n, work) = (model.params.len(), model.net.workspace(BATCH));
        let passes = Passes::new(n, examples.classes.len(), rng);
        PatchTraining { model, passes, rounds, grad: vec![0.0; n], work }
    }

    /// Rounds that were made.
    pub fn round(&self) -> usize {
        self.passes.done
    }

    /// Whether all were.
    pub fn is_done(&self) -> bool {
        self.round() >= self.rounds
    }

    /// The network as it is now.
    pub fn into_model(self) -> PatchClassifier {
        self.model
    }

    /// One round over all examples, which are those of the beginning; returns the mean loss.
    pub fn advance(&mut self, examples: &Examples) -> f64 {
        let Passes { adam: state, order, rng, done } = &mut self.passes;
        rng.shuffle(order);
        // The rate falls to a hundredth, along half a cosine.
        let fall = 0.5 + 0.5 * (std::f64::consts::PI * *done as f64 / self.rounds as f64).cos();
        let adam = Adam { lr: RATE * (0.01 + 0.99 * fall), ..Adam::default() };
        let mut loss = 0.0;
        for batch in order.chunks(BATCH) {
            let found = self.model.gradient(examples, batch, &mut self.work, &mut self.grad, rng);
            loss += found * batch.len() as f64;
            adam.step(&mut self.model.params, &self.grad, state);
        }
        *done += 1;
        loss / order.len() as f64
    }

    /// Everything that is needed to go on.
    pub fn state(&self) -> Tensors {
        let mut tensors = self.model.to_tensors();
        self.passes.save(&mut tensors);
        tensors
    }

    /// Goes on where [`PatchTraining::state`] was called, with the same examples.
    ///
    /// # Errors
    /// If the state is of other examples, or damaged.
    pub fn restore(&mut self, state: &Tensors) -> Result<(), TensorError> {
        self.model = PatchClassifier::from_tensors(state)?;
        self.passes.restore(state)
    }
}
