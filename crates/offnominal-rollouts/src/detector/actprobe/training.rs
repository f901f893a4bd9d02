//! Training of the network.

use super::Inputs;
use super::net::{Batch, INPUTS, Net, Work};
use crate::detector::Lesson;
use crate::rollout::Rollouts;
use anyhow::{Result, ensure};
use offnominal_nets::{Adam, AdamState, sigmoid};
use offnominal_stats::cutoff::{Cutoff, Ranked};

/// Steps that a rollout must have to be learned from.
const FEWEST_STEPS: usize = 5;
/// Passes over the rollouts.
const EPOCHS: usize = 400;
/// Rollouts of a gradient step.
const BATCH: usize = 64;
/// The first rate, which falls as a cosine.
const RATE: f64 = 1e-3;
/// Decoupled decay of weights.
const DECAY: f64 = 1e-4;
/// Share of the LSTM's output that is dropped.
const DROPOUT: f64 = 0.4;
/// Passes from one look at the held-out rollouts to the next.
const LOOK: usize = 5;
/// Passes without a better network after which training stops.
const PATIENCE: usize = 50;
/// Gradients are cut at this norm.
const LARGEST_NORM: f64 = 1.0;
/// What counts as better.
const BETTER: f64 = 1e-4;

/// The parameters that are best on the held-out rollouts; those of the last look if they do not tell.
pub(super) fn train(net: &Net, inputs: &Inputs, lesson: &Lesson<'_>) -> Result<Vec<f32>> {
    let (train, mut rng) = (long_enough(lesson)?, lesson.seed.child("actprobe").rng());
    let mut params = net.init(&mut rng);
    let mut state = AdamState::new(params.len());
    let read = Read::new(inputs, lesson, &train);
    let held_out = Read::new(inputs, lesson, &lesson.part.val);
    let held_out = (!lesson.part.val.is_empty()).then(|| held_out.batch(&lesson.part.val));
    let size = BATCH.min(train.len());
    let mut works = Works::new(net, read.longest(), size, train.len());
    let mut look = held_out.as_ref().map(|batch| net.work(batch.steps(), batch.lengths.len()));
    let (mut grad, mut order) = (vec![0.0; params.len()], train.clone());
    let mut best = (f64::NEG_INFINITY, params.clone(), 0);
    for epoch in 1..=EPOCHS {
        lesson.context.check()?;
        let cosine = (std::f64::consts::PI * (epoch - 1) as f64 / EPOCHS as f64).cos();
        let lr = 0.5 * RATE * (1.0 + cosine);
        let adam = Adam { lr, weight_decay: DECAY, ..Adam::default() };
        rng.shuffle(&mut order);
        for some in order.chunks(size) {
            let batch = read.batch(some);
            let objective = |out: &[f32], d_out: &mut [f32]| loss(lesson.data, &batch, out, d_out);
            let dropout = Some((DROPOUT, &mut rng));
            net.descend(&params, &batch, works.of(some.len()), dropout, &mut grad, &objective);
            cut(&mut grad);
            adam.step(&mut params, &grad, &mut state);
        }
        if epoch % LOOK == 0 {
            let rank = held_out.as_ref().zip(look.as_mut()).and_then(|(batch, work)| {
                net.begin(&params, &batch.instructions, work);
                rank(lesson.data, batch, net.forward(&params, &batch.x, work, None))
            });
            match rank {
                Some(area) if area > best.0 + BETTER => best = (area, params.clone(), epoch),
                Some(_) if epoch - best.2 >= PATIENCE => break,
                Some(_) => {}
                None => best = (0.0, params.clone(), epoch),
            }
        }
    }
    Ok(best.1)
}

/// Rollouts that have enough steps to be learned from.
fn long_enough(lesson: &Lesson<'_>) -> Result<Vec<usize>> {
    let is_long = |i: &&usize| lesson.data.rollouts[**i].steps() >= FEWEST_STEPS;
    let train: Vec<usize> = lesson.part.train.iter().filter(is_long).copied().collect();
    ensure!(!train.is_empty(), "expected rollouts of at least {FEWEST_STEPS} steps, found none");
    Ok(train)
}

/// The mean cross entropy over the steps, each of which has the outcome of its rollout as its label, and its derivatives, which
/// are zero before.
fn loss(data: &Rollouts, batch: &Batch, out: &[f32], d_out: &mut [f32]) -> f64 {
    let n = batch.lengths.len();
    let (steps, mut loss) = (batch.lengths.iter().sum::<usize>() as f64, 0.0);
    for (t, (logits, d)) in out.chunks_exact(n).zip(d_out.chunks_exact_mut(n)).enumerate() {
        for i in (0..n).filter(|&i| t < batch.lengths[i]) {
            let fails = data.rollouts[batch.rollouts[i]].fails;
            let (z, label) = (f64::from(logits[i]), f64::from(u8::from(fails)));
            loss += z.max(0.0) + (-z.abs()).exp().ln_1p() - label * z;
            d[i] = ((1.0 / (1.0 + (-z).exp()) - label) / steps) as f32;
        }
    }
    loss / steps
}

/// The area of held-out rollouts by `task-max` ¼; none if they have one outcome.
fn rank(data: &Rollouts, batch: &Batch, out: &[f32]) -> Option<f64> {
    let n = batch.lengths.len();
    let of = |i: usize| (0..batch.lengths[i]).map(move |t| f64::from(sigmoid(out[t * n + i])));
    let scores: Vec<Vec<f64>> = (0..n).map(|i| of(i).collect()).collect();
    let rollout = |i: usize| &data.rollouts[batch.rollouts[i]];
    let lengths: Vec<(usize, usize)> = (0..n).map(|i| (batch.lengths[i], rollout(i).task)).collect();
    let rows = Cutoff::TaskMax(0.25).rows(&lengths);
    let rollouts: Vec<_> = (0..n).map(|i| (i, rollout(i).fails, scores[i].as_slice())).collect();
    Ranked::mean_area(&[Ranked::new(n, &rollouts, &rows)], &vec![1; n])
}

/// What the network reads of rollouts, computed once.
struct Read<'a> {
    inputs: &'a Inputs,
    lesson: &'a Lesson<'a>,
    /// x_t of each rollout, `[steps, INPUTS]`, by its number; nothing for others.
    rows: Vec<Vec<f32>>,
}

impl<'a> Read<'a> {
    fn new(inputs: &'a Inputs, lesson: &'a Lesson<'a>, rollouts: &[usize]) -> Read<'a> {
        let mut rows = vec![Vec::new(); lesson.data.rollouts.len()];
        rollouts.iter().for_each(|&i| rows[i] = inputs.rows(lesson.data, i));
        Read { inputs, lesson, rows }
    }

    /// Steps of the longest.
    fn longest(&self) -> usize {
        self.rows.iter().map(|rows| rows.len() / INPUTS).max().unwrap_or(0).max(1)
    }

    /// Rollouts side by side.
    fn batch(&self, rollouts: &[usize]) -> Batch {
        let (n, width) = (rollouts.len(), INPUTS);
        let lengths: Vec<usize> = rollouts.iter().map(|&i| self.rows[i].len() / width).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut x = vec![0.0; longest * n * width];
        for (place, &i) in rollouts.iter().enumerate() {
            for (t, row) in self.rows[i].chunks_exact(width).enumerate() {
                x[(t * n + place) * width..][..width].copy_from_slice(row);
            }
        }
        let task = |i: usize| self.lesson.data.rollouts[i].task;
        let instructions = rollouts.iter().flat_map(|&i| self.inputs.instruction(task(i)));
        Batch { instructions: instructions.copied().collect(), x, rollouts: rollouts.to_vec(), lengths }
    }
}

impl Batch {
    /// Steps of the longest.
    fn steps(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }
}

/// Workspaces of the two sizes of batches: the usual one, and that of the last.
struct Works(Vec<(usize, Work)>);

impl Works {
    fn new(net: &Net, steps: usize, size: usize, n: usize) -> Works {
        let rest = n % size;
        let sizes = [Some(size), (rest > 0).then_some(rest)];
        Works(sizes.into_iter().flatten().map(|size| (size, net.work(steps, size))).collect())
    }

    fn of(&mut self, size: usize) -> &mut Work {
        let found = self.0.iter_mut().find(|(of, _)| *of == size);
        &mut found.expect("a batch is of one of two sizes").1
    }
}

/// Scales a gradient down to the largest norm.
fn cut(grad: &mut [f32]) {
    let norm = grad.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
    if norm > LARGEST_NORM {
        let scale = (LARGEST_NORM / norm) as f32;
        grad.iter_mut().for_each(|g| *g *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_long_gradient_is_cut_and_a_short_one_is_not() {
        let mut long = [3.0, 4.0];
        cut(&mut long);
        assert_eq!(long, [0.6, 0.8]);
        let mut short = [0.3, 0.4];
        cut(&mut short);
        assert_eq!(short, [0.3, 0.4]);
    }
}
