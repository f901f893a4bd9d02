//! What a pointer to a monitor points at: the monitor, and the texts that C reads of it.

use crate::fault::{Done, Fault, Status};
use crate::guard::Poison;
use crate::types::{Candidate, Deviation, Diagnosis, Event, Verdict};
use offnominal_core::transition::Transition;
use offnominal_monitor::{About, ChannelName, Monitor, StepError, decode};
use std::ffi::CString;
use std::mem::MaybeUninit;

/// Why a detector that looks inside the policy is refused.
const NO_POLICY: &str = "a detector that looks inside the policy can be opened from Rust and Python only";

/// A fitted detector with its threshold, watching one episode at a time.
pub struct Handle {
    monitor: Monitor,
    /// A call has panicked; the monitor may be half-changed.
    is_poisoned: bool,
    /// Room for the parts of a score.
    shares: Vec<f64>,
    pub(crate) texts: Texts,
}

/// Texts that live as long as the monitor.
pub(crate) struct Texts {
    pub about: CString,
    pub observation: Vec<Channel>,
    pub action: Vec<Channel>,
    /// The names of the faults that a diagnosis can name, of one each.
    pub anomalies: Vec<CString>,
}

/// What a number is.
pub(crate) struct Channel {
    pub name: CString,
    pub unit: CString,
}

impl Handle {
    pub(crate) fn open(path: &str) -> Result<Handle, Fault> {
        let catalogue = offnominal_detectors::catalogue();
        let opened = Monitor::open_with(path, &catalogue, |_| Err(NO_POLICY.into()));
        opened.map(Handle::new).map_err(Fault::Open)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Handle, Fault> {
        let read = || {
            let (about, archive) = decode(bytes)?;
            Monitor::new(about, &archive, &offnominal_detectors::catalogue(), None)
        };
        read().map(Handle::new).map_err(Fault::Bytes)
    }

    /// A handle of a monitor.
    pub fn new(monitor: Monitor) -> Handle {
        let about = monitor.about();
        let json = serde_json::to_string(about).expect("a header is valid JSON");
        let texts = Texts {
            about: text(&json),
            observation: channels(&about.observation),
            action: channels(&about.action),
            anomalies: about.hypotheses.iter().map(|hypothesis| text(&hypothesis.anomaly)).collect(),
        };
        let shares = vec![0.0; about.obs_width()];
        Handle { monitor, is_poisoned: false, shares, texts }
    }

    pub(crate) fn about(&self) -> &About {
        self.monitor.about()
    }

    pub(crate) fn is_lost(&self, channel: usize) -> bool {
        self.monitor.is_lost(channel)
    }

    pub(crate) fn is_diagnosis_due(&self) -> bool {
        self.monitor.is_diagnosis_due()
    }

    pub(crate) fn reset(&mut self) -> Done {
        self.monitor.reset();
        Ok(Status::Ok)
    }

    pub(crate) fn reset_group(&mut self, group: &str) -> Done {
        self.monitor.begin(Some(group))?;
        Ok(Status::Ok)
    }

    /// An episode begins: of a task, or, where the messages tell of none, of the same group as the one before.
    pub(crate) fn begin(&mut self, task: Option<&str>) {
        match task {
            Some(task) => _ = self.monitor.begin_task(Some(task)),
            None => self.monitor.restart(),
        }
    }

    pub(crate) fn judge(
        &mut self,
        obs: &[f64],
        action: &[f64],
    ) -> Result<Option<offnominal_monitor::Verdict>, StepError> {
        self.monitor.step(obs, action)
    }

    pub(crate) fn step(&mut self, obs: &[f64], action: &[f64], to: &mut MaybeUninit<Verdict>) -> Done {
        told(self.judge(obs, action), to)
    }

    pub(crate) fn last(&mut self, obs: &[f64], to: &mut MaybeUninit<Verdict>) -> Done {
        told(self.monitor.last(obs), to)
    }

    pub(crate) fn transition(&mut self, seen: &Transition<'_, f64>, to: &mut MaybeUninit<Verdict>) -> Done {
        told(self.monitor.transition(seen).map(Some), to)
    }

    pub(crate) fn acknowledge(&mut self, to: &mut MaybeUninit<Event>) -> Done {
        to.write(self.monitor.acknowledge().into());
        Ok(Status::Ok)
    }

    /// Writes as many channels as there is room for.
    pub(crate) fn diagnose(
        &mut self,
        to: &mut MaybeUninit<Diagnosis>,
        channels: &mut [MaybeUninit<Deviation>],
    ) -> Done {
        let Some(found) = self.monitor.diagnose() else { return Ok(Status::NoDiagnosis) };
        for ((_, deviation), to) in found.channels().zip(channels) {
            to.write(deviation.into());
        }
        to.write(Diagnosis::new(&found, found.channels().count()));
        Ok(Status::Ok)
    }

    /// Writes as many candidates as there is room for, and how many there are.
    pub(crate) fn candidates(
        &mut self,
        candidates: &mut [MaybeUninit<Candidate>],
        n: &mut MaybeUninit<usize>,
    ) -> Done {
        let names = &self.texts.anomalies;
        let found = self.monitor.diagnose().filter(offnominal_monitor::Diagnosis::names_faults);
        let Some(found) = found else { return Ok(Status::NoDiagnosis) };
        for (candidate, to) in found.candidates().zip(candidates) {
            to.write(Candidate::new(&candidate, names[candidate.hypothesis].as_ptr()));
        }
        n.write(found.candidates().count());
        Ok(Status::Ok)
    }

    /// Writes the part of the score that is due to each number of the observation.
    pub(crate) fn shares(&mut self, to: &mut [MaybeUninit<f64>]) -> Done {
        let (expected, found) = (self.shares.len(), to.len());
        if expected != found {
            return Err(StepError::Width { what: "shares", expected, found }.into());
        }
        if !self.monitor.write_shares(&mut self.shares) {
            return Ok(Status::NoShares);
        }
        for (to, share) in to.iter_mut().zip(&self.shares) {
            to.write(*share);
        }
        Ok(Status::Ok)
    }
}

impl Poison for Handle {
    fn is_poisoned(&mut self) -> &mut bool {
        &mut self.is_poisoned
    }
}

/// Writes a verdict, if there is one.
fn told(
    found: Result<Option<offnominal_monitor::Verdict>, StepError>,
    to: &mut MaybeUninit<Verdict>,
) -> Done {
    let Some(verdict) = found? else { return Ok(Status::NoVerdict) };
    to.write(verdict.into());
    Ok(Status::Ok)
}

fn channels(names: &[ChannelName]) -> Vec<Channel> {
    names.iter().map(|c| Channel { name: text(&c.name), unit: text(&c.unit) }).collect()
}

/// In C a zero ends a text, so one inside of it is replaced.
pub(crate) fn text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).expect("no zero is left")
}

/// The header promises that a monitor may be moved to another thread.
const _: fn() = || {
    fn moves<T: Send>() {}
    moves::<Handle>();
};
