//! What is left of a residual when what was not read is left out.
//!
//! A number that was not read can have changed the residual z along a direction b: that of its own channel if it belongs
//! to the observation after the step, and what an error of the input does if it belongs to the one before. With C = L Lᵀ
//! the nominal covariance of z, and q an orthonormal basis of the L⁻¹ b,
//!
//! w = L⁻¹ z − Σ q (q · L⁻¹ z)
//!
//! is the same whatever the numbers were. |w|² is the squared length in the marginal distribution of what was read: for
//! channels of z that are missing it equals z_rᵀ C_rr⁻¹ z_r of the remaining ones. L w is the residual with conditional
//! means in their places. It has n = d − rank(b) degrees of freedom.

use super::cholesky::dot;
use super::whiten::Whitener;

/// A direction of which less is new, as a part of its length, is one that was there.
const NEW: f64 = 1e-6;

/// Directions that are left out of a residual of d channels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Marginal {
    d: usize,
    /// Orthonormal, `[rank, d]`, with room for d.
    basis: Vec<f64>,
    rank: usize,
    /// The directions as they were given, those that were new, `[rank, d]`, with room for d.
    given: Vec<f64>,
    /// The next direction, to be written before [`Marginal::add`].
    pub direction: Vec<f64>,
}

impl Marginal {
    /// Nothing is left out.
    pub fn new(d: usize) -> Marginal {
        let [basis, given] = [(); 2].map(|()| vec![0.0; d * d]);
        Marginal { d, basis, rank: 0, given, direction: vec![0.0; d] }
    }

    pub fn clear(&mut self) {
        self.rank = 0;
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.rank == 0
    }

    /// Leaves out a channel.
    pub fn add_channel(&mut self, j: usize, whitener: &Whitener) {
        self.direction.fill(0.0);
        self.direction[j] = 1.0;
        self.add(whitener);
    }

    /// Leaves out `direction`.
    pub fn add(&mut self, whitener: &Whitener) {
        let (known, free) = self.basis.split_at_mut(self.rank * self.d);
        let Some(b) = free.get_mut(..self.d) else { return };
        let given = &mut self.given[self.rank * self.d..][..self.d];
        given.copy_from_slice(&self.direction);
        whitener.whiten(&mut self.direction);
        let length = dot(&self.direction, &self.direction).sqrt();
        b.copy_from_slice(&self.direction);
        // Once more, because the first time leaves rounding errors as large as a direction that is nearly there.
        for _ in 0..2 {
            known.chunks_exact(self.d).for_each(|q| subtract_along(q, b));
        }
        let rest = dot(b, b).sqrt();
        if rest > NEW * length && rest.is_finite() {
            b.iter_mut().for_each(|x| *x /= rest);
            self.rank += 1;
        }
    }

    /// Leaves out what another leaves out, in another covariance.
    pub fn add_all(&mut self, of: &Marginal, whitener: &Whitener) {
        for direction in of.given[..of.rank * of.d].chunks_exact(of.d.max(1)) {
            self.direction.copy_from_slice(direction);
            self.add(whitener);
        }
    }

    /// Degrees of freedom that are left.
    pub fn n_left(&self) -> usize {
        self.d - self.rank
    }

    /// Share of the degrees of freedom that is left.
    pub fn share_left(&self) -> f64 {
        self.n_left() as f64 / self.d.max(1) as f64
    }

    /// Replaces a residual by the conditional mean of what was not read.
    pub fn leave_out(&self, z: &mut [f64], whitener: &Whitener) {
        if self.rank == 0 {
            return;
        }
        self.project(z, whitener);
        whitener.colour(z);
    }

    /// Replaces a residual by w of the module's documentation.
    pub fn project(&self, z: &mut [f64], whitener: &Whitener) {
        whitener.whiten(z);
        self.rows().for_each(|q| subtract_along(q, z));
    }

    /// Writes how much of the variance of each channel was left out.
    pub fn variances(&mut self, whitener: &Whitener, variances: &mut [f64]) {
        variances.fill(0.0);
        for q in self.basis[..self.rank * self.d].chunks_exact(self.d.max(1)) {
            self.direction.copy_from_slice(q);
            whitener.colour(&mut self.direction);
            variances.iter_mut().zip(&self.direction).for_each(|(v, x)| *v += x * x);
        }
    }

    /// A mean square |w|²/d on the scale of one with d degrees of freedom.
    ///
    /// By the cube roots of Wilson and Hilferty (PNAS 1931): (χ²_n/n)^⅓ is about normal with mean 1 − 2/(9n) and variance
    /// 2/(9n). So it exceeds any threshold about as often as a nominal step without gaps; what says nothing is average.
    pub fn rescaled(&self, mean_square: f64) -> f64 {
        if self.rank == 0 {
            return mean_square;
        }
        let (n, d) = (self.n_left() as f64, self.d as f64);
        let center = |n: f64| 1.0 - 2.0 / (9.0 * n);
        if n == 0.0 {
            return center(d).max(0.0).powi(3);
        }
        let deviation = libm::cbrt(mean_square * d / n) - center(n);
        (center(d) + deviation * (n / d).sqrt()).max(0.0).powi(3)
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.basis[..self.rank * self.d].chunks_exact(self.d.max(1))
    }
}

fn subtract_along(q: &[f64], x: &mut [f64]) {
    let along = dot(q, x);
    x.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    /// Vectors of three correlated channels.
    fn correlated(rng: &mut Rng) -> [f64; 3] {
        let [a, b, c] = [(); 3].map(|()| rng.normal());
        [2.0 * a, a + b, 0.5 * a - b + c]
    }

    fn whitener() -> Whitener {
        let mut rng = Rng::new(1);
        let rows: Vec<[f64; 3]> = (0..5000).map(|_| correlated(&mut rng)).collect();
        Whitener::fit(rows.iter().map(|row| &row[..]), 3)
    }

    #[test]
    fn without_a_channel_the_length_is_that_of_the_others_in_their_own_covariance() {
        let (whitener, mut rng) = (whitener(), Rng::new(2));
        let covariance = |i: usize, j: usize| {
            let column = |j: usize| {
                let mut e = [0.0; 3];
                e[j] = 1.0;
                e
            };
            // Cᵢⱼ = Σₖ Lᵢₖ Lⱼₖ, with Lᵢₖ the i-th number of L eₖ.
            (0..3)
                .map(|k| {
                    let mut l = column(k);
                    whitener.colour(&mut l);
                    l[i] * l[j]
                })
                .sum::<f64>()
        };
        let (a, b, c) = (covariance(0, 0), covariance(0, 2), covariance(2, 2));
        let mut marginal = Marginal::new(3);
        marginal.add_channel(1, &whitener);
        for _ in 0..20 {
            let z = correlated(&mut rng);
            let want = (c * z[0] * z[0] - 2.0 * b * z[0] * z[2] + a * z[2] * z[2]) / (a * c - b * b);
            let mut rest = z;
            marginal.leave_out(&mut rest, &whitener);
            assert!((rest[0] - z[0]).abs() < 1e-9 && (rest[2] - z[2]).abs() < 1e-9, "what was read stays");
            let found = 3.0 * whitener.mean_square(&mut rest);
            assert!((found - want).abs() < 1e-9 * want.max(1.0), "expected {want}, found {found}");
        }
    }

    #[test]
    fn what_moves_along_a_direction_changes_nothing() {
        let (whitener, direction) = (whitener(), [0.3, -1.0, 2.0]);
        let mut marginal = Marginal::new(3);
        // Given twice, it is left out once.
        for _ in 0..2 {
            marginal.direction.copy_from_slice(&direction);
            marginal.add(&whitener);
        }
        assert_eq!(marginal.n_left(), 2);
        let clean = |by: f64| {
            let mut z = [1.0 + by * direction[0], 2.0 + by * direction[1], by * direction[2]];
            marginal.leave_out(&mut z, &whitener);
            z
        };
        assert!(clean(0.0).iter().zip(clean(50.0)).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn the_variance_that_is_left_out_of_a_channel_alone_is_its_own() {
        let whitener = whitener();
        let (mut marginal, mut variances) = (Marginal::new(3), [0.0; 3]);
        for j in [0, 1, 2] {
            marginal.add_channel(j, &whitener);
        }
        marginal.variances(&whitener, &mut variances);
        let wants = whitener.deviations.iter().map(|s| s * s);
        assert!(variances.iter().zip(wants).all(|(v, want)| (v - want).abs() < 1e-9 * want), "{variances:?}");
        assert_eq!(marginal.n_left(), 0);
        assert!((marginal.rescaled(0.0) - (1.0 - 2.0 / 27.0_f64).powi(3)).abs() < 1e-12);
    }

    #[test]
    fn fewer_degrees_of_freedom_exceed_a_threshold_no_more_often() {
        // χ² with 2 of 10 degrees of freedom, at a threshold that those with 10 exceed in 1 % of cases.
        let (mut rng, mut marginal) = (Rng::new(3), Marginal::new(10));
        let unit = Whitener::of_moments((0..100).map(|i| f64::from(u8::from(i % 11 == 0))).collect(), 10);
        (0..8).for_each(|j| marginal.add_channel(j, &unit));
        let mut square = |n: usize| (0..n).map(|_| rng.normal().powi(2)).sum::<f64>() / 10.0;
        let mut whole: Vec<f64> = (0..20_000).map(|_| square(10)).collect();
        whole.sort_unstable_by(f64::total_cmp);
        let threshold = whole[19_800];
        let above = |rescaled: bool, square: &mut dyn FnMut(usize) -> f64| {
            let scale = |x: f64| if rescaled { marginal.rescaled(x) } else { x * 5.0 };
            (0..20_000).filter(|_| scale(square(2)) > threshold).count() as f64 / 20_000.0
        };
        let (with, without) = (above(true, &mut square), above(false, &mut square));
        assert!((0.005..0.015).contains(&with), "{with}");
        assert!(without > 0.05, "the mean of two squares alone is above it more often: {without}");
    }
}
