//! Principal components, and the two statistics that monitor with them.
//!
//! T² = Σ_i t_i² / λ_i and SPE = |v|² − Σ_i t_i², with t_i = p_iᵀ v, over the components i that are kept.
//!
//! T² says how far v lies within the plane of the components, SPE how far off it.

use super::eigen;
use offnominal_core::archive::{ArchiveError, Reader, Writer};

/// Components with a smaller part of the variance are rounding.
const ROUNDING: f64 = 1e-12;

/// The first eigenvectors of a covariance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Principal {
    /// `[m, a]`: row j holds the part of number j in each component.
    loadings: Vec<f64>,
    /// λ, `[a]`, in descending order.
    variances: Vec<f64>,
}

impl Principal {
    /// The fewest components of a covariance `[m, m]` that hold a share of its variance.
    pub fn of(covariance: Vec<f64>, m: usize, share: f64) -> Principal {
        let (mut variances, vectors) = eigen::symmetric(covariance, m);
        variances.truncate(n_kept(&variances, share));
        let a = variances.len();
        let loadings = (0..m * a).map(|i| vectors[i % a * m + i / a]).collect();
        Principal { loadings, variances }
    }

    /// Writes the components.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("loadings", &self.loadings);
        to.put("variances", &self.variances);
    }

    /// Reads components of vectors of m numbers.
    pub fn load(from: &Reader<'_>, m: usize) -> Result<Principal, ArchiveError> {
        let variances = from.list::<f64>("variances")?.to_vec();
        let is_sound = variances.len() <= m && variances.iter().all(|v| *v > 0.0 && v.is_finite());
        from.require(is_sound, "variances", format_args!("at most {m} numbers above zero"), "others")?;
        let loadings = from.exactly("loadings", m * variances.len())?.to_vec();
        Ok(Principal { loadings, variances })
    }

    /// Number of components a.
    pub fn len(&self) -> usize {
        self.variances.len()
    }

    /// T² and SPE of a vector; t has room for a numbers.
    pub fn statistics(&self, v: &[f64], t: &mut [f64]) -> [f64; 2] {
        t.fill(0.0);
        for (loadings, x) in self.loadings.chunks_exact(self.len().max(1)).zip(v) {
            t.iter_mut().zip(loadings).for_each(|(t, p)| *t += x * p);
        }
        let within = t.iter().zip(&self.variances).map(|(t, variance)| t * t / variance).sum();
        let square = |all: &[f64]| all.iter().map(|x| x * x).sum::<f64>();
        [within, (square(v) - square(t)).max(0.0)]
    }
}

/// How many of the largest variances hold a share of their sum.
fn n_kept(variances: &[f64], share: f64) -> usize {
    let total: f64 = variances.iter().sum();
    let mut sum = 0.0;
    let is_needed = |variance: &&f64| {
        let needed = sum < share * total && **variance > ROUNDING * total;
        sum += **variance;
        needed
    };
    variances.iter().take_while(is_needed).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eigenvalues 1.5 along (1, 1) and 0.5 along (1, −1).
    fn plane(share: f64) -> Principal {
        Principal::of(vec![1.0, 0.5, 0.5, 1.0], 2, share)
    }

    #[test]
    fn as_many_components_are_kept_as_the_share_needs() {
        assert_eq!([0.0, 0.5, 0.75, 0.8, 0.99].map(|share| plane(share).len()), [0, 1, 1, 2, 2]);
        assert_eq!(Principal::of(vec![0.0; 4], 2, 0.95).len(), 0);
    }

    #[test]
    fn statistics_split_a_vector_into_what_is_within_and_off_the_plane() {
        // (3, 1) = 2 (1, 1) + 1 (1, −1): squared lengths 8 and 2.
        let [within, off] = plane(0.7).statistics(&[3.0, 1.0], &mut [0.0]);
        assert!((within - 8.0 / 1.5).abs() < 1e-12 && (off - 2.0).abs() < 1e-12, "{within} {off}");
        let [within, off] = plane(0.9).statistics(&[3.0, 1.0], &mut [0.0; 2]);
        assert!((within - 8.0 / 1.5 - 2.0 / 0.5).abs() < 1e-12 && off < 1e-12, "{within} {off}");
    }
}
