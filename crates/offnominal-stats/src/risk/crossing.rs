//! Where a monotone condition begins to hold.

/// A bracket of the place where a condition, false below it and true above it, begins to hold: (still false, already
/// true), 1e-12 apart relative to their size.
pub fn crossing(mut below: f64, mut above: f64, holds: impl Fn(f64) -> bool) -> (f64, f64) {
    while above - below > 1e-12 * above.abs() && above > f64::MIN_POSITIVE {
        let middle = 0.5 * (below + above);
        if holds(middle) { above = middle } else { below = middle }
    }
    (below, above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bracket_holds_the_crossing() {
        for at in [1e-9, 0.3, 0.999] {
            let (below, above) = crossing(0.0, 1.0, |x| x >= at);
            assert!(below < at && at <= above && above - below <= 1e-11 * at);
        }
        assert!(crossing(0.0, 1.0, |_| true).1 <= f64::MIN_POSITIVE);
    }
}
