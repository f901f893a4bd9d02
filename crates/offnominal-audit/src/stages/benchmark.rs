//! Which detector notices which fault, how soon, and at which false-alarm rate: a campaign with the magnitudes that the
//! calibration found.

use crate::depth::DEVIATIONS;
use crate::plan::Plan;
use crate::request::Request;
use anyhow::{Context as _, Result, ensure};
use offnominal_bench::campaign::{self, Campaign};
use offnominal_bench::cells::{self, Bench};
use offnominal_bench::results::{Results, Row};
use offnominal_bench::run::complete;
use offnominal_core::spec::{Channel, EnvSpec};
use offnominal_engine::context::Context;
use offnominal_engine::strengths::{LEVELS, Status, Strength};
use offnominal_files::store::Store;
use toml::{Table, Value};

/// The folder of the stage in that of the audit.
pub const FOLDER: &str = "benchmark";

/// Runs the campaign; its own page stands beside its tables.
///
/// # Errors
/// If no fault has a usable strength, a cell fails, or a file cannot be written.
pub fn run(
    request: &Request,
    plan: &Plan,
    (strengths, spec): (&[Strength], &EnvSpec),
    context: &Context,
) -> Result<Results> {
    let text = campaign(request, plan, strengths, spec)?;
    let folder = request.out.join(FOLDER);
    let planned = campaign::Plan::new(Campaign::parse(&text)?, &text).context("the campaign of the audit")?;
    let bench = Bench::new(planned, Store::new(&folder))?;
    complete(&bench, &text, &context.command, &folder, context)?;
    cells::results(&bench)
}

/// The campaign as its file would be written.
fn campaign(request: &Request, plan: &Plan, strengths: &[Strength], spec: &EnvSpec) -> Result<String> {
    let effort = plan.effort();
    let usable = strengths.iter().filter(|s| s.status == Status::Found && plan.strengths.contains(&s.level));
    let mut anomalies: Vec<Value> = usable.filter_map(anomaly).collect();
    ensure!(
        !anomalies.is_empty(),
        "policy {} in {}: expected a fault that costs some of its score, found none with a usable strength (see {}); a \
         deeper audit tries more",
        request.policy,
        request.env,
        request.out.join(super::strengths::FOLDER).display()
    );
    anomalies.push(nothing());
    anomalies.extend(single_channels(strengths, spec, effort.channels));
    anomalies.extend(in_deviations(plan));
    let integer = |n: usize| Value::Integer(n as i64);
    let episodes = table([
        ("train", integer(effort.train)),
        ("validation", integer(plan.validation)),
        ("test", integer(plan.counts.test)),
    ]);
    let detectors = plan.choices()?.iter().map(|choice| choice.to_toml()).collect();
    let all = table([
        ("name", Value::from("audit")),
        ("seed", Value::Integer(plan.seed as i64)),
        ("envs", Value::Array(vec![Value::from(&*request.env)])),
        ("policies", Value::Array(vec![Value::from(&*request.policy)])),
        ("detectors", Value::Array(detectors)),
        ("anomalies", Value::Array(anomalies)),
        ("false_alarms", Value::Float(plan.alpha)),
        ("replicates", integer(effort.replicates)),
        ("episodes", Value::Table(episodes)),
    ]);
    Ok(toml::to_string(&all)?)
}

/// A fault at its calibrated magnitude.
fn anomaly(found: &Strength) -> Option<Value> {
    let magnitude = Value::Float(found.magnitude?);
    let named =
        [("id", &found.anomaly), ("strength", &found.level)].map(|(key, text)| (key, Value::from(&**text)));
    Some(Value::Table(table(named.into_iter().chain([("magnitude", magnitude)]))))
}

/// How the strength of a fault that does nothing is called.
pub const NOTHING: &str = "nothing";

/// A fault of magnitude zero: its episodes are their twins, so every detector must have an AUROC of one half.
fn nothing() -> Value {
    let entries = [
        ("id", Value::from("obs-noise")),
        ("strength", Value::from(NOTHING)),
        ("magnitude", Value::Float(0.0)),
    ];
    Value::Table(table(entries))
}

/// Whether a row is of a calibrated strength or of nominal episodes, and not of a single channel.
pub fn is_level(row: &&Row) -> bool {
    row.anomaly_class == "none" || LEVELS.iter().any(|(level, _)| row.strength == *level)
}

/// The fault that is tried on one channel at a time.
pub const OF_CHANNELS: &str = "obs-offset";

/// How the strength of a fault on one channel is called.
pub fn only(channel: &str) -> String {
    format!("only {channel}")
}

/// The magnitude of the fault of single channels: the largest that was found.
pub fn of_channels(strengths: &[Strength]) -> Option<&Strength> {
    let usable =
        |s: &&Strength| s.anomaly == OF_CHANNELS && s.status == Status::Found && s.magnitude.is_some();
    strengths.iter().rev().find(usable)
}

/// An offset on one channel at a time, in environments that are not seen as an image.
fn single_channels(strengths: &[Strength], spec: &EnvSpec, most: usize) -> Vec<Value> {
    let found = of_channels(strengths).filter(|_| spec.image().is_none() && spec.observation.len() > 1);
    let Some(magnitude) = found.and_then(|found| found.magnitude) else { return vec![] };
    let one = |channel: &Channel| {
        let entries = [
            ("id", Value::from(OF_CHANNELS)),
            ("strength", Value::from(only(&channel.name))),
            ("magnitude", Value::Float(magnitude)),
            ("channels", Value::Array(vec![Value::from(&*channel.name)])),
        ];
        Value::Table(table(entries))
    };
    spec.observation.iter().take(most).map(one).collect()
}

/// How the strength of so many deviations is called.
pub fn deviations(level: f64) -> String {
    if level == 1.0 { "1 deviation".into() } else { format!("{level} deviations") }
}

/// The faults of a plan whose magnitude is in the unit of each channel, in units of what the channel strays nominally.
fn in_deviations(plan: &Plan) -> impl Iterator<Item = Value> {
    plan.in_deviations().into_iter().flat_map(move |(id, units)| {
        DEVIATIONS.map(|level| {
            let units = units.iter().map(|unit| Value::Float(*unit)).collect();
            let entries = [
                ("id", Value::from(&*id)),
                ("strength", Value::from(deviations(level))),
                ("magnitude", Value::Float(level)),
                ("units", Value::Array(units)),
            ];
            Value::Table(table(entries))
        })
    })
}

fn table<'a>(entries: impl IntoIterator<Item = (&'a str, Value)>) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}
