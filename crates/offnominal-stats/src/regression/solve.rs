//! Small symmetric systems, by Cholesky's factors.

/// L with L Lᵀ = A, row by row.
#[derive(Debug, Clone)]
pub struct Factor {
    lower: Vec<f64>,
    n: usize,
}

/// A pivot below this share of its diagonal entry is nothing but rounding.
const LEAST_PIVOT: f64 = 1e-13;

impl Factor {
    /// The factor of a symmetric matrix `[n, n]`, of which the lower half is read; none if it is not positive definite.
    pub fn of(a: &[f64], n: usize) -> Option<Factor> {
        let mut lower = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let inner: f64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum();
                let rest = a[i * n + j] - inner;
                lower[i * n + j] = if i == j { pivot(rest, a[i * n + i])? } else { rest / lower[j * n + j] };
            }
        }
        Some(Factor { lower, n })
    }

    /// x with A x = b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let (n, l) = (self.n, &self.lower);
        let mut x = b.to_vec();
        self.forward(&mut x, 0);
        for i in (0..n).rev() {
            x[i] = (x[i] - (i + 1..n).map(|k| l[k * n + i] * x[k]).sum::<f64>()) / l[i * n + i];
        }
        x
    }

    /// L⁻¹ x in the place of x, whose first numbers, so many, are zero.
    fn forward(&self, x: &mut [f64], first: usize) {
        for i in first..self.n {
            let row = &self.lower[i * self.n..][..=i];
            let inner: f64 = row[first..i].iter().zip(&x[first..i]).map(|(l, x)| l * x).sum();
            x[i] = (x[i] - inner) / row[i];
        }
    }

    /// The diagonal of the inverse of A: the squared lengths of the columns of L⁻¹.
    pub(crate) fn inverse_diagonal(&self) -> Vec<f64> {
        let square = |i: usize| {
            let mut column = vec![0.0; self.n];
            column[i] = 1.0;
            self.forward(&mut column, i);
            column.iter().map(|x| x * x).sum()
        };
        (0..self.n).map(square).collect()
    }
}

fn pivot(rest: f64, diagonal: f64) -> Option<f64> {
    (rest > LEAST_PIVOT * diagonal.abs()).then(|| rest.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved_and_a_singular_one_refused() {
        let a = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let x = Factor::of(&a, 3).unwrap().solve(&[4.0 + 4.0 + 1.8, 2.0 + 10.0 + 3.0, 0.6 + 2.0 + 9.0]);
        assert!(x.iter().zip([1.0, 2.0, 3.0]).all(|(found, want)| (found - want).abs() < 1e-12), "{x:?}");
        let inverse = Factor::of(&a, 3).unwrap().inverse_diagonal();
        let column =
            |i: usize| Factor::of(&a, 3).unwrap().solve(&[0, 1, 2].map(|j| f64::from(u8::from(i == j))))[i];
        assert!((0..3).all(|i| (inverse[i] - column(i)).abs() < 1e-12), "{inverse:?}");
        assert!(Factor::of(&[1.0, 2.0, 2.0, 4.0], 2).is_none());
    }
}
