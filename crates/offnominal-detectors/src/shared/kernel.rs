//! The Gaussian kernel k(x, y) = e^{−γ‖x−y‖²} between a query and many fixed points at once.
//!
//! Points lie channel by channel in blocks of [`LANES`], so that distances and exponentials run on vectors.

use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_nets::{exp, simd};

/// Points per block.
const LANES: usize = 16;

/// Fixed points, and γ.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kernel {
    width: usize,
    n_points: usize,
    gamma: f32,
    /// `[block, channel, LANES]`; what is beyond the last point is zero.
    blocks: Vec<f32>,
}

impl Kernel {
    /// Takes `points`, rows of `width` numbers, of which there are `n_points` (a width of zero is allowed).
    pub fn new(points: &[f32], width: usize, n_points: usize, gamma: f32) -> Kernel {
        let mut blocks = vec![0.0; n_points.div_ceil(LANES) * width * LANES];
        for point in 0..n_points {
            let (block, lane) = (point / LANES, point % LANES);
            for channel in 0..width {
                blocks[(block * width + channel) * LANES + lane] = points[point * width + channel];
            }
        }
        Kernel { width, n_points, gamma, blocks }
    }

    /// Writes the points.
    pub fn save(&self, to: &mut Writer<'_>) {
        let mut points = vec![0.0; self.n_points * self.width];
        for (i, row) in points.chunks_exact_mut(self.width.max(1)).enumerate() {
            self.point(i, row);
        }
        to.put("points", &points);
    }

    /// Reads so many points of `width` numbers.
    pub fn load(
        from: &Reader<'_>,
        width: usize,
        n_points: usize,
        gamma: f32,
    ) -> Result<Kernel, ArchiveError> {
        Ok(Kernel::new(from.exactly("points", n_points * width)?, width, n_points, gamma))
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.n_points
    }

    /// Writes the coordinates of a point.
    pub fn point(&self, point: usize, out: &mut [f32]) {
        let (block, lane) = (point / LANES, point % LANES);
        for (channel, x) in out.iter_mut().enumerate() {
            *x = self.blocks[(block * self.width + channel) * LANES + lane];
        }
    }

    /// Calls `visit` with the number of the first point of each block, and the kernel between query and its points.
    fn each(&self, query: &[f32], mut visit: impl FnMut(usize, &[f32])) {
        let size = self.width * LANES;
        for first in (0..self.n_points).step_by(LANES) {
            let columns = self.blocks[first / LANES * size..][..size].as_chunks::<LANES>().0;
            let values = simd(
                #[inline(always)]
                || block(columns, query, self.gamma),
            );
            visit(first, &values[..LANES.min(self.n_points - first)]);
        }
    }

    /// Writes the kernel between the query and every point.
    pub fn row(&self, query: &[f32], out: &mut [f32]) {
        self.each(query, |first, values| out[first..first + values.len()].copy_from_slice(values));
    }

    /// Σ_i weights_i k(query, x_i).
    pub fn sum(&self, query: &[f32], weights: &[f32]) -> f64 {
        let mut sum = 0.0;
        self.each(query, |first, values| {
            let terms = values.iter().zip(&weights[first..]);
            sum += f64::from(terms.map(|(k, w)| k * w).sum::<f32>());
        });
        sum
    }
}

#[inline(always)]
fn block(columns: &[[f32; LANES]], query: &[f32], gamma: f32) -> [f32; LANES] {
    let mut squares = [0.0; LANES];
    for (column, &x) in columns.iter().zip(query) {
        for lane in 0..LANES {
            let difference = column[lane] - x;
            squares[lane] += difference * difference;
        }
    }
    // A loop and not `map`, which is compiled without the vector instructions of the caller.
    for square in &mut squares {
        *square = exp(-gamma * *square);
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn rows_and_sums_agree_with_the_definition() {
        let mut points = vec![0.0; 37 * 3];
        Rng::new(1).fill_normal(&mut points);
        let kernel = Kernel::new(&points, 3, 37, 0.7);
        let (query, mut row) = ([0.3, -0.2, 1.0], vec![f32::NAN; 37]);
        kernel.row(&query, &mut row);
        let weights: Vec<f32> = (0..37).map(|i| i as f32).collect();
        let mut sum = 0.0;
        for (i, point) in points.chunks_exact(3).enumerate() {
            let square: f64 = point.iter().zip(query).map(|(a, b)| f64::from(a - b).powi(2)).sum();
            let want = (-0.7 * square).exp();
            assert!((f64::from(row[i]) - want).abs() < 1e-6, "{i}");
            sum += want * i as f64;
        }
        assert!((kernel.sum(&query, &weights) - sum).abs() < 1e-3);
    }
}
