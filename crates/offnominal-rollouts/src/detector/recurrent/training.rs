//! Training of a network.

use super::net::{Batch, Net, Work};
use super::{Inputs, Recipe};
use crate::detector::Lesson;
use anyhow::Result;
use offnominal_core::Rng;
use offnominal_nets::{Adam, AdamState};

const LARGEST_NORM: f64 = 1.0;
/// What counts as better.
const BETTER: f64 = 1e-4;

/// What a network is trained for.
pub(in crate::detector) trait Objective {
    /// The loss of what comes out of a batch, `[T, batch, outputs]`, and its derivatives, which are zero before.
    fn loss(&self, batch: &Batch, out: &[f32], d_out: &mut [f32]) -> f64;

    /// How good what comes out of the held-out rollouts is, the larger the better; none if they do not tell.
    fn rank(&self, batch: &Batch, out: &[f32]) -> Option<f64>;
}

/// The parameters that are best on the held-out rollouts; those of the last look if they do not tell.
pub(super) fn train(
    net: &Net,
    (recipe, objective): (&Recipe, &dyn Objective),
    inputs: &Inputs,
    lesson: &Lesson<'_>,
    train: &[usize],
    rng: &mut Rng,
) -> Result<Vec<f32>> {
    let mut params = net.init(rng);
    let mut state = AdamState::new(params.len());
    let read = Read::new(inputs, lesson, train);
    let held_out = Read::new(inputs, lesson, &lesson.part.val);
    let held_out = (!lesson.part.val.is_empty()).then(|| held_out.batch(&lesson.part.val));
    let size = recipe.batch.min(train.len());
    let mut works = Works::new(net, read.longest(), size, train.len());
    let mut look = held_out.as_ref().map(|batch| net.work(batch.steps(), batch.lengths.len()));
    let (mut grad, mut order) = (vec![0.0; params.len()], train.to_vec());
    let mut best = (f64::NEG_INFINITY, params.clone(), 0);
    for epoch in 1..=recipe.epochs {
        lesson.context.check()?;
        let cosine = (std::f64::consts::PI * (epoch - 1) as f64 / recipe.epochs as f64).cos();
        let lr = 0.5 * recipe.rate * (1.0 + cosine);
        let adam = Adam { lr, weight_decay: recipe.decay, ..Adam::default() };
        rng.shuffle(&mut order);
        for some in order.chunks(size) {
            let batch = read.batch(some);
            let loss = |out: &[f32], d_out: &mut [f32]| objective.loss(&batch, out, d_out);
            let dropout = Some((recipe.dropout, &mut *rng));
            net.descend(&params, &batch, works.of(some.len()), dropout, &mut grad, &loss);
            cut(&mut grad);
            adam.step(&mut params, &grad, &mut state);
        }
        if epoch % recipe.look == 0 {
            let rank = held_out.as_ref().zip(look.as_mut()).and_then(|(batch, work)| {
                net.begin(&params, &batch.instructions, work);
                objective.rank(batch, net.forward(&params, &batch.x, work, None))
            });
            match rank {
                Some(area) if area > best.0 + BETTER => best = (area, params.clone(), epoch),
                Some(_) if epoch - best.2 >= recipe.patience => break,
                Some(_) => {}
                None => best = (0.0, params.clone(), epoch),
            }
        }
    }
    Ok(best.1)
}

/// What a network reads of rollouts, computed once.
struct Read<'a> {
    inputs: &'a Inputs,
    lesson: &'a Lesson<'a>,
    /// x_t of each rollout, `[steps, inputs]`, by its number; nothing for others.
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
        self.rows.iter().map(|rows| rows.len() / self.inputs.len()).max().unwrap_or(0).max(1)
    }

    /// Rollouts side by side.
    fn batch(&self, rollouts: &[usize]) -> Batch {
        let (n, width) = (rollouts.len(), self.inputs.len());
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
