//! Fitting a dynamics model to rows by AdamW on shuffled minibatches, with optional early stopping.

use super::one_step::Rows;
use super::prelude::*;
use super::ranges::{Fraction, none_or_up_to, up_to};
use offnominal_core::limits::{BATCH, EPOCHS};
use offnominal_nets::{Adam, AdamState, Gradients, Mlp, Workspace};

recipe! {
    /// How a dynamics model is trained; the defaults are those of Anomaly-Gym, Table 11.
    #[derive(Copy)]
    pub struct Training {
        /// Passes over the data.
        #[serde(deserialize_with = "up_to::<_, _, EPOCHS>")]
        pub epochs: NonZeroUsize = count(250),
        /// Rows per gradient step. The paper does not give it; 256 is the batch of its learner.
        #[serde(deserialize_with = "up_to::<_, _, BATCH>")]
        pub batch: NonZeroUsize = count(256),
        /// Step size of AdamW.
        pub lr: Fraction = Fraction::new(1e-3),
        /// Decoupled weight decay of AdamW.
        pub weight_decay: Fraction = Fraction::new(1e-4),
        /// Stops after so many epochs without a better validation loss, and returns to the best one; never, if not given.
        #[serde(deserialize_with = "none_or_up_to::<_, EPOCHS>")]
        pub patience: Option<NonZeroUsize> = None,
    }
}

impl Training {
    /// For small networks on small batches: a quarter of the passes, each of four times as many steps.
    pub(crate) fn brief() -> Training {
        Training { epochs: count(60), batch: count(64), lr: Fraction::new(2e-3), ..Training::default() }
    }
}

/// A model whose parameters are a flat vector.
pub(crate) trait Model {
    /// The loss on a batch; writes its derivatives by the parameters.
    fn gradient(
        &mut self,
        params: &[f32],
        inputs: &[f32],
        targets: &[f32],
        grad: &mut [f32],
        rng: &mut Rng,
    ) -> f64;

    /// The loss on a batch, without regularisation or noise; what early stopping watches.
    fn loss(&mut self, params: &[f32], inputs: &[f32], targets: &[f32]) -> f64;

    /// Widths of an input and of a target.
    fn widths(&self) -> (usize, usize);
}

/// A network in training whose loss is a function of its outputs, the targets, and the derivatives that it writes.
pub(crate) struct Supervised<L> {
    net: Mlp,
    work: Workspace,
    slope: Vec<f32>,
    loss: L,
}

impl<L: Fn(&[f32], &[f32], &mut [f32]) -> f64> Supervised<L> {
    /// For batches of up to so many rows.
    pub fn new(net: Mlp, batch: NonZeroUsize, loss: L) -> Supervised<L> {
        Supervised { work: net.workspace(batch.get()), net, slope: Vec::new(), loss }
    }
}

impl<L: Fn(&[f32], &[f32], &mut [f32]) -> f64> Model for Supervised<L> {
    fn gradient(&mut self, params: &[f32], x: &[f32], t: &[f32], grad: &mut [f32], _: &mut Rng) -> f64 {
        let loss = self.loss(params, x, t);
        self.net.backward(params, x, &mut self.work, &self.slope, Gradients::params(grad));
        loss
    }

    fn loss(&mut self, params: &[f32], x: &[f32], t: &[f32]) -> f64 {
        self.slope.resize(t.len(), 0.0);
        (self.loss)(self.net.forward(params, x, &mut self.work), t, &mut self.slope)
    }

    fn widths(&self) -> (usize, usize) {
        (self.net.inputs(), self.net.outputs())
    }
}

impl Training {
    /// The validation episodes, if early stopping needs them; all episodes that are read were checked.
    pub(crate) fn validation<'a>(&self, nominal: Nominal<'a>) -> Result<&'a [Signals<'a>], FitError> {
        check(nominal.train, 1)?;
        if self.patience.is_none() {
            return Ok(&[]);
        }
        check(nominal.validation, 1)?;
        check(&[nominal.train, nominal.validation].concat(), 1)?;
        Ok(nominal.validation)
    }

    /// Improves `params` on the rows that `sample` lists (a row may be listed twice), and returns the number of epochs
    /// that it took.
    ///
    /// # Errors
    /// If the loss stops being a finite number, or `progress` says that it is to stop.
    pub(crate) fn run(
        &self,
        model: &mut dyn Model,
        params: &mut [f32],
        (rows, sample): (&Rows, &mut [u32]),
        validation: &Rows,
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<usize, FitError> {
        let mut optimiser = Optimiser::new(self, model.widths(), params.len());
        let mut best = Best { loss: f64::INFINITY, epoch: 0, params: Vec::new() };
        for epoch in 1..=self.epochs.get() {
            rng.shuffle(sample);
            let progress = progress.part(epoch - 1, self.epochs.get());
            if !optimiser.epoch(model, params, rows, sample, rng, progress)?.is_finite() {
                return Err(FitError::Diverged { epoch });
            }
            let Some(patience) = self.patience else { continue };
            best.see(epoch, self.validate(model, params, validation), params);
            if epoch - best.epoch >= patience.get() {
                break;
            }
        }
        if self.patience.is_none() {
            return Ok(self.epochs.get());
        }
        params.copy_from_slice(&best.params);
        Ok(best.epoch)
    }

    /// Mean loss over all rows.
    fn validate(&self, model: &mut dyn Model, params: &[f32], rows: &Rows) -> f64 {
        let (n_inputs, n_targets) = model.widths();
        let inputs = rows.inputs.chunks(self.batch.get() * n_inputs);
        let targets = rows.targets.chunks(self.batch.get() * n_targets);
        let sum: f64 = inputs.zip(targets).map(|(x, t)| model.loss(params, x, t) * t.len() as f64).sum();
        sum / rows.targets.len() as f64
    }
}

/// AdamW, and the buffers of one gradient step.
struct Optimiser {
    adam: Adam,
    state: AdamState,
    batch: usize,
    widths: (usize, usize),
    inputs: Vec<f32>,
    targets: Vec<f32>,
    grad: Vec<f32>,
}

impl Optimiser {
    fn new(training: &Training, widths: (usize, usize), n_params: usize) -> Optimiser {
        let (lr, weight_decay) = (training.lr.get(), training.weight_decay.get());
        Optimiser {
            adam: Adam { lr, weight_decay, ..Adam::default() },
            state: AdamState::new(n_params),
            batch: training.batch.get(),
            widths,
            inputs: Vec::new(),
            targets: Vec::new(),
            grad: vec![0.0; n_params],
        }
    }

    /// One pass over the sample in its order; returns the sum of the losses of its batches.
    fn epoch(
        &mut self,
        model: &mut dyn Model,
        params: &mut [f32],
        rows: &Rows,
        sample: &[u32],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<f64, FitError> {
        let mut sum = 0.0;
        for (i, chosen) in sample.chunks(self.batch).enumerate() {
            progress.at(i * self.batch, sample.len())?;
            self.gather(rows, chosen);
            sum += model.gradient(params, &self.inputs, &self.targets, &mut self.grad, rng);
            self.adam.step(params, &self.grad, &mut self.state);
        }
        Ok(sum)
    }

    fn gather(&mut self, rows: &Rows, chosen: &[u32]) {
        let (n_inputs, n_targets) = self.widths;
        self.inputs.clear();
        self.targets.clear();
        for row in chosen.iter().map(|&row| row as usize) {
            self.inputs.extend_from_slice(&rows.inputs[row * n_inputs..(row + 1) * n_inputs]);
            self.targets.extend_from_slice(&rows.targets[row * n_targets..(row + 1) * n_targets]);
        }
    }
}

/// The parameters with the lowest validation loss so far. A loss that is not a number is never the lowest.
struct Best {
    loss: f64,
    epoch: usize,
    params: Vec<f32>,
}

impl Best {
    fn see(&mut self, epoch: usize, loss: f64, params: &[f32]) {
        if loss < self.loss || self.params.is_empty() {
            (self.loss, self.epoch) = (loss, epoch);
            self.params.clear();
            self.params.extend_from_slice(params);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y = θ x with the squared error, whose minimum on the rows below is θ = 2.
    struct Slope;

    impl Model for Slope {
        fn gradient(&mut self, p: &[f32], x: &[f32], t: &[f32], grad: &mut [f32], _: &mut Rng) -> f64 {
            let slopes = x.iter().zip(t).map(|(x, t)| 2.0 * (p[0] * x - t) * x);
            grad[0] = slopes.sum::<f32>() / x.len() as f32;
            self.loss(p, x, t)
        }

        fn loss(&mut self, p: &[f32], x: &[f32], t: &[f32]) -> f64 {
            let squares = x.iter().zip(t).map(|(x, t)| f64::from(p[0] * x - t).powi(2));
            squares.sum::<f64>() / x.len() as f64
        }

        fn widths(&self) -> (usize, usize) {
            (1, 1)
        }
    }

    fn line(slope: f32) -> Rows {
        let inputs: Vec<f32> = (-50..50).map(|i| i as f32 / 50.0).collect();
        let targets = inputs.iter().map(|x| slope * x).collect();
        Rows { inputs, targets, episodes: std::iter::once(0..100).collect() }
    }

    fn trained(training: Training, validation: &Rows) -> (f32, usize) {
        let (mut params, mut sample) = ([0.0], (0..100).collect::<Vec<u32>>());
        let data = (&line(2.0), sample.as_mut_slice());
        let epochs =
            training.run(&mut Slope, &mut params, data, validation, &mut Rng::new(1), FitProgress::unseen());
        (params[0], epochs.unwrap())
    }

    fn recipe(patience: usize) -> Training {
        Training {
            lr: Fraction::new(0.02),
            batch: NonZeroUsize::new(16).unwrap(),
            weight_decay: Fraction::new(0.0),
            patience: NonZeroUsize::new(patience),
            ..Training::default()
        }
    }

    #[test]
    fn a_line_is_learned() {
        let (slope, epochs) = trained(recipe(0), &line(0.0));
        assert!((slope - 2.0).abs() < 1e-3, "{slope}");
        assert_eq!(epochs, 250);
    }

    #[test]
    fn early_stopping_returns_to_the_best_epoch() {
        // The way from 0 to 2 passes 1, which is where the validation loss is lowest.
        let (slope, epochs) = trained(recipe(5), &line(1.0));
        assert!((slope - 1.0).abs() < 0.1, "{slope}");
        assert!(epochs < 40, "{epochs}");
    }

    #[test]
    fn the_last_short_batch_counts_in_full() {
        let training = Training { batch: NonZeroUsize::new(64).unwrap(), ..recipe(0) };
        let all = Slope.loss(&[0.5], &line(2.0).inputs, &line(2.0).targets);
        assert!((training.validate(&mut Slope, &[0.5], &line(2.0)) - all).abs() < 1e-6);
    }
}
