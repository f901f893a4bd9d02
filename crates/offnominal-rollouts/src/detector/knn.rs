//! Distance of an embedding to those of successful rollouts.

use super::{Fitted, Lesson, embeddings};
use crate::rollout::Rollouts;
use anyhow::Result;

/// Which neighbour counts.
const K: usize = 5;

/// Keeps embeddings of successes.
pub(super) fn fit(lesson: &Lesson<'_>) -> Result<Box<dyn Fitted>> {
    let (kept, scale) = embeddings::successes(lesson, "knn", K)?;
    Ok(Box::new(move |data: &Rollouts, i: usize| {
        let rows = data.rollouts[i].embeddings.chunks_exact(data.embedding);
        rows.map(|row| distance(&scale.apply(row), &kept)).collect()
    }))
}

fn distance(row: &[f32], kept: &[f32]) -> f64 {
    let square = |other: &[f32]| row.iter().zip(other).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
    let mut squares: Vec<f64> = kept.chunks_exact(row.len()).map(square).collect();
    let (_, nearest, _) = squares.select_nth_unstable_by(K - 1, f64::total_cmp);
    nearest.sqrt()
}
