//! From values to pixels: linear and logarithmic axes with round ticks.

/// One axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Smallest value shown.
    pub low: f64,
    /// Largest value shown.
    pub high: f64,
    /// Whether equal ratios, not equal differences, are equally long.
    pub logarithmic: bool,
}

/// The ratio of largest to typical value from which on a linear axis would hide what is typical.
const SPREAD: f64 = 12.0;

/// No axis has more ticks, not even one so short that its steps vanish in rounding.
const MOST: usize = 20;

impl Axis {
    /// A linear axis between two values.
    pub fn linear(low: f64, high: f64) -> Axis {
        if high > low { Axis { low, high, logarithmic: false } } else { Axis::linear(low - 0.5, low + 0.5) }
    }

    /// The axis that shows all the values: logarithmic if they are positive and the largest dwarfs the typical ones.
    pub fn around(values: impl Iterator<Item = f64>, typical: &[f64]) -> Axis {
        let finite = values.filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            return Axis::linear(0.0, 1.0);
        }
        if low > 0.0 && high > SPREAD * median(typical) {
            return Axis { low: low.max(high * 1e-8) * 0.9, high: high * 1.2, logarithmic: true };
        }
        let margin = 0.05 * (high - low);
        let floor = if low >= 0.0 && low < 0.3 * high { 0.0 } else { low - margin };
        Axis::linear(floor, high + margin)
    }

    /// Where a value lies: 0 at the low end, 1 at the high end; values outside are put on the edge.
    pub fn place(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }

    /// About `n` round values inside the axis.
    pub fn ticks(&self, n: usize) -> Vec<f64> {
        if self.logarithmic { self.decades(n) } else { self.steps(n) }
    }

    fn steps(&self, n: usize) -> Vec<f64> {
        let step = round_up((self.high - self.low) / n.max(1) as f64);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).take(MOST).map(|k| k as f64 * step).collect()
    }

    /// Powers of ten, thinned out if there are many, filled up with twice and five times if there are few.
    fn decades(&self, n: usize) -> Vec<f64> {
        let (first, last) = (self.low.log10().ceil() as i32, self.high.log10().floor() as i32);
        let every = ((last - first).max(0) as usize / n.max(1) + 1) as i32;
        let factors: &[f64] = if last - first < 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let powers = (first - 1..=last).filter(|k| (k - first) % every == 0);
        let ticks = powers.flat_map(|k| factors.iter().map(move |f| f * 10f64.powi(k)));
        ticks.filter(|t| (self.low..=self.high).contains(t)).collect()
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// The next of 1, 2, 5, 10 times a power of ten.
fn round_up(step: f64) -> f64 {
    let unit = 10f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * unit >= step * (1.0 - 1e-9)).unwrap_or(10.0);
    factor * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(Axis::linear(0.0, 1.0).ticks(5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(Axis::linear(-3.0, 27.0).ticks(4), [0.0, 10.0, 20.0]);
    }

    #[test]
    fn the_shortest_axis_has_few_ticks() {
        assert!(Axis::linear(0.0, f64::from_bits(1)).ticks(5).len() <= MOST);
        assert!(Axis::linear(f64::MIN, f64::MAX).ticks(5).len() <= MOST);
    }

    #[test]
    fn giants_make_the_axis_logarithmic() {
        let axis = Axis::around([1.0, 1.5, 2.0, 1000.0].into_iter(), &[1.5]);
        assert!(axis.logarithmic);
        assert_eq!(axis.ticks(4), [1.0, 10.0, 100.0, 1000.0]);
        assert!((axis.place(axis.high) - 1.0).abs() < 1e-12 && axis.place(0.0) == 0.0);
        assert!(!Axis::around([-1.0, 1.5, 1000.0].into_iter(), &[1.5]).logarithmic);
        assert!(!Axis::around([900.0, 1000.0].into_iter(), &[950.0]).logarithmic);
    }

    #[test]
    fn a_short_logarithmic_axis_has_ticks_between_the_powers() {
        let axis = Axis { low: 0.7, high: 45.0, logarithmic: true };
        assert_eq!(axis.ticks(5), [1.0, 2.0, 5.0, 10.0, 20.0]);
    }

    #[test]
    fn equal_and_absent_values_still_make_an_axis() {
        assert_eq!(Axis::around([2.0].into_iter(), &[]).place(2.0), 0.5);
        assert_eq!(Axis::around([f64::NAN].into_iter(), &[]), Axis::linear(0.0, 1.0));
    }
}
