//! The Kaplan–Meier curve: the share of anomalies not yet detected, when some cannot be watched to the end.
//!
//! S(t) = Π over event times u ≤ t of (1 − dᵤ / nᵤ), with dᵤ events at u among nᵤ still at risk. An observation
//! censored at c was watched at c and nothing happened: it is at risk at c and not after it. Exact for the data: without censoring, S(t) is the share of values above t.
//!
//! Assumes: censoring tells nothing of the time that was not seen.
//! Reference: Kaplan & Meier, JASA 53, 1958, equation 2b.
//!
//! ```
//! use offnominal_stats::survival::{Duration, KaplanMeier};
//! let seen = |time| Duration { time, observed: true };
//! let curve = KaplanMeier::fit(&[seen(1), Duration { time: 1, observed: false }, seen(2), seen(3)]);
//! assert_eq!(curve.survival(1), 0.75);            // 3 of 4
//! assert_eq!(curve.median(), Some(2));            // 3/4 · 1/2
//! ```

/// A time that was observed, or is only known to be longer than `time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duration {
    /// Steps until the event, or until the last one watched.
    pub time: u32,
    /// Whether the event was seen; else the time is censored.
    pub observed: bool,
}

/// A survival curve: the times of events and the survival after each.
#[derive(Debug, Clone, PartialEq)]
pub struct KaplanMeier {
    steps: Vec<(u32, f64)>,
}

impl KaplanMeier {
    /// The curve of independent durations.
    pub fn fit(durations: &[Duration]) -> KaplanMeier {
        KaplanMeier::weighted(durations, &vec![1; durations.len()])
    }

    /// The curve if each duration counted as often as its weight says.
    pub fn weighted(durations: &[Duration], weights: &[u32]) -> KaplanMeier {
        let mut sorted: Vec<(Duration, u32)> =
            durations.iter().copied().zip(weights.iter().copied()).collect();
        sorted.sort_by_key(|(d, _)| d.time);
        let mut at_risk: u64 = weights.iter().map(|&w| u64::from(w)).sum();
        let (mut survival, mut steps) = (1.0, Vec::new());
        for tied in sorted.chunk_by(|a, b| a.0.time == b.0.time) {
            let weight = |observed: bool| -> u64 {
                tied.iter().filter(|(d, _)| !observed || d.observed).map(|&(_, w)| u64::from(w)).sum()
            };
            let events = weight(true);
            if events > 0 {
                survival *= 1.0 - events as f64 / at_risk as f64;
                steps.push((tied[0].0.time, survival));
            }
            at_risk -= weight(false);
        }
        KaplanMeier { steps }
    }

    /// The share that lasts longer than `time`.
    pub fn survival(&self, time: u32) -> f64 {
        let passed = self.steps.partition_point(|&(t, _)| t <= time);
        passed.checked_sub(1).map_or(1.0, |last| self.steps[last].1)
    }

    /// The first time at which at most half are left; none if the curve stays above one half.
    pub fn median(&self) -> Option<u32> {
        // A product of ratios that is one half on paper may be a rounding error above it.
        self.steps.iter().find(|&&(_, survival)| survival <= 0.5 + 1e-12).map(|&(t, _)| t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    fn durations(text: &str) -> Vec<Duration> {
        let parse = |word: &str| Duration {
            time: word.trim_end_matches('+').parse().unwrap(),
            observed: !word.ends_with('+'),
        };
        text.split_whitespace().map(parse).collect()
    }

    /// Remission times of 21 patients, Freireich et al. 1963; the curve is printed in many textbooks.
    #[test]
    fn the_textbook_curve() {
        let curve = KaplanMeier::fit(&durations(
            "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+",
        ));
        for (time, want) in [
            (5, 1.0),
            (6, 0.8571),
            (7, 0.8067),
            (10, 0.7529),
            (13, 0.6902),
            (16, 0.6275),
            (22, 0.5378),
            (23, 0.4482),
        ] {
            assert!((curve.survival(time) - want).abs() < 5e-5, "{time}: {}", curve.survival(time));
        }
        assert_eq!(curve.median(), Some(23));
    }

    #[test]
    fn without_censoring_it_is_the_empirical_distribution() {
        let curve = KaplanMeier::fit(&durations("3 1 4 1 5"));
        assert!((curve.survival(1) - 0.6).abs() < 1e-12 && (curve.survival(4) - 0.2).abs() < 1e-12);
        assert_eq!((curve.median(), curve.survival(0)), (Some(3), 1.0));
    }

    #[test]
    fn a_curve_that_stays_above_one_half_has_no_median() {
        assert_eq!(KaplanMeier::fit(&durations("3 9+ 9+ 9+")).median(), None);
        assert_eq!(KaplanMeier::fit(&[]).median(), None);
    }

    /// Geometric delays cut off at random: the curve must find (1 − p)^(t + 1), the naive share of detections does not.
    #[test]
    fn censoring_is_corrected_for() {
        let (mut rng, p, n) = (Rng::new(3), 0.1, 20_000);
        let mut draw = || {
            let (delay, last) = ((rng.uniform().ln() / (1.0_f64 - p).ln()) as u32, rng.below(20) as u32);
            Duration { time: delay.min(last), observed: delay <= last }
        };
        let all: Vec<Duration> = (0..n).map(|_| draw()).collect();
        let naive = all.iter().filter(|d| !(d.observed && d.time <= 9)).count() as f64 / n as f64;
        let (found, truth) = (KaplanMeier::fit(&all).survival(9), (1.0 - p).powi(10));
        assert!((found - truth).abs() < 0.015 && naive - truth > 0.1, "{found} {naive} {truth}");
    }
}
