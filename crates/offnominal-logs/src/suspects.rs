//! Numbers that loggers write where nothing was read, such as -999 or 65535: named if they lie far from all others.

/// The numbers.
const KNOWN: [f64; 32] = [
    -99.0,
    -999.0,
    -9999.0,
    -99999.0,
    -999_999.0,
    999.0,
    9999.0,
    99999.0,
    999_999.0,
    9_999_999.0,
    -999.25,
    999.25,
    -999.9,
    255.0,
    32767.0,
    -32767.0,
    -32768.0,
    65535.0,
    8_388_607.0,
    16_777_215.0,
    2_147_483_647.0,
    -2_147_483_648.0,
    4_294_967_295.0,
    1e10,
    -1e10,
    1e20,
    -1e20,
    1e30,
    -1e30,
    1e35,
    9.969_209_968_386_869e36,
    -9.969_209_968_386_869e36,
];
/// How many times the range of all others such a number is away from them.
const FAR: f64 = 5.0;
/// A channel has lost its digits if its range has fewer steps of single precision than this.
const FEWEST_STEPS: f64 = 64.0;

/// The numbers of a column, as far as they were seen.
#[derive(Debug, Clone)]
pub struct Suspects {
    low: f64,
    high: f64,
    n: u64,
    counts: Vec<(f64, u64)>,
}

impl Default for Suspects {
    fn default() -> Suspects {
        Suspects { low: f64::INFINITY, high: f64::NEG_INFINITY, n: 0, counts: Vec::new() }
    }
}

impl Suspects {
    /// One more number.
    pub fn add(&mut self, x: f64) {
        if x.abs() < 99.0 || !KNOWN.contains(&x) {
            (self.low, self.high) = (self.low.min(x), self.high.max(x));
            self.n += 1;
            return;
        }
        match self.counts.iter_mut().find(|(known, _)| *known == x) {
            Some((_, n)) => *n += 1,
            None => self.counts.push((x, 1)),
        }
    }

    /// Those of a column.
    pub fn of(column: &[f64]) -> Suspects {
        let mut found = Suspects::default();
        column.iter().filter(|x| x.is_finite()).for_each(|&x| found.add(x));
        found
    }

    /// The suspicious ones, and how often each occurs.
    pub fn suspicious(&self) -> Vec<(f64, u64)> {
        self.counts.iter().copied().filter(|&(x, n)| self.is_far(x) && n <= self.n).collect()
    }

    /// Those that may well be meant.
    pub fn plausible(&self) -> Vec<f64> {
        self.counts.iter().filter(|&&(x, n)| !self.is_far(x) || n > self.n).map(|&(x, _)| x).collect()
    }

    /// The range of the numbers and the step of single precision there, if too little of the range is left in it: detectors
    /// compute in single precision.
    pub fn lost_digits(&self) -> Option<(f64, f64)> {
        let (range, largest) = (self.high - self.low, self.low.abs().max(self.high.abs()));
        let step = largest * f64::from(f32::EPSILON);
        (self.n > 1 && range > 0.0 && range < FEWEST_STEPS * step).then_some((range, step))
    }

    fn is_far(&self, x: f64) -> bool {
        let away = if x < self.low { self.low - x } else { x - self.high };
        self.n > 1 && away > FAR * (self.high - self.low).max(1e-9 * x.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_constant_takes_the_digits_of_what_varies() {
        for (constant, range) in [(47.397_742, 6e-5), (5.4e6, 0.6), (1e9, 8.0)] {
            let of = |constant: f64| {
                Suspects::of(&[constant, constant + 0.4 * range, constant + range]).lost_digits()
            };
            assert!(of(constant).is_some_and(|(found, _)| (found / range - 1.0).abs() < 1e-3), "{constant}");
            assert_eq!(of(0.0), None);
        }
        assert_eq!(Suspects::of(&[101_325.0, 101_330.0]).lost_digits(), None);
        assert_eq!(Suspects::of(&[1e9, 1e9]).lost_digits(), None, "a constant has none to lose");
    }

    #[test]
    fn a_sentinel_far_from_the_others_is_suspicious_and_a_saturated_sensor_is_not() {
        let of = |values: &[f64]| Suspects::of(values).suspicious();
        assert_eq!(of(&[0.2, -999.0, 0.5, -999.0, 0.4]), [(-999.0, 2)]);
        assert_eq!(of(&[20_000.0, 65535.0, 300.0]), []);
        assert_eq!(Suspects::of(&[20_000.0, 65535.0, 300.0]).plausible(), [65535.0]);
        assert_eq!(of(&[-998.0, -999.0, -1001.0, -1000.0]), []);
    }
}
