//! ActProbe's probe (arXiv 2606.08508), trained anew from its description: an LSTM and an MLP that read two signals of the
//! chunks and the time, and begin with what the task's instruction says.
//!
//! With x_t = [z(magnitude), z(consistency error), t / 100], z by mean and deviation of all steps that are learned from:
//!
//! | part | shape | parameters |
//! |---|---|---|
//! | instruction | D → 16, ReLU | 16 D + 16 |
//! | h₀ and s₀ of the LSTM | 16 → 32 each | 1,088 |
//! | LSTM | 3 → 32, its output dropped with probability .4 in training | 4,736 |
//! | MLP on \[h_t, x_t\] | 35 → 16 → 8 → 1, ReLU, then a logistic function | 721 |
//!
//! With D = 1,024 these are 22,945. Every step of a rollout has the rollout's outcome as its label, so long rollouts weigh
//! more. Training minimises the cross entropy by AdamW (rate 1e-3 on a cosine over 400 passes, decay 1e-4, gradients cut at
//! norm 1, 64 rollouts at once); each five passes it ranks the held-out rollouts by `task-max` ¼, keeps the best network, and
//! stops after 50 passes without a better one. The signals are called `acm` and `tce`, or `action_norm` and `chunk_mse`.
//!
//! Deviates: without embeddings of instructions D is the number of tasks and the instruction is the task's number; weights
//! are drawn by our generator, so a seed gives other ones than PyTorch's.

use super::recurrent::{Design, InProgress, Inputs, Instructions, Objective, Recipe, Trained, net::Batch};
use super::{Fitted, Lesson, Scorer, Seen, Start};
use crate::rollout::Rollouts;
use anyhow::{Context as _, Result};
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_nets::sigmoid;
use offnominal_stats::cutoff::{Cutoff, Ranked};

/// But for the instruction, the network as published.
const DESIGN: Design = Design { hidden: 32, head: &[16, 8], outputs: 1, members: 1 };
const RECIPE: Recipe =
    Recipe { epochs: 400, batch: 64, rate: 1e-3, decay: 1e-4, dropout: 0.4, look: 5, patience: 50 };

/// Places of the magnitude and of the consistency error.
pub(super) fn signals(data: &Rollouts) -> Result<Vec<usize>> {
    let named = |names: [&str; 2]| {
        let found = data.signals.iter().position(|signal| names.contains(&signal.as_str()));
        found.with_context(|| {
            format!("actprobe: expected a signal {} or {}, found neither", names[0], names[1])
        })
    };
    Ok(vec![named(["acm", "action_norm"])?, named(["tce", "chunk_mse"])?])
}

/// The trained network, or several.
pub(super) struct ActProbe(Trained);

impl ActProbe {
    /// Trains it, or several of which the mean logit counts.
    pub(super) fn fit(members: usize, lesson: &Lesson<'_>) -> Result<ActProbe> {
        let data = lesson.data;
        let signals = signals(data)?;
        let inputs = Inputs::new(lesson, signals, Instructions::of(lesson, "actprobe")?).with_clock();
        let seed = lesson.seed.child("actprobe");
        let design = Design { members, ..DESIGN };
        Ok(ActProbe(design.train(inputs, (&RECIPE, &Outcome { data }), lesson, seed)?))
    }

    pub(super) fn load(
        from: &Reader<'_>,
        n_tasks: usize,
        n_signals: usize,
    ) -> Result<ActProbe, ArchiveError> {
        Ok(ActProbe(DESIGN.load(from, n_tasks, n_signals)?))
    }
}

impl Fitted for ActProbe {
    fn begin(&self, start: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let mut network: InProgress = self.0.begin(start)?;
        Ok(Box::new(move |seen: Seen<'_>| f64::from(sigmoid(network.step(seen)[0] as f32))))
    }

    fn save(&self, to: &mut Writer<'_>) {
        self.0.save(to);
    }
}

/// Every step has the outcome of its rollout as its label.
struct Outcome<'a> {
    data: &'a Rollouts,
}

impl Objective for Outcome<'_> {
    /// The mean cross entropy over the steps.
    fn loss(&self, batch: &Batch, out: &[f32], d_out: &mut [f32]) -> f64 {
        let n = batch.lengths.len();
        let (steps, mut loss) = (batch.lengths.iter().sum::<usize>() as f64, 0.0);
        for (t, (logits, d)) in out.chunks_exact(n).zip(d_out.chunks_exact_mut(n)).enumerate() {
            for i in (0..n).filter(|&i| t < batch.lengths[i]) {
                let fails = self.data.rollouts[batch.rollouts[i]].fails;
                let (z, label) = (f64::from(logits[i]), f64::from(u8::from(fails)));
                loss += z.max(0.0) + (-z.abs()).exp().ln_1p() - label * z;
                d[i] = ((1.0 / (1.0 + (-z).exp()) - label) / steps) as f32;
            }
        }
        loss / steps
    }

    /// The area by `task-max` ¼; none if the rollouts have one outcome.
    fn rank(&self, batch: &Batch, out: &[f32]) -> Option<f64> {
        let n = batch.lengths.len();
        let of = |i: usize| (0..batch.lengths[i]).map(move |t| f64::from(sigmoid(out[t * n + i])));
        let scores: Vec<Vec<f64>> = (0..n).map(|i| of(i).collect()).collect();
        let rollout = |i: usize| &self.data.rollouts[batch.rollouts[i]];
        let lengths: Vec<(usize, usize)> = (0..n).map(|i| (batch.lengths[i], rollout(i).task)).collect();
        let rows = Cutoff::TaskMax(0.25).rows(&lengths);
        let rollouts: Vec<_> = (0..n).map(|i| (i, rollout(i).fails, scores[i].as_slice())).collect();
        Ranked::mean_area(&[Ranked::new(n, &rollouts, &rows)], &vec![1; n])
    }
}

#[cfg(test)]
mod tests {
    use super::super::recurrent::net::{Net, Sizes};

    #[test]
    fn it_has_as_many_parameters_as_published() {
        let net = Net::new(Sizes { instruction: 1024, inputs: 3, hidden: 32, head: vec![16, 8], outputs: 1 });
        assert_eq!(net.n_params(), 22_945);
    }
}
