//! How long, with which steps, and when to stop.

use serde::{Deserialize, Serialize};

/// Share of the steps during which the rate grows from nothing: five of 250 epochs, as in the published code.
const WARM_UP: f64 = 0.02;

/// How a network learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learning {
    /// How often every step of the videos is seen, unless `steps` are made before.
    pub epochs: usize,
    /// At most so many steps of the optimiser, if there is a limit.
    pub steps: Option<usize>,
    /// Windows learned at once.
    pub batch: usize,
    /// Steps of a video in a window.
    pub window: usize,
    /// Highest learning rate; it falls to nothing as a cosine.
    pub rate: f64,
    /// Pull of the weights towards zero.
    pub decay: f64,
    /// The longest gradient that is taken as it is.
    pub clip: f64,
    /// After how many looks at the validation videos without gain it stops. It looks fifty times, or after every epoch
    /// if there are fewer.
    pub patience: usize,
}

/// How often the validation videos are looked at.
const VALIDATIONS: usize = 50;

impl Learning {
    /// How many steps are made if nothing stops them, where an epoch has so many.
    pub fn total(&self, per_epoch: usize) -> usize {
        self.epochs.saturating_mul(per_epoch).min(self.steps.unwrap_or(usize::MAX))
    }

    /// Steps between looks at the validation videos.
    pub fn steps_between_validations(&self, per_epoch: usize) -> usize {
        (self.total(per_epoch) / VALIDATIONS).max(per_epoch.min(self.total(per_epoch) / 4)).max(1)
    }

    /// The rate of a step of so many.
    pub fn rate_at(&self, step: usize, of: usize) -> f64 {
        let done = step as f64 / of as f64;
        let grown = ((step + 1) as f64 / (WARM_UP * of as f64).max(1.0)).min(1.0);
        self.rate * grown * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
    }

    /// What is wrong with it, if anything.
    pub fn anomaly_spec(&self) -> Option<String> {
        let counts = [
            ("epochs", self.epochs),
            ("steps", self.steps.unwrap_or(1)),
            ("batch", self.batch),
            ("window", self.window),
            ("patience", self.patience),
        ];
        let numbers = [("rate", self.rate, 0.0), ("clip", self.clip, 0.0), ("decay", self.decay, -1e-300)];
        let zero = counts
            .iter()
            .find(|(_, n)| *n == 0)
            .map(|(name, _)| format!("{name}: expected at least 1, found 0"));
        let bad = numbers.iter().find(|(_, x, low)| !(x.is_finite() && x > low));
        zero.or_else(|| bad.map(|(name, x, _)| format!("{name}: expected a positive number, found {x}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEARNING: Learning = Learning {
        epochs: 10,
        steps: Some(500),
        batch: 4,
        window: 1,
        rate: 0.1,
        decay: 0.0,
        clip: 1.0,
        patience: 3,
    };

    #[test]
    fn the_rate_grows_and_then_falls_to_nothing() {
        let rate = |step| LEARNING.rate_at(step, 500);
        assert!((rate(0) - 0.01).abs() < 1e-4 && (rate(10) - 0.1).abs() < 1e-3);
        assert!((rate(250) - 0.05).abs() < 1e-3 && rate(499) < 1e-5);
    }

    #[test]
    fn epochs_and_steps_both_limit_it() {
        assert_eq!((LEARNING.total(20), LEARNING.total(100)), (200, 500));
        assert_eq!(
            (LEARNING.steps_between_validations(5), LEARNING.steps_between_validations(100)),
            (5, 100)
        );
        assert_eq!(LEARNING.steps_between_validations(400), 125);
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(LEARNING.anomaly_spec(), None);
        let anomaly_spec = |learning: Learning| learning.anomaly_spec().unwrap();
        assert_eq!(anomaly_spec(Learning { batch: 0, ..LEARNING }), "batch: expected at least 1, found 0");
        assert_eq!(
            anomaly_spec(Learning { rate: -1.0, ..LEARNING }),
            "rate: expected a positive number, found -1"
        );
    }
}
