//! What a depth leaves out, in sentences.

use crate::depth::{Depth, Effort};

/// The sentences: of faults, how many are tried and which are not; detectors that were dropped for the budget.
pub fn sentences(
    depth: Depth,
    effort: &Effort,
    (tried, untried): (usize, &[String]),
    dropped: &[&str],
) -> Vec<String> {
    let mut sentences = Vec::new();
    if !dropped.is_empty() {
        sentences.push(format!("Detectors that take long to fit were not tried: {}.", dropped.join(", ")));
    }
    if !untried.is_empty() {
        sentences.push(format!(
            "{tried} of {} faults that apply were tried, {} were not (depth {}): {}.",
            tried + untried.len(),
            untried.len(),
            <&str>::from(depth),
            untried.join(", ")
        ));
    }
    if effort.levels.len() < 4 {
        sentences.push(format!(
            "Of the strengths tiny, medium, strong and extreme this depth tries {}, and those of requirements.",
            effort.levels.join(" and ")
        ));
    }
    if effort.channels == 0 {
        sentences.push("Channels were not disturbed one at a time.".into());
    }
    if effort.swarms == 0 {
        sentences.push("Failures that are too rare to be counted were not searched for.".into());
    }
    if depth != Depth::Thorough {
        sentences.push(
            "Intervals are wider than at the next depth, which plays more episodes of each kind.".into(),
        );
    }
    sentences
}
