//! Calibrated magnitudes: the driver of `stats::calibrate`, which plays the episodes that it asks for.
//!
//! A score is the return of an episode that is anomalous from the first step, normalised so that the undisturbed policy
//! has 1 and the random policy 0 (Anomaly-Gym, equation 4). Episode i has the same seed at every magnitude. An anomaly
//! that can grow in two directions is tried in the preferred one first, and in the other for levels not reached there.

mod duplicates;
mod given;
mod request;
mod response;
#[cfg(test)]
mod units;

pub use given::Scored;
pub use request::{Calibrated, Request, Rows, run};

use anyhow::{Context as _, Result, ensure};
use offnominal_core::episode::Outcome;
use offnominal_core::policy::Random;
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::diverged::Diverged;
use offnominal_engine::strengths::{LEVELS, Status, Strength};
use offnominal_engine::subject::Subject;
use offnominal_engine::{catalogues, parallel};
use offnominal_files::store::{State, Store, address};
use offnominal_hosts::foreign;
use offnominal_stats::calibrate::Verdict;
use offnominal_worlds::anomaly::{Deviations, searches};
use response::Response;
use serde::Serialize;
use std::path::Path;

/// How hard to look.
#[derive(Debug, Clone, Serialize)]
struct Effort {
    /// Nominal episodes, and the most that are played at one magnitude.
    nominal: usize,
    /// Most episodes for one anomaly in one direction.
    budget: usize,
    /// Half-width aimed at for the interval of a score, as a share of 1 − target.
    tolerance: f64,
    /// Half-width up to which a score is known well enough, as a share of 1 − target.
    precision: f64,
}

/// Finds the magnitudes of the given anomalies at every level; finished anomalies are cells in the output folder.
///
/// # Errors
/// If the policy is not better than the random one, an anomaly does not exist, or a file cannot be written.
fn calibrate(
    subject: &Subject,
    anomalies: &[String],
    effort: &Effort,
    context: &Context,
    out: &Path,
) -> Result<Vec<Strength>> {
    let store = Store::new(out);
    let scale = Scale::measure(subject, effort.nominal, context)?;
    let bar = context.task(anomalies.len(), &format!("calibrating {}", subject.env.spec().id));
    let work = |i: usize| remembered(&store, subject, &anomalies[i], effort, context, &scale);
    let mut rows: Vec<Strength> =
        parallel::map(context.jobs, anomalies.len(), &bar, work)?.into_iter().flatten().collect();
    duplicates::mark(subject, &scale, &mut rows)?;
    store.sweep();
    Ok(rows)
}

/// Nominal episodes in which the deviations of channels are measured.
const UNIT_EPISODES: usize = 10;

/// What normalises a return, the nominal scores, and the unit of channels without bounds.
struct Scale {
    seed: Seed,
    expert: f64,
    random: f64,
    nominal: Vec<f64>,
    deviations: Deviations,
}

impl Scale {
    fn measure(subject: &Subject, n: usize, context: &Context) -> Result<Scale> {
        let seed = Seed(context.seed).child("calibrate");
        let random = Random::new(&subject.env.spec().action);
        let bar = context.task(2 * n, "nominal and random episodes");
        let returns = |trial: Trial<'_>| -> Result<Vec<f64>> {
            let one = |i| subject.trusted(trial.nominal(seed.child(i))).map(|episode| Outcome::of(&episode));
            let outcomes = parallel::map(context.jobs, n, &bar, one)?;
            Diverged::of_outcomes(subject.env.spec(), &outcomes).at_most(context.allow_diverged)?;
            Ok(outcomes.iter().map(|outcome| outcome.total_reward).collect())
        };
        let (good, bad) = (returns(subject.trial())?, returns(Trial { policy: &random, ..subject.trial() })?);
        let mean = |r: &[f64]| r.iter().sum::<f64>() / r.len() as f64;
        let (expert, random) = (mean(&good), mean(&bad));
        ensure!(
            expert > random,
            "policy {} in {}: expected a mean return above that of the random policy ({random:.2}), found {expert:.2}",
            subject.name.id,
            subject.env.spec().id
        );
        let nominal = good.iter().map(|r| (r - random) / (expert - random)).collect();
        let few: Vec<Episode> =
            (0..n.min(UNIT_EPISODES)).map(|i| subject.trial().nominal(seed.child(i))).collect();
        Ok(Scale { seed, expert, random, nominal, deviations: Deviations::of(&few) })
    }

    fn normalise(&self, total_reward: f64) -> f64 {
        (total_reward - self.random) / (self.expert - self.random)
    }
}

/// Name of the file of rows in a finished cell.
const ROWS: &str = "rows.json";

/// The rows of one anomaly, from a finished cell if there is one.
fn remembered(
    store: &Store,
    subject: &Subject,
    anomaly: &str,
    effort: &Effort,
    context: &Context,
    scale: &Scale,
) -> Result<Vec<Strength>> {
    let cell = cell(subject, anomaly, effort, context.seed);
    if store.state(&cell) == State::Done {
        return serde_json::from_slice(&store.read(&cell, ROWS)?).with_context(|| format!("cell {cell}"));
    }
    let rows = levels(subject, anomaly, effort, scale)?;
    store.save(&cell, &[(ROWS, serde_json::to_vec(&rows)?)])?;
    Ok(rows)
}

/// Everything that the result depends on.
fn cell(subject: &Subject, anomaly: &str, effort: &Effort, seed: u64) -> String {
    let all = serde_json::json!([
        env!("CARGO_PKG_VERSION"),
        subject.env.spec(),
        subject.name.digest,
        anomaly,
        effort,
        seed,
    ]);
    address(all.to_string().as_bytes())
}

/// The rows of one anomaly, one per level.
fn levels(subject: &Subject, anomaly: &str, effort: &Effort, scale: &Scale) -> Result<Vec<Strength>> {
    let mut verdicts: Vec<Option<Verdict>> = vec![None; LEVELS.len()];
    let mut episodes = 0;
    for search in searches(subject.env.spec(), anomaly, &scale.deviations)? {
        let open: Vec<usize> = (0..LEVELS.len())
            .filter(|&l| verdicts[l].as_ref().is_none_or(|v| v.magnitude().is_none()))
            .collect();
        let targets = open.iter().map(|&l| LEVELS[l].1).collect::<Vec<_>>();
        if targets.is_empty() {
            break;
        }
        let found = Response { subject, anomaly, scale }
            .find(&search, targets, effort)
            .with_context(|| format!("calibrating {anomaly}"))?;
        episodes += found.episodes;
        for (&level, verdict) in open.iter().zip(found.verdicts) {
            // One direction without any effect does not make the anomaly a no-op: the more telling verdict stays.
            if verdicts[level].as_ref().is_none_or(|before| rank(&verdict) > rank(before)) {
                verdicts[level] = Some(verdict);
            }
        }
    }
    let rows = LEVELS
        .iter()
        .zip(verdicts)
        .map(|((level, _), verdict)| row(subject, anomaly, level, (verdict, effort.precision), episodes));
    let mut rows: Vec<Strength> = rows.collect();
    keep_nearest(&mut rows);
    Ok(rows)
}

/// How much a verdict says, least first.
fn rank(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::NoOp { .. } => 0,
        Verdict::StaysAbove { .. } | Verdict::JumpsOver { .. } => 1,
        Verdict::OutOfBudget { .. } => 2,
        Verdict::Found { .. } => 3,
    }
}

fn is_precise(score: &Estimate, level: &str, precision: f64) -> bool {
    let target = LEVELS.iter().find(|(l, _)| *l == level).map_or(f64::NAN, |(_, t)| *t);
    0.5 * (score.high - score.low) <= precision * (1.0 - target)
}

fn row(
    subject: &Subject,
    anomaly: &str,
    level: &str,
    (verdict, precision): (Option<Verdict>, f64),
    episodes: usize,
) -> Strength {
    let (status, magnitude, score) = match verdict {
        Some(Verdict::Found { magnitude, score }) if is_precise(&score, level, precision) => {
            (Status::Found, Some(magnitude), Some(score))
        }
        Some(Verdict::Found { score, .. }) => (Status::Imprecise, None, Some(score)),
        Some(Verdict::NoOp { score }) => (Status::NoOp, None, Some(score)),
        Some(Verdict::StaysAbove { score }) => (Status::Unattainable, None, Some(score)),
        Some(Verdict::OutOfBudget { .. }) => (Status::OutOfBudget, None, None),
        Some(Verdict::JumpsOver { .. }) | None => (Status::Unattainable, None, None),
    };
    let of = |e: &Option<Estimate>, part: fn(&Estimate) -> f64| e.as_ref().map(part);
    Strength {
        env: foreign::simulator(&subject.env.spec().id),
        policy: subject.name.label(),
        anomaly: anomaly.into(),
        level: level.into(),
        magnitude: of(&magnitude, |e| e.value),
        low: of(&magnitude, |e| e.low),
        high: of(&magnitude, |e| e.high),
        score: of(&score, |e| e.value),
        score_low: of(&score, |e| e.low),
        score_high: of(&score, |e| e.high),
        episodes: episodes as u64,
        status,
        duplicate_of: None,
    }
}

/// Whole magnitudes are coarse: one may be the nearest of several levels. It stays at the level that it is nearest to.
fn keep_nearest(rows: &mut [Strength]) {
    let target = |row: &Strength| LEVELS.iter().find(|(l, _)| *l == row.level).map_or(f64::NAN, |(_, t)| *t);
    let distance = |row: &Strength| row.score.map_or(f64::INFINITY, |s| (s - target(row)).abs());
    for i in 0..rows.len() {
        let nearer = (0..rows.len()).any(|j| {
            i != j
                && rows[j].magnitude.is_some()
                && rows[j].magnitude == rows[i].magnitude
                && (distance(&rows[j]), j) < (distance(&rows[i]), i)
        });
        if nearer {
            rows[i].status = Status::Unattainable;
        }
    }
    rows.iter_mut().filter(|r| r.status != Status::Found).for_each(|r| {
        (r.magnitude, r.low, r.high) = (None, None, None);
    });
}

/// The disturbance of a whole episode.
fn whole(anomaly: &str, magnitude: f64) -> AnomalySpec {
    AnomalySpec {
        anomaly: anomaly.into(),
        params: serde_json::json!({ "magnitude": magnitude }),
        schedule: Schedule::WHOLE,
    }
}

/// Episode `i` of the calibration, disturbed from its first step.
fn disturbed(subject: &Subject, scale: &Scale, i: usize, anomaly_spec: &AnomalySpec) -> Result<Episode> {
    subject.trusted(subject.trial().disturbed(
        scale.seed.child(i),
        anomaly_spec,
        0,
        &catalogues::anomalies(),
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(level: &str, magnitude: f64, score: f64) -> Strength {
        let [magnitude, score] = [Some(magnitude), Some(score)];
        Strength {
            env: "w".into(),
            policy: "p".into(),
            anomaly: "act-delay".into(),
            level: level.into(),
            magnitude,
            low: magnitude,
            high: magnitude,
            score,
            score_low: score,
            score_high: score,
            episodes: 1,
            status: Status::Found,
            duplicate_of: None,
        }
    }

    #[test]
    fn a_whole_magnitude_serves_one_level() {
        let mut rows = vec![found("medium", 1.0, 0.8), found("strong", 1.0, 0.8), found("extreme", 2.0, 0.5)];
        keep_nearest(&mut rows);
        let statuses: Vec<Status> = rows.iter().map(|r| r.status).collect();
        assert_eq!(statuses, [Status::Unattainable, Status::Found, Status::Found]);
        assert_eq!(rows[0].magnitude, None);
    }
}
