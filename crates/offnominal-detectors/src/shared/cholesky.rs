//! Symmetric positive definite matrices as C = L Lᵀ, and what follows from it: solving and whitening.

use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_nets::simd;

/// The lower triangle L of a matrix of n rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cholesky {
    n: usize,
    /// `[n, n]`, zero above the diagonal.
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factorises a symmetric matrix `[n, n]`, of which the lower triangle is read.
    ///
    /// # Panics
    /// If the matrix is not positive definite: callers add to the diagonal what makes it so.
    pub fn of(matrix: Vec<f64>, n: usize) -> Cholesky {
        Cholesky::checked(matrix, n).expect("expected a positive definite matrix")
    }

    /// The same of a matrix from outside; `None` if it is not positive definite.
    pub fn checked(mut matrix: Vec<f64>, n: usize) -> Option<Cholesky> {
        assert_eq!(matrix.len(), n * n, "a square matrix of {n} rows");
        for i in 0..n {
            let (above, row) = matrix.split_at_mut(i * n);
            for j in 0..i {
                let other = &above[j * n..=j * n + j];
                row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
            }
            let rest = row[i] - dot(&row[..i], &row[..i]);
            if !(rest > 0.0 && rest.is_finite()) {
                return None;
            }
            row[i] = rest.sqrt();
            row[i + 1..n].fill(0.0);
        }
        Some(Cholesky { n, lower: matrix })
    }

    /// The memory of the matrix, for another one.
    pub fn into_matrix(self) -> Vec<f64> {
        self.lower
    }

    /// Writes the triangle.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("triangle", &self.lower);
    }

    /// Reads a triangle of n rows.
    pub fn load(from: &Reader<'_>, n: usize) -> Result<Cholesky, ArchiveError> {
        let lower = from.exactly::<f64>("triangle", n * n)?;
        let is_sound = lower.iter().step_by(n + 1).all(|&v| v > 0.0);
        from.require(is_sound, "triangle", "a diagonal above zero", "another")?;
        Ok(Cholesky { n, lower: lower.to_vec() })
    }

    /// The rows of L with their numbers; there may be none.
    fn rows(&self) -> impl DoubleEndedIterator<Item = (usize, &[f64])> + ExactSizeIterator {
        self.lower.chunks_exact(self.n.max(1)).enumerate()
    }

    /// L⁻¹ x, in place. Where x has covariance C, the result has unit covariance.
    pub fn whiten(&self, x: &mut [f64]) {
        for (i, row) in self.rows() {
            x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
        }
    }

    /// Lowers each of some numbers to |L⁻¹ x|² = xᵀ C⁻¹ x of its column in `x`, `[n, N]`, where that is less; whether one was.
    /// Squares only add up, so columns are left as soon as none is less. `x` is overwritten.
    pub fn lower_to_squares<const N: usize>(&self, x: &mut [[f64; N]], least: &mut [f64; N]) -> bool {
        simd(
            #[inline(always)]
            || {
                let mut squares = [0.0; N];
                for (i, row) in self.rows() {
                    let (before, rest) = x.split_at_mut(i);
                    let mut sums = [0.0; N];
                    for (x, weight) in before.iter().zip(row) {
                        (0..N).for_each(|lane| sums[lane] += weight * x[lane]);
                    }
                    for lane in 0..N {
                        rest[0][lane] = (rest[0][lane] - sums[lane]) / row[i];
                        squares[lane] += rest[0][lane] * rest[0][lane];
                    }
                    if (0..N).all(|lane| squares[lane] >= least[lane]) {
                        return false;
                    }
                }
                (0..N).for_each(|lane| least[lane] = least[lane].min(squares[lane]));
                true
            },
        )
    }

    /// L x, in place.
    pub fn multiply(&self, x: &mut [f64]) {
        for (i, row) in self.rows().rev() {
            x[i] = dot(&row[..=i], &x[..=i]);
        }
    }

    /// √(xᵀ C x) = |Lᵀ x|.
    pub fn length(&self, x: &[f64]) -> f64 {
        let column = |j: usize| (j..self.n).map(|i| self.lower[i * self.n + j] * x[i]).sum::<f64>();
        (0..self.n).map(column).map(|y| y * y).sum::<f64>().sqrt()
    }

    /// C⁻¹ x, in place.
    pub fn solve(&self, x: &mut [f64]) {
        self.whiten(x);
        for i in (0..self.n).rev() {
            let below: f64 = (i + 1..self.n).map(|k| self.lower[k * self.n + i] * x[k]).sum();
            x[i] = (x[i] - below) / self.lower[i * self.n + i];
        }
    }
}

/// Σ aᵢ bᵢ.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C = L Lᵀ with L = [[2, 0, 0], [1, 3, 0], [-1, 0.5, 1]].
    fn matrix() -> Vec<f64> {
        vec![4.0, 2.0, -2.0, 2.0, 10.0, 0.5, -2.0, 0.5, 2.25]
    }

    #[test]
    fn the_factor_of_a_product_is_found() {
        let found = Cholesky::of(matrix(), 3);
        let want = [2.0, 0.0, 0.0, 1.0, 3.0, 0.0, -1.0, 0.5, 1.0];
        assert!(found.lower.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn whitening_undoes_colouring() {
        let (factor, x) = (Cholesky::of(matrix(), 3), [0.3, -2.0, 5.0]);
        let mut found = x;
        factor.multiply(&mut found);
        assert!((found[1] - (0.3 - 6.0)).abs() < 1e-12, "{found:?}");
        factor.whiten(&mut found);
        assert!(found.iter().zip(x).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        let squares = |mut least: [f64; 2]| {
            let mut coloured = x;
            factor.multiply(&mut coloured);
            let is_lower = factor.lower_to_squares(&mut coloured.map(|x| [x, 2.0 * x]), &mut least);
            (is_lower, least)
        };
        let (is_lower, [one, four]) = squares([f64::INFINITY; 2]);
        assert!(is_lower && (one - dot(&x, &x)).abs() < 1e-12 && (four - 4.0 * dot(&x, &x)).abs() < 1e-12);
        assert_eq!(squares([29.0, 100.0]), (false, [29.0, 100.0]));
        assert_eq!(squares([29.0, 1000.0]), (true, [29.0, four]));
    }

    #[test]
    fn solving_undoes_the_product() {
        let x = [0.3, -2.0, 5.0];
        let mut product: Vec<f64> = matrix().chunks_exact(3).map(|row| dot(row, &x)).collect();
        Cholesky::of(matrix(), 3).solve(&mut product);
        assert!(product.iter().zip(x).all(|(a, b)| (a - b).abs() < 1e-12), "{product:?}");
    }

    #[test]
    fn an_indefinite_matrix_is_a_broken_promise() {
        let broken = std::panic::catch_unwind(|| Cholesky::of(vec![1.0, 0.0, 2.0, 1.0], 2));
        assert!(broken.is_err());
    }
}
