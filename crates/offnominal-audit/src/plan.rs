//! The depth that fits the budget, what it costs, and what it leaves out. The plan is kept in the output folder, because
//! it depends on a measured time: an audit that goes on goes on with the same plan.

use crate::depth::{Depth, Effort, dear, fit_secs};
use crate::probe::Probe;
use crate::request::Request;
use anyhow::{Result, bail, ensure};
use offnominal_core::spec::EnvSpec;
use offnominal_engine::catalogues;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_files::sealed;
use offnominal_stats::{Promise, Rule};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use strum::VariantArray;

/// Name of the file in an audit's folder.
pub const FILE: &str = "plan.json";

/// What is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Environment and policy.
    pub env: String,
    /// The policy's name and digest, and what simulates a hosted environment.
    pub policy: String,
    /// Root of everything random.
    pub seed: u64,
    /// Accepted share of nominal episodes with an alarm.
    pub alpha: f64,
    /// How much is done.
    pub depth: Depth,
    /// The faults.
    pub anomalies: Vec<String>,
    /// The detectors as campaign files name them.
    pub detectors: Vec<String>,
    /// Nominal episodes that set thresholds: as many as the promise needs.
    pub validation: usize,
    /// What was seen at first.
    pub probe: Probe,
    /// Parts with their expected seconds.
    pub parts: Vec<(String, f64)>,
    /// What is not done, in sentences.
    pub left_out: Vec<String>,
}

/// What a plan depends on beside the request.
#[derive(Debug, Clone, Copy)]
pub struct Basis<'a> {
    /// The policy's name and digest, and what simulates a hosted environment.
    pub policy: &'a str,
    /// The environment.
    pub spec: &'a EnvSpec,
    /// What was seen at first.
    pub probe: &'a Probe,
    /// Root of everything random.
    pub seed: u64,
    /// Threads.
    pub jobs: usize,
}

/// Share of the calibration's largest effort that is spent on average.
const SPENT: f64 = 0.6;
/// Episodes of a swarm that looks for rare failures.
const SWARM: f64 = 1500.0;
/// Seconds for the page, its videos and files.
const PAGE_SECS: f64 = 5.0;
/// Seconds of one core to score a transition.
const SCORE_SECS: f64 = 5e-5;

impl Plan {
    /// The plan of a request: that of the depth it asks for, or the deepest that fits its budget.
    ///
    /// # Errors
    /// If not even the least depth fits, or a fault does not exist in the environment.
    pub fn new(request: &Request, basis: &Basis<'_>) -> Result<Plan> {
        if let Some(depth) = request.depth {
            return Plan::at(depth, 0, request, basis);
        }
        // At each depth first with all detectors, then without the dearest.
        let mut least = 0.0;
        for &depth in Depth::VARIANTS.iter().rev() {
            for without in 0..=dear().count() {
                let plan = Plan::at(depth, without, request, basis)?;
                if plan.secs() <= request.budget.0 {
                    return Ok(plan);
                }
                least = plan.secs();
            }
        }
        bail!(
            "budget: the least that an audit of {} does takes about {}, found {}; give --budget {}m, or --depth glance",
            basis.spec.id,
            duration(least),
            duration(request.budget.0),
            (least / 60.0).ceil()
        )
    }

    /// The plan at a depth, without so many of the dearest detectors but for those that are asked for.
    fn at(depth: Depth, without: usize, request: &Request, basis: &Basis<'_>) -> Result<Plan> {
        let (effort, &Basis { policy, spec, probe, seed, jobs }) = (depth.effort(), basis);
        let (mut anomalies, mut left) = effort.faults(spec);
        if !request.anomalies.is_empty() {
            request.anomalies.iter().try_for_each(|id| catalogues::check_anomaly(id, spec))?;
            left.append(&mut anomalies);
            left.retain(|id| !request.anomalies.contains(id));
            anomalies.clone_from(&request.anomalies);
        }
        ensure!(!anomalies.is_empty(), "environment {}: expected a fault that applies, found none", spec.id);
        let (dropped, usual): (Vec<&str>, Vec<&str>) =
            effort.detectors.iter().partition(|id| dear().take(without).any(|dear| dear == **id));
        let mut detectors: Vec<String> = usual.iter().map(ToString::to_string).collect();
        for own in request.detectors.iter().map(ToString::to_string) {
            if !detectors.contains(&own) {
                detectors.push(own);
            }
        }
        let mut plan = Plan {
            env: spec.id.clone(),
            policy: policy.into(),
            seed,
            alpha: request.alpha,
            depth,
            anomalies,
            detectors,
            validation: effort
                .validation
                .max(Rule::Conformal(Promise::on_average(request.alpha)).min_episodes()),
            probe: probe.clone(),
            parts: vec![],
            left_out: left_out(depth, &effort, &left, &dropped),
        };
        plan.parts = plan.costs(&effort, jobs)?;
        Ok(plan)
    }

    /// The numbers of the depth.
    pub fn effort(&self) -> Effort {
        Effort { validation: self.validation, ..self.depth.effort() }
    }

    /// The detectors.
    ///
    /// # Errors
    /// If the file of the plan names one that does not exist.
    pub fn choices(&self) -> Result<Vec<DetectorChoice>> {
        self.detectors.iter().map(|text| text.parse().map_err(anyhow::Error::msg)).collect()
    }

    /// Expected seconds of the whole.
    pub fn secs(&self) -> f64 {
        self.parts.iter().map(|(_, secs)| secs).sum()
    }

    fn costs(&self, effort: &Effort, jobs: usize) -> Result<Vec<(String, f64)>> {
        let (faults, levels) = (self.anomalies.len() as f64, effort.levels.len() as f64);
        let playing = |episodes: f64| episodes * self.probe.episode_secs;
        let nominal = (effort.train + self.validation + effort.test) as f64;
        let channels = effort.channels.min(self.probe.obs_width) as f64;
        let test = (faults * levels + channels) * effort.test as f64;
        let learned = self.probe.transitions(effort.train);
        let scored = (nominal + test) * self.probe.steps;
        let each = |id: &str| fit_secs(id) * learned + SCORE_SECS * scored;
        let fits: Vec<f64> = self.choices()?.iter().map(|choice| each(&choice.id)).collect();
        let longest = fits.iter().copied().fold(0.0, f64::max);
        // One detector is fitted by one thread.
        let fitting = longest.max(fits.iter().sum::<f64>() / jobs as f64);
        let calibration = faults * effort.calibration_budget as f64 * SPENT + 2.0 * effort.calibration as f64;
        let swarms = if self.probe.failed == 0 { SWARM * effort.swarms as f64 } else { 0.0 };
        let parts = [
            ("evaluation", playing(2.0 * f64::from(effort.evaluation))),
            ("strengths of the faults", playing(calibration)),
            ("detectors", playing(nominal + test) + fitting),
            ("monitor", playing(nominal) + 3.0 * fit_secs(&DetectorChoice::named("default").id) * learned),
            ("failures", playing(effort.failures as f64 + swarms)),
            ("page", PAGE_SECS),
        ];
        Ok(parts.map(|(what, secs)| (what.into(), secs)).into())
    }
}

/// The plan in a folder, if it is that of the same request, or a new one, which is kept there.
///
/// # Errors
/// If the folder holds the plan of another audit, or a file cannot be read or written.
pub fn kept(folder: &Path, new: Plan, asked: Option<Depth>) -> Result<Plan> {
    let path = folder.join(FILE);
    if !path.exists() {
        sealed::write(&path, &new)?;
        return Ok(new);
    }
    let old: Plan = sealed::read(&path)?;
    let same = |plan: &Plan| {
        let Plan { env, policy, seed, alpha, .. } = plan.clone();
        (env, policy, seed, alpha.to_bits())
    };
    let is_same = same(&old) == same(&new)
        && asked.is_none_or(|depth| depth == old.depth)
        && (old.depth != new.depth || (&old.anomalies, &old.detectors) == (&new.anomalies, &new.detectors));
    ensure!(
        is_same,
        "{}: expected the plan of {} with {} at seed {} and alpha {}, found that of {} with {} at seed {} and alpha {} \
         ({} faults, depth {}); another audit needs another --out",
        path.display(),
        new.env,
        new.policy,
        new.seed,
        new.alpha,
        old.env,
        old.policy,
        old.seed,
        old.alpha,
        old.anomalies.len(),
        <&str>::from(old.depth)
    );
    Ok(old)
}

fn left_out(depth: Depth, effort: &Effort, anomalies: &[String], detectors: &[&str]) -> Vec<String> {
    let mut sentences = Vec::new();
    if !detectors.is_empty() {
        sentences.push(format!("Detectors that take long to fit were not tried: {}.", detectors.join(", ")));
    }
    if !anomalies.is_empty() {
        sentences.push(format!(
            "{} faults that apply were not tried: {}.",
            anomalies.len(),
            anomalies.join(", ")
        ));
    }
    if effort.levels.len() < 4 {
        sentences.push(format!(
            "Only the strengths {} were tried, of tiny, medium, strong and extreme.",
            effort.levels.join(" and ")
        ));
    }
    if effort.channels == 0 {
        sentences.push("Channels were not disturbed one at a time.".into());
    }
    if effort.swarms == 0 {
        sentences.push("Failures that are too rare to be counted were not searched for.".into());
    }
    if depth != Depth::Thorough {
        sentences.push(
            "Intervals are wider than at the next depth, which plays more episodes of each kind.".into(),
        );
    }
    sentences
}

/// A time in words: `40 s`, `3 min`, `1 h 20 min`.
pub fn duration(secs: f64) -> String {
    let minutes = (secs / 60.0).round() as u64;
    match secs {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

impl Display for Plan {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Plan { env, depth, anomalies, detectors, probe, .. } = self;
        let depth_name: &str = depth.into();
        writeln!(
            out,
            "{env}: an episode has {:.0} steps and takes {:.0} ms; depth {depth_name}: {} faults at {} strengths, {} \
             detectors; about {}",
            probe.steps,
            1000.0 * probe.episode_secs,
            anomalies.len(),
            self.effort().levels.len(),
            detectors.len(),
            duration(self.secs())
        )?;
        let parts: Vec<String> =
            self.parts.iter().map(|(what, secs)| format!("{what} {}", duration(*secs))).collect();
        write!(out, "  {}", parts.join(", "))
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::tests_plan;
