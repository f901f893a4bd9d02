//! Nominal points and the nearest of them, many queries at a time.
//!
//! ‖q − c‖² = ‖q‖² − 2 (q·c − ½‖c‖²): the bracket is a dense layer without activation, and its largest output is the
//! nearest point. The distance to it is then computed anew, so that a point has distance zero to itself.

use offnominal_nets::vision::linear::{Linear, Pack};
use std::collections::HashSet;
use std::sync::Arc;

/// Points per product, so that the weights of one stay in the cache.
const BLOCK: usize = 512;

/// Points in blocks, each as the weights of a dense layer; copies share them.
#[derive(Clone)]
pub(super) struct Bank {
    width: usize,
    points: Arc<[f32]>,
    blocks: Arc<[Linear]>,
    pack: Pack,
    best: Vec<(f32, usize)>,
}

impl Bank {
    /// A bank of rows of `width` numbers.
    ///
    /// # Panics
    /// If there is no row.
    pub fn new(points: Vec<f32>, width: usize) -> Bank {
        assert!(!points.is_empty(), "expected a nominal point");
        let half = |row: &[f32]| -0.5 * row.iter().map(|v| v * v).sum::<f32>();
        let block = |rows: &[f32]| Linear::new(rows, rows.chunks_exact(width).map(half).collect());
        let blocks = points.chunks(BLOCK * width).map(block).collect();
        Bank { width, points: points.into(), blocks, pack: Pack::default(), best: Vec::new() }
    }

    /// Distance to the nearest point, and which that is, for each query.
    pub fn nearest(&mut self, queries: &[f32]) -> &[(f32, usize)] {
        let width = self.width;
        self.best.clear();
        self.best.resize(queries.len() / width, (f32::NEG_INFINITY, 0));
        for (b, block) in self.blocks.iter().enumerate() {
            let found = block.apply(queries, &mut self.pack);
            for (best, row) in self.best.iter_mut().zip(found.chunks_exact(block.outputs())) {
                for (i, &v) in row.iter().enumerate() {
                    if v > best.0 {
                        *best = (v, b * BLOCK + i);
                    }
                }
            }
        }
        for (best, query) in self.best.iter_mut().zip(queries.chunks_exact(width)) {
            let point = &self.points[best.1 * width..(best.1 + 1) * width];
            best.0 = query.iter().zip(point).map(|(q, p)| (q - p).powi(2)).sum::<f32>().sqrt();
        }
        &self.best
    }
}

/// The indices of rows that differ from all before them.
pub(super) fn different(rows: &[f32], width: usize) -> Vec<usize> {
    let mut seen = HashSet::new();
    let bits = |row: &[f32]| row.iter().map(|v| v.to_bits()).collect::<Vec<u32>>();
    (0..rows.len() / width).filter(|&i| seen.insert(bits(&rows[i * width..(i + 1) * width]))).collect()
}

/// The row in unit length.
pub(super) fn unit(row: &mut [f32]) {
    let norm = row.iter().map(|v| v * v).sum::<f32>().sqrt().max(1e-12);
    row.iter_mut().for_each(|v| *v /= norm);
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn the_nearest_is_that_of_a_plain_search() {
        let mut rng = Rng::new(1);
        let (mut points, mut queries) = (vec![0.0; 1300 * 7], vec![0.0; 40 * 7]);
        rng.fill_normal(&mut points);
        rng.fill_normal(&mut queries);
        queries[..7].copy_from_slice(&points[600 * 7..601 * 7]);
        let mut bank = Bank::new(points.clone(), 7);
        let found = bank.nearest(&queries).to_vec();
        assert_eq!(found[0], (0.0, 600));
        for (query, (distance, _)) in queries.chunks(7).zip(found) {
            let far = |p: &[f32]| p.iter().zip(query).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
            let want = points.chunks(7).map(far).fold(f32::INFINITY, f32::min);
            assert!((distance - want).abs() < 1e-4, "{distance} {want}");
        }
    }

    #[test]
    fn copies_count_once() {
        assert_eq!(different(&[1.0, 2.0, 1.0, 2.0, 3.0, 2.0], 2), [0, 2]);
    }
}
