//! Sequential minimal optimisation of the one-class support vector machine.
//!
//! min ½ Σ_ij α_i α_j k(x_i, x_j) over 0 ≤ α_i ≤ 1, Σ α_i = ν n.
//!
//! Each step moves the pair of weights that promises most by second-order information (Fan, Chen and Lin, JMLR 2005,
//! WSS 2), until the gradients G = Kα of weights that may grow and of weights that may shrink differ by less than the
//! tolerance. Rows of K are computed when they are needed, so memory is linear in the number of points.

use super::kernel::Kernel;
use offnominal_core::fit_progress::{FitProgress, Stopped};

/// Smallest curvature along a pair, for points that coincide.
const LEAST_CURVATURE: f64 = 1e-12;

/// The solution: α and ρ, the level at which free weights lie.
pub(crate) struct Solution {
    pub weights: Vec<f64>,
    pub rho: f64,
}

/// Solves the problem. Half of `progress` is its start; how many steps follow is not known, so the other half is told ever more slowly.
pub(crate) fn one_class(
    kernel: &Kernel,
    width: usize,
    nu: f64,
    tolerance: f64,
    progress: FitProgress<'_>,
) -> Result<Solution, Stopped> {
    let mut search = Search::new(kernel, width, nu, progress.between(0.0, 0.5))?;
    // As libsvm, the number of steps is bounded: rounding could otherwise keep a pair going back and forth.
    let most = 100 * kernel.len().max(100_000);
    for step in 0..most {
        progress.between(0.5, 1.0).at(step, step + kernel.len())?;
        let Some((i, j)) = search.pair(tolerance) else { break };
        search.step(i, j);
    }
    Ok(Solution { rho: search.rho(), weights: search.weights })
}

struct Search<'a> {
    kernel: &'a Kernel,
    weights: Vec<f64>,
    gradient: Vec<f64>,
    point: Vec<f32>,
    row_i: Vec<f32>,
    row_j: Vec<f32>,
}

impl<'a> Search<'a> {
    /// Begins where libsvm does: the first ν n weights are one.
    fn new(
        kernel: &'a Kernel,
        width: usize,
        nu: f64,
        progress: FitProgress<'_>,
    ) -> Result<Search<'a>, Stopped> {
        let n = kernel.len();
        let weights = (0..n).map(|i| (nu * n as f64 - i as f64).clamp(0.0, 1.0)).collect();
        let rows = || vec![0.0; n];
        let (row_i, row_j) = (rows(), rows());
        let mut search =
            Search { kernel, weights, gradient: vec![0.0; n], point: vec![0.0; width], row_i, row_j };
        for i in 0..n {
            let weight = search.weights[i];
            if weight > 0.0 {
                progress.at(i, (nu * n as f64) as usize)?;
                search.read_row_i(i);
                search.gradient.iter_mut().zip(&search.row_i).for_each(|(g, &k)| *g += weight * f64::from(k));
            }
        }
        Ok(search)
    }

    fn read_row_i(&mut self, i: usize) {
        self.kernel.point(i, &mut self.point);
        self.kernel.row(&self.point, &mut self.row_i);
    }

    /// The pair to move: the weight that most wants to grow, and the best partner to shrink; none at the solution.
    fn pair(&mut self, tolerance: f64) -> Option<(usize, usize)> {
        let n = self.weights.len();
        let growing = (0..n).filter(|&t| self.weights[t] < 1.0);
        let i = growing.min_by(|&a, &b| self.gradient[a].total_cmp(&self.gradient[b]))?;
        let shrinking = (0..n).filter(|&t| self.weights[t] > 0.0);
        let most = shrinking.map(|t| self.gradient[t]).fold(f64::NEG_INFINITY, f64::max);
        if most - self.gradient[i] < tolerance {
            return None;
        }
        self.read_row_i(i);
        let gain = |t: usize| {
            let difference = self.gradient[t] - self.gradient[i];
            difference * difference / self.curvature(t)
        };
        let partners = (0..n).filter(|&t| self.weights[t] > 0.0 && self.gradient[t] > self.gradient[i]);
        let j = partners.max_by(|&a, &b| gain(a).total_cmp(&gain(b)))?;
        Some((i, j))
    }

    /// Along the pair (i, t), where `row_i` is that of i.
    fn curvature(&self, t: usize) -> f64 {
        (2.0 - 2.0 * f64::from(self.row_i[t])).max(LEAST_CURVATURE)
    }

    /// Moves weight from j to i as far as the minimum or a bound.
    fn step(&mut self, i: usize, j: usize) {
        let wanted = (self.gradient[j] - self.gradient[i]) / self.curvature(j);
        let moved = wanted.min(self.weights[j]).min(1.0 - self.weights[i]);
        // Bounds are met exactly, or a weight that cannot move would be tried again.
        self.weights[i] = if moved == 1.0 - self.weights[i] { 1.0 } else { self.weights[i] + moved };
        self.weights[j] = if moved == self.weights[j] { 0.0 } else { self.weights[j] - moved };
        self.kernel.point(j, &mut self.point);
        self.kernel.row(&self.point, &mut self.row_j);
        for ((g, &ki), &kj) in self.gradient.iter_mut().zip(&self.row_i).zip(&self.row_j) {
            *g += moved * (f64::from(ki) - f64::from(kj));
        }
    }

    /// Mean gradient of the free weights, or the middle of what the bounded ones allow.
    fn rho(&self) -> f64 {
        let free = |w: f64| 0.0 < w && w < 1.0;
        let of = |chosen: &dyn Fn(f64) -> bool| -> Vec<f64> {
            let pairs = self.weights.iter().zip(&self.gradient);
            pairs.filter(|(w, _)| chosen(**w)).map(|(_, g)| *g).collect()
        };
        let at_free = of(&free);
        if !at_free.is_empty() {
            return at_free.iter().sum::<f64>() / at_free.len() as f64;
        }
        let above = of(&|w| w == 0.0).into_iter().fold(f64::INFINITY, f64::min);
        let below = of(&|w| w == 1.0).into_iter().fold(f64::NEG_INFINITY, f64::max);
        let known: Vec<f64> = [above, below].into_iter().filter(|g| g.is_finite()).collect();
        known.iter().sum::<f64>() / known.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_points_on_a_line_have_the_solution_of_the_equations() {
        // x = −1, 0, 1 with γ = 1 and ν = 2/3: weights sum to 2. By symmetry α = (a, 2 − 2a, a). With p = e⁻¹ and
        // q = e⁻⁴ the objective a² (1 + q) + 4 a (1 − a) p + 2 (1 − a)² has its minimum where
        // 2a (1 + q) + 4p − 8ap − 4 (1 − a) = 0, which gives a = (4 − 4p) / (6 + 2q − 8p) = 0.818, below one.
        let kernel = Kernel::new(&[-1.0, 0.0, 1.0], 1, 3, 1.0);
        let found = one_class(&kernel, 1, 2.0 / 3.0, 1e-9, FitProgress::unseen()).unwrap();
        let (p, q) = ((-1.0_f64).exp(), (-4.0_f64).exp());
        let a = (4.0 - 4.0 * p) / (6.0 + 2.0 * q - 8.0 * p);
        for (weight, want) in found.weights.iter().zip([a, 2.0 - 2.0 * a, a]) {
            assert!((weight - want).abs() < 1e-5, "{:?} {a}", found.weights);
        }
        let level = a * (1.0 + q) + (2.0 - 2.0 * a) * p;
        assert!((found.rho - level).abs() < 1e-5, "{} {level}", found.rho);
    }

    #[test]
    fn points_that_coincide_share_the_weight_and_end() {
        let kernel = Kernel::new(&[2.0; 10], 1, 10, 1.0);
        let found = one_class(&kernel, 1, 0.5, 1e-3, FitProgress::unseen()).unwrap();
        assert!((found.weights.iter().sum::<f64>() - 5.0).abs() < 1e-9 && (found.rho - 5.0).abs() < 1e-6);
    }
}
