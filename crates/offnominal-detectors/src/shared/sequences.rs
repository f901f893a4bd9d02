//! Fitting a recurrent model to episodes: several side by side, piece by piece, by AdamW.
//!
//! The state goes from one piece of an episode to the next; derivatives stop at the border (truncated backpropagation
//! through time). Episodes end at different times, so each row says whether it is present; what is absent has no loss.

use super::one_step::Rows;
use super::prelude::*;
use super::ranges::{Fraction, Positive, up_to};
use offnominal_core::limits::{BATCH, EPOCHS, WINDOW};
use offnominal_nets::{Adam, AdamState};

recipe! {
    /// How a recurrent model is trained; the defaults are those of Anomaly-Gym, Table 11, which gives neither batches nor
    /// pieces, and the clip of RIQN's released code.
    #[derive(Copy)]
    pub struct SequenceTraining {
        /// Passes over the data.
        #[serde(deserialize_with = "up_to::<_, _, EPOCHS>")]
        pub epochs: NonZeroUsize = count(250),
        /// Episodes side by side in a gradient step.
        #[serde(deserialize_with = "up_to::<_, _, BATCH>")]
        pub episodes: NonZeroUsize = count(8),
        /// Steps of each episode in a gradient step.
        #[serde(deserialize_with = "up_to::<_, _, WINDOW>")]
        pub piece: NonZeroUsize = count(32),
        /// Step size of AdamW.
        pub lr: Fraction = Fraction::new(1e-3),
        /// Decoupled weight decay of AdamW.
        pub weight_decay: Fraction = Fraction::new(1e-4),
        /// Longer gradients are shortened to this length.
        pub clip: Positive = Positive::new(10.0),
    }
}

/// The same steps of several episodes.
pub(crate) struct Piece {
    /// `[steps, episodes, n_inputs]`, zero where nothing is present.
    pub inputs: Vec<f32>,
    /// `[steps, episodes, n_targets]`, likewise.
    pub targets: Vec<f32>,
    /// `[steps, episodes]`.
    pub present: Vec<bool>,
}

impl Piece {
    /// Number of rows that are present.
    pub fn n_present(&self) -> usize {
        self.present.iter().filter(|p| **p).count()
    }
}

/// A recurrent model whose parameters are a flat vector.
pub(crate) trait SequenceModel {
    /// Sets the state to zero.
    fn begin(&mut self);

    /// The loss on the next piece; writes its derivatives. `done` is the share of the training that is done.
    fn gradient(
        &mut self,
        params: &[f32],
        piece: &mut Piece,
        done: f64,
        grad: &mut [f32],
        rng: &mut Rng,
    ) -> f64;

    /// Widths of an input and of a target.
    fn widths(&self) -> (usize, usize);
}

impl SequenceTraining {
    /// Episodes side by side, where there are so many.
    pub(crate) fn side_by_side(&self, n_episodes: usize) -> usize {
        self.episodes.get().min(n_episodes)
    }

    /// Improves `params` on all rows.
    pub(crate) fn run(
        &self,
        model: &mut dyn SequenceModel,
        params: &mut [f32],
        rows: &Rows,
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<(), FitError> {
        let adam = Adam { lr: self.lr.get(), weight_decay: self.weight_decay.get(), ..Adam::default() };
        let (mut state, mut grad) = (AdamState::new(params.len()), vec![0.0; params.len()]);
        let mut order: Vec<usize> = (0..rows.episodes.len()).collect();
        for epoch in 0..self.epochs.get() {
            rng.shuffle(&mut order);
            let done = epoch as f64 / self.epochs.get() as f64;
            let (progress, side) = (progress.part(epoch, self.epochs.get()), self.side_by_side(order.len()));
            for (i, chosen) in order.chunks(side).enumerate() {
                model.begin();
                for mut piece in self.pieces(rows, chosen, model.widths()) {
                    progress.at(i * side, order.len())?;
                    let loss = model.gradient(params, &mut piece, done, &mut grad, rng);
                    if !loss.is_finite() {
                        return Err(FitError::Diverged { epoch: epoch + 1 });
                    }
                    clip(&mut grad, self.clip.get());
                    adam.step(params, &grad, &mut state);
                }
            }
        }
        Ok(())
    }

    /// The episodes chosen, piece by piece.
    fn pieces<'a>(
        &'a self,
        rows: &'a Rows,
        chosen: &'a [usize],
        widths: (usize, usize),
    ) -> impl Iterator<Item = Piece> + 'a {
        let longest = chosen.iter().map(|&e| rows.episodes[e].len()).max().unwrap_or(0);
        let batch = self.side_by_side(rows.episodes.len());
        (0..longest).step_by(self.piece.get()).map(move |start| {
            let steps = self.piece.get().min(longest - start);
            cut(rows, chosen, batch, start..start + steps, widths)
        })
    }
}

fn cut(
    rows: &Rows,
    chosen: &[usize],
    batch: usize,
    steps: std::ops::Range<usize>,
    (n_inputs, n_targets): (usize, usize),
) -> Piece {
    let n = steps.len() * batch;
    let mut piece =
        Piece { inputs: vec![0.0; n * n_inputs], targets: vec![0.0; n * n_targets], present: vec![false; n] };
    for (t, step) in steps.enumerate() {
        for (column, &episode) in chosen.iter().enumerate() {
            let episode = &rows.episodes[episode];
            if step >= episode.len() {
                continue;
            }
            let (from, to) = (episode.start as usize + step, t * batch + column);
            piece.present[to] = true;
            piece.inputs[to * n_inputs..][..n_inputs]
                .copy_from_slice(&rows.inputs[from * n_inputs..][..n_inputs]);
            piece.targets[to * n_targets..][..n_targets]
                .copy_from_slice(&rows.targets[from * n_targets..][..n_targets]);
        }
    }
    piece
}

/// Shortens a gradient to the length given.
fn clip(grad: &mut [f32], longest: f64) {
    let length = grad.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
    if length > longest {
        let factor = (longest / length) as f32;
        grad.iter_mut().for_each(|g| *g *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hold_each_row_once_and_know_what_is_absent() {
        let rows = Rows {
            inputs: (0..7).map(|i| i as f32).collect(),
            targets: (0..7).map(|i| 10.0 * i as f32).collect(),
            episodes: vec![0..5, 5..7],
        };
        let training =
            SequenceTraining { piece: NonZeroUsize::new(3).unwrap(), ..SequenceTraining::default() };
        let pieces: Vec<Piece> = training.pieces(&rows, &[1, 0], (1, 1)).collect();
        assert_eq!(pieces[0].inputs, [5.0, 0.0, 6.0, 1.0, 0.0, 2.0]);
        assert_eq!(pieces[0].present, [true, true, true, true, false, true]);
        assert_eq!(pieces[1].targets, [0.0, 30.0, 0.0, 40.0]);
        assert_eq!(pieces.iter().map(Piece::n_present).sum::<usize>(), 7);
    }

    #[test]
    fn long_gradients_are_shortened_and_short_ones_kept() {
        let (mut long, mut short) = ([30.0, 40.0], [3.0, 4.0]);
        clip(&mut long, 10.0);
        clip(&mut short, 10.0);
        assert_eq!((long, short), ([6.0, 8.0], [3.0, 4.0]));
    }
}
