//! Second moments of rows, summed in the order in which the rows come.

/// Sums of xᵢ xⱼ over rows x of d numbers.
pub(crate) struct SecondMoments {
    d: usize,
    /// `[d, d]`.
    sums: Vec<f64>,
    n: usize,
}

impl SecondMoments {
    /// Of no row.
    pub fn new(d: usize) -> SecondMoments {
        SecondMoments { d, sums: vec![0.0; d * d], n: 0 }
    }

    /// Adds rows `[n, d]`; a few dozen at once are faster than one by one, and give the same bits.
    pub fn add(&mut self, rows: &[f64]) {
        if self.d == 0 {
            return;
        }
        for (i, sums) in self.sums.chunks_exact_mut(self.d).enumerate() {
            for row in rows.chunks_exact(self.d) {
                sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += row[i] * x);
            }
        }
        self.n += rows.len() / self.d;
    }

    /// The means of xᵢ xⱼ, `[d, d]`; zero of no row.
    pub fn mean(mut self) -> Vec<f64> {
        let n = self.n.max(1) as f64;
        self.sums.iter_mut().for_each(|sum| *sum /= n);
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_together_are_rows_one_by_one() {
        let rows = [0.1, 2.0, -0.7, 0.3, 5.0, 0.9];
        let (mut together, mut alone) = (SecondMoments::new(2), SecondMoments::new(2));
        together.add(&rows);
        rows.chunks_exact(2).for_each(|row| alone.add(row));
        let found = together.mean();
        assert_eq!(found, alone.mean());
        assert!((found[1] - (0.2 - 0.21 + 4.5) / 3.0).abs() < 1e-15, "{found:?}");
    }

    #[test]
    fn of_nothing_they_are_zero() {
        assert_eq!(SecondMoments::new(1).mean(), [0.0]);
        assert!(SecondMoments::new(0).mean().is_empty());
    }
}
