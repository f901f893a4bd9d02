//! Length of a vector in units of its nominal covariance.
//!
//! |x|² = xᵀ C⁻¹ x / d, with C = (1 − s) S + s diag(S), where S holds the nominal second moments. The share s =
//! [`SHRINKAGE`] keeps channels that copy one another from making C singular; a channel that is always zero gets the
//! variance [`LEAST`], so that it is news when it moves.

use super::cholesky::Cholesky;
use super::moments::SecondMoments;
use offnominal_core::archive::{ArchiveError, Reader, Writer};

/// Part of the covariance that is taken as uncorrelated.
const SHRINKAGE: f64 = 0.05;
/// Smallest variance, in the units of the residuals, which are near one.
const LEAST: f64 = 1e-6;

/// Makes a covariance of d channels positive definite: multiplies what is not on the diagonal by 1 − [`SHRINKAGE`], and
/// raises each variance to the least.
pub(crate) fn shrink(covariance: &mut [f64], d: usize, least: f64) {
    shrink_by(SHRINKAGE, covariance, d, least);
}

fn shrink_by(share: f64, covariance: &mut [f64], d: usize, least: f64) {
    for i in 0..d {
        let variance = covariance[i * d + i].max(least);
        covariance[i * d..(i + 1) * d].iter_mut().for_each(|m| *m *= 1.0 - share);
        covariance[i * d + i] = variance;
    }
}

/// Nominal second moments of vectors of d numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Whitener {
    factor: Cholesky,
    /// Standard deviation of each channel.
    pub deviations: Vec<f64>,
}

impl Whitener {
    /// Measures nominal vectors, rows of `d` numbers.
    pub fn fit<'a>(rows: impl IntoIterator<Item = &'a [f64]>, d: usize) -> Whitener {
        let mut moments = SecondMoments::new(d);
        rows.into_iter().for_each(|row| moments.add(row));
        Whitener::of_moments(moments.mean(), d)
    }

    /// Of second moments `[d, d]` that were measured.
    pub fn of_moments(moments: Vec<f64>, d: usize) -> Whitener {
        Whitener::shrunk(SHRINKAGE, moments, d)
    }

    /// Of second moments that were measured on so many independent vectors: the more there are, the less is shrunk.
    ///
    /// s = [`SHRINKAGE`] min(1, d / n)³. Relations that hold almost exactly, such as mass balances, lie in the smallest
    /// eigenvalues, which a larger share would hide.
    pub fn of_many(moments: Vec<f64>, d: usize, n: f64) -> Whitener {
        Whitener::shrunk(SHRINKAGE * (d as f64 / n).min(1.0).powi(3), moments, d)
    }

    fn shrunk(share: f64, mut moments: Vec<f64>, d: usize) -> Whitener {
        shrink_by(share, &mut moments, d, LEAST);
        let deviations = (0..d).map(|i| moments[i * d + i].sqrt()).collect();
        Whitener { factor: Cholesky::of(moments, d), deviations }
    }

    /// Writes the moments.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.factor.save(to);
        to.put("deviations", &self.deviations);
    }

    /// Reads the moments of vectors of d numbers.
    pub fn load(from: &Reader<'_>, d: usize) -> Result<Whitener, ArchiveError> {
        let deviations = from.exactly::<f64>("deviations", d)?;
        let is_sound = deviations.iter().all(|&v| v > 0.0);
        from.require(is_sound, "deviations", "numbers above zero", "others")?;
        Ok(Whitener { factor: Cholesky::load(from, d)?, deviations: deviations.to_vec() })
    }

    /// L⁻¹ x, in place.
    pub fn whiten(&self, x: &mut [f64]) {
        self.factor.whiten(x);
    }

    /// L x, in place: of uncorrelated numbers, one that is like the nominal ones.
    pub fn colour(&self, x: &mut [f64]) {
        self.factor.multiply(x);
    }

    /// Writes what each channel contributes to xᵀ C⁻¹ x: the part of it above zero, see [`super::shares`].
    pub fn contributions(&self, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(x);
        self.factor.solve(out);
        out.iter_mut().zip(x).for_each(|(out, x)| *out = (*out * x).max(0.0));
    }

    /// |x|², which is one on average over nominal vectors. Overwrites x.
    pub fn mean_square(&self, x: &mut [f64]) -> f64 {
        self.factor.whiten(x);
        x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn nominal_vectors_have_unit_length_on_average() {
        let mut rng = Rng::new(1);
        let rows: Vec<[f64; 3]> = (0..4000)
            .map(|_| {
                let (a, b) = (rng.normal(), rng.normal());
                [5.0 * a, a + b, 0.0]
            })
            .collect();
        let whitener = Whitener::fit(rows.iter().map(|r| &r[..]), 3);
        let mean = rows.iter().map(|r| whitener.mean_square(&mut r.to_owned())).sum::<f64>() / 4000.0;
        // The third channel never moves, so it adds nothing to the mean over three; shrinkage takes a little more.
        assert!((mean - 2.0 / 3.0).abs() < 0.05, "{mean}");
        let along = whitener.mean_square(&mut [5.0, 1.0, 0.0]);
        let across = whitener.mean_square(&mut [5.0, -1.0, 0.0]);
        assert!(across > 3.0 * along, "against the correlation: {across}, with it: {along}");
        assert!(whitener.mean_square(&mut [0.0, 0.0, 0.1]) > 1e3);
    }
}
