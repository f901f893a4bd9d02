//! What a difference shows, and when it is enough.

use offnominal_stats::Level;
use offnominal_stats::paired::Mean;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// What was shown of the new policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Verdict {
    /// It is better than the old one.
    Better,
    /// It is worse by less than the margin, if it is worse at all.
    NoWorse,
    /// It is worse than the old one, and not shown to be within the margin.
    Worse,
    /// Nothing.
    Undecided,
}

/// What must be shown of the new policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Requirement {
    /// That it is no worse than the margin, or better
    NoWorse,
    /// That it is better
    Better,
}

/// When pairs decide. All its verdicts are read off one interval, so they hold together at its level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    /// How much worse the new policy may be.
    pub margin: Option<f64>,
    /// What must be shown.
    pub require: Option<Requirement>,
    /// The confidence level.
    pub level: Level,
}

impl Gate {
    /// What the gains of the new policy show by now, if they show enough to stop. With a margin it is enough that the new
    /// policy is no worse than that, unless it must be better, and only being worse by more than the margin ends it.
    pub fn decided(&self, gains: &Mean) -> Option<Verdict> {
        if gains.is_above(0.0, self.level) {
            return Some(Verdict::Better);
        }
        let may_be_equal = self.require != Some(Requirement::Better);
        if may_be_equal && self.is_within_margin(gains) {
            return Some(Verdict::NoWorse);
        }
        // Whoever must be better is not, once it is worse at all.
        let limit = if may_be_equal { self.margin.map_or(0.0, |margin| -margin) } else { 0.0 };
        gains.is_below(limit, self.level).then_some(Verdict::Worse)
    }

    /// What they show where there are no more.
    pub fn at_the_end(&self, gains: &Mean) -> Verdict {
        match self.decided(gains) {
            Some(verdict) => verdict,
            None if self.is_within_margin(gains) => Verdict::NoWorse,
            None if gains.is_below(0.0, self.level) => Verdict::Worse,
            None => Verdict::Undecided,
        }
    }

    fn is_within_margin(&self, gains: &Mean) -> bool {
        self.margin.is_some_and(|margin| gains.is_above(-margin, self.level))
    }
}

impl Requirement {
    /// Whether a verdict meets it.
    pub fn is_met(self, verdict: Verdict) -> bool {
        match self {
            Requirement::Better => verdict == Verdict::Better,
            Requirement::NoWorse => matches!(verdict, Verdict::Better | Verdict::NoWorse),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gains(wins: usize, losses: usize, ties: usize) -> Mean {
        let mut mean = Mean::bounded(1.0);
        [(1.0, wins), (-1.0, losses), (0.0, ties)]
            .iter()
            .for_each(|&(x, n)| (0..n).for_each(|_| mean.push(x)));
        mean
    }

    fn gate(margin: Option<f64>, require: Option<Requirement>) -> Gate {
        Gate { margin, require, level: Level::P95 }
    }

    #[test]
    fn better_worse_and_undecided_are_where_the_interval_lies() {
        let plain = gate(None, None);
        assert_eq!(plain.decided(&gains(20, 1, 79)), Some(Verdict::Better));
        assert_eq!(plain.decided(&gains(1, 20, 79)), Some(Verdict::Worse));
        assert_eq!(
            (plain.decided(&gains(5, 5, 90)), plain.at_the_end(&gains(5, 5, 90))),
            (None, Verdict::Undecided)
        );
    }

    #[test]
    fn a_margin_is_met_by_what_is_as_good_and_by_what_is_worse_by_less() {
        let within = gate(Some(0.1), Some(Requirement::NoWorse));
        assert_eq!(within.decided(&gains(10, 10, 980)), Some(Verdict::NoWorse));
        // Worse by 0.02 for sure, and by less than 0.1 for sure.
        let little = gains(0, 20, 980);
        assert_eq!(within.decided(&little), Some(Verdict::NoWorse));
        assert_eq!(gate(None, None).decided(&little), Some(Verdict::Worse));
        // Worse for sure, and perhaps by more than the margin: one goes on, and in the end it is worse.
        let more = gains(0, 20, 230);
        assert_eq!((within.decided(&more), within.at_the_end(&more)), (None, Verdict::Worse));
        assert_eq!(within.decided(&gains(0, 200, 300)), Some(Verdict::Worse));
    }

    #[test]
    fn who_must_be_better_is_not_done_when_it_is_as_good() {
        let strict = gate(Some(0.1), Some(Requirement::Better));
        let same = gains(10, 10, 980);
        assert_eq!((strict.decided(&same), strict.at_the_end(&same)), (None, Verdict::NoWorse));
        assert!(
            !Requirement::Better.is_met(Verdict::NoWorse) && Requirement::NoWorse.is_met(Verdict::Better)
        );
    }
}
