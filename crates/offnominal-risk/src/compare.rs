//! `compare`: is the new policy better, worse, or no worse than a margin? Two policies are played on the same seeds, or
//! their outcomes were recorded elsewhere ([`recorded`]).
//!
//! Pair i plays both policies from the same initial condition, with the same randomness of the environment. After each
//! block of pairs somebody looks, and stops where the interval of the difference decides; it is valid at every number
//! of pairs, so looking costs nothing.
//!
//! | file         | content                                                        |
//! |--------------|----------------------------------------------------------------|
//! | [`request`]  | what may be asked, and what is refused                         |
//! | [`mod@pair`] | a pair of episodes, and their anomalous ones                   |
//! | [`pairs`]    | the blocks of pairs that were played, in a journal             |
//! | [`quantity`] | what is compared: failure, return, wins, success, alarms       |
//! | [`verdict`]  | what the difference shows                                      |
//! | [`report`]   | what was found, as JSON and as text                            |
//! | [`page`]     | the same as a page                                             |
//! | [`recorded`] | outcomes that others recorded, in place of pairs that are played |
//!
//! The statistics are those of [`offnominal_stats::paired`].

pub mod page;
pub mod pair;
pub mod pairs;
pub mod quantity;
pub mod recorded;
pub mod report;
pub mod request;
#[cfg(test)]
mod tests;
pub mod verdict;

use anyhow::Result;
use offnominal_core::prelude::*;
use offnominal_engine::alike;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_files::lock::Lock;
use offnominal_files::provenance::Provenance;
use offnominal_stats::Level;
use pair::{Monitors, Pair, Players};
use pairs::Pairs;
use quantity::{Judged, Quantity};
use recorded::document::Recorded;
use report::Report;
pub use request::Request;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use verdict::{Gate, Verdict};

/// How a comparison ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Compared {
    /// Of pairs that were played.
    Played(Box<Report>),
    /// Of outcomes that were recorded.
    Recorded(Box<Recorded>),
}

impl Compared {
    /// Why the new policy is not acceptable, if it is not.
    pub fn unacceptable(&self) -> Option<String> {
        match self {
            Compared::Played(report) => report.unacceptable(),
            Compared::Recorded(found) => found.unacceptable(),
        }
    }
}

impl Display for Compared {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Compared::Played(report) => report.fmt(out),
            Compared::Recorded(found) => found.fmt(out),
        }
    }
}

/// Beyond so many blocks, one looks only after one more of so many pairs.
const RARELY: u64 = 50;

/// Plays pairs, or reads outcomes, and says what they show.
///
/// # Errors
/// As [`play`] and [`recorded::run`].
pub fn run(request: &Request, context: &Context) -> Result<Compared> {
    if request.env.0.is_some() {
        return Ok(Compared::Played(Box::new(play(request, context)?)));
    }
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let mut found = recorded::run(&request.question()?, context)?;
    if let Some(folder) = request.out.as_deref() {
        crate::request::write_json(Some(folder), "compare.json", &found)?;
        found.page = Some(page::write(folder, &page::of_recorded(&found)?)?);
    }
    Ok(Compared::Recorded(Box::new(found)))
}

/// Plays pairs until they decide, or the last is played.
///
/// # Errors
/// If environment, policies or monitor cannot be had, the metric is not defined there, a setting is out of its range,
/// the output folder holds another comparison, or a file cannot be written.
pub fn play(request: &Request, context: &Context) -> Result<Report> {
    request.check()?;
    let level = Level::try_from(request.level)?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let (old, new) = (request.subject(&request.old)?, request.subject(request.newer()?)?);
    // A strength is calibrated for a policy; both get the magnitude of the old one.
    let anomaly = old.anomaly_spec(request.anomaly.as_ref())?;
    let monitors = request.monitor.as_deref().map(|path| Monitors::open(path, &old)).transpose()?;
    let players = Players {
        subjects: [&old, &new],
        anomaly: anomaly.as_ref(),
        twin: request.twin,
        monitors: monitors.as_ref(),
        seed: Seed(context.seed).child("compare"),
        allow_diverged: context.allow_diverged,
    };
    let is_gate = request.require.is_some() && request.metric.is_none();
    if is_gate || request.metric == Some(Quantity::Failure) {
        old.knows_failure()?;
    }
    request.metric.map(|metric| request.judged(metric)).transpose()?;
    if request.require.is_some() && anomaly.is_none() {
        let copies = [alike::copies(&old, context)?, alike::copies(&new, context)?];
        // One policy that draws makes pairs differ.
        alike::refuse(copies.into_iter().collect::<Option<Vec<_>>>().map(|mut both| both.swap_remove(0)))?;
    }
    let gate = Gate { margin: request.margin, require: request.require, level };
    let mut pairs = Pairs::open(request.out.as_deref(), &players, request, context.seed)?;
    let first = pairs.next(&players, context)?;
    let judged = request.judged(request.metric.unwrap_or_else(|| default_metric(&players, &first)))?;
    let (played, verdict) = decide(request, &judged, &gate, (first, &mut pairs), &players, context)?;
    let made = made(request, &players, context)?;
    let report = Report { made, ..Report::new(request, &players, &judged, &played, verdict, level)? };
    crate::request::write_json(request.out.as_deref(), "compare.json", &report)?;
    request.out.as_deref().map(|folder| page::write(folder, &page::of_played(&report)?)).transpose()?;
    Ok(report)
}

/// What made the result: the command, and what is played.
fn made(request: &Request, players: &Players<'_>, context: &Context) -> Result<Provenance> {
    let command = context.command.as_str();
    let config = serde_json::to_vec(&pairs::Spec::new(players, request, context.seed))?;
    let names = players.subjects.map(|subject| &subject.name);
    Ok(provenance::made(command, context.seed, &config, &[players.subjects[0].env.spec()], &names))
}

/// Success where it is defined, else return. Which one it is hangs on no draw: the environment says it where an episode
/// starts, or in the first that does not fail.
fn default_metric(players: &Players<'_>, first: &[Pair]) -> Quantity {
    let mut episodes = first.iter().flat_map(Pair::episodes);
    let says = |played: pair::Played| !played.failed && played.success.is_some();
    let is_defined = knows_its_goal(players.subjects[0].env.as_ref()) || episodes.any(says);
    if is_defined { Quantity::Success } else { Quantity::Return }
}

/// Whether an environment says of an episode that begins whether its goal is met.
fn knows_its_goal(env: &dyn Env) -> bool {
    let Some(mut env) = env.checkout() else { return false };
    let (mut rng, mut world) = (Seed(0).child("start").rng(), Seed(0).child("world").rng());
    let x = env.draw(&mut rng);
    env.start(&x, &mut world);
    env.goal_met().is_some()
}

/// Plays block after block, of which the first was played, until the verdict is known.
fn decide(
    request: &Request,
    judged: &Judged,
    gate: &Gate,
    (mut block, pairs): (Vec<Pair>, &mut Pairs),
    players: &Players<'_>,
    context: &Context,
) -> Result<(Vec<Pair>, Verdict)> {
    let (mut played, mut gains) = (Vec::new(), judged.mean_of_gains());
    let (bar, mut look) = (context.task(request.most() as usize, "pairs"), 0);
    loop {
        for (i, pair) in block.iter().enumerate() {
            if let Some(gain) = judged.gain(pair, played.len() + i)? {
                gains.push(gain);
            }
        }
        played.extend(block);
        pair::at_most(&played, context.allow_diverged)?;
        bar.set_position(played.len() as u64);
        let n = played.len() as u64;
        if n >= request.most() {
            return Ok((played, gate.at_the_end(&gains)));
        }
        if n >= look {
            // A look reads all differences: among many pairs a few more change little.
            look = n + n / RARELY;
            if let Some(verdict) = gate.decided(&gains) {
                return Ok((played, verdict));
            }
        }
        block = pairs.next(players, context)?;
    }
}
