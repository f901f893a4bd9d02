//! A monitor at work: one step after another becomes a score, a statistic and an alarm.

use crate::about::{About, ChannelName};
use crate::diagnosis::Diagnosis;
use crate::error::{ConfirmError, FileError, MonitorError, StepError, UnknownGroup};
use crate::evidence::Evidence;
use crate::feed::Feed;
use crate::file;
use crate::known::{Known, Trace};
use crate::limits::{self, Limits};
use crate::shares::{self, Share};
use offnominal_core::Catalogue;
use offnominal_core::alarm::{Alarm, Event, State};
use offnominal_core::archive::{Archive, ArchiveError};
use offnominal_core::detector::{Detector, Scorer};
use offnominal_core::partial::PartialScore;
use offnominal_core::policy::Policy;
use offnominal_core::reference::relative;
use offnominal_core::transition::Transition;
use offnominal_detectors::diagnosis::{AFTER, Diagnoser};
use offnominal_stats::alarm::statistic::{Past, Statistic};
use offnominal_stats::{GroupThresholds, Recalibrated, Recalibration, Threshold};
use serde::Serialize;
use std::path::Path;

/// A fitted detector with its threshold, watching one episode at a time.
pub struct Monitor {
    about: About,
    scorer: Box<dyn Scorer>,
    diagnoser: Option<Diagnoser>,
    limits: Limits,
    past: Past,
    /// The largest value of the statistic in the episode.
    largest: f64,
    alarm: Alarm,
    /// Steps of the episode that were judged.
    n_steps: u64,
    /// The step at which the alarm went on last.
    raised_at: Option<u64>,
    /// The last observation and the action that followed it.
    feed: Feed,
    /// Episodes that say nothing new, and the present one.
    known: Known,
    trace: Trace,
    /// What was given last, less the references of the channels.
    given: Given,
    /// Whether the observation, and whether the action too, is of this episode.
    has_obs: bool,
    has_action: bool,
    /// Whether the episode is of a task that is none of the groups.
    has_unknown_task: bool,
}

/// Numbers less the references of their channels. Their memory is used again.
#[derive(Default)]
struct Given {
    obs: Vec<f32>,
    action: Vec<f32>,
    next_obs: Vec<f32>,
}

/// What is said of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// Which step of the episode, counted from 0.
    pub step: u64,
    /// How anomalous the detector finds it.
    pub score: f64,
    /// What is compared with the threshold: the score, or what has accumulated.
    pub statistic: f64,
    /// The threshold.
    pub threshold: f64,
    /// Whether the alarm is on.
    pub state: State,
    /// Whether it went on or off in this step.
    pub event: Option<Event>,
    /// Numbers of the observation that were not read.
    pub missing: u32,
    /// The longest time, in steps, for which one of them has not been read; 0 if all were.
    pub stale: u32,
    /// Share of what the detector compares that was read: 1 if nothing is missing, 0 if the score says nothing.
    pub confidence: f64,
    /// Sensors that are lost: numbers of the observation that were not read for longer than the file allows.
    pub lost: u32,
    /// Whether one was lost in this step, or came back. It is no alarm, and takes nothing from the share of false ones.
    pub sensor_event: Option<SensorEvent>,
    /// Whether the promise does not hold for this step: its episode is longer than any that set the threshold, has steps of
    /// another length, or is of a task that is none of the monitor's groups. What was promised of an episode holds for its steps
    /// before.
    #[cfg_attr(feature = "schema", schemars(default))]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub beyond_promise: bool,
}

/// What happened to the sensors in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SensorEvent {
    /// At least one was lost.
    Lost,
    /// At least one came back, and none was lost.
    Returned,
}

impl Monitor {
    /// Reads a file that `offnominal fit` wrote.
    ///
    /// # Errors
    /// If it cannot be read, is damaged or was edited, has another version, or needs the policy.
    pub fn open(path: impl AsRef<Path>) -> Result<Monitor, MonitorError> {
        let catalogue = offnominal_detectors::catalogue();
        Monitor::open_with(path, &catalogue, |_| Err("none was given; open the file with `open_with`".into()))
    }

    /// Reads a file of any detector of a catalogue; `policy` finds the policy for one that looks inside it, or says why
    /// it cannot.
    ///
    /// # Errors
    /// As [`Monitor::open`].
    pub fn open_with(
        path: impl AsRef<Path>,
        catalogue: &Catalogue<dyn Detector>,
        policy: impl FnOnce(&About) -> Result<Box<dyn Policy>, String>,
    ) -> Result<Monitor, MonitorError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|why| MonitorError::Unreadable { path: path.into(), why })?;
        let read = || {
            let (about, archive) = file::decode(&bytes)?;
            match Monitor::new(about.clone(), &archive, catalogue, None) {
                Err(FileError::Numbers(ArchiveError::NoPolicy)) => {
                    let unfound = |why| FileError::Policy { id: about.policy.id.clone(), why };
                    let policy = policy(&about).map_err(unfound)?;
                    Monitor::new(about, &archive, catalogue, Some(policy.as_ref()))
                }
                made => made,
            }
        };
        read().map_err(|why| MonitorError::File { path: path.into(), why })
    }

    /// Brings a monitor back from the contents of a file.
    ///
    /// # Errors
    /// If there is no such detector, or the numbers are not those of one.
    pub fn new(
        about: About,
        archive: &Archive,
        catalogue: &Catalogue<dyn Detector>,
        policy: Option<&dyn Policy>,
    ) -> Result<Monitor, FileError> {
        let detector = catalogue.build(&about.detector.id, &about.detector.params)?;
        let from = archive.reader(about.obs_width(), about.act_width());
        let scorer = detector.load(&from.part(DETECTOR), policy)?;
        let (limits, known) = (Limits::load(&about, &from)?, Known::load(archive)?);
        let diagnoser =
            about.diagnoses.then(|| Diagnoser::load(&from.part(DIAGNOSIS), &about.hypotheses)).transpose()?;
        let (alarm, past) = (Alarm::new(about.alarm), Past::default());
        let widths = [about.obs_width(), about.act_width()];
        let (feed, trace) = (Feed::new(widths, &about.usual), Trace::new(widths));
        let (has_obs, has_action, n_steps, raised_at) = (false, false, 0, None);
        let largest = f64::NEG_INFINITY;
        Ok(Monitor {
            about,
            scorer,
            diagnoser,
            limits,
            past,
            largest,
            alarm,
            n_steps,
            raised_at,
            feed,
            known,
            trace,
            given: Given::default(),
            has_obs,
            has_action,
            has_unknown_task: false,
        })
    }

    /// What was fitted, on what, and when it raises an alarm.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// What the statistic is compared with in this episode.
    pub fn threshold(&self) -> f64 {
        self.limits.here().value
    }

    /// The contents of its file, from which [`Monitor::new`] makes the same monitor.
    ///
    /// # Errors
    /// If the detector cannot be kept.
    pub fn contents(&self) -> Result<(About, Archive), ArchiveError> {
        let mut archive = learned(self.scorer.as_ref(), self.diagnoser.as_ref())?;
        self.limits.save(&mut archive);
        self.known.save(&mut archive);
        Ok((self.about.clone(), archive))
    }

    /// An episode begins: nothing is remembered of the one before, not even an alarm. Its threshold is the one of all
    /// episodes, whatever their groups.
    pub fn reset(&mut self) {
        self.limits.of_all();
        self.has_unknown_task = false;
        self.restart();
    }

    /// As [`Monitor::reset`], but the episode may be one of a group, such as a task, and then has the threshold of that group.
    ///
    /// # Errors
    /// If the monitor was not fitted with that group, as nothing is promised of its episodes. The monitor is as it was.
    pub fn begin(&mut self, group: Option<&str>) -> Result<(), UnknownGroup> {
        let Some(name) = group else {
            self.reset();
            return Ok(());
        };
        self.limits.of_group(name, self.about.groups.as_ref())?;
        self.has_unknown_task = false;
        self.restart();
        Ok(())
    }

    /// As [`Monitor::begin`], but the group is what a log calls the task of the episode. False if the monitor has groups and the task
    /// is none of them: the episode then has the threshold of all, which promises nothing of it.
    pub fn begin_task(&mut self, task: Option<&str>) -> bool {
        let group = task.filter(|_| self.about.groups.is_some());
        let is_known = self.begin(group).is_ok();
        if !is_known {
            self.reset();
        }
        self.has_unknown_task = !is_known;
        is_known
    }

    /// As [`Monitor::reset`], but the episode is of the same group as the one before.
    pub fn restart(&mut self) {
        self.scorer.reset();
        self.diagnoser.iter_mut().for_each(Diagnoser::reset);
        (self.past, self.largest) = (Past::default(), f64::NEG_INFINITY);
        self.alarm.reset();
        (self.n_steps, self.raised_at) = (0, None);
        (self.has_obs, self.has_action) = (false, false);
    }

    /// Somebody says that the episode since the last reset was nominal, whatever the monitor said of it: its largest statistic
    /// joins those that set the threshold, which thereby follows benign drift. [`Monitor::contents`] has the new threshold.
    ///
    /// # Errors
    /// If the rule promises no share of false alarms, no step was judged, the episode is a copy of one that the monitor knows, or
    /// a setting is out of range. The threshold is as it was.
    pub fn confirm(&mut self, how: &Recalibration) -> Result<Recalibrated, ConfirmError> {
        if self.largest == f64::NEG_INFINITY {
            return Err(ConfirmError::NoEpisode);
        }
        if self.known.has(&self.trace) {
            return Err(ConfirmError::Known);
        }
        let found = self.limits.confirm(self.largest, how, &mut self.about)?;
        self.known.add(&self.trace);
        self.largest = f64::NEG_INFINITY;
        Ok(found)
    }

    /// Somebody has seen the alarm: it goes off, and can be raised again. In a stream without episodes the evidence begins
    /// anew.
    pub fn acknowledge(&mut self) -> Option<Event> {
        let event = self.alarm.acknowledge();
        if event.is_some() && matches!(self.limits.here().statistic, Statistic::Blocks(_)) {
            self.past = Past::default();
        }
        event
    }

    /// The observation that was just read, and the command that the policy gives for it, in the units of their channels: their
    /// references are subtracted here. The verdict is on the step that ends with this observation, so there is none at the
    /// first call of an episode. A number that is infinite or not a number was not read: see [`Verdict::missing`].
    ///
    /// # Errors
    /// If a width is wrong, or single precision cannot hold a number.
    pub fn step<X: Copy + Into<f64>>(
        &mut self,
        obs: &[X],
        action: &[X],
    ) -> Result<Option<Verdict>, StepError> {
        less("action", action, &self.about.action, &mut self.given.action)?;
        let verdict = self.last(obs)?;
        self.act();
        self.has_action = true;
        Ok(verdict)
    }

    /// The observation after which there is no command, as an episode has ended.
    ///
    /// # Errors
    /// As [`Monitor::step`].
    pub fn last<X: Copy + Into<f64>>(&mut self, obs: &[X]) -> Result<Option<Verdict>, StepError> {
        less("obs", obs, &self.about.observation, &mut self.given.next_obs)?;
        let verdict = self.has_action.then(|| self.judge());
        if verdict.is_none() {
            self.first();
        }
        (self.has_obs, self.has_action) = (true, false);
        Ok(verdict)
    }

    /// A whole transition, which must begin where the one before it ended; in units as those of [`Monitor::step`].
    ///
    /// # Errors
    /// As [`Monitor::step`], and if a step is missing.
    pub fn transition<X: Copy + Into<f64>>(
        &mut self,
        seen: &Transition<'_, X>,
    ) -> Result<Verdict, StepError> {
        less("obs", seen.obs, &self.about.observation, &mut self.given.obs)?;
        less("action", seen.action, &self.about.action, &mut self.given.action)?;
        less("next_obs", seen.next_obs, &self.about.observation, &mut self.given.next_obs)?;
        if self.has_obs {
            self.continues()?;
            self.feed.again(&self.given.obs);
        } else {
            self.feed.first(&self.given.obs);
            self.trace.first(&self.given.obs);
        }
        self.act();
        let verdict = self.judge();
        (self.has_obs, self.has_action) = (true, false);
        Ok(verdict)
    }

    /// The sensors that are lost now, each a number of the observation.
    pub fn lost(&self) -> impl Iterator<Item = &ChannelName> {
        let lost = self.feed.ages().iter().map(|age| *age > self.about.lost_after);
        self.about.observation.iter().zip(lost).filter_map(|(channel, is_lost)| is_lost.then_some(channel))
    }

    /// Whether the last step is one at which a diagnosis says something new: the one that raised the alarm, and where faults can
    /// be named, those for which they were taught.
    pub fn is_diagnosis_due(&self) -> bool {
        let (Some(raised_at), Some(last)) = (self.raised_at, self.n_steps.checked_sub(1)) else {
            return false;
        };
        let since = (last - raised_at) as usize;
        since == 0 || !self.about.hypotheses.is_empty() && AFTER.contains(&since)
    }

    /// What looks wrong, judging from the last steps of the episode: worth asking when an alarm is raised, and again
    /// later, when more is known; named faults are taught for the step of the alarm, and those 5 and 20 steps after it. `None` before the first step, and if the file was fitted without diagnosis. It does not
    /// allocate.
    pub fn diagnose(&mut self) -> Option<Diagnosis<'_>> {
        let last = self.n_steps.checked_sub(1)?;
        let since = self.raised_at.map_or(0, |raised_at| last - raised_at);
        let found = self.diagnoser.as_mut()?.diagnose(since as usize);
        Some(Diagnosis::new(found, last, &self.about))
    }

    /// Which part of the score of the last step is due to each channel of the observation, the largest first: the parts sum to the
    /// score, and those of nothing are left out. `None` before the first step, and if the detector does not tell. What the score
    /// was made of is not yet what is broken, for which there is [`Monitor::diagnose`].
    pub fn shares(&mut self) -> Option<Vec<Share>> {
        let mut shares = vec![0.0; self.about.obs_width()];
        self.write_shares(&mut shares).then(|| shares::named(&shares, &self.about.observation))
    }

    /// As [`Monitor::shares`], but one part for each number of the observation, in their order. False before the first step, and
    /// if the detector does not tell; then nothing is written. It does not allocate.
    ///
    /// # Panics
    /// If there is not one place for each number of the observation.
    pub fn write_shares(&mut self, shares: &mut [f64]) -> bool {
        assert_eq!(shares.len(), self.about.obs_width(), "one place for each number of the observation");
        self.n_steps > 0 && self.scorer.shares(shares)
    }

    /// What spoke in the score of the last step, in words: which statistic, of which channel, against what. `None` before the first
    /// step, and if the detector does not tell.
    pub fn evidence(&mut self) -> Option<Evidence> {
        let last = self.n_steps.checked_sub(1)?;
        let found = self.scorer.evidence()?;
        Some(Evidence::new(found, self.shares().as_deref(), last, &self.about))
    }

    /// Whether the sensor of a number of the observation is lost.
    pub fn is_lost(&self, channel: usize) -> bool {
        self.feed.ages().get(channel).is_some_and(|age| *age > self.about.lost_after)
    }

    /// The observation that was given is the first one.
    fn first(&mut self) {
        self.feed.first(&self.given.next_obs);
        self.trace.first(&self.given.next_obs);
    }

    fn act(&mut self) {
        self.feed.act(&self.given.action);
        self.trace.act(&self.given.action);
    }

    /// Judges the step that ends with the observation that was given.
    fn judge(&mut self) -> Verdict {
        self.trace.next(&self.given.next_obs);
        let PartialScore { score, confidence } = self.feed.score(&self.given.next_obs, self.scorer.as_mut());
        self.diagnoser.iter_mut().for_each(|d| d.observe_partial(&self.feed.step()));
        let sensor_event = self.advance();
        let limit = self.limits.here();
        let (statistic, threshold) = (self.past.advance(&limit.statistic, score), limit.value);
        self.largest = self.largest.max(statistic);
        let event = self.alarm.observe(statistic > threshold);
        let step = self.n_steps;
        if event == Some(Event::Raised) {
            self.raised_at = Some(step);
        }
        self.n_steps += 1;
        Verdict {
            step,
            score,
            statistic,
            threshold,
            state: self.alarm.state(),
            event,
            missing: self.feed.missing().iter().filter(|missing| **missing).count() as u32,
            stale: self.feed.ages().iter().copied().max().unwrap_or(0),
            confidence,
            lost: self.lost().count() as u32,
            sensor_event,
            beyond_promise: self.has_unknown_task || self.about.threshold.outlasted_by(step + 1).is_some(),
        }
    }

    /// Goes on to the next step, and says what happened to the sensors.
    fn advance(&mut self) -> Option<SensorEvent> {
        let limit = self.about.lost_after;
        let before = self.lost().count();
        self.feed.advance();
        let ages = self.feed.ages();
        let newly = ages.iter().filter(|age| **age == limit.saturating_add(1)).count();
        let now = ages.iter().filter(|age| **age > limit).count();
        match (newly, now < before) {
            (0, false) => None,
            (0, true) => Some(SensorEvent::Returned),
            _ => Some(SensorEvent::Lost),
        }
    }

    /// Compares what was read at the end of the transition before with what was read now.
    fn continues(&self) -> Result<(), StepError> {
        let read = self.feed.obs().iter().zip(self.feed.missing()).zip(&self.given.obs);
        let differs =
            |((before, missing), now): ((&f32, &bool), &f32)| !missing && now.is_finite() && before != now;
        match read.into_iter().position(differs) {
            None => Ok(()),
            Some(i) => {
                let ChannelName { name, reference, .. } = self.about.observation[i].clone();
                let (expected, found) = (self.feed.obs()[i], self.given.obs[i]);
                Err(StepError::Gap { channel: name, expected, found, reference })
            }
        }
    }
}

/// Where the numbers of the detector lie in a file, and those of the diagnosis.
const DETECTOR: &str = "detector";
const DIAGNOSIS: &str = "diagnosis";

impl Monitor {
    /// What a file holds of a fitted detector, its thresholds and perhaps a diagnosis; the header must say which there are.
    ///
    /// # Errors
    /// If the detector cannot be kept.
    pub fn archive(
        scorer: &dyn Scorer,
        threshold: &Threshold,
        groups: Option<&GroupThresholds>,
        diagnoser: Option<&Diagnoser>,
    ) -> Result<Archive, ArchiveError> {
        let mut archive = learned(scorer, diagnoser)?;
        limits::save(&mut archive, threshold, groups);
        Ok(archive)
    }
}

/// What the detector and the diagnosis learned.
fn learned(scorer: &dyn Scorer, diagnoser: Option<&Diagnoser>) -> Result<Archive, ArchiveError> {
    let mut archive = Archive::default();
    scorer.save(&mut archive.writer().part(DETECTOR))?;
    diagnoser.iter().for_each(|diagnoser| diagnoser.save(&mut archive.writer().part(DIAGNOSIS)));
    Ok(archive)
}

/// Writes numbers less the references of their channels.
fn less<X: Copy + Into<f64>>(
    what: &'static str,
    row: &[X],
    channels: &[ChannelName],
    to: &mut Vec<f32>,
) -> Result<(), StepError> {
    let (expected, found) = (channels.len(), row.len());
    if expected != found {
        return Err(StepError::Width { what, expected, found });
    }
    to.clear();
    for (&x, ChannelName { name, reference, .. }) in row.iter().zip(channels) {
        let (found, reference, channel) = (x.into(), *reference, name);
        let beyond = || StepError::Beyond { what, channel: channel.clone(), reference, found };
        to.push(relative(found, reference).ok_or_else(beyond)?);
    }
    Ok(())
}
