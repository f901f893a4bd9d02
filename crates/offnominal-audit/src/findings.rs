//! What the benchmark says of faults and detectors, in the words of the audit.

pub mod choice;

use crate::depth::DEVIATIONS;
use crate::stages::benchmark::{NOTHING, OF_CHANNELS, deviations, is_level, of_channels, only};
use offnominal_bench::cells::ranked;
use offnominal_bench::results::{Results, Row};
use offnominal_core::estimate::Estimate;
use offnominal_core::spec::{Channel, EnvSpec};
use offnominal_engine::strengths::{LEVELS, Status, Strength};
use offnominal_report::number::plain;
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use offnominal_worlds::anomaly::{self, Class};
use serde::Serialize;
use std::collections::BTreeMap;

/// A number with its 95 % interval; null where there is no number, or where it is infinite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Number {
    /// The value.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A detector over all faults.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetectorFound {
    /// Its name.
    pub name: String,
    /// Mean AUROC at the same steps over faults and strengths; a clock has 0.5.
    pub auroc_matched: Option<Number>,
    /// The same at each strength.
    pub at: BTreeMap<String, Number>,
    /// Share of faults with an alarm within 20 steps of the onset.
    pub within_20: Option<Number>,
    /// Share of nominal test episodes with an alarm.
    pub false_alarm_rate: Option<Number>,
    /// AUROC of nominal episodes judged as if they were anomalous, which must be about 0.5.
    pub control: Option<Number>,
    /// AUROC at the same steps of a fault of magnitude zero, which must be 0.5: else episodes differ from their twins.
    pub of_nothing: Option<Number>,
    /// Mean difference of its AUROC to that of the recommended detector over faults, each fault one unit.
    pub behind: Option<Number>,
}

/// A fault with what the recommended detector makes of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fault {
    /// Its id.
    pub anomaly: String,
    /// `observation`, `action`, `dynamics` or `own`.
    pub class: String,
    /// What it is.
    pub summary: String,
    /// What real faults it imitates.
    pub imitates: String,
    /// What its magnitude means.
    pub magnitude_is: String,
    /// The strengths, from tiny to extreme.
    pub strengths: Vec<FaultStrength>,
}

/// A fault at a strength.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultStrength {
    /// `tiny`, `medium`, `strong` or `extreme`: it costs the policy 1, 10, 25 or 50 % of its score.
    pub strength: String,
    /// The magnitude; null where none costs so much.
    pub magnitude: Option<f64>,
    /// The magnitude in the unit of the channels.
    pub in_units: String,
    /// Share of its score that it costs the policy, as the calibration measured it.
    pub costs: Option<Number>,
    /// Why there is no magnitude.
    pub missing: Option<String>,
    /// The same in a sentence.
    pub because: Option<String>,
    /// AUROC at the same steps.
    pub auroc_matched: Option<Number>,
    /// Share of episodes with an alarm after the onset.
    pub detection_rate: Option<Number>,
    /// Median steps from onset to alarm; null where fewer than half have one.
    pub delay_median: Option<f64>,
    /// Whether it is noticed.
    pub noticed: Noticed,
}

/// Whether the alarms of a detector notice a fault: in how many episodes one comes after the onset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Noticed {
    /// In more than half: the whole interval lies above one half.
    Yes,
    /// In fewer than half: the whole interval lies below.
    No,
    /// The interval holds one half.
    Uncertain,
    /// It was not tried.
    NotTried,
}

/// A fault of a stated size, with what the recommended detector makes of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizedFault {
    /// The channel that was disturbed alone, or the fault.
    pub name: String,
    /// Its magnitude, with the unit.
    pub magnitude: String,
    /// Share of episodes with an alarm after the onset.
    pub detection_rate: Option<Number>,
    /// AUROC at the same steps.
    pub auroc_matched: Option<Number>,
    /// Whether it is noticed.
    pub noticed: Noticed,
}

/// The detectors that only show what knowing nothing is worth.
pub const BASELINES: [&str; 2] = ["clock", "random"];

/// Name of the rule that promises a share of false alarms.
const RULE: &str = "conformal";

/// Every detector; the recommended one has nothing in `behind`.
pub fn detectors(results: &Results, names: &[String], recommended: &str) -> Vec<DetectorFound> {
    let rows = of_levels(results);
    let found = |name: &String| DetectorFound {
        of_nothing: of_nothing(results, name),
        ..detector(&rows, name, recommended)
    };
    names.iter().map(found).collect()
}

/// What a detector makes of a fault that does nothing.
fn of_nothing(results: &Results, detector: &str) -> Option<Number> {
    let is_it = |r: &&Row| r.detector == detector && r.strength == NOTHING && r.metric == "auroc_matched";
    results.rows.iter().find(is_it).filter(|r| r.value.is_finite()).map(Number::of)
}

/// The rows of calibrated strengths and of nominal episodes; not those of single channels.
fn of_levels(results: &Results) -> Vec<Row> {
    results.rows.iter().filter(is_level).cloned().collect()
}

fn detector(rows: &[Row], name: &str, recommended: &str) -> DetectorFound {
    let [auroc, _, within_20, false_alarms, control] = ranked(rows, name).map(|e| e.map(Number::from));
    let at = |level: &&str| {
        let own: Vec<Row> = rows.iter().filter(|r| r.strength == **level).cloned().collect();
        Some((level.to_string(), Number::from(ranked(&own, name)[0].clone()?)))
    };
    DetectorFound {
        name: name.into(),
        auroc_matched: auroc,
        at: LEVELS.iter().map(|(level, _)| *level).filter_map(|level| at(&level)).collect(),
        within_20,
        false_alarm_rate: false_alarms,
        control,
        of_nothing: None,
        behind: (name != recommended).then(|| difference(rows, name, recommended)).flatten(),
    }
}

/// Mean difference between two detectors over faults; the strengths of a fault are averaged first, as they have the same
/// cause.
fn difference(rows: &[Row], name: &str, other: &str) -> Option<Number> {
    let mut of_fault: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.detector == name && is_of_fault(r, "auroc_matched")) {
        let twin = rows.iter().find(|r| {
            r.detector == other
                && is_of_fault(r, "auroc_matched")
                && (&r.anomaly, &r.strength) == (&row.anomaly, &row.strength)
        });
        let gap = twin.map(|twin| row.value - twin.value).filter(|gap| gap.is_finite());
        of_fault.entry(&row.anomaly).or_default().extend(gap);
    }
    let means: Vec<f64> = of_fault
        .values()
        .filter(|gaps| !gaps.is_empty())
        .map(|gaps| gaps.iter().sum::<f64>() / gaps.len() as f64)
        .collect();
    student_t(&means, Level::P95).ok().map(Number::from)
}

fn is_of_fault(row: &Row, metric: &str) -> bool {
    row.metric == metric && row.anomaly_class != "none"
}

/// The faults with what a detector makes of them.
pub fn faults(results: &Results, strengths: &[Strength], detector: &str, spec: &EnvSpec) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    for found in strengths {
        if faults.last().is_none_or(|fault| fault.anomaly != found.anomaly) {
            faults.push(Fault::named(&found.anomaly));
        }
        let rows: Vec<&Row> = results
            .rows
            .iter()
            .filter(|r| r.detector == detector && r.anomaly == found.anomaly && r.strength == found.level)
            .collect();
        faults.last_mut().expect("one was added").strengths.push(FaultStrength::of(found, &rows, spec));
    }
    faults
}

/// The channels that were disturbed one at a time.
pub fn channels(
    results: &Results,
    strengths: &[Strength],
    detector: &str,
    spec: &EnvSpec,
) -> Vec<SizedFault> {
    let Some(magnitude) = of_channels(strengths).and_then(|found| found.magnitude) else { return vec![] };
    let one = |channel: &Channel| {
        let strength = only(&channel.name);
        let offset = with_unit(&plain(magnitude), &channel.unit);
        SizedFault::of(results, detector, (OF_CHANNELS, &strength), (&channel.name, offset))
    };
    spec.observation.iter().filter_map(one).collect()
}

/// The faults whose magnitude counts in the nominal deviation of each channel.
pub fn in_deviations(results: &Results, faults: &[String], detector: &str) -> Vec<SizedFault> {
    let one = |(id, level): (&String, f64)| {
        let strength = deviations(level);
        SizedFault::of(results, detector, (id, &strength), (id, strength.clone()))
    };
    let levels = faults.iter().flat_map(|id| DEVIATIONS.map(|level| (id, level)));
    levels.filter_map(one).collect()
}

impl SizedFault {
    /// The rows of a fault at a strength, under a name; none where it was not tried.
    fn of(
        results: &Results,
        detector: &str,
        (anomaly, strength): (&str, &str),
        (name, magnitude): (&str, String),
    ) -> Option<SizedFault> {
        let of = |metric: &str| {
            let row = results.rows.iter().find(|r| {
                (r.detector.as_str(), r.anomaly.as_str()) == (detector, anomaly)
                    && (r.strength.as_str(), r.metric.as_str()) == (strength, metric)
                    && (r.threshold.is_empty() || r.threshold == RULE)
            });
            row.filter(|r| r.value.is_finite()).map(Number::of)
        };
        let detection_rate = of("detection_rate");
        Some(SizedFault {
            name: name.into(),
            magnitude,
            auroc_matched: Some(of("auroc_matched")?),
            noticed: Noticed::of(detection_rate),
            detection_rate,
        })
    }
}

impl Fault {
    fn named(id: &str) -> Fault {
        let kind = anomaly::kind(id).ok();
        let entry = anomaly::ALL.iter().find(|a| a.entry.id == id);
        let class = match kind.map(|k| k.class) {
            Some(Class::Observation) => "observation",
            Some(Class::Action) => "action",
            Some(Class::Dynamics) => "dynamics",
            Some(Class::Camera) => "camera",
            None => "own",
        };
        let summary = entry
            .map_or_else(|| "a parameter of the environment changes".into(), |a| a.entry.summary.to_string());
        Fault {
            anomaly: id.into(),
            class: class.into(),
            summary,
            imitates: kind.map_or("", |k| k.imitates).into(),
            magnitude_is: kind.map_or("", |k| k.magnitude).into(),
            strengths: vec![],
        }
    }
}

impl FaultStrength {
    fn of(found: &Strength, rows: &[&Row], spec: &EnvSpec) -> FaultStrength {
        let row = |metric: &str, threshold: &str| {
            rows.iter().find(|r| r.metric == metric && r.threshold == threshold)
        };
        let number =
            |metric, threshold| row(metric, threshold).filter(|r| r.value.is_finite()).map(|r| Number::of(r));
        let detection_rate = number("detection_rate", RULE);
        FaultStrength {
            strength: found.level.clone(),
            magnitude: found.magnitude,
            in_units: found.magnitude.map_or(String::new(), |m| in_units(&found.anomaly, m, spec)),
            costs: found
                .score
                .zip(found.score_low)
                .zip(found.score_high)
                .map(|((score, low), high)| Number { value: 1.0 - score, low: 1.0 - high, high: 1.0 - low }),
            because: (found.status != Status::Found).then(|| found.status.reason().to_string()),
            missing: (found.status != Status::Found).then(|| <&str>::from(found.status).to_string()),
            auroc_matched: number("auroc_matched", ""),
            delay_median: number("delay_median", RULE).map(|n| n.value),
            noticed: Noticed::of(detection_rate),
            detection_rate,
        }
    }
}

impl Noticed {
    fn of(detected: Option<Number>) -> Noticed {
        match detected {
            None => Noticed::NotTried,
            Some(share) if share.low > 0.5 => Noticed::Yes,
            Some(share) if share.high < 0.5 => Noticed::No,
            Some(_) => Noticed::Uncertain,
        }
    }
}

impl Number {
    fn of(row: &Row) -> Number {
        Number { value: row.value, low: row.low, high: row.high }
    }
}

impl From<Estimate> for Number {
    fn from(e: Estimate) -> Number {
        Number { value: e.value, low: e.low, high: e.high }
    }
}

/// A magnitude with its unit: that of the parameter, or that of the channels if all have the same.
fn in_units(id: &str, magnitude: f64, spec: &EnvSpec) -> String {
    let shown = plain(magnitude);
    if let Some(name) = id.strip_prefix(offnominal_core::anomaly_spec::DYNAMICS) {
        let parameter = spec.parameters.iter().find(|p| p.name == name);
        let unit = parameter.map_or("", |p| p.unit.as_str());
        let nominal = parameter.map_or(String::new(), |p| format!(" (nominal {})", plain(p.nominal)));
        return with_unit(&shown, unit) + &nominal;
    }
    let channels = if id.starts_with("act") { &spec.action } else { &spec.observation };
    match anomaly::kind(id).map(|kind| kind.magnitude) {
        Ok(text) if text.contains("unit of the channel") => with_unit(&shown, &common_unit(channels)),
        Ok(text) if text.contains("steps") => format!("{shown} steps"),
        _ => shown,
    }
}

fn with_unit(number: &str, unit: &str) -> String {
    if unit.is_empty() || unit == "1" { number.into() } else { format!("{number} {unit}") }
}

/// The unit of all channels, or the first ones, as the same number is added to each of them.
fn common_unit(channels: &[Channel]) -> String {
    let mut units: Vec<&str> = channels.iter().map(|c| c.unit.as_str()).filter(|unit| *unit != "1").collect();
    units.sort_unstable();
    units.dedup();
    match units.len() {
        0 => String::new(),
        1..=3 => units.join(" or "),
        _ => "in the unit of each channel".into(),
    }
}

#[cfg(test)]
mod tests;
