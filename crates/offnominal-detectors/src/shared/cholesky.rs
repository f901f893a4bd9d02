//! Symmetric positive definite matrices as C = L Lᵀ, and what follows from it: solving and whitening.

use offnominal_core::archive::{ArchiveError, Reader, Writer};

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

    /// |L⁻¹ x|² = xᵀ C⁻¹ x, if it is below a limit; squares only add up, so this is known early. `x` is overwritten.
    pub fn square_below(&self, limit: f64, x: &mut [f64]) -> Option<f64> {
        let mut sum = 0.0;
        for (i, row) in self.rows() {
            x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
            sum += x[i] * x[i];
            if sum >= limit {
                return None;
            }
        }
        Some(sum)
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
        let square = |limit| {
            let mut coloured = x;
            factor.multiply(&mut coloured);
            factor.square_below(limit, &mut coloured)
        };
        assert!((square(f64::INFINITY).unwrap() - dot(&x, &x)).abs() < 1e-12);
        assert_eq!((square(29.0), square(29.2).is_some()), (None, true));
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
