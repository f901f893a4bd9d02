//! One policy in its nominal environment and in every variant: episodes, scores, and what they are worth.

use crate::ood_rl::cell::Cell;
use crate::ood_rl::judges::{Judges, Played};
use crate::ood_rl::milder::milder;
use crate::ood_rl::row::{Judged, MAIN};
use crate::ood_rl::{environment, solved, youden};
use anyhow::Result;
use offnominal_agents::Actor;
use offnominal_core::prelude::*;
use offnominal_engine::progress::Task;
use offnominal_engine::{catalogues, parallel};
use offnominal_files::table;
use offnominal_stats::mean::student_t;
use offnominal_stats::{Bootstrap, Level, Mode, ScoredEpisode, detection, tally};
use offnominal_worlds::ood_rl::{Variant, null_controls, variants};

/// The table of a finished cell.
pub(super) const ROWS: &str = "rows.csv";

/// The variants of an environment, its null controls, and at the end what is milder than the variants: the place of a
/// setting is a branch of the seed.
pub(super) fn settings(env: &str) -> Vec<Variant> {
    let all = variants().into_iter().chain(null_controls()).chain(milder());
    all.filter(|v| v.env == environment::published(env)).collect()
}

/// The nominal episodes of a cell, with which its variants are compared.
struct Nominal<'a> {
    cell: &'a Cell,
    trial: Trial<'a>,
    seed: Seed,
    judges: Judges,
    played: Played,
}

/// The files of a finished cell.
pub(super) fn files(
    cell: &Cell,
    policy: &Actor,
    jobs: usize,
    bar: &Task,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let env = environment::open(cell.env)?;
    let nominal = Nominal::new(cell, env.as_ref(), policy, bar)?;
    let settings = settings(cell.env);
    let judged = parallel::map(jobs, settings.len(), bar, |i| nominal.variant(&settings[i], i))?;
    let mut rows = nominal.own_rows()?;
    rows.extend(judged.into_iter().flatten());
    Ok(vec![
        (ROWS, table::to_csv(&rows.iter().map(Judged::rounded).collect::<Vec<_>>())?),
        ("spec.json", serde_json::to_vec_pretty(cell)?),
    ])
}

impl<'a> Nominal<'a> {
    fn new(cell: &'a Cell, env: &'a dyn Env, policy: &'a Actor, bar: &Task) -> Result<Nominal<'a>> {
        let seed = Seed(cell.seed).child(cell.env).child(cell.method.id()).child(u64::from(cell.trial));
        let trial = Trial::new(env, policy);
        let play = |role: &str, i: usize| trial.nominal(seed.child(role).child(i));
        let train = (0..cell.episodes).map(|i| bar.check().map(|()| play("train", i)));
        let train = train.collect::<Result<Vec<Episode>>>()?;
        let mut judges = Judges::new(cell, policy, &train, seed, bar)?;
        // "home" is a branch of the seed, and so part of the committed results.
        let played = Played::new(cell.episodes, |i| bar.check().map(|()| play("home", i)), &mut judges)?;
        Ok(Nominal { cell, trial, seed, judges, played })
    }

    /// What is known of a variant.
    fn variant(&self, variant: &Variant, number: usize) -> Result<Vec<Judged>> {
        let (mut judges, seed) = (self.judges.clone(), self.seed.child("variant").child(number));
        let play = |i| {
            Ok(self.trial.disturbed(seed.child(i), &variant.anomaly_spec, 0, &catalogues::anomalies())?)
        };
        let played = Played::new(self.cell.episodes, play, &mut judges)?;
        let blank = self.blank(Some(variant), &played)?;
        let names = judges.names();
        let judged = (0..names.len()).map(|k| self.judged(&blank, names[k], k, &played));
        judged.collect()
    }

    /// The row of the nominal episodes.
    fn own_rows(&self) -> Result<Vec<Judged>> {
        Ok(vec![Judged { measure: MAIN.into(), ..self.blank(None, &self.played)? }])
    }

    /// A row that is not yet judged.
    fn blank(&self, variant: Option<&Variant>, played: &Played) -> Result<Judged> {
        let mean = student_t(&played.returns, Level::P95)?;
        let magnitude = variant.and_then(|v| v.anomaly_spec.params["magnitude"].as_f64());
        Ok(Judged {
            env: self.cell.env.into(),
            method: self.cell.method,
            trial: self.cell.trial,
            anomaly: variant.map_or("none".into(), |v| v.anomaly_spec.anomaly.clone()),
            magnitude: magnitude.unwrap_or(0.0),
            null: variant.is_none_or(|v| v.null.is_some()),
            episodes: played.returns.len(),
            mean_return: mean.value,
            return_low: mean.low,
            return_high: mean.high,
            fails: mean.value < solved(self.cell.env),
            measure: String::new(),
            positives: if variant.is_some() { played.steps() } else { 0 },
            negatives: self.played.steps(),
            auroc: None,
            auroc_low: None,
            auroc_high: None,
            aupr: None,
            fpr95: None,
            auroc_matched: None,
            youden: None,
        })
    }

    /// The row of the k-th judge.
    fn judged(&self, blank: &Judged, name: &str, k: usize, played: &Played) -> Result<Judged> {
        let (anomalous, nominal) = (played.scores_of(k), self.played.scores_of(k));
        let (positive, negative) = (anomalous.concat(), nominal.concat());
        let labels: Vec<bool> = (0..positive.len() + negative.len()).map(|i| i < positive.len()).collect();
        let found = tally(&[&positive[..], &negative].concat(), &labels)?;
        let mut row = Judged { measure: name.into(), auroc: Some(found.auroc), ..blank.clone() };
        (row.aupr, row.fpr95) = (Some(found.average_precision), Some(found.fpr95));
        row.auroc_matched = Some(matched(&anomalous, &nominal)?);
        if name == MAIN || self.cell.external.contains(&name) {
            let plan = Bootstrap::new(self.cell.replicates, Level::P95, self.seed.child("judge"));
            let pooled = detection(&pooled(anomalous, nominal), Mode::Global, &plan)?.auroc;
            (row.auroc_low, row.auroc_high) = (Some(pooled.low), Some(pooled.high));
        }
        row.youden = (name == MAIN).then(|| youden::threshold(&positive, &negative)).flatten();
        Ok(row)
    }
}

/// All steps in the variant against all nominal ones; episodes are what is resampled.
fn pooled(anomalous: Vec<Vec<f64>>, nominal: Vec<Vec<f64>>) -> Vec<ScoredEpisode> {
    let anomalous = anomalous.into_iter().map(|scores| ScoredEpisode::persistent(scores, 0, None));
    anomalous.chain(nominal.into_iter().map(ScoredEpisode::nominal)).collect()
}

/// AUROC of the steps in the variant against nominal ones at the same times, episode by episode.
fn matched(anomalous: &[Vec<f64>], nominal: &[Vec<f64>]) -> Result<f64> {
    let (mut scores, mut labels) = (Vec::new(), Vec::new());
    for (&positive, &negative) in anomalous.iter().zip(nominal).flat_map(|(a, n)| a.iter().zip(n)) {
        scores.extend([positive, negative]);
        labels.extend([true, false]);
    }
    Ok(tally(&scores, &labels)?.auroc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_has_one_half_at_equal_times_however_long_the_episodes_are() {
        let clock = |lengths: &[usize]| -> Vec<Vec<f64>> {
            lengths.iter().map(|&n| (0..n).map(|t| t as f64).collect()).collect()
        };
        assert_eq!(matched(&clock(&[9, 40]), &clock(&[30, 12])).unwrap(), 0.5);
    }

    #[test]
    fn an_environment_has_its_variants_and_a_control_for_each_parameter() {
        assert_eq!(["cartpole", "pendulum", "pong"].map(|env| settings(env).len()), [95, 45, 36]);
    }
}
