//! Distance of an embedding to those of successful rollouts.

use super::embeddings::{self, Scale};
use super::{Fitted, Lesson, Scorer, Seen, Start};
use anyhow::Result;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use std::sync::Arc;

/// Which neighbour counts.
const K: usize = 5;

/// The embeddings that were kept.
pub(super) struct Knn {
    /// Rows in deviations.
    kept: Arc<[f32]>,
    scale: Scale,
}

impl Knn {
    /// Keeps embeddings of successes.
    pub(super) fn fit(lesson: &Lesson<'_>) -> Result<Knn> {
        let (kept, scale) = embeddings::successes(lesson, "knn", K)?;
        Ok(Knn { kept: kept.into(), scale })
    }

    pub(super) fn load(from: &Reader<'_>, width: usize) -> Result<Knn, ArchiveError> {
        let kept: &[f32] = from.list("kept")?;
        let is_rows = kept.len().is_multiple_of(width) && kept.len() >= K * width;
        from.require(is_rows, "kept", format!("{K} rows of {width} numbers or more"), kept.len())?;
        Ok(Knn { kept: kept.into(), scale: Scale::load(from, width)? })
    }
}

impl Fitted for Knn {
    fn begin(&self, _: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let (kept, scale) = (Arc::clone(&self.kept), self.scale.clone());
        Ok(Box::new(move |seen: Seen<'_>| distance(&scale.apply(seen.embedding), &kept)))
    }

    fn save(&self, to: &mut Writer<'_>) {
        to.put("kept", &self.kept);
        self.scale.save(to);
    }
}

fn distance(row: &[f32], kept: &[f32]) -> f64 {
    let square = |other: &[f32]| row.iter().zip(other).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
    let mut squares: Vec<f64> = kept.chunks_exact(row.len()).map(square).collect();
    let (_, nearest, _) = squares.select_nth_unstable_by(K - 1, f64::total_cmp);
    nearest.sqrt()
}
