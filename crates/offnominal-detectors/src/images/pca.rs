//! The directions in which pictures vary most, by subspace iteration.

use offnominal_core::Rng;

/// Rounds of the iteration; the directions of fast-falling spectra need few.
const ROUNDS: usize = 8;

/// Mean and orthonormal directions, the one with the largest variance first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pca {
    mean: Vec<f32>,
    /// `[k, width]`.
    directions: Vec<Vec<f32>>,
}

impl Pca {
    /// Finds k directions of the rows, fewer where there are fewer rows.
    pub fn fit(rows: &[&[f32]], k: usize, rng: &mut Rng) -> Pca {
        let width = rows[0].len();
        let mut mean = vec![0.0_f32; width];
        for row in rows {
            mean.iter_mut().zip(*row).for_each(|(m, v)| *m += v / rows.len() as f32);
        }
        let k = k.min(rows.len().saturating_sub(1)).max(1);
        let mut directions = vec![vec![0.0; width]; k];
        directions.iter_mut().for_each(|d| rng.fill_normal(d));
        let mut pca = Pca { mean, directions };
        for _ in 0..ROUNDS {
            orthonormalise(&mut pca.directions);
            pca.directions = pca.multiplied(rows);
        }
        orthonormalise(&mut pca.directions);
        pca
    }

    /// The directions times the covariance of the rows.
    fn multiplied(&self, rows: &[&[f32]]) -> Vec<Vec<f32>> {
        let mut out = vec![vec![0.0; self.mean.len()]; self.directions.len()];
        let mut centred = vec![0.0; self.mean.len()];
        for row in rows {
            centred.iter_mut().zip(row.iter().zip(&self.mean)).for_each(|(c, (v, m))| *c = v - m);
            for (out, direction) in out.iter_mut().zip(&self.directions) {
                let along = dot(direction, &centred);
                out.iter_mut().zip(&centred).for_each(|(o, c)| *o += along * c);
            }
        }
        out
    }

    /// Coordinates of a row along the directions.
    pub fn of(&self, row: &[f32]) -> Vec<f32> {
        let along = |direction: &Vec<f32>| {
            let parts = direction.iter().zip(row.iter().zip(&self.mean));
            parts.map(|(d, (v, m))| d * (v - m)).sum()
        };
        self.directions.iter().map(along).collect()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    offnominal_nets::simd(
        #[inline(always)]
        || {
            let mut sums = [0.0_f32; 16];
            let (blocks, rest) = a.as_chunks::<16>();
            for (a, b) in blocks.iter().zip(b.as_chunks::<16>().0) {
                (0..16).for_each(|i| sums[i] += a[i] * b[i]);
            }
            let tail: f32 = rest.iter().zip(&b[b.len() - rest.len()..]).map(|(a, b)| a * b).sum();
            sums.iter().sum::<f32>() + tail
        },
    )
}

/// Gram and Schmidt; a direction that depends on others becomes zero.
fn orthonormalise(directions: &mut [Vec<f32>]) {
    for i in 0..directions.len() {
        let (before, from) = directions.split_at_mut(i);
        for other in before {
            let along = dot(other, &from[0]);
            from[0].iter_mut().zip(other.iter()).for_each(|(v, o)| *v -= along * o);
        }
        let norm = dot(&from[0], &from[0]).sqrt();
        let factor = if norm > 1e-6 { 1.0 / norm } else { 0.0 };
        from[0].iter_mut().for_each(|v| *v *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_in_many_dimensions_is_found() {
        let mut rng = Rng::new(1);
        let mut axes = vec![vec![0.0; 40]; 2];
        axes.iter_mut().for_each(|a| rng.fill_normal(a));
        let rows: Vec<Vec<f32>> = (0..200)
            .map(|_| {
                let (a, b) = (3.0 * rng.normal() as f32, rng.normal() as f32);
                (0..40).map(|i| 5.0 + a * axes[0][i] + b * axes[1][i]).collect()
            })
            .collect();
        let views: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
        let pca = Pca::fit(&views, 2, &mut rng);
        for row in &rows {
            let at = pca.of(row);
            let back = |i: usize| pca.mean[i] + at[0] * pca.directions[0][i] + at[1] * pca.directions[1][i];
            assert!((0..40).all(|i| (back(i) - row[i]).abs() < 1e-2));
        }
        let variance = |k: usize| rows.iter().map(|r| pca.of(r)[k].powi(2)).sum::<f32>();
        assert!(variance(0) > variance(1));
    }
}
