//! The settings of a campaign: which anomaly, how strong, in which environment, in the order of the report.

use crate::report::distinct;
use crate::results::Row;
use offnominal_engine::strengths::LEVELS;
use std::collections::{BTreeSet, HashMap};

/// The classes of anomalies in the order of the report.
const CLASSES: [&str; 3] = ["observation", "action", "dynamics"];

/// Nominal episodes treated as if they were anomalous: every detector must score as one that knows nothing.
pub const CONTROL: &str = "none";

/// An anomaly at a strength in an environment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Setting {
    /// Environment, with policy and modality where the results hold several of them.
    pub environment: String,
    /// Class of the anomaly.
    pub class: String,
    /// Anomaly id.
    pub anomaly: String,
    /// Strength level.
    pub strength: String,
}

/// Names an environment so that rows of different policies and modalities do not mix.
pub struct EnvironmentNamer {
    several_policies: BTreeSet<String>,
    several_modalities: bool,
}

impl EnvironmentNamer {
    /// Looks at all rows to learn what has to be told apart.
    pub fn new(rows: &[Row]) -> EnvironmentNamer {
        let mut policies: HashMap<&str, BTreeSet<&str>> = HashMap::new();
        for row in rows {
            policies.entry(&row.env).or_default().insert(&row.policy);
        }
        let several = policies.into_iter().filter(|(_, p)| p.len() > 1).map(|(env, _)| env.to_string());
        let modalities: BTreeSet<&str> = rows.iter().map(|r| r.modality.as_str()).collect();
        EnvironmentNamer { several_policies: several.collect(), several_modalities: modalities.len() > 1 }
    }

    /// The name of a row's environment.
    pub fn name(&self, row: &Row) -> String {
        let mut name = row.env.clone();
        if self.several_policies.contains(&row.env) {
            name = format!("{name} · {}", row.policy);
        }
        if self.several_modalities {
            name = format!("{name} · {}", row.modality);
        }
        name
    }

    /// The setting of a row.
    pub fn setting(&self, row: &Row) -> Setting {
        Setting {
            environment: self.name(row),
            class: row.anomaly_class.clone(),
            anomaly: row.anomaly.clone(),
            strength: row.strength.clone(),
        }
    }
}

/// All settings, by environment, class, anomaly and strength.
pub fn sorted(rows: &[Row], namer: &EnvironmentNamer) -> Vec<Setting> {
    let environments = distinct(rows.iter().map(|r| namer.name(r)));
    let mut all = distinct(rows.iter().map(|r| namer.setting(r)));
    all.sort_by_cached_key(|s| {
        let environment = environments.iter().position(|w| *w == s.environment);
        (environment, class_rank(&s.class), s.anomaly.clone(), strength_rank(&s.strength))
    });
    all
}

/// Strengths of one anomaly in one environment belong together; the settings are sorted, so they stand side by side.
pub fn clusters(settings: &[Setting]) -> Vec<usize> {
    let same = |a: &Setting, b: &Setting| a.environment == b.environment && a.anomaly == b.anomaly;
    settings
        .chunk_by(same)
        .enumerate()
        .flat_map(|(cluster, of)| std::iter::repeat_n(cluster, of.len()))
        .collect()
}

fn class_rank(class: &str) -> usize {
    let last = CLASSES.len() + usize::from(class == CONTROL);
    CLASSES.iter().position(|c| *c == class).unwrap_or(last)
}

/// The place of a strength among the four levels; others come after them.
pub fn strength_rank(strength: &str) -> usize {
    LEVELS.iter().position(|(level, _)| *level == strength).unwrap_or(LEVELS.len())
}
