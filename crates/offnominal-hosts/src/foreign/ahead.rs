//! Steps that a process has played ahead, environment and policy together, as long as nothing disturbs either.
//!
//! Two messages for each step are the greater part of the time of a cheap environment. Where the runner knows that the
//! policy's commands will reach the environment as they are ([`Env::play_ahead`]), one message brings many steps, and
//! both sides take them from here: the same calls in the same order, so the same bits.
//!
//! [`Env::play_ahead`]: offnominal_core::env::Env::play_ahead

use crate::foreign::wire::{self, Reply};
use crate::foreign::worker::Worker;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The most steps that are played at once: after them a stop is heard.
const MOST: usize = 64;

/// How many steps are asked for at once, with observations and commands of these widths.
pub(super) fn at_once(obs_width: usize, act_width: usize) -> usize {
    (wire::LONGEST_ERROR / Played::bytes(obs_width, act_width)).min(MOST)
}

/// Where a policy acts: its process and its number there, and the steps that were played with it.
pub(super) struct Ahead {
    worker: Weak<Worker>,
    /// The policy's number in its process.
    pub(super) number: u32,
    steps: Mutex<Steps>,
}

/// Steps, of which the policy's side has taken some and the environment's side as many or one fewer.
#[derive(Default)]
struct Steps {
    played: Played,
    /// What the environment shows before the first of them.
    first: Vec<f32>,
    acted: usize,
    stepped: usize,
}

impl Ahead {
    /// A policy in a process, with which nothing was played yet.
    pub(super) fn new(worker: &Arc<Worker>, number: u32) -> Ahead {
        Ahead { worker: Arc::downgrade(worker), number, steps: Mutex::default() }
    }

    /// Whether the policy is in that process.
    pub(super) fn is_in(&self, worker: &Arc<Worker>) -> bool {
        Weak::ptr_eq(&self.worker, &Arc::downgrade(worker))
    }

    /// Whether everything was taken: commands, answers, and what was raised.
    pub(super) fn is_used_up(&self) -> bool {
        let Steps { played, acted, stepped, .. } = &*self.held();
        let is_taken = *acted == played.given && *stepped == played.replies.len();
        is_taken && played.raised.is_none()
    }

    /// Has steps from an observation on.
    pub(super) fn fill(&self, first: &[f32], played: Played) {
        *self.held() = Steps { played, first: first.to_vec(), acted: 0, stepped: 0 };
    }

    /// The policy's command for an observation, or what it raised; nothing where it is not known yet.
    ///
    /// # Panics
    /// If the observation is not the one for which the policy gave its command: a runner that promised so is wrong.
    pub(super) fn command(&self, obs: &[f32], command: &mut [f32]) -> Option<Result<(), String>> {
        let mut steps = self.held();
        let Steps { played, first, acted, .. } = &mut *steps;
        let Some(given) = row(&played.commands, *acted, command.len()) else {
            return played.raised_by(Who::Policy).map(Err);
        };
        let seen =
            acted.checked_sub(1).map_or(Some(first.as_slice()), |i| row(&played.observations, i, obs.len()));
        assert!(seen.is_some_and(|seen| same(seen, obs)), "the policy was promised another observation");
        command.copy_from_slice(given);
        *acted += 1;
        Some(Ok(()))
    }

    /// What the environment answered to a command, with its observation, or what it raised; nothing where it is not known.
    ///
    /// # Panics
    /// If the command is not the one that the policy gave.
    pub(super) fn step(&self, command: &[f32], obs: &mut [f32]) -> Option<Result<Reply, String>> {
        let mut steps = self.held();
        let Steps { played, stepped, .. } = &mut *steps;
        let Some(reply) = played.replies.get(*stepped).copied() else {
            return played.raised_by(Who::Environment).map(Err);
        };
        let given = row(&played.commands, *stepped, command.len());
        assert!(
            given.is_some_and(|given| same(given, command)),
            "the environment was promised another command"
        );
        obs.copy_from_slice(row(&played.observations, *stepped, obs.len())?);
        *stepped += 1;
        Some(Ok(reply))
    }

    fn held(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn row(rows: &[f32], i: usize, width: usize) -> Option<&[f32]> {
    rows.get(i * width..(i + 1) * width)
}

/// The same bits, also where they are no numbers.
fn same(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Who raised.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Who {
    Policy,
    Environment,
}

/// Steps as a process tells them: commands, and what the environment answered to each. A last command may have no
/// answer.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Played {
    /// How many commands were given.
    given: usize,
    commands: Vec<f32>,
    replies: Vec<Reply>,
    observations: Vec<f32>,
    raised: Option<(Who, String)>,
}

impl Played {
    /// Bytes of a step.
    fn bytes(obs_width: usize, act_width: usize) -> usize {
        4 * (obs_width + act_width) + Reply::BYTES
    }

    /// Reads what `worker/ahead.py` sends of at most so many steps.
    pub(super) fn read(body: &[u8], most: usize, obs_width: usize, act_width: usize) -> Option<Played> {
        let (made, rest) = number(body)?;
        let (commands, rest) = number(rest)?;
        let (&who, mut rest) = rest.split_first()?;
        if made > most || !(made..=made + 1).contains(&commands) {
            return None;
        }
        let mut played = Played { given: commands, ..Played::default() };
        for _ in 0..made {
            rest = played.add_command(rest, act_width)?;
            rest = played.add_answer(rest, obs_width)?;
        }
        if commands > made {
            rest = played.add_command(rest, act_width)?;
        }
        // Whoever raised nothing tells nothing, and an environment that raises was given a command.
        let raised = match who {
            0 if rest.is_empty() => None,
            1 if commands == made => Some(Who::Policy),
            2 if commands > made => Some(Who::Environment),
            _ => return None,
        };
        played.raised = raised.map(|who| (who, String::from_utf8_lossy(rest).into_owned()));
        Some(played)
    }

    fn add_command<'b>(&mut self, bytes: &'b [u8], width: usize) -> Option<&'b [u8]> {
        let (command, rest) = bytes.split_at_checked(4 * width)?;
        add(&mut self.commands, command);
        Some(rest)
    }

    fn add_answer<'b>(&mut self, bytes: &'b [u8], width: usize) -> Option<&'b [u8]> {
        let (answer, rest) = bytes.split_at_checked(Reply::BYTES + 4 * width)?;
        let (reply, obs) = Reply::read(answer)?;
        self.replies.push(reply);
        add(&mut self.observations, obs);
        Some(rest)
    }

    fn raised_by(&self, who: Who) -> Option<String> {
        self.raised.as_ref().filter(|(by, _)| *by == who).map(|(_, why)| why.clone())
    }
}

fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    bytes.split_first_chunk::<4>().map(|(number, rest)| (u32::from_le_bytes(*number) as usize, rest))
}

fn add(numbers: &mut Vec<f32>, bytes: &[u8]) {
    numbers.extend(bytes.as_chunks::<4>().0.iter().map(|float| f32::from_le_bytes(*float)));
}

#[cfg(test)]
mod tests;
