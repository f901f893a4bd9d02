//! A verdict as one JSON line, wherever the steps come from.

use crate::diagnosis::Diagnosis;
use crate::evidence::Evidence;
use crate::monitor::{Monitor, Verdict};
use crate::shares::Share;
use offnominal_core::alarm::Event;
use serde::Serialize;

/// What is told of a step: the verdict, where it belongs, and what there is to say beside it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerdictLine<'a> {
    /// Where steps come as lines: which one is answered, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Where steps come from a log: when the step was over, in nanoseconds of the clock of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_nanos: Option<i64>,
    /// The same in seconds since the first step of the episode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secs: Option<f64>,
    /// Which episode, counted from 0.
    pub episode: u64,
    /// What the monitor says.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// What looks wrong, where an alarm is raised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Diagnosis<'a>>,
    /// Which part of the score is due to each channel, where an alarm is raised, if the detector tells: they sum to the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<Vec<Share>>,
    /// What spoke in the score, where an alarm is raised, if the detector tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Names of the sensors that are lost, where one was lost or came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_sensors: Option<Vec<String>>,
    /// Lines or rows that were dropped so far, as they came too late or twice.
    #[cfg_attr(feature = "schema", schemars(default))]
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// Whether somebody has acknowledged the alarm before this step.
    #[cfg_attr(feature = "schema", schemars(default))]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub acknowledged: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Monitor {
    /// The line of the verdict on the last step, with what there is to say beside it; where the step comes from, how many
    /// were dropped and whether the alarm was acknowledged is known to who reads the steps.
    pub fn line(&mut self, verdict: Verdict, episode: u64) -> VerdictLine<'_> {
        let is_raised = verdict.event == Some(Event::Raised);
        let names = |monitor: &Monitor| monitor.lost().map(|channel| channel.name.clone()).collect();
        VerdictLine {
            line: None,
            time_nanos: None,
            secs: None,
            episode,
            verdict,
            lost_sensors: verdict.sensor_event.map(|_| names(self)),
            shares: if is_raised { self.shares() } else { None },
            evidence: if is_raised { self.evidence() } else { None },
            dropped: 0,
            acknowledged: false,
            diagnosis: if self.is_diagnosis_due() { self.diagnose() } else { None },
        }
    }
}
