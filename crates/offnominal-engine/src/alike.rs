//! Whether episodes differ in a hosted environment of which two seeds began the same one: copies of an episode say no more
//! than it does, however many there are.
//!
//! An environment may be the same at its reset and draw later, and what is drawn here (parameters, noise, anomalies, commands)
//! makes episodes differ anyway. So whole episodes are compared, as they are played.

use crate::context::Context;
use crate::subject::Subject;
use anyhow::{Result, anyhow};
use offnominal_core::prelude::*;
use offnominal_hosts::foreign;

/// Episodes that are compared before a command plays its own.
const TRIES: u64 = 10;

/// What is wrong with the episodes of a subject, if all are the same.
///
/// # Errors
/// If one cannot be played.
pub fn copies(subject: &Subject, context: &Context) -> Result<Option<String>> {
    let root = Seed(context.seed).child("alike");
    copies_of(subject.env.spec(), |i| subject.trusted(subject.trial().nominal(root.child(i))))
}

/// The same of episodes that somebody plays.
///
/// # Errors
/// As above.
pub fn copies_of(spec: &EnvSpec, play: impl Fn(u64) -> Result<Episode>) -> Result<Option<String>> {
    if !foreign::begins_alike(&spec.id) {
        return Ok(None);
    }
    let first = play(0)?;
    for i in 1..TRIES {
        if !is_same(&first, &play(i)?) {
            return Ok(None);
        }
    }
    Ok(Some(sentence(spec, TRIES)))
}

/// What is wrong with episodes that were played, if all are the same.
pub fn copies_in(spec: &EnvSpec, played: &[Episode]) -> Option<String> {
    let all_one = played.len() > 1 && played.windows(2).all(|pair| is_same(&pair[0], &pair[1]));
    (all_one && foreign::begins_alike(&spec.id)).then(|| sentence(spec, played.len() as u64))
}

/// Insists on episodes that differ.
///
/// # Errors
/// If something is wrong with them.
pub fn refuse(found: Option<String>) -> Result<()> {
    found.map_or(Ok(()), |why| Err(anyhow!(why)))
}

/// Whether two episodes have the same bits.
fn is_same(one: &Episode, other: &Episode) -> bool {
    let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let rewards = |episode: &Episode| episode.rewards.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    one.end == other.end
        && bits(&one.observations) == bits(&other.observations)
        && bits(&one.actions) == bits(&other.actions)
        && rewards(one) == rewards(other)
}

fn sentence(spec: &EnvSpec, n: u64) -> String {
    format!(
        "environment {}: expected episodes that differ, found {n} of different seeds that are all the same: any number of them \
         counts as one. Either reset(seed) does not reach what it draws, or it draws nothing. Seed it, or draw something for \
         each episode (--randomise, --distribution, --parameter-table, --anomaly); the option check=false goes on without",
        spec.id
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(reward: f64) -> Episode {
        Episode {
            env: "x".into(),
            seed: Seed(0),
            initial: vec![],
            anomaly_spec: None,
            onset: None,
            observations: vec![f32::NAN, 1.0],
            actions: vec![0.0],
            rewards: vec![reward],
            labels: vec![false],
            end: End::TimedOut,
            divergence: None,
            goal_met: None,
            obs_width: 1,
            act_width: 1,
        }
    }

    #[test]
    fn episodes_are_the_same_to_the_bit_and_those_that_nobody_hosts_are_not_asked_about() {
        assert!(is_same(&episode(1.0), &Episode { seed: Seed(1), ..episode(1.0) }));
        assert!(!is_same(&episode(0.0), &episode(-0.0)));
        let spec = EnvSpec::new("x", "a fixture");
        assert_eq!(copies_in(&spec, &[episode(1.0), episode(1.0)]), None);
        assert!(sentence(&spec, 7).contains("found 7 of different seeds"));
    }
}
