//! Where training begins.

use offnominal_core::Rng;

/// A distribution of the first weights of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Init {
    /// Weights and biases uniform on ±1/√fan_in: the default of PyTorch, hence of Stable-Baselines3.
    Uniform,
    /// Weights normal with deviation 1/(2√fan_in), cut at two deviations; biases zero (Chua et al. 2018, PETS).
    TruncatedNormal,
}

impl Init {
    /// Fills the weights and biases of one layer.
    pub(crate) fn fill(self, fan_in: usize, weights: &mut [f32], biases: &mut [f32], rng: &mut Rng) {
        let unit = 1.0 / (fan_in as f64).sqrt();
        match self {
            Init::Uniform => {
                weights.iter_mut().chain(biases).for_each(|p| *p = rng.range(-unit, unit) as f32);
            }
            Init::TruncatedNormal => {
                weights.iter_mut().for_each(|w| *w = (0.5 * unit * within_two(rng)) as f32);
                biases.fill(0.0);
            }
        }
    }
}

/// A standard normal number within ±2, by rejection.
fn within_two(rng: &mut Rng) -> f64 {
    loop {
        let z = rng.normal();
        if z.abs() <= 2.0 {
            return z;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(init: Init) -> Vec<f32> {
        let (mut weights, mut biases) = (vec![9.0; 100_000], vec![9.0; 2]);
        init.fill(16, &mut weights, &mut biases, &mut Rng::new(1));
        assert!(biases.iter().all(|b| b.abs() <= 0.25));
        weights
    }

    fn deviation(values: &[f32]) -> f64 {
        (values.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
    }

    #[test]
    fn moments_and_bounds() {
        let (uniform, normal) = (drawn(Init::Uniform), drawn(Init::TruncatedNormal));
        assert!(uniform.iter().chain(&normal).all(|w| w.abs() <= 0.25));
        assert!((deviation(&uniform) - 0.25 / 3.0_f64.sqrt()).abs() < 1e-3);
        // A normal cut at ±2 has variance 1 − 4 φ(2) / (2 Φ(2) − 1) = 0.7737.
        assert!((deviation(&normal) - 0.125 * 0.7737_f64.sqrt()).abs() < 1e-3);
    }
}
