//! Mixtures of normals in standard normal space that differ from it along one direction each.
//!
//! Component k is normal with mean m u and the covariance I − (1 − s²) u uᵀ: along the unit vector u it has mean m and
//! standard deviation s, and across it is what φ is. So its density over φ depends on t = u · z alone,
//!
//! ```text
//! r(z) = exp(t² / 2 − (t − m)² / (2 s²)) / s
//! ```
//!
//! and it has d + 1 numbers to learn, not d (d + 3) / 2: enough for a limit state that is nearly flat near its nearest point,
//! in any number of dimensions; curved ones take several components.

use super::effective;
use offnominal_core::Rng;

/// A normal distribution that differs from φ along u.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// Its part of the mixture.
    pub share: f64,
    /// u, of length 1.
    pub direction: Vec<f64>,
    /// m.
    pub mean: f64,
    /// s.
    pub sd: f64,
}

/// A mixture of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    /// The components, whose shares add up to 1.
    pub components: Vec<Component>,
}

/// Points with weights that add up to how many of equal weight say as much.
pub(super) struct Points<'p> {
    pub z: Vec<&'p [f64]>,
    pub weights: Vec<f64>,
}

/// Components at most, and iterations of a fit, the short ones of candidates first.
const MOST: usize = 6;
const ITERATIONS: (usize, usize) = (3, 12);
/// Candidates of which one becomes a component.
const CANDIDATES: usize = 8;
/// Standard deviations along u.
const SPREADS: (f64, f64) = (0.1, 1.5);
/// Logarithm of the largest density over φ that is told from larger ones.
const LARGEST: f64 = 600.0;

impl Component {
    /// u · z.
    pub fn along(&self, z: &[f64]) -> f64 {
        self.direction.iter().zip(z).map(|(u, z)| u * z).sum()
    }

    /// ln r(z).
    fn log_ratio(&self, z: &[f64]) -> f64 {
        let t = self.along(z);
        let off = (t - self.mean) / self.sd;
        (0.5 * (t * t - off * off) - libm::log(self.sd)).min(LARGEST)
    }
}

impl Mixture {
    /// g(z) / φ(z).
    pub fn ratio(&self, z: &[f64]) -> f64 {
        self.components.iter().map(|c| c.share * libm::exp(c.log_ratio(z))).sum()
    }

    /// Makes standard normal numbers a draw from g.
    pub fn place(&self, z: &mut [f64], rng: &mut Rng) {
        let mut left = rng.uniform();
        let last = self.components.len() - 1;
        let chosen = self.components[..last].iter().find(|c| {
            left -= c.share;
            left < 0.0
        });
        let c = chosen.unwrap_or(&self.components[last]);
        let t = c.along(z);
        let shift = c.mean + (c.sd - 1.0) * t;
        z.iter_mut().zip(&c.direction).for_each(|(z, u)| *z += shift * u);
    }

    /// The mixture with the best Bayesian information criterion, of those that grow component by component.
    pub(super) fn fit(points: &Points<'_>, rng: &mut Rng) -> Option<Mixture> {
        let everything = vec![1.0; points.z.len()];
        let mut now = Mixture { components: vec![points.component(&everything, 1.0)?] };
        now = points.improved(now, ITERATIONS.1);
        let mut best = (points.criterion(&now), now.clone());
        // One component more can be of no use where two are.
        while now.components.len() < (best.1.components.len() + 3).min(MOST + 1) {
            let Some(larger) = points.with_one_more(&now, rng) else { break };
            now = points.improved(larger, ITERATIONS.1);
            let found = points.criterion(&now);
            if found > best.0 {
                best = (found, now.clone());
            }
        }
        Some(best.1)
    }
}

impl<'p> Points<'p> {
    /// Points with any weights.
    pub(super) fn new(z: Vec<&'p [f64]>, weights: Vec<f64>) -> Points<'p> {
        let scale = effective(weights.iter().copied()) / weights.iter().sum::<f64>();
        Points { z, weights: weights.into_iter().map(|w| scale * w).collect() }
    }

    /// The component of points that belong to it by these parts: u is the direction of their mean. Nothing where they are none.
    fn component(&self, parts: &[f64], share: f64) -> Option<Component> {
        let weights: Vec<f64> = self.weights.iter().zip(parts).map(|(w, p)| w * p).collect();
        let total = weights.iter().sum::<f64>();
        let mut mean = vec![0.0; self.z.first()?.len()];
        for (z, w) in self.z.iter().zip(&weights) {
            mean.iter_mut().zip(*z).for_each(|(sum, z)| *sum += w / total * z);
        }
        let length = mean.iter().map(|m| m * m).sum::<f64>().sqrt();
        if !(length > 1e-9 && length.is_finite()) {
            return None;
        }
        let direction: Vec<f64> = mean.iter().map(|m| m / length).collect();
        let mut found = Component { share, direction, mean: length, sd: 1.0 };
        let squares = self.z.iter().zip(&weights).map(|(z, w)| w * (found.along(z) - length).powi(2));
        found.sd = (squares.sum::<f64>() / total).sqrt().clamp(SPREADS.0, SPREADS.1);
        Some(found)
    }

    /// Expectation and maximisation, so many times.
    fn improved(&self, mut mixture: Mixture, iterations: usize) -> Mixture {
        let total = self.weights.iter().sum::<f64>();
        for _ in 0..iterations {
            let parts = self.parts(&mixture);
            let share =
                |parts: &[f64]| self.weights.iter().zip(parts).map(|(w, p)| w * p).sum::<f64>() / total;
            let components: Vec<Component> =
                parts.iter().filter_map(|parts| self.component(parts, share(parts))).collect();
            let sum = components.iter().map(|c| c.share).sum::<f64>();
            if components.is_empty() {
                break;
            }
            let shared = |c: Component| Component { share: c.share / sum, ..c };
            mixture = Mixture { components: components.into_iter().map(shared).collect() };
        }
        mixture
    }

    /// How far each point belongs to each component, component by component.
    pub(super) fn parts(&self, mixture: &Mixture) -> Vec<Vec<f64>> {
        let of = |c: &Component, z: &[f64]| libm::log(c.share.max(1e-300)) + c.log_ratio(z);
        let mut parts = vec![Vec::with_capacity(self.z.len()); mixture.components.len()];
        for z in &self.z {
            let logs: Vec<f64> = mixture.components.iter().map(|c| of(c, z)).collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum = logs.iter().map(|log| libm::exp(log - most)).sum::<f64>();
            parts.iter_mut().zip(&logs).for_each(|(parts, log)| parts.push(libm::exp(log - most) / sum));
        }
        parts
    }

    /// Log likelihood, relative to φ.
    fn likelihood(&self, mixture: &Mixture) -> f64 {
        let log = |z: &[f64]| libm::log(mixture.ratio(z).max(1e-300));
        self.z.iter().zip(&self.weights).map(|(z, w)| w * log(z)).sum()
    }

    fn criterion(&self, mixture: &Mixture) -> f64 {
        let numbers = mixture.components.len() * (self.z[0].len() + 2);
        self.likelihood(mixture) - 0.5 * numbers as f64 * libm::log(self.weights.iter().sum::<f64>().max(2.0))
    }

    /// A component more, which begins at the point from where the fit becomes best.
    fn with_one_more(&self, mixture: &Mixture, rng: &mut Rng) -> Option<Mixture> {
        let n = self.z.len();
        let added = |i: usize| -> Option<(f64, Mixture)> {
            let mut one = vec![0.0; n];
            one[i] = 1.0;
            let new =
                Component { sd: 0.5, ..self.component(&one, 1.0 / (mixture.components.len() + 1) as f64)? };
            let shrunk = |c: &Component| Component { share: c.share * (1.0 - new.share), ..c.clone() };
            let components = mixture.components.iter().map(shrunk).chain([new.clone()]).collect();
            let found = self.improved(Mixture { components }, ITERATIONS.0);
            Some((self.likelihood(&found), found))
        };
        let candidates: Vec<usize> = (0..CANDIDATES).map(|_| rng.below(n)).collect();
        candidates.into_iter().filter_map(added).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, found)| found)
    }
}
