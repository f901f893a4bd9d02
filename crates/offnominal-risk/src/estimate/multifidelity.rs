//! `risk estimate --cheap`: how often a policy fails in a high-fidelity simulator, of few episodes, helped by many in a low-fidelity one.
//!
//! Pair i plays the policy in both simulators from the same initial condition with the same random numbers, and K times
//! more in the low-fidelity one from elsewhere. After each block somebody looks, and stops where the interval is as narrow as was
//! asked for, or tells on which side of the largest acceptable risk the failure probability lies. It is valid at every
//! number of pairs, whatever the low-fidelity simulator is worth.
//!
//! | file           | content                                                        |
//! |----------------|----------------------------------------------------------------|
//! | [`simulators`] | the high-fidelity and the low-fidelity environment with the policy             |
//! | [`pairs`]      | pairs, and the blocks of them that were played, in a journal   |
//! | [`ending`]     | when to stop                                                   |
//! | [`report`]     | what was found, as JSON and as text                            |
//!
//! The statistics are those of [`offnominal_stats::risk::multifidelity`].

pub mod ending;
pub mod pairs;
pub mod report;
pub mod simulators;
#[cfg(test)]
mod tests;

use crate::estimate::Request;
use crate::request::{self, within};
use anyhow::Result;
use ending::{Ending, Stop};
use offnominal_engine::context::Context;
use offnominal_stats::Level;
use offnominal_stats::risk::Multifidelity;
use pairs::{Pair, Pairs};
use report::Report;
use simulators::Simulators;

/// The largest block of pairs, which is held in memory and written at once.
const LARGEST_BLOCK: u64 = 100_000;
/// Most fresh low-fidelity episodes per high-fidelity one; beyond ten hardly anything is gained.
const MOST_PER_DEAR: u64 = 1000;
/// Beyond so many blocks, one looks only after one more of so many pairs.
const RARELY: u64 = 50;

/// Plays pairs until it is enough, or the last is played.
///
/// # Errors
/// If environments or policy cannot be had, the environments do not belong together, a parameter does not exist, a setting
/// is out of its range, the output folder holds another run, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    check(request)?;
    let level = Level::try_from(request.level)?;
    let simulators = Simulators::open(request)?;
    let players = simulators.players(context)?;
    players.dear.differ()?;
    let mut pairs = Pairs::open(request, &players, context.seed)?;
    let ending = Ending::of(request, level);
    let (mut played, mut found) = (Vec::new(), Multifidelity::new(request.per_dear as usize));
    let (bar, mut look) = (context.task(request.episodes as usize, "pairs"), 0);
    let stop = loop {
        let block = pairs.next(&players, context)?;
        block.iter().for_each(|pair| pair.push(request.per_dear, &mut found));
        played.extend(block);
        players.at_most(&played)?;
        let n = played.len() as u64;
        bar.set_position(n);
        if n >= request.episodes {
            break ending.at_the_end(&found);
        }
        if n >= look {
            // A look reads all pairs: among many pairs a few more change little.
            look = n + n / RARELY;
            if let Some(stop) = ending.reached(&found) {
                break stop;
            }
        }
    };
    finish(request, &players, &played, &found, stop, level, context)
}

/// Says and writes what pairs show.
fn finish(
    request: &Request,
    players: &pairs::Players<'_>,
    played: &[Pair],
    found: &Multifidelity,
    stop: Stop,
    level: Level,
    context: &Context,
) -> Result<Report> {
    let report = Report::new(request, players, played, found, stop, level, context)?;
    request::write_json(request.out.as_deref(), "multifidelity.json", &report)?;
    Ok(report)
}

/// Refuses numbers that are out of their ranges.
fn check(request: &Request) -> Result<()> {
    within("episodes", request.episodes, 2..=offnominal_core::limits::EPISODES as u64)?;
    within("block", request.block, 1..=LARGEST_BLOCK)?;
    within("per-dear", request.per_dear, 1..=MOST_PER_DEAR)
}
