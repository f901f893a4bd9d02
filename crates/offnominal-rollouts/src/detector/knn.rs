//! Distance of an embedding to those of successful rollouts.

use super::{Fitted, Lesson};
use crate::rollout::Rollouts;
use anyhow::{Result, ensure};

/// Which neighbour counts.
const K: usize = 5;
/// Embeddings that are kept, drawn evenly from all steps of the successes.
const MOST: usize = 4096;

/// Keeps embeddings of successes, each number in deviations.
pub(super) fn fit(lesson: &Lesson<'_>) -> Result<Box<dyn Fitted>> {
    let width = lesson.data.embedding;
    ensure!(width > 0, "knn: expected rollouts with embeddings, found none");
    let train = lesson.part.train.iter().filter(|&&i| !lesson.data.rollouts[i].fails);
    let rows: Vec<&[f32]> =
        train.flat_map(|&i| lesson.data.rollouts[i].embeddings.chunks_exact(width)).collect();
    ensure!(
        rows.len() >= K,
        "knn: expected at least {K} steps of successes to learn from, found {}",
        rows.len()
    );
    let kept: Vec<&[f32]> = rows.iter().step_by(rows.len().div_ceil(MOST)).copied().collect();
    let scale = deviations(&kept, width);
    let kept: Vec<f32> = kept.iter().flat_map(|row| scaled(row, &scale)).collect();
    Ok(Box::new(move |data: &Rollouts, i: usize| {
        let rows = data.rollouts[i].embeddings.chunks_exact(width);
        rows.map(|row| distance(&scaled(row, &scale), &kept)).collect()
    }))
}

/// One over the deviation of each number; 0 if it is constant.
fn deviations(rows: &[&[f32]], width: usize) -> Vec<f32> {
    let n = rows.len() as f64;
    let inverse = |i: usize| {
        let mean = rows.iter().map(|row| f64::from(row[i])).sum::<f64>() / n;
        let variance = rows.iter().map(|row| (f64::from(row[i]) - mean).powi(2)).sum::<f64>() / n;
        if variance > 0.0 { variance.sqrt().recip().min(1e12) as f32 } else { 0.0 }
    };
    (0..width).map(inverse).collect()
}

fn scaled(row: &[f32], scale: &[f32]) -> Vec<f32> {
    row.iter().zip(scale).map(|(x, s)| x * s).collect()
}

fn distance(row: &[f32], kept: &[f32]) -> f64 {
    let square = |other: &[f32]| row.iter().zip(other).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
    let mut squares: Vec<f64> = kept.chunks_exact(row.len()).map(square).collect();
    let (_, nearest, _) = squares.select_nth_unstable_by(K - 1, f64::total_cmp);
    nearest.sqrt()
}
