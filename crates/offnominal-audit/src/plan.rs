//! What an audit does: its depth, what it counts, what that costs, and what it leaves out. The plan is kept in the output
//! folder, because it depends on a measured time: an audit that goes on goes on with the same plan.
//!
//! | file         | content                                                            |
//! |--------------|--------------------------------------------------------------------|
//! | [`budget`]   | the plan that fits a budget and counts what requirements need      |
//! | `kept`       | the plan in the folder of an audit                                 |
//! | `left_out`   | what is not done, in sentences                                     |

pub mod budget;
mod kept;
mod left_out;

use crate::counts::Counts;
use crate::depth::{DEVIATIONS, Depth, Effort, dear, fit_secs};
use crate::depth_choice::DepthChoice;
use crate::probe::Probe;
use crate::request::Request;
use anyhow::{Result, ensure};
pub use kept::{FILE, kept};
use offnominal_core::spec::EnvSpec;
use offnominal_engine::catalogues;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_stats::{Promise, Rule};
use offnominal_worlds::anomaly;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

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
    /// Numbers of episodes: those of the depth, or more where a requirement needs them or the budget leaves time.
    pub counts: Counts,
    /// The strengths at which detectors are tried.
    pub strengths: Vec<String>,
    /// The faults.
    pub anomalies: Vec<String>,
    /// Faults that apply and are not tried.
    pub untried: Vec<String>,
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
    /// The plan at a depth with its own counts, without so many of the dearest detectors but for those that are asked for.
    ///
    /// # Errors
    /// If a fault does not exist in the environment, or none applies.
    fn at(depth: Depth, without: usize, request: &Request, basis: &Basis<'_>) -> Result<Plan> {
        let (effort, &Basis { policy, spec, probe, seed, jobs }) = (depth.effort(), basis);
        let (anomalies, untried) = faults(&effort, request, spec)?;
        let is_dropped = |id: &&&str| dear().take(without).any(|dear| dear == **id);
        let (dropped, usual): (Vec<&str>, Vec<&str>) = effort.detectors.iter().partition(is_dropped);
        let mut plan = Plan {
            env: spec.id.clone(),
            policy: policy.into(),
            seed,
            alpha: request.alpha,
            depth,
            counts: effort.counts,
            strengths: effort.levels.iter().map(ToString::to_string).collect(),
            left_out: left_out::sentences(depth, &effort, (anomalies.len(), &untried), &dropped),
            anomalies,
            untried,
            detectors: detectors(&usual, request),
            validation: effort
                .validation
                .max(Rule::Conformal(Promise::on_average(request.alpha)).min_episodes()),
            probe: probe.clone(),
            parts: vec![],
        };
        plan.parts = plan.costs(jobs)?;
        Ok(plan)
    }

    /// The same with other counts.
    fn counting(&self, counts: Counts, jobs: usize) -> Result<Plan> {
        let mut plan = Plan { counts, ..self.clone() };
        plan.parts = plan.costs(jobs)?;
        Ok(plan)
    }

    /// The numbers of the depth.
    pub fn effort(&self) -> Effort {
        Effort { validation: self.validation, ..self.depth.effort() }
    }

    /// The depth with its counts, as a command states it.
    pub fn depth_choice(&self) -> DepthChoice {
        DepthChoice::of(self.depth, &self.counts)
    }

    /// The detectors.
    ///
    /// # Errors
    /// If the file of the plan names one that does not exist.
    pub fn choices(&self) -> Result<Vec<DetectorChoice>> {
        self.detectors.iter().map(|text| text.parse().map_err(anyhow::Error::msg)).collect()
    }

    /// The faults whose magnitude is in the unit of each channel, with what each channel strays nominally; those that change
    /// something.
    pub fn in_deviations(&self) -> Vec<(String, Vec<f64>)> {
        let of = |id: &String| {
            let kind = anomaly::kind(id).ok().filter(|kind| kind.is_in_units())?;
            let units = self.probe.deviations.of_class(kind.class).to_vec();
            units.iter().any(|unit| *unit > 0.0).then(|| (id.clone(), units))
        };
        self.anomalies.iter().filter_map(of).collect()
    }

    /// Expected seconds of the whole.
    pub fn secs(&self) -> f64 {
        self.parts.iter().map(|(_, secs)| secs).sum()
    }

    fn costs(&self, jobs: usize) -> Result<Vec<(String, f64)>> {
        let (effort, Counts { evaluation, test, failures }) = (self.effort(), self.counts);
        let (faults, levels) = (self.anomalies.len() as f64, self.strengths.len() as f64);
        let playing = |episodes: f64| episodes * self.probe.episode_secs;
        let nominal = (effort.train + self.validation + test) as f64;
        let channels = effort.channels.min(self.probe.obs_width) as f64;
        let sized = (DEVIATIONS.len() * self.in_deviations().len()) as f64;
        let tests = (faults * levels + channels + sized) * test as f64;
        let learned = self.probe.transitions(effort.train);
        let scored = (nominal + tests) * self.probe.steps;
        let each = |id: &str| fit_secs(id) * learned + SCORE_SECS * scored;
        let fits: Vec<f64> = self.choices()?.iter().map(|choice| each(&choice.id)).collect();
        let longest = fits.iter().copied().fold(0.0, f64::max);
        // One detector is fitted by one thread.
        let fitting = longest.max(fits.iter().sum::<f64>() / jobs as f64);
        let calibration = faults * effort.calibration_budget as f64 * SPENT + 2.0 * effort.calibration as f64;
        let swarms = if self.probe.failed == 0 { SWARM * effort.swarms as f64 } else { 0.0 };
        let parts = [
            ("evaluation", playing(2.0 * evaluation as f64)),
            ("strengths of the faults", playing(calibration)),
            ("detectors", playing(nominal + tests) + fitting),
            ("monitor", playing(nominal) + 3.0 * fit_secs(&DetectorChoice::named("default").id) * learned),
            ("failures", playing(failures as f64 + swarms)),
            ("page", PAGE_SECS),
        ];
        Ok(parts.map(|(what, secs)| (what.into(), secs)).into())
    }
}

/// The faults that are tried, and those that apply and are not.
fn faults(effort: &Effort, request: &Request, spec: &EnvSpec) -> Result<(Vec<String>, Vec<String>)> {
    let (mut tried, mut untried) = effort.faults(spec);
    if !request.anomalies.is_empty() {
        request.anomalies.iter().try_for_each(|id| catalogues::check_anomaly(id, spec))?;
        untried.append(&mut tried);
        untried.retain(|id| !request.anomalies.contains(id));
        tried.clone_from(&request.anomalies);
    }
    ensure!(!tried.is_empty(), "environment {}: expected a fault that applies, found none", spec.id);
    Ok((tried, untried))
}

/// The detectors of a depth and those that are asked for.
fn detectors(usual: &[&str], request: &Request) -> Vec<String> {
    let mut detectors: Vec<String> = usual.iter().map(ToString::to_string).collect();
    for own in request.detectors.iter().map(ToString::to_string) {
        if !detectors.contains(&own) {
            detectors.push(own);
        }
    }
    detectors
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
        let Plan { env, anomalies, untried, strengths, detectors, probe, .. } = self;
        writeln!(
            out,
            "{env}: an episode has {:.0} steps and takes {:.0} ms; depth {}: {} of {} faults at {} strengths, {} \
             detectors; about {}",
            probe.steps,
            1000.0 * probe.episode_secs,
            self.depth_choice(),
            anomalies.len(),
            anomalies.len() + untried.len(),
            strengths.len(),
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
pub(crate) use tests::{tests_plan, tests_probe};
