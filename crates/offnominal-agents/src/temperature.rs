//! α, the weight of the entropy: fixed, or tuned so that the entropy meets a target.
//!
//! Tuned, log α follows the derivative of −log α (mean log π + target), with the target −dim A unless given
//! (Haarnoja et al. 2018, "Soft actor-critic algorithms and applications", section 5).

use crate::config::{Alpha, TrainConfig};
use crate::weights::Weights;
use offnominal_nets::{Adam, TensorError, Tensors};

/// The weight of the entropy.
pub(crate) enum Temperature {
    /// It stays.
    Fixed(f32),
    /// It follows the gap between the entropy and its target.
    Tuned {
        /// log α, as the one parameter of an optimiser.
        log: Weights,
        target_entropy: f64,
    },
}

impl Temperature {
    /// As the recipe says, for so many channels of actions.
    pub(crate) fn new(config: &TrainConfig, act_width: usize) -> Temperature {
        match config.alpha {
            Alpha::Fixed(alpha) => Temperature::Fixed(alpha as f32),
            Alpha::Auto => Temperature::Tuned {
                log: Weights::new(vec![0.0], "temperature"),
                target_entropy: config.target_entropy.unwrap_or(-(act_width as f64)),
            },
        }
    }

    /// α
    pub(crate) fn value(&self) -> f32 {
        match self {
            Temperature::Fixed(alpha) => *alpha,
            Temperature::Tuned { log, .. } => log.params[0].exp(),
        }
    }

    /// Raises α if the entropy, −mean log π, is below its target, and lowers it otherwise.
    pub(crate) fn tune(&mut self, mean_log_prob: f64, rule: Adam) {
        if let Temperature::Tuned { log, target_entropy } = self {
            log.grad[0] = -(mean_log_prob + *target_entropy) as f32;
            log.step(rule);
        }
    }

    /// Adds everything that a continuation needs.
    pub(crate) fn save(&self, into: &mut Tensors) {
        if let Temperature::Tuned { log, .. } = self {
            log.save(into);
        }
    }

    /// Continues from what was saved.
    pub(crate) fn load(&mut self, from: &Tensors) -> Result<(), TensorError> {
        match self {
            Temperature::Fixed(_) => Ok(()),
            Temperature::Tuned { log, .. } => log.load(from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rises_when_the_policy_is_too_certain() {
        let mut tuned = Temperature::new(&TrainConfig::for_env("sap-goal0"), 2);
        // Entropy −5 is below the target −2.
        tuned.tune(5.0, Adam::default());
        let after = tuned.value();
        assert!((after - 1e-3_f32.exp()).abs() < 1e-5, "{after}");
        tuned.tune(-9.0, Adam::default());
        assert!(tuned.value() < after);
    }

    #[test]
    fn a_fixed_one_stays() {
        let config = TrainConfig { alpha: Alpha::Fixed(0.2), ..TrainConfig::for_env("sap-goal0") };
        let mut fixed = Temperature::new(&config, 2);
        fixed.tune(5.0, Adam::default());
        assert_eq!(fixed.value(), 0.2);
    }
}
