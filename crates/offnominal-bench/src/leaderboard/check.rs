//! What every honest table of a suite has, row by row and as a whole.

use crate::campaign::Campaign;
use crate::suite::{Environment, Row, Suite, SuiteKind};
use anyhow::{Context, Result, bail, ensure};
use offnominal_core::suggest::did_you_mean;
use offnominal_engine::strengths::LEVELS;
use offnominal_stats::{RULES, metric};
use std::collections::{BTreeMap, BTreeSet};

/// The detector that only counts steps, and what its matched AUROC is.
const CLOCK: (&str, f64) = ("clock", 0.5);
/// What the rows of nominal episodes have in the place of an anomaly.
const CONTROL: &str = "none";
/// What a disturbance touches.
const CLASSES: [&str; 5] = ["observation", "action", "dynamics", "camera", CONTROL];

/// What identifies a number among those of one detector.
type Place<'r> = (&'r str, &'r str, &'r str, &'r str, &'r str);

/// Checks what made the results of an environment.
pub(super) fn provenance(suite: &Suite, environment: &Environment) -> Result<()> {
    let made = &environment.made;
    let command = format!("offnominal bench --suite {} ", suite.id);
    ensure!(
        made.command.starts_with(&command),
        "made.command: expected one that begins with {command:?}, found {:?}",
        made.command
    );
    let is_version =
        made.engine.split('.').count() == 3 && made.engine.starts_with(|c: char| c.is_ascii_digit());
    ensure!(is_version, "made.engine: expected a version such as 0.1.0, found {:?}", made.engine);
    let seeds: Vec<u64> = suite.campaigns(None)?.iter().map(|(campaign, _)| campaign.seed).collect();
    ensure!(
        seeds.contains(&made.seed),
        "made.seed: expected that of suite {}, {seeds:?}, found {}",
        suite.id,
        made.seed
    );
    let digest = &environment.digest;
    let is_digest = digest.len() == 32 && digest.bytes().all(|b| b.is_ascii_hexdigit());
    ensure!(is_digest, "digest: expected 32 hexadecimal digits, found {digest:?}");
    let odd = environment.detectors.iter().find(|name| !is_plain(name));
    ensure!(odd.is_none(), "detectors: expected plain names of 1 to 64 characters, found {odd:?}");
    Ok(())
}

fn is_plain(name: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || "-_.+ ()".contains(c);
    (1..=64).contains(&name.chars().count()) && name.chars().all(allowed)
}

/// Checks the table of an environment.
pub(super) fn table(suite: &Suite, environment: &Environment, rows: &[Row]) -> Result<()> {
    let campaigns = suite.campaigns(None)?;
    let words = Words::new(suite, &campaigns, environment);
    for (i, row) in rows.iter().enumerate() {
        words.row(environment, row).with_context(|| format!("row {}", i + 1))?;
    }
    whole(environment, rows)
}

/// What may stand in the columns of words.
struct Words<'a> {
    modality: [&'static str; 1],
    detectors: Vec<&'a str>,
    strengths: Vec<&'a str>,
    metrics: Vec<&'static str>,
    thresholds: Vec<&'static str>,
}

impl<'a> Words<'a> {
    fn new(suite: &Suite, campaigns: &'a [(Campaign, &str)], environment: &'a Environment) -> Words<'a> {
        let fixed = campaigns.iter().flat_map(|(campaign, _)| campaign.anomalies.strengths());
        Words {
            modality: [if suite.kind == SuiteKind::Images { "image" } else { "vector" }],
            detectors: environment.detectors.iter().map(String::as_str).collect(),
            strengths: LEVELS.iter().map(|(name, _)| *name).chain([CONTROL]).chain(fixed).collect(),
            metrics: metric::all().map(|m| m.id).collect(),
            thresholds: RULES.iter().map(|rule| rule.id).chain([""]).collect(),
        }
    }

    /// Checks one row; the error names the column, what was expected and what was found.
    fn row(&self, environment: &Environment, row: &Row) -> Result<()> {
        one_of("env", &row.env, &[&environment.env])?;
        one_of("modality", &row.modality, &self.modality)?;
        one_of("detector", &row.detector, &self.detectors)?;
        one_of("anomaly_class", &row.anomaly_class, &CLASSES)?;
        one_of("strength", &row.strength, &self.strengths)?;
        one_of("metric", &row.metric, &self.metrics)?;
        one_of("threshold", &row.threshold, &self.thresholds)?;
        let seeds = 1..=environment.seeds;
        ensure!(seeds.contains(&row.seeds), "seeds: expected {seeds:?}, found {}", row.seeds);
        let is_measured = row.episodes > 0 || row.value.is_nan();
        ensure!(is_measured, "episodes: expected at least 1 behind a value, found 0");
        number(row)
    }
}

fn one_of(column: &str, found: &str, known: &[&str]) -> Result<()> {
    let hint = || did_you_mean(found, known.iter().copied());
    let expected =
        || if let [one] = known { format!("{one:?}") } else { format!("one of {}", known.join(", ")) };
    ensure!(known.contains(&found), "{column}: expected {}, found {found:?}{}", expected(), hint());
    Ok(())
}

/// A number is in the range of its metric and within its interval, or it does not exist.
fn number(row: &Row) -> Result<()> {
    if row.value.is_nan() {
        return Ok(());
    }
    let (least, most) = metric::find(&row.metric).map_or((f64::NEG_INFINITY, f64::INFINITY), |m| m.range());
    let Row { value, low, high, .. } = *row;
    ensure!((least..=most).contains(&value), "value: expected {least} to {most}, found {value}");
    let holds = (low.is_nan() || low <= value) && (high.is_nan() || value <= high);
    ensure!(holds, "low, high: expected an interval around {value}, found {low} to {high}");
    Ok(())
}

/// Every detector of a policy has the same rows, each once, and the clock scores what a clock scores: so no anomaly is
/// left out where a detector is weak, and the matched protocol was kept.
fn whole(environment: &Environment, rows: &[Row]) -> Result<()> {
    let mut policies: BTreeMap<&str, BTreeMap<&str, BTreeSet<Place<'_>>>> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        let own = policies.entry(&row.policy).or_default().entry(&row.detector).or_default();
        let place = (&*row.anomaly_class, &*row.anomaly, &*row.strength, &*row.metric, &*row.threshold);
        ensure!(own.insert(place), "row {}: expected {} once, found it again", i + 1, said(row, place));
    }
    for detector in &environment.detectors {
        let has = policies.values().any(|detectors| detectors.contains_key(&**detector));
        ensure!(has, "expected rows of detector {detector}, found none");
    }
    policies.iter().try_for_each(|(policy, detectors)| even(policy, detectors))?;
    clock(rows)
}

/// Every detector has what any of them has.
fn even(policy: &str, detectors: &BTreeMap<&str, BTreeSet<Place<'_>>>) -> Result<()> {
    let all: BTreeSet<Place<'_>> = detectors.values().flatten().copied().collect();
    for (detector, own) in detectors {
        if let Some(missing) = all.difference(own).next() {
            bail!(
                "expected {missing:?} of detector {detector} with policy {policy}, as other detectors have it, found no such row"
            );
        }
    }
    Ok(())
}

fn said(row: &Row, place: Place<'_>) -> String {
    format!("{place:?} of detector {} with policy {}", row.detector, row.policy)
}

fn clock(rows: &[Row]) -> Result<()> {
    let (name, neutral) = CLOCK;
    let own = || rows.iter().enumerate().filter(|(_, r)| r.detector == name && r.metric == "auroc_matched");
    ensure!(own().next().is_some(), "expected rows of detector {name} with auroc_matched, found none");
    if let Some((i, row)) = own().find(|(_, r)| !r.value.is_nan() && r.value != neutral) {
        let (n, found) = (i + 1, row.value);
        bail!("row {n}: value: expected {neutral} of detector {name}, which sees nothing, found {found}");
    }
    Ok(())
}
