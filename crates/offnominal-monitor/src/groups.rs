//! Groups of episodes, such as tasks or modes, each with the threshold that a fit found for it, as a file's header has them.

use crate::calibrated::Calibrated;
use offnominal_stats::{GroupThresholds, Rule};
use serde::{Deserialize, Serialize};

/// The thresholds of groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// Groups with a threshold of their own.
    pub own: Vec<Group>,
    /// Groups with too few episodes for one.
    pub pooled: Vec<PooledGroup>,
    /// The threshold of those, set by the episodes of all of them; if absent, theirs is that of all episodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Calibrated>,
}

/// A group with a threshold of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its threshold.
    pub threshold: Calibrated,
}

/// A group with too few episodes for a threshold of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PooledGroup {
    /// Its name.
    pub name: String,
    /// Its nominal episodes.
    pub episodes: usize,
}

impl Groups {
    /// What a header says of thresholds that a rule set.
    pub fn new(rule: Rule, found: &GroupThresholds) -> Groups {
        let own = found.own.iter().map(|(name, episodes, threshold)| Group {
            name: name.clone(),
            threshold: Calibrated::new(rule, threshold, *episodes),
        });
        let pooled = found
            .pooled
            .iter()
            .map(|(name, episodes)| PooledGroup { name: name.clone(), episodes: *episodes });
        let n_pooled = found.pooled.iter().map(|(_, episodes)| episodes).sum();
        let pool = found.pool.as_ref().map(|threshold| Calibrated::new(rule, threshold, n_pooled));
        Groups { own: own.collect(), pooled: pooled.collect(), pool }
    }

    /// The names of all groups.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let own = self.own.iter().map(|group| group.name.as_str());
        own.chain(self.pooled.iter().map(|group| group.name.as_str()))
    }
}
