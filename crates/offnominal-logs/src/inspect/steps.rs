//! Steps between numbers that never fall, as the time stamps of a topic or of a column do.

use serde::Serialize;

/// Bins per doubling of a step.
const FINE: f64 = 8.0;

/// The steps between one number and the next.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Steps {
    first: f64,
    last: f64,
    n: u64,
    equal: u64,
    longest: f64,
    /// Counts of steps by the logarithm of their length.
    #[serde(skip)]
    bins: std::collections::BTreeMap<i32, u64>,
}

impl Steps {
    /// One more number; `false` if it is below the one before.
    pub fn add(&mut self, x: f64) -> bool {
        self.n += 1;
        if self.n == 1 {
            (self.first, self.last) = (x, x);
            return true;
        }
        let step = x - self.last;
        self.last = x;
        if step > 0.0 {
            self.longest = self.longest.max(step);
            *self.bins.entry((step.log2() * FINE).round() as i32).or_default() += 1;
        } else {
            self.equal += 1;
        }
        step >= 0.0
    }

    /// The first and the last number.
    pub fn ends(&self) -> (f64, f64) {
        (self.first, self.last)
    }

    /// The step in the middle of all, as exactly as a twelfth; `None` if there is none.
    pub fn median(&self) -> Option<f64> {
        let (mut below, half) = (0, (self.n.saturating_sub(1 + self.equal)).div_ceil(2));
        let bin = self.bins.iter().find(|(_, n)| {
            below += **n;
            below >= half && half > 0
        });
        let (bin, n) = bin?;
        // Where nearly all steps are alike, their mean is exact.
        let steps = self.n - 1 - self.equal;
        let is_regular = *n * 10 >= steps * 9 && self.longest < 2.0 * (f64::from(*bin) / FINE).exp2();
        Some(if is_regular {
            (self.last - self.first) / steps as f64
        } else {
            (f64::from(*bin) / FINE).exp2()
        })
    }

    /// The longest step.
    pub fn longest(&self) -> f64 {
        self.longest
    }

    /// Whether no two numbers are equal.
    pub fn always_rise(&self) -> bool {
        self.equal == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_steps_are_exact_and_a_gap_does_not_move_the_median() {
        let of = |times: &[f64]| {
            let mut steps = Steps::default();
            assert!(times.iter().all(|&t| steps.add(t)));
            steps
        };
        let regular = of(&(0..100).map(|i| f64::from(i) * 0.02).collect::<Vec<_>>());
        assert!((regular.median().unwrap() - 0.02).abs() < 1e-12);
        let with_gap =
            of(&(0..100).map(|i| f64::from(i) * 0.02 + if i > 50 { 9.0 } else { 0.0 }).collect::<Vec<_>>());
        assert!((with_gap.median().unwrap() / 0.02 - 1.0).abs() < 0.1, "{:?}", with_gap.median());
        assert!((with_gap.longest() - 9.02).abs() < 1e-9);
        assert_eq!(of(&[1.0]).median(), None);
        let mut falls = of(&[1.0, 2.0]);
        assert!(!falls.add(1.5));
    }
}
