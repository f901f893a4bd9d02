//! The reference of a channel: a constant that is subtracted in double precision, as detectors compute in single precision.
//!
//! A latitude of 47.397742 ± 1e-5 degrees has three steps of single precision in its range; less its reference it has
//! millions. What a detector learns from and what a monitor sees later have the same reference, or nothing would be alike.

/// A channel has a reference if single precision rounds its numbers by more than this share of their usual change from one
/// row to the next: less is far below what a detector can see.
const ROUNDED: f64 = 1.0 / 1024.0;
/// It helps only where numbers are so many times their range away from zero.
const FAR: f64 = 8.0;
/// Half a step of single precision, relative to a number.
const HALF_STEP: f64 = 0.5 * f32::EPSILON as f64;

/// A number less the reference of its channel, as detectors see it. `None` if single precision cannot hold it; what is not
/// finite was not read, and stays so.
pub fn relative(x: f64, reference: f64) -> Option<f32> {
    let less = x - reference;
    (!x.is_finite() || less.abs() <= f64::from(f32::MAX)).then_some(less as f32)
}

/// The reference of each channel, by what a detector learns from: the rows of each episode, each of `width` numbers. It is
/// zero where none is needed, as in a channel that never changes.
pub fn references<R: AsRef<[f64]>>(episodes: &[R], width: usize) -> Vec<f64> {
    (0..width).map(|channel| Channel::of(episodes, channel, width).map_or(0.0, |c| c.reference())).collect()
}

/// What the numbers of a channel are like.
struct Channel {
    middle: f64,
    spread: f64,
    /// The usual change from one row to the next, of those that change anything; `None` if none does.
    change: Option<f64>,
}

impl Channel {
    fn of<R: AsRef<[f64]>>(episodes: &[R], channel: usize, width: usize) -> Option<Channel> {
        let column = |rows: &R| {
            let numbers = rows.as_ref().iter().skip(channel).step_by(width).copied();
            numbers.filter(|x| x.is_finite()).collect::<Vec<f64>>()
        };
        let columns: Vec<Vec<f64>> = episodes.iter().map(column).collect();
        let pairs = columns.iter().flat_map(|column| column.windows(2));
        let mut changes: Vec<f64> =
            pairs.map(|pair| (pair[1] - pair[0]).abs()).filter(|x| *x > 0.0).collect();
        let mut all = columns.concat();
        all.sort_unstable_by(f64::total_cmp);
        let (first, last) = (*all.first()?, *all.last()?);
        // A few numbers far from all others, as before a fix of a receiver, say nothing of the rest.
        let [low, middle, high] = [1, 5, 9].map(|tenths| all[(all.len() - 1) * tenths / 10]);
        let spread = if high > low { high - low } else { last - first };
        Some(Channel { middle, spread, change: median(&mut changes) })
    }

    fn reference(&self) -> f64 {
        let size = self.middle.abs();
        let is_rounded = self.change.is_some_and(|change| size * HALF_STEP > ROUNDED * change);
        let is_needed = is_rounded && size > FAR * self.spread || size > f64::from(f32::MAX);
        if is_needed { self.plain() } else { 0.0 }
    }

    /// The shortest decimal number that is not farther from the middle than the spread.
    fn plain(&self) -> f64 {
        let rounded = |digits: usize| format!("{:.digits$e}", self.middle).parse::<f64>();
        let is_near = |x: &f64| (x - self.middle).abs() <= self.spread;
        (0..17).filter_map(|digits| rounded(digits).ok()).find(is_near).unwrap_or(self.middle)
    }
}

fn median(values: &mut [f64]) -> Option<f64> {
    let at = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable_by(at, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(values: &[f64]) -> f64 {
        references(&[values], 1)[0]
    }

    /// A channel of this unit around a constant.
    fn wanders(constant: f64, unit: f64) -> Vec<f64> {
        (0..100).map(|t| constant + unit * f64::from(t * 37 % 100 - 50) / 50.0).collect()
    }

    #[test]
    fn a_channel_has_a_reference_where_single_precision_rounds_what_happens_in_it() {
        assert_eq!(reference(&wanders(47.397_742, 1e-5)), 47.39774);
        assert_eq!(reference(&wanders(5.4e6, 0.1)), 5.4e6);
        assert_eq!(reference(&wanders(-1e9, 1.0)), -1e9);
        assert_eq!(reference(&wanders(1e300, 1e290)), 1e300);
        // Pascal, kelvin, and an angle: nothing is lost.
        assert_eq!(
            [(101_325.0, 200.0), (300.0, 1.0), (0.0, 3.0)].map(|(c, u)| reference(&wanders(c, u))),
            [0.0; 3]
        );
        assert_eq!(reference(&[1e9, 1e9, 1e9]), 0.0, "it never changes");
        assert_eq!(reference(&[1e39, 1e39]), 1e39, "else it would be infinite");
        assert_eq!(reference(&[f64::NAN, f64::NAN]), 0.0);
    }

    #[test]
    fn a_few_numbers_far_away_change_no_reference() {
        let mut values = wanders(47.397_742, 1e-5);
        values[..3].fill(0.0);
        assert_eq!(reference(&values), 47.39774);
    }

    #[test]
    fn what_is_less_its_reference_keeps_its_digits_and_what_was_not_read_stays_so() {
        assert_eq!(relative(1e9 + 1.0, 1e9), Some(1.0));
        assert_eq!([relative(1e39, 0.0), relative(1e39, 1e39)], [None, Some(0.0)]);
        assert!(relative(f64::INFINITY, 5.0).is_some_and(|x| !x.is_finite()));
    }
}
