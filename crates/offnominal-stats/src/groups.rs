//! A threshold for each group of episodes, such as those of one task or mode.
//!
//! A promise over all episodes may be kept by a task that never alarms and broken by one that always does. Here each group is
//! calibrated by its own episodes, so the promise holds *within* it:
//!
//! | group                                   | threshold                                    | promise                          |
//! |-----------------------------------------|----------------------------------------------|----------------------------------|
//! | has as many episodes as the rule needs  | of its own episodes                          | within the group                 |
//! | has fewer                               | of the episodes of all such groups together  | over those groups together       |
//! | those together have too few             | of all episodes                              | over all episodes                |
//!
//! Reference: Vovk, Gammerman & Shafer, Algorithmic Learning in a Random Environment, 2005, section 4.5 (Mondrian conformal
//! predictors); Vovk, ACML 2012, section 3.

use crate::threshold::{Rule, Threshold};
use crate::{Level, StatsError};
use std::collections::BTreeMap;

/// Thresholds of the groups of episodes, beside the one of all episodes.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupThresholds {
    /// The groups with a threshold of their own, in the order of their names, and how many episodes set it.
    pub own: Vec<(String, usize, Threshold)>,
    /// The groups with too few episodes for one, in the order of their names, and how many they have.
    pub pooled: Vec<(String, usize)>,
    /// The threshold of those, if they have enough episodes together.
    pub pool: Option<Threshold>,
}

impl Rule {
    /// The thresholds of groups, from the step scores of nominal episodes `[n]` and the name of each one's group `[n]`.
    ///
    /// # Errors
    /// As [`Rule::threshold`], but that a group may have too few episodes.
    ///
    /// # Panics
    /// If there are not as many names as episodes.
    pub fn group_thresholds<E: AsRef<[f64]>>(
        &self,
        nominal: &[E],
        groups: &[impl AsRef<str>],
        level: Level,
    ) -> Result<GroupThresholds, StatsError> {
        assert_eq!(nominal.len(), groups.len(), "one name for each episode");
        let mut members = BTreeMap::<&str, Vec<&[f64]>>::new();
        for (episode, group) in nominal.iter().zip(groups) {
            members.entry(group.as_ref()).or_default().push(episode.as_ref());
        }
        let (large, small): (Vec<_>, Vec<_>) =
            members.into_iter().partition(|(_, episodes)| episodes.len() >= self.min_episodes());
        let own = large.into_iter().map(|(name, episodes)| {
            Ok((name.to_string(), episodes.len(), self.threshold(&episodes, level)?))
        });
        let together: Vec<&[f64]> = small.iter().flat_map(|(_, episodes)| episodes).copied().collect();
        let has_enough = !together.is_empty() && together.len() >= self.min_episodes();
        Ok(GroupThresholds {
            own: own.collect::<Result<_, StatsError>>()?,
            pool: has_enough.then(|| self.threshold(&together, level)).transpose()?,
            pooled: small.into_iter().map(|(name, episodes)| (name.to_string(), episodes.len())).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Promise;
    use offnominal_core::Seed;

    const RULE: Rule = Rule::Conformal(Promise { alpha: 0.1, confidence: None });

    /// Episodes of one step each, whose scores are 1 … n.
    fn episodes(group: &str, n: u32, from: f64) -> Vec<(String, [f64; 1])> {
        (1..=n).map(|i| (group.to_string(), [from + f64::from(i)])).collect()
    }

    fn thresholds(of: &[(String, [f64; 1])]) -> GroupThresholds {
        let (groups, scores): (Vec<String>, Vec<[f64; 1]>) = of.iter().cloned().unzip();
        RULE.group_thresholds(&scores, &groups, Level::P95).unwrap()
    }

    #[test]
    fn a_group_has_its_own_threshold_and_small_ones_share_theirs() {
        let all =
            [episodes("lift", 19, 0.0), episodes("push", 5, 100.0), episodes("turn", 4, 200.0)].concat();
        let found = thresholds(&all);
        let [(name, n, lift)] = &found.own[..] else { panic!("{:?}", found.own) };
        assert_eq!((name.as_str(), *n, lift.value), ("lift", 19, 18.0));
        assert_eq!(found.pooled, [("push".to_string(), 5), ("turn".to_string(), 4)]);
        assert_eq!(found.pool.unwrap().value, 204.0, "nine episodes: the largest");
    }

    #[test]
    fn small_groups_that_are_too_few_together_have_none() {
        let found = thresholds(&[episodes("lift", 19, 0.0), episodes("push", 8, 0.0)].concat());
        assert_eq!((found.pool, found.pooled), (None, vec![("push".to_string(), 8)]));
        assert_eq!(thresholds(&episodes("lift", 30, 0.0)).pool, None, "nobody is left");
    }

    #[test]
    fn the_promise_holds_within_each_group() {
        // Scores of one group are ten times as large, so a threshold of all alarms in that group alone.
        let scale = |group: &str| if group == "heavy" { 10.0 } else { 1.0 };
        let draw = |seed: u64| {
            let mut rng = Seed(seed).child("groups").rng();
            let mut one = |group: &str| (group.to_string(), [rng.normal().abs() * scale(group)]);
            (0..80).map(|i| one(if i % 4 == 0 { "heavy" } else { "light" })).collect::<Vec<_>>()
        };
        let share = |alarms: &dyn Fn(&str, f64, u64) -> bool, group: &str| {
            let fresh = |seed| draw(10_000 + seed).into_iter().filter(|(g, _)| g == group).take(20);
            let alarmed = |seed| fresh(seed).filter(|(g, s)| alarms(g, s[0], seed)).count();
            (0..200).map(alarmed).sum::<usize>() as f64 / 4000.0
        };
        let own = |group: &str, score, seed| {
            thresholds(&draw(seed)).own.iter().any(|(g, _, t)| g == group && score > t.value)
        };
        let of_all = |_: &str, score, seed| {
            let scores: Vec<[f64; 1]> = draw(seed).into_iter().map(|(_, s)| s).collect();
            score > RULE.threshold(&scores, Level::P95).unwrap().value
        };
        assert!(share(&own, "heavy") < 0.12 && share(&own, "light") < 0.12);
        assert!(share(&of_all, "heavy") > 0.25, "{}", share(&of_all, "heavy"));
    }
}
