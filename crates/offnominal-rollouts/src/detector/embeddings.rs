//! Embeddings of successful rollouts, each number in deviations from its mean.

use super::Lesson;
use anyhow::{Result, ensure};
use offnominal_core::Rng;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_nets::{Adam, AdamState, Gradients, Mlp, loss};

/// Embeddings that are kept, drawn evenly from all steps of the successes.
const MOST: usize = 4096;
/// Largest deviation: beyond it a network says nothing.
const LARGEST: f32 = 1e3;
/// Rows of a gradient step, and gradient steps of a network.
const BATCH: usize = 128;
const UPDATES: usize = 1500;

/// Mean and one over the deviation of each number; 0 if it is constant.
#[derive(Debug, Clone)]
pub(super) struct Scale(Vec<(f32, f32)>);

/// The embeddings of successes, `[rows, D]`, and their scale.
///
/// # Errors
/// If there are no embeddings, or fewer steps than a detector needs.
pub(super) fn successes(lesson: &Lesson<'_>, detector: &str, fewest: usize) -> Result<(Vec<f32>, Scale)> {
    let width = lesson.data.embedding;
    ensure!(width > 0, "{detector}: expected rollouts with embeddings, found none");
    let train = lesson.part.train.iter().filter(|&&i| !lesson.data.rollouts[i].fails);
    let rows: Vec<&[f32]> =
        train.flat_map(|&i| lesson.data.rollouts[i].embeddings.chunks_exact(width)).collect();
    let n = rows.len();
    ensure!(
        n >= fewest,
        "{detector}: expected at least {fewest} steps of successes to learn from, found {n}"
    );
    let kept: Vec<&[f32]> = rows.iter().step_by(n.div_ceil(MOST)).copied().collect();
    let scale = Scale::of(&kept, width);
    Ok((kept.iter().flat_map(|row| scale.apply(row)).collect(), scale))
}

impl Scale {
    fn of(rows: &[&[f32]], width: usize) -> Scale {
        let n = rows.len() as f64;
        let moments = |i: usize| {
            let mean = rows.iter().map(|row| f64::from(row[i])).sum::<f64>() / n;
            let variance = rows.iter().map(|row| (f64::from(row[i]) - mean).powi(2)).sum::<f64>() / n;
            let inverse = if variance > 0.0 { variance.sqrt().recip().min(1e12) } else { 0.0 };
            (mean as f32, inverse as f32)
        };
        Scale((0..width).map(moments).collect())
    }

    pub(super) fn save(&self, to: &mut Writer<'_>) {
        let (means, inverses): (Vec<f32>, Vec<f32>) = self.0.iter().copied().unzip();
        to.put("means", &means);
        to.put("inverses", &inverses);
    }

    pub(super) fn load(from: &Reader<'_>, width: usize) -> Result<Scale, ArchiveError> {
        let means = from.exactly::<f32>("means", width)?;
        let inverses = from.exactly::<f32>("inverses", width)?;
        Ok(Scale(means.iter().copied().zip(inverses.iter().copied()).collect()))
    }

    /// A row in deviations.
    pub(super) fn apply(&self, row: &[f32]) -> Vec<f32> {
        let scaled = row.iter().zip(&self.0).map(|(x, (mean, inverse))| (x - mean) * inverse);
        scaled.map(|x| x.clamp(-LARGEST, LARGEST)).collect()
    }
}

/// Trains a network to give targets by squared error; `draw` appends an input and its target, for a row of a batch.
pub(super) fn train(
    net: &Mlp,
    params: &mut [f32],
    lesson: &Lesson<'_>,
    rng: &mut Rng,
    mut draw: impl FnMut(&mut Rng, &mut Vec<f32>, &mut Vec<f32>),
) -> Result<()> {
    let (mut work, mut state) = (net.workspace(BATCH), AdamState::new(params.len()));
    let (mut grad, mut d_out) = (vec![0.0; params.len()], vec![0.0; BATCH * net.outputs()]);
    let adam = Adam::default();
    for _ in 0..UPDATES {
        lesson.context.check()?;
        let (mut x, mut target) = (Vec::new(), Vec::new());
        (0..BATCH).for_each(|_| draw(rng, &mut x, &mut target));
        let found = net.forward(params, &x, &mut work);
        loss::mse(found, &target, &mut d_out);
        net.backward(params, &x, &mut work, &d_out, Gradients::params(&mut grad));
        adam.step(params, &grad, &mut state);
    }
    Ok(())
}
