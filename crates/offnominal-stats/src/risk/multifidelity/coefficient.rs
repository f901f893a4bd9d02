//! How much the low-fidelity simulator counts in the next pair, by the pairs before.

/// λ is a multiple of this.
const STEP: f64 = 1.0 / 16.0;

/// Sums over the pairs so far. Outcomes and scores lie in [0, 1], so plain sums of squares lose nothing that matters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Past {
    n: f64,
    dear: f64,
    cheap: f64,
    dear_dear: f64,
    cheap_cheap: f64,
    dear_cheap: f64,
    /// Number, sum and squares of all low-fidelity scores, those of pairs and fresh ones.
    all: [f64; 3],
}

impl Past {
    /// One pair more.
    pub fn push(&mut self, dear: f64, cheap: f64, fresh: &[f64]) {
        self.n += 1.0;
        (self.dear, self.cheap) = (self.dear + dear, self.cheap + cheap);
        self.dear_dear += dear * dear;
        self.cheap_cheap += cheap * cheap;
        self.dear_cheap += dear * cheap;
        for score in fresh.iter().chain([&cheap]) {
            self.all = [self.all[0] + 1.0, self.all[1] + score, self.all[2] + score * score];
        }
    }

    /// λ by these pairs, with K fresh low-fidelity scores each: 0 where they do not show a correlation.
    pub fn coefficient(&self, per_dear: usize) -> f64 {
        let n = self.n;
        let covariance = self.dear_cheap / n - self.dear * self.cheap / (n * n);
        let of_dear = self.dear_dear / n - (self.dear / n).powi(2);
        let of_cheap = self.cheap_cheap / n - (self.cheap / n).powi(2);
        let varies = n > 1.0 && of_dear > 1e-12 && of_cheap > 1e-12;
        if !varies || covariance <= 0.0 {
            return 0.0;
        }
        let statistic = n * covariance * covariance / (of_dear * of_cheap);
        let shrunk = (1.0 - 1.0 / statistic).max(0.0);
        // The fresh scores tell the variance better than those of pairs alone.
        let [count, sum, squares] = self.all;
        let variance = squares / count - (sum / count).powi(2);
        let best = covariance / ((1.0 + 1.0 / per_dear as f64) * variance);
        (shrunk * best / STEP).round() * STEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_regression_on_the_difference_of_scores() {
        let mut past = Past::default();
        assert_eq!(past.coefficient(1), 0.0);
        // Equal outcomes: covariance and variance are the same, so λ* = 1 / (1 + 1/K), and shrinking is 1 − 1/n.
        for i in 0..4000 {
            let y = f64::from(i % 4 == 0);
            past.push(y, y, &[f64::from(i % 4 == 1); 3]);
        }
        assert_eq!(past.coefficient(1), 0.5);
        assert_eq!(past.coefficient(3), 0.75);
    }

    #[test]
    fn without_a_correlation_or_against_it_the_cheap_simulator_does_not_count() {
        let (mut none, mut against, mut constant) = (Past::default(), Past::default(), Past::default());
        for i in 0..400 {
            none.push(f64::from(i % 2 == 0), f64::from(i % 4 < 2), &[0.0, 1.0]);
            against.push(f64::from(i % 2 == 0), f64::from(i % 2 == 1), &[0.0, 1.0]);
            constant.push(f64::from(i % 2 == 0), 0.3, &[0.3, 0.3]);
        }
        assert_eq!([none, against, constant].map(|past| past.coefficient(2)), [0.0; 3]);
    }
}
