//! Several requirements: how often each is broken, from the same experiments.
//!
//! A requirement is judged as the run is, on blocks in which only the experiments that broke it count as failures. So its
//! interval holds wherever that of the run does: what decides which draws are tried is known before their outcomes.
//!
//! The intervals come from the same experiments and depend on one another in whatever way. Those for all at once have the
//! level 1 − α/k each, for k requirements: so none of them misses with a probability of at least 1 − α (Bonferroni).

use super::answer::{Answer, answer, probability};
use super::block::{Block, Failure};
use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::Refusal;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How often each of several requirements is broken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Requirements {
    /// What the intervals promise.
    pub promise: String,
    /// The most important one first.
    pub each: Vec<Requirement>,
}

/// How often one of them is broken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// Experiments that broke it.
    pub broken: u64,
    /// The probability that an episode breaks it, with an interval for it alone.
    #[serde(flatten)]
    pub alone: Answer,
    /// The same, with an interval for all requirements at once.
    pub together: Option<Estimate>,
}

impl Requirements {
    /// What blocks say of each; nothing where none is told apart. `judge` is how the run is judged.
    ///
    /// # Errors
    /// As `judge`.
    pub(super) fn of(
        names: &[String],
        blocks: &[Block],
        level: Level,
        judge: impl Fn(&[Block], Level) -> Result<Result<Estimate, Refusal>>,
    ) -> Result<Option<Requirements>> {
        let miss = 1.0 - level.get();
        let strict = Level::try_from(1.0 - miss / names.len().max(1) as f64)?;
        let one = |(number, name): (u64, &String)| {
            let own: Vec<Block> = blocks.iter().map(|block| of_one(block, number)).collect();
            let broken = own.iter().map(|block| block.failures.len() as u64).sum();
            let alone = answer(&format!("{number}. {name}"), &judge(&own, level)?);
            Ok(Requirement { broken, alone, together: judge(&own, strict)?.ok() })
        };
        let each: Vec<Requirement> = (1..).zip(names).map(one).collect::<Result<_>>()?;
        Ok((!each.is_empty()).then(|| Requirements { promise: promise(each.len(), level, strict), each }))
    }
}

fn promise(n: usize, level: Level, strict: Level) -> String {
    let [level, strict] = [level, strict].map(|level| (1e4 * level.get()).round() / 100.0);
    format!(
        "each interval alone holds at {level} %; those for all {n} at once hold together at {level} %, because each of them \
         holds at {strict} % (Bonferroni). The first requirement is the most important one. An experiment without an outcome \
         breaks all."
    )
}

/// The block if only this requirement counted.
fn of_one(block: &Block, number: u64) -> Block {
    let breaks = |failure: &Failure| failure.broken.contains(&number);
    // What was tried and failed stands among the failures, in the same order.
    let mut failed = block.failures.iter().map(breaks);
    let one = |&(chance, has_failed): &(f64, bool)| (chance, has_failed && failed.next() == Some(true));
    let tried = block.tried.iter().map(one).collect();
    let failures = block.failures.iter().filter(|failure| breaks(failure)).cloned().collect();
    let (at, margins, samples) = (block.at.clone(), vec![], vec![]);
    Block { tried, failures, at, margins, samples, ..*block }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.alone)?;
        let Some(all) = &self.together else { return Ok(()) };
        write!(f, "; all at once [{}, {}]", probability(all.low), probability(all.high))
    }
}

#[cfg(test)]
mod tests;
