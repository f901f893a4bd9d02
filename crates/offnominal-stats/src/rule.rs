//! The alarm rules: the names that results use, what they promise, and where pages show them.

/// What is known of an alarm rule, whatever share of false alarms it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlarmRule {
    /// Name in results.
    pub id: &'static str,
    /// What it is, and what it promises.
    pub promise: &'static str,
    /// Whether it promises the share of false alarms that it is asked for.
    pub promises: bool,
    /// Order of preference, from 1: the first that results know is the one of the summary.
    pub preference: u8,
    /// Whether the table of delays shows it.
    pub timed: bool,
    /// Whether the table of realised false alarms shows it.
    pub watched: bool,
}

/// Every rule for episodes, in the order of [`Rule::all`](crate::Rule::all).
pub const RULES: [AlarmRule; 7] = [
    AlarmRule {
        id: "3sigma",
        promise: "Mean plus three standard deviations of the scores of held-out nominal steps. It promises nothing.",
        promises: false,
        preference: 7,
        timed: true,
        watched: false,
    },
    AlarmRule {
        id: "q95",
        promise: "The 95th percentile of the scores of held-out nominal steps. It bounds false alarms per step, not per episode.",
        promises: false,
        preference: 2,
        timed: true,
        watched: true,
    },
    AlarmRule {
        id: "max",
        promise: "The largest score of the held-out nominal steps.",
        promises: false,
        preference: 6,
        timed: true,
        watched: false,
    },
    AlarmRule {
        id: "conformal",
        promise: "An order statistic of the largest scores of held-out nominal episodes. It promises, for any score, that a new nominal episode raises an alarm with at most the chosen probability: on average over sets of held-out episodes, or with a stated confidence in the set at hand.",
        promises: true,
        preference: 1,
        timed: true,
        watched: true,
    },
    AlarmRule {
        id: "band",
        promise: "A conformal threshold for scores standardised by time: a limit of its own for each step of an episode, with the same promise.",
        promises: true,
        preference: 3,
        timed: false,
        watched: true,
    },
    AlarmRule {
        id: "cusum",
        promise: "A conformal threshold for the CUSUM of scores standardised by time, which sees small faults that last, with the same promise.",
        promises: true,
        preference: 4,
        timed: false,
        watched: true,
    },
    AlarmRule {
        id: "martingale",
        promise: "A conformal threshold for the capital of bets on the ranks of scores standardised by time, with the same promise.",
        promises: true,
        preference: 5,
        timed: false,
        watched: true,
    },
];

/// The rule for streams without episodes, which tables of episodes do not have.
pub const RUN_LENGTH: AlarmRule = AlarmRule {
    id: "run-length",
    promise: "Evidence that accumulates over blocks of a stream. It promises that false alarms are at least the chosen number of steps apart on average, for streams whose largest scores in blocks are exchangeable.",
    promises: true,
    preference: 8,
    timed: false,
    watched: false,
};

/// The rules, the preferred one first.
pub fn preferred() -> impl Iterator<Item = &'static AlarmRule> {
    let mut rules: Vec<&AlarmRule> = RULES.iter().collect();
    rules.sort_by_key(|rule| rule.preference);
    rules.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Promise, Rule};

    #[test]
    fn the_list_has_every_rule_and_nothing_else() {
        let all = Rule::all(Promise::on_average(0.1));
        assert_eq!(all.map(|rule| rule.id()), RULES.map(|rule| rule.id));
        assert_eq!(all.map(|rule| rule.promise().is_some()), RULES.map(|rule| rule.promises));
        assert!(preferred().map(|rule| rule.preference).eq(1..=7));
        assert!(RULES.iter().all(|rule| rule.promise.ends_with('.')));
    }
}
