//! Averages that forget.

/// Exponentially weighted mean of the values since `reset`, without the bias of its start.
///
/// Σ_k (1 − r)ᵏ x_{t−k} / Σ_k (1 − r)ᵏ: the first value is its own mean, so there is no transient that a clock could
/// be read from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fading {
    keep: f64,
    sum: f64,
    weight: f64,
}

impl Fading {
    /// An average in which each new value has the weight `rate`, in the long run.
    pub fn new(rate: f64) -> Fading {
        Fading { keep: 1.0 - rate, sum: 0.0, weight: 0.0 }
    }

    pub fn reset(&mut self) {
        (self.sum, self.weight) = (0.0, 0.0);
    }

    /// The mean with one more value.
    pub fn add(&mut self, value: f64) -> f64 {
        self.sum = self.keep * self.sum + value;
        self.weight = self.keep * self.weight + 1.0;
        self.sum / self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_its_own_mean_from_the_first_step() {
        let mut fading = Fading::new(0.1);
        assert!((0..50).all(|_| (fading.add(3.0) - 3.0).abs() < 1e-12));
        fading.reset();
        assert_eq!((fading.add(1.0), fading.add(2.0)), (1.0, (0.9 + 2.0) / 1.9));
    }
}
