//! The size of the steps of a search that takes what is better: it adapts so that a fifth of the steps are taken.
//!
//! Reference: I. Rechenberg, Evolutionsstrategie, 1973: the rule of one fifth.

/// The first size, relative to what is searched, and its ends.
const FIRST: f64 = 0.5;
const ENDS: (f64, f64) = (0.02, 1.0);
/// What it is multiplied with after a step that was taken and after another one; they cancel where a fifth is taken.
const FACTORS: (f64, f64) = (1.5, 0.904);

/// The size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepSize(f64);

impl Default for StepSize {
    fn default() -> StepSize {
        StepSize(FIRST)
    }
}

impl StepSize {
    /// The size of the next step, above 0 and at most 1.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Follows whether a step was taken.
    pub fn follow(&mut self, taken: bool) {
        let factor = if taken { FACTORS.0 } else { FACTORS.1 };
        self.0 = (self.0 * factor).clamp(ENDS.0, ENDS.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_stays_where_a_fifth_is_taken() {
        let mut size = StepSize::default();
        (0..50).for_each(|i| size.follow(i % 5 == 0));
        assert!((size.get() / FIRST - 1.0).abs() < 0.05, "{size:?}");
        (0..50).for_each(|_| size.follow(true));
        assert_eq!(size.get(), ENDS.1);
    }
}
