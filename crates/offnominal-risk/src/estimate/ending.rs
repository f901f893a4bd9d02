//! When a run may end before its last planned episode.
//!
//! Whoever looks at an interval to decide whether to go on needs one that is valid whenever one stops. So no number of
//! draws counts as planned where a run may stop early, and the intervals of thinned and plain experiments are the
//! sequences of [`offnominal_stats::risk`].

use super::verdict::Verdict;
use anyhow::{Result, ensure};
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;

/// What ends a run early; without either it ends with its last episode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ending {
    /// Confidence level of the intervals that decide.
    pub level: Level,
    /// The interval is at most this wide.
    pub width: Option<f64>,
    /// The interval lies on one side of this failure probability.
    pub decided: Option<f64>,
}

impl Ending {
    /// With the last episode only.
    pub const NONE: Ending = Ending { level: Level::P95, width: None, decided: None };

    /// Whether a run may end early.
    pub fn is_early(&self) -> bool {
        self.width.is_some() || self.decided.is_some()
    }

    /// Draws until the next look, after so many, where a look may come after every `most` at the latest.
    ///
    /// The first come often, so that slow environments need not play a large block; later ones are a twentieth apart,
    /// because a few more draws change little.
    pub(super) fn next_look(&self, done: u64, most: u64) -> u64 {
        const FIRST: u64 = 50;
        if self.is_early() { (done / 20).clamp(FIRST, most) } else { most }
    }

    /// Whether what was found ends the run.
    pub(super) fn is_due(&self, verdict: &Verdict) -> bool {
        let Ok(risk) = &verdict.risk else { return false };
        self.is_narrow(risk) || self.is_decided(risk)
    }

    fn is_narrow(&self, risk: &Estimate) -> bool {
        self.width.is_some_and(|width| risk.high - risk.low <= width)
    }

    fn is_decided(&self, risk: &Estimate) -> bool {
        self.decided.is_some_and(|p| risk.high <= p || risk.low > p)
    }

    /// What was not reached when the last episode was played.
    pub(super) fn missed(&self, risk: Option<&Estimate>) -> Option<String> {
        let risk = risk.filter(|risk| self.is_early() && !self.is_narrow(risk) && !self.is_decided(risk))?;
        let found = format!("{:.2e}", risk.high - risk.low);
        Some(match (self.width, self.decided) {
            (Some(width), _) => {
                format!("width: expected at most {width}, found {found} after the last episode")
            }
            (None, decided) => {
                format!("early stop: undecided at {} after the last episode", decided.unwrap_or_default())
            }
        })
    }

    /// Refuses a width that is none.
    ///
    /// # Errors
    /// If it is not between 0 and 1.
    pub(super) fn check(&self) -> Result<()> {
        let is_sound = self.width.is_none_or(|width| width > 0.0 && width < 1.0);
        ensure!(
            is_sound,
            "width: expected a number above 0 and below 1, found {}",
            self.width.unwrap_or_default()
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_often_at_first_and_then_a_twentieth_apart() {
        let early = Ending { width: Some(0.1), ..Ending::NONE };
        let next: Vec<u64> = [0, 1000, 10_000, 100_000].map(|done| early.next_look(done, 2000)).to_vec();
        assert_eq!(next, [50, 50, 500, 2000]);
        assert_eq!(Ending::NONE.next_look(0, 2000), 2000);
    }

    #[test]
    fn what_was_missed_is_named() {
        let of = |value: f64, low: f64, high: f64| Estimate {
            value,
            low,
            high,
            level: 0.95,
            n: 9,
            method: "betting-sequence".into(),
        };
        let (width, gate) =
            (Ending { width: Some(0.1), ..Ending::NONE }, Ending { decided: Some(0.2), ..Ending::NONE });
        let (wide, narrow) = (of(0.2, 0.1, 0.3), of(0.2, 0.18, 0.22));
        assert!(width.missed(Some(&wide)).unwrap().contains("expected at most 0.1, found 2.00e-1"));
        assert_eq!((width.missed(Some(&narrow)), width.missed(None)), (None, None));
        assert_eq!(gate.missed(Some(&of(0.1, 0.05, 0.2))), None);
        assert!(gate.missed(Some(&narrow)).unwrap().contains("undecided at 0.2"));
        assert_eq!(Ending::NONE.missed(Some(&wide)), None);
    }
}
