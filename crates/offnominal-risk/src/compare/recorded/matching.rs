//! Which trials are compared with which: those of the same task and seed, else those of a task in the order recorded.
//!
//! Matching by order loses nothing but the correlation that equal seeds have: independent trials may be matched by any rule
//! that does not look at outcomes.

use super::trials::{Recording, Trial};
use serde::Serialize;
use std::collections::BTreeMap;
use strum::IntoStaticStr;

/// By what trials were matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum By {
    /// The same task and seed.
    Seed,
    /// The same task, in the order recorded.
    Order,
    /// Nothing: only counts are known.
    Counts,
}

/// Matched trials: what came of each, for each arm.
#[derive(Debug, Clone, PartialEq)]
pub struct Units {
    /// One row for each pair, with an outcome of each arm.
    pub outcomes: Vec<Vec<f64>>,
    /// By what they were matched.
    pub by: By,
    /// Trials that have no partner.
    pub left_out: usize,
}

/// The trials of one arm.
pub type Arm<'t> = Vec<&'t Trial>;

/// The trials of a policy in a task under a condition.
pub fn arm<'t>(of: &'t Recording, task: &str, condition: Option<&str>) -> Arm<'t> {
    let is = |trial: &&Trial| trial.task == task && trial.condition.as_deref() == condition;
    of.trials().iter().filter(is).collect()
}

/// Tasks, or conditions, in the order in which they first appear.
pub fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    all.for_each(|one| {
        if !found.contains(&one) {
            found.push(one);
        }
    });
    found
}

/// Matches the trials of arms: by seed where all have seeds and share one, else by order.
pub fn matched(arms: &[Arm<'_>]) -> Units {
    let total: usize = arms.iter().map(Vec::len).sum();
    let (outcomes, by) = match by_seed(arms) {
        Some(outcomes) if !outcomes.is_empty() => (outcomes, By::Seed),
        _ => (by_order(arms), By::Order),
    };
    let left_out = total - outcomes.len() * arms.len();
    Units { outcomes, by, left_out }
}

/// Nothing if an arm has no seeds.
fn by_seed(arms: &[Arm<'_>]) -> Option<Vec<Vec<f64>>> {
    let index = |arm: &Arm<'_>| {
        let of = |trial: &&Trial| Some((trial.seed.clone()?, trial.outcome));
        arm.iter().map(of).collect::<Option<BTreeMap<String, f64>>>()
    };
    let others: Vec<BTreeMap<String, f64>> = arms[1..].iter().map(index).collect::<Option<_>>()?;
    let mut found = Vec::new();
    for trial in &arms[0] {
        let seed = trial.seed.as_ref()?;
        let rest: Option<Vec<f64>> = others.iter().map(|arm| arm.get(seed).copied()).collect();
        found.extend(rest.map(|rest| [vec![trial.outcome], rest].concat()));
    }
    Some(found)
}

fn by_order(arms: &[Arm<'_>]) -> Vec<Vec<f64>> {
    let n = arms.iter().map(Vec::len).min().unwrap_or(0);
    (0..n).map(|i| arms.iter().map(|arm| arm[i].outcome).collect()).collect()
}

impl Units {
    /// Those of several tasks together; by seed only if all are.
    pub fn together(all: &[Units]) -> Units {
        let is_order = all.iter().any(|units| units.by == By::Order);
        Units {
            outcomes: all.iter().flat_map(|units| units.outcomes.clone()).collect(),
            by: if is_order { By::Order } else { By::Seed },
            left_out: all.iter().map(|units| units.left_out).sum(),
        }
    }

    /// What each policy has in each pair: its outcome, or with benign arms what the perturbation adds to it.
    pub fn values(&self) -> Vec<[f64; 2]> {
        let of = |row: &Vec<f64>| match row[..] {
            [old, new] => [old, new],
            [old_benign, old, new_benign, new] => [old - old_benign, new - new_benign],
            _ => unreachable!("two or four arms are matched"),
        };
        self.outcomes.iter().map(of).collect()
    }
}
