//! The result of an audit: `audit.json`. Times are not in it, so that the same plan gives the same bits.

use crate::counts::Counts;
use crate::depth::Depth;
use crate::findings::choice::Choice;
use crate::findings::{DetectorFound, Fault, Number, SizedFault};
use crate::stages::failures::FailureFindings;
use offnominal_engine::evaluation::Evaluation;
use offnominal_files::provenance::Provenance;
use offnominal_risk::estimate::atlas::Sign;
use serde::Serialize;

/// Name of the file in an audit's folder.
pub const FILE: &str = "audit.json";

/// Version of the form of the file.
pub const FORMAT: u32 = 1;

/// Everything that an audit found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Audit {
    /// Version of this form of the file.
    pub format: u32,
    /// The environment.
    pub env: String,
    /// The policy undisturbed.
    pub policy: PolicyFound,
    /// How much was done.
    pub depth: Depth,
    /// Episodes of each kind: those of the depth, or more.
    pub counts: Counts,
    /// Faults that were tried, of those that apply.
    pub faults_tried: [usize; 2],
    /// Accepted share of nominal episodes with an alarm.
    pub alpha: f64,
    /// The recommended detector, and what it gains.
    pub choice: Choice,
    /// The detectors.
    pub detectors: Vec<DetectorFound>,
    /// The faults with what the recommended detector makes of them.
    pub faults: Vec<Fault>,
    /// The channels that were disturbed one at a time.
    pub channels: Vec<SizedFault>,
    /// Faults at sizes in the nominal deviation of each channel.
    pub in_deviations: Vec<SizedFault>,
    /// The monitor that was fitted.
    pub monitor: MonitorFound,
    /// The failures of the undisturbed policy.
    pub failures: FailuresFound,
    /// What to do, the most important first.
    pub advice: Vec<String>,
    /// What was not done.
    pub left_out: Vec<String>,
    /// What was required.
    pub requirements: Vec<Judged>,
    /// What made it.
    pub made: Provenance,
}

/// A requirement with what was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    /// The requirement.
    pub requirement: String,
    /// What was found; null where there is no number.
    pub found: Option<Number>,
    /// Whether the whole interval meets it.
    pub met: bool,
    /// Why it is not met, and what would tell more.
    pub why: Option<String>,
}

/// The policy undisturbed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyFound {
    /// Its name.
    pub name: String,
    /// SHA-256 of its file.
    pub digest: String,
    /// Mean return.
    pub mean_return: Number,
    /// Mean return of the random policy.
    pub random_return: Number,
    /// Success rate; null where the environment defines no success.
    pub success: Option<Number>,
}

/// The monitor that was fitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MonitorFound {
    /// Its file in the folder of the audit.
    pub file: String,
    /// Its detector.
    pub detector: String,
    /// Nominal episodes that it learned from.
    pub train_episodes: u64,
    /// Nominal episodes that set its threshold.
    pub calibration_episodes: u64,
    /// Share of nominal episodes with an alarm that its rule promises.
    pub promised: f64,
    /// The same, as nominal test episodes of the benchmark have it.
    pub realised: Option<Number>,
}

/// The failures of the undisturbed policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailuresFound {
    /// What counts as a failure, in words.
    pub rule: String,
    /// Whether the environment counts anything as a failure, as far as was seen.
    pub counts_failures: bool,
    /// Episodes.
    pub episodes: u64,
    /// Failures among them.
    pub failures: usize,
    /// Failure probability by counting.
    pub counted: Option<Number>,
    /// The same by swarms, where failures are rare and the environment has a margin.
    pub by_swarms: Option<Number>,
    /// Failures that the search found; null where there was none.
    pub searched: Option<usize>,
    /// The kinds of failures, the largest part of the probability first.
    pub kinds: Vec<Kind>,
    /// What could not be found out, and why.
    pub refused: Vec<String>,
}

/// A kind of failure.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Kind {
    /// Its part of the failure probability.
    pub mass: f64,
    /// Failures of this kind.
    pub failures: usize,
    /// What sets it apart.
    pub signs: Vec<String>,
    /// Its video in the folder of the audit, where there is a camera.
    pub video: Option<String>,
    /// The command that plays its example again.
    pub replay: String,
}

impl Judged {
    /// What was found, in words.
    pub fn shown(&self) -> String {
        self.found.map_or("no number".into(), |n| format!("{:.3} [{:.3}, {:.3}]", n.value, n.low, n.high))
    }
}

impl PolicyFound {
    /// Of a policy by name and digest.
    pub fn of(name: String, digest: String, found: Evaluation) -> PolicyFound {
        let Evaluation { total_reward, success, random_return } = found;
        PolicyFound {
            name,
            digest,
            mean_return: total_reward.into(),
            random_return: random_return.into(),
            success: success.map(Number::from),
        }
    }
}

impl FailuresFound {
    /// Of what the stage found in a folder.
    pub fn of(found: FailureFindings, folder: &str, rule: String) -> FailuresFound {
        let FailureFindings { counted, counts_failures, swarms, search, videos } = found;
        let mut refused: Vec<String> = counted.risk.refused.iter().cloned().collect();
        let mut taken = |what: &str, why: &anyhow::Error| refused.push(format!("{what}: {why:#}"));
        let by_swarms = swarms.and_then(|swarms| swarms.map_err(|why| taken("swarms", &why)).ok());
        let searched = search.and_then(|search| search.map_err(|why| taken("search", &why)).ok());
        let kinds = counted.kinds.iter().zip(videos).map(|(kind, video)| Kind {
            mass: kind.mass,
            failures: kind.failures,
            signs: kind.signs.iter().map(sign).collect(),
            video: video
                .and_then(|path| Some(format!("{folder}/{}/{}", name(path.parent()?)?, name(&path)?))),
            replay: format!("offnominal render {folder} --number {}", kind.example),
        });
        FailuresFound {
            rule,
            counts_failures,
            episodes: counted.experiments,
            failures: counted.failures.len(),
            counted: counted.risk.risk.clone().map(Number::from),
            by_swarms: by_swarms.map(|report| Number::from(report.risk)),
            searched: searched.map(|report| {
                report.strategies.iter().flat_map(|s| &s.policies).map(|cost| cost.failures).sum()
            }),
            kinds: kinds.collect(),
            refused,
        }
    }

    /// The failure probability by the narrower of the methods that gave one; none where nothing counts as a failure.
    pub fn best(&self) -> Option<Number> {
        let width = |n: &Number| (n.high - n.low).abs();
        self.known().min_by(|a, b| width(a).total_cmp(&width(b))).filter(|_| self.counts_failures)
    }

    /// What each method gave.
    pub fn known(&self) -> impl Iterator<Item = Number> {
        [self.counted, self.by_swarms].into_iter().flatten()
    }
}

fn name(path: &std::path::Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// A sign in words.
fn sign(found: &Sign) -> String {
    let Sign { channel, unit, here, overall } = found;
    let unit = if unit == "1" { String::new() } else { format!(" {unit}") };
    format!("{channel} ends at {here:.3}{unit} (all failures: {overall:.3})")
}

#[cfg(test)]
pub(crate) use tests::sample;

#[cfg(test)]
mod tests;
