//! Steps between numbers that mostly rise or mostly fall, as the time stamps of a topic or of a column do.

use serde::Serialize;
use std::collections::BTreeMap;

/// Bins per doubling of a step.
const FINE: f64 = 1024.0;
/// Bins to both sides within which steps are alike: a twentieth.
const ALIKE: i32 = 72;
/// Numbers before it is asked whether they are in order.
const FEW: u64 = 20;

/// The steps between one number and the next.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Steps {
    first: f64,
    last: f64,
    n: u64,
    equal: u64,
    falls: u64,
    longest: f64,
    longest_fall: f64,
    /// Counts of steps by the logarithm of their length.
    #[serde(skip)]
    bins: BTreeMap<i32, u64>,
}

impl Steps {
    /// One more number; `false` if the numbers rise and fall so often that they are no times.
    pub fn add(&mut self, x: f64) -> bool {
        self.n += 1;
        if self.n == 1 {
            (self.first, self.last) = (x, x);
            return true;
        }
        let step = x - self.last;
        self.last = x;
        if step == 0.0 {
            self.equal += 1;
        } else {
            *self.bins.entry((step.abs().log2() * FINE).round() as i32).or_default() += 1;
        }
        self.longest = self.longest.max(step);
        self.longest_fall = self.longest_fall.max(-step);
        self.falls += u64::from(step < 0.0);
        self.n < FEW || self.is_ordered()
    }

    /// Whether at most a tenth of the steps goes against the others.
    pub fn is_ordered(&self) -> bool {
        let steps = self.n.saturating_sub(1 + self.equal);
        self.falls.min(steps - self.falls) * 10 <= steps
    }

    /// The first and the last number.
    pub fn ends(&self) -> (f64, f64) {
        (self.first, self.last)
    }

    /// The step in the middle of all, as exactly as a thousandth; `None` if there is none.
    pub fn median(&self) -> Option<f64> {
        let steps: u64 = self.bins.values().sum();
        let (mut below, half) = (0, steps.div_ceil(2));
        let bin = self.bins.iter().find(|(_, n)| {
            below += **n;
            below >= half && half > 0
        });
        let bin = *bin?.0;
        // Where nearly all steps are alike, their mean is exact.
        let median = (f64::from(bin) / FINE).exp2();
        let alike: u64 = self.bins.range(bin - ALIKE..=bin + ALIKE).map(|(_, n)| n).sum();
        let is_regular = alike * 10 >= steps * 9 && self.longest.max(self.longest_fall) < 2.0 * median;
        let is_one_way = self.falls == 0 || self.falls == steps;
        Some(if is_regular && is_one_way { (self.last - self.first).abs() / steps as f64 } else { median })
    }

    /// Whether rows come in bursts: most steps are far below the mean one.
    pub fn are_bursts(&self) -> bool {
        self.median().zip(self.mean()).is_some_and(|(median, mean)| median * 10.0 < mean)
    }

    /// The mean step; `None` if there is none.
    pub fn mean(&self) -> Option<f64> {
        let mean = (self.last - self.first).abs() / self.n.saturating_sub(1) as f64;
        (mean > 0.0 && mean.is_finite()).then_some(mean)
    }

    /// The longest step.
    pub fn longest(&self) -> f64 {
        self.longest
    }

    /// The longest step back.
    pub fn longest_fall(&self) -> f64 {
        self.longest_fall
    }

    /// Steps back.
    pub fn falls(&self) -> u64 {
        self.falls
    }

    /// Whether nearly all steps go back: the last number comes first.
    pub fn are_reversed(&self) -> bool {
        self.falls * 2 > self.n
    }

    /// The share of numbers that repeat the one before them.
    pub fn share_equal(&self) -> f64 {
        self.equal as f64 / self.n.max(1) as f64
    }

    /// Whether each number is above the one before it.
    pub fn always_rise(&self) -> bool {
        self.equal == 0 && self.falls == 0
    }

    /// Counts what is out of order in another log too.
    pub fn absorb(&mut self, other: &Steps) {
        self.falls += other.falls;
        self.longest_fall = self.longest_fall.max(other.longest_fall);
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
        let mut noise = Steps::default();
        assert!(!(0..40).all(|i| noise.add(f64::from(i % 3))));
        let reversed = of(&(0..50).map(|i| f64::from(-i) * 0.1).collect::<Vec<_>>());
        assert!(reversed.are_reversed() && (reversed.median().unwrap() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn the_median_of_irregular_steps_is_that_of_the_sorted_ones_and_bursts_are_told() {
        let mut steps = Steps::default();
        let lengths = [0.9, 1.3, 0.7, 1.1, 2.0, 0.8, 1.7];
        let mut time = 0.0;
        for i in 0..700 {
            steps.add(time);
            time += lengths[i % lengths.len()];
        }
        assert!((steps.median().unwrap() / 1.1 - 1.0).abs() < 1e-3, "{:?}", steps.median());
        let mut bursts = Steps::default();
        for i in 0..100 {
            bursts.add(f64::from(i / 10) + f64::from(i % 10) * 3e-6);
        }
        assert!(bursts.are_bursts() && !steps.are_bursts());
    }
}
