//! Training of the network.

use super::Inputs;
use super::net::{Batch, INPUTS, Probe};
use crate::detector::Lesson;
use anyhow::Result;
use offnominal_nets::{Adam, AdamState};
use offnominal_stats::cutoff::{Cutoff, Ranked};

const EPOCHS: usize = 400;
const BATCH: usize = 64;
const RATE: f64 = 1e-3;
const DECAY: f64 = 1e-4;
const LARGEST_NORM: f64 = 1.0;
/// Passes from one look at the held-out rollouts to the next.
const LOOK: usize = 5;
/// Passes without a better network after which training stops.
const PATIENCE: usize = 50;
/// What counts as better.
const BETTER: f64 = 1e-4;

/// The parameters of the network that ranks the held-out rollouts best; of the last one if those are of one outcome.
pub(super) fn train(
    probe: &Probe,
    inputs: &Inputs,
    lesson: &Lesson<'_>,
    train: &[usize],
) -> Result<Vec<f32>> {
    let mut rng = lesson.seed.child("actprobe").rng();
    let mut params = probe.init(&mut rng);
    let mut state = AdamState::new(params.len());
    let longest = train.iter().map(|&i| lesson.data.rollouts[i].steps()).max().unwrap_or(1);
    let size = BATCH.min(train.len());
    let (mut works, mut grad) = (Works::new(probe, longest, size, train.len()), vec![0.0; params.len()]);
    let mut order = train.to_vec();
    let mut best = (f64::NEG_INFINITY, params.clone(), 0);
    for epoch in 1..=EPOCHS {
        lesson.context.check()?;
        let cosine = (std::f64::consts::PI * (epoch - 1) as f64 / EPOCHS as f64).cos();
        let adam = Adam { lr: 0.5 * RATE * (1.0 + cosine), weight_decay: DECAY, ..Adam::default() };
        rng.shuffle(&mut order);
        for some in order.chunks(size) {
            let batch = inputs.batch(lesson, some);
            probe.loss(&params, &batch, works.of(some.len()), Some(&mut rng), &mut grad);
            cut(&mut grad);
            adam.step(&mut params, &grad, &mut state);
        }
        if epoch % LOOK == 0 {
            match rank(probe, inputs, lesson, &params) {
                Some(area) if area > best.0 + BETTER => best = (area, params.clone(), epoch),
                Some(_) if epoch - best.2 >= PATIENCE => break,
                Some(_) => {}
                None => best = (0.0, params.clone(), epoch),
            }
        }
    }
    Ok(best.1)
}

/// Workspaces of the two sizes of batches: the usual one, and that of the last.
struct Works(Vec<(usize, super::net::Work)>);

impl Works {
    fn new(probe: &Probe, steps: usize, size: usize, n: usize) -> Works {
        let rest = n % size;
        let sizes = [Some(size), (rest > 0).then_some(rest)];
        Works(sizes.into_iter().flatten().map(|size| (size, probe.work(steps, size))).collect())
    }

    fn of(&mut self, size: usize) -> &mut super::net::Work {
        let found = self.0.iter_mut().find(|(of, _)| *of == size);
        &mut found.expect("a batch is of one of two sizes").1
    }
}

impl Inputs {
    /// Rollouts side by side.
    fn batch(&self, lesson: &Lesson<'_>, rollouts: &[usize]) -> Batch {
        let data = lesson.data;
        let n = rollouts.len();
        let lengths: Vec<usize> = rollouts.iter().map(|&i| data.rollouts[i].steps()).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut x = vec![0.0; longest * n * INPUTS];
        for (place, &i) in rollouts.iter().enumerate() {
            for (t, row) in self.rows(data, i).chunks_exact(INPUTS).enumerate() {
                x[(t * n + place) * INPUTS..][..INPUTS].copy_from_slice(row);
            }
        }
        Batch {
            instructions: rollouts.iter().flat_map(|&i| self.instruction(data, i)).copied().collect(),
            x,
            lengths,
            fails: rollouts.iter().map(|&i| data.rollouts[i].fails).collect(),
        }
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

/// The area of the held-out rollouts by `task-max` ¼; none if they have one outcome.
fn rank(probe: &Probe, inputs: &Inputs, lesson: &Lesson<'_>, params: &[f32]) -> Option<f64> {
    let (data, val) = (lesson.data, &lesson.part.val);
    let scores: Vec<Vec<f64>> = val
        .iter()
        .map(|&i| probe.scores(params, inputs.instruction(data, i), &inputs.rows(data, i)))
        .collect();
    let lengths: Vec<(usize, usize)> =
        val.iter().map(|&i| (data.rollouts[i].steps(), data.rollouts[i].task)).collect();
    let rows = Cutoff::TaskMax(0.25).rows(&lengths);
    let rollouts: Vec<_> =
        (0..val.len()).map(|k| (k, data.rollouts[val[k]].fails, scores[k].as_slice())).collect();
    Ranked::mean_area(&[Ranked::new(val.len(), &rollouts, &rows)], &vec![1; val.len()])
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
