//! Numbers that loggers write where nothing was read, such as -999 or 65535: named if they lie far from all others.

use offnominal_topics::record::is_same;

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
    /// Whether single precision holds all of them as they are, and whether they are whole numbers.
    is_single: bool,
    is_whole: bool,
}

impl Default for Suspects {
    fn default() -> Suspects {
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        Suspects { low, high, n: 0, counts: Vec::new(), is_single: true, is_whole: true }
    }
}

impl Suspects {
    /// One more number.
    pub fn add(&mut self, x: f64) {
        let is_known = |known: &&f64| is_same(x, **known);
        let Some(&known) = KNOWN.iter().filter(|_| x.abs() >= 99.0).find(is_known) else {
            (self.low, self.high) = (self.low.min(x), self.high.max(x));
            self.n += 1;
            self.is_single &= f64::from(x as f32) == x;
            self.is_whole &= x.fract() == 0.0;
            return;
        };
        match self.counts.iter_mut().find(|(counted, _)| *counted == known) {
            Some((_, n)) => *n += 1,
            None => self.counts.push((known, 1)),
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

    /// The step of single precision to which the numbers are rounded, if too little of their range is left in it, and what to
    /// do: they were recorded so, or lie far from the reference of their channel.
    pub fn lost_digits(&self, reference: Option<f64>) -> Option<(f64, &'static str)> {
        let far = reference.map(|reference| (reference, "its `reference` in the mapping is far from them"));
        let recorded = self.is_single.then_some((0.0, "log it in double precision"));
        let (reference, what) = recorded.or(far)?;
        let range = self.high - self.low;
        let largest = (self.low - reference).abs().max((self.high - reference).abs());
        let step = largest * f64::from(f32::EPSILON);
        // Whole numbers up to here have a place of their own.
        let is_exact = self.is_whole && largest <= 16_777_216.0;
        let is_lost = range > 0.0 && range < FEWEST_STEPS * step && !is_exact;
        (self.n > 1 && is_lost).then_some((step, what))
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
    fn digits_are_lost_where_a_log_is_in_single_precision_or_the_reference_is_far() {
        for (constant, range) in [(47.397_742, 6e-5), (5.4e6, 0.6), (1e9, 800.0)] {
            let all = [constant, constant + 0.4321 * range, constant + range];
            let lost = |all: &[f64], reference| Suspects::of(all).lost_digits(reference).is_some();
            assert!(lost(&all.map(|x| f64::from(x as f32)), None), "{constant}");
            assert_eq!(
                [lost(&all, None), lost(&all, Some(0.0)), lost(&all, Some(constant))],
                [false, true, false]
            );
        }
        let lost = |all: &[f64]| Suspects::of(all).lost_digits(None);
        assert_eq!(lost(&[16_000_000.0, 16_000_003.0]), None, "a counter");
        assert_eq!(lost(&[101_325.0, 101_330.5]), None);
        assert_eq!(lost(&[1e9, 1e9]), None, "a constant has none to lose");
    }

    #[test]
    fn a_sentinel_far_from_the_others_is_suspicious_and_a_saturated_sensor_is_not() {
        let of = |values: &[f64]| Suspects::of(values).suspicious();
        assert_eq!(of(&[0.2, -999.0, 0.5, -999.0, 0.4]), [(-999.0, 2)]);
        let single = f64::from(-999.9_f32);
        assert_eq!(of(&[0.2, single, 0.5, single, 0.4]), [(-999.9, 2)], "as it is to be written");
        assert_eq!(of(&[20_000.0, 65535.0, 300.0]), []);
        assert_eq!(Suspects::of(&[20_000.0, 65535.0, 300.0]).plausible(), [65535.0]);
        assert_eq!(of(&[-998.0, -999.0, -1001.0, -1000.0]), []);
    }
}
