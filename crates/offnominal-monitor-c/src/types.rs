//! What crosses the border: plain numbers, laid out as C does.

use offnominal_core::alarm;
use offnominal_detectors::diagnosis;
use std::ffi::c_char;

/// The number of this interface. It grows when a function or a structure changes so that old callers would break.
/// Compare it with what `offnominal_abi` returns.
pub const ABI: u32 = 2;

/// Whether the alarm is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum State {
    /// The episode is too young for an alarm.
    Disarmed = 0,
    /// The monitor watches.
    Armed = 1,
    /// The alarm is on.
    Raised = 2,
}

/// What happened to the alarm in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Event {
    /// It is as it was.
    None = 0,
    /// It went on.
    Raised = 1,
    /// It went off.
    Cleared = 2,
}

/// What happened to the sensors in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum SensorEvent {
    /// Nothing.
    None = 0,
    /// At least one was lost.
    Lost = 1,
    /// At least one came back, and none was lost.
    Returned = 2,
}

/// Where a fault seems to lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Family {
    /// The policy reads something other than the true state.
    Observation = 0,
    /// Another action is executed than the policy chose.
    Action = 1,
    /// The environment responds differently.
    Dynamics = 2,
    /// Nothing tells: there are no commands and no faults were taught. The probabilities are equal.
    Unknown = 3,
}

/// To which side of its neutral magnitude a fault has moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Direction {
    /// Larger magnitudes.
    Up = 0,
    /// Smaller ones.
    Down = 1,
}

/// What is said of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Verdict {
    /// Which step of the episode, counted from 0.
    pub step: u64,
    /// How anomalous the detector finds it; larger is more.
    pub score: f64,
    /// What is compared with the threshold: the score, or what has accumulated.
    pub statistic: f64,
    /// The threshold.
    pub threshold: f64,
    /// Whether the alarm is on.
    pub state: State,
    /// Whether it went on or off in this step.
    pub event: Event,
    /// Numbers of the observation that were not read.
    pub missing: u32,
    /// The longest time, in steps, for which one of them has not been read; 0 if all were.
    pub stale: u32,
    /// Share of what the detector compares that was read: 1 if nothing is missing, 0 if the score says nothing.
    pub confidence: f64,
    /// Sensors that are lost: numbers of the observation that were not read for longer than the file allows.
    pub lost: u32,
    /// Whether one was lost in this step, or came back.
    pub sensor_event: SensorEvent,
    /// 1 if the promise does not hold for this step: its episode is longer than any that set the threshold, has steps of another
    /// length, or is of a task that is none of the monitor's groups. What was promised of an episode holds for its steps before.
    pub beyond_promise: u32,
}

/// When a step was over that was made of messages.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Tick {
    /// In nanoseconds of the clock of the messages.
    pub time_nanos: i64,
    /// The same in seconds since the first tick of the episode.
    pub secs: f64,
    /// Which episode, counted from 0.
    pub episode: u64,
    /// Messages so far that came too late or twice.
    pub dropped: u64,
}

/// What looks wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Diagnosis {
    /// The step of the episode, counted from 0, at which it seems to have begun.
    pub onset: u64,
    /// Probability of each family, in the order of `offnominal_family`.
    pub probabilities: [f64; 3],
    /// The family that it looks like most.
    pub family: Family,
    /// How many channels are off; as many as there is room for are written.
    pub n_channels: usize,
}

/// How far a channel is off, in nominal standard deviations of its prediction error.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Deviation {
    /// Which number of the observation.
    pub channel: usize,
    /// Root mean square since the onset.
    pub size: f64,
    /// Mean since the onset.
    pub bias: f64,
}

/// A named fault that may be the one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Candidate {
    /// Name of the anomaly as UTF-8, such as "dyn-mass". The text stays until the monitor is closed.
    pub anomaly: *const c_char,
    /// To which side of its neutral magnitude.
    pub direction: Direction,
    /// The magnitude at which there is no fault.
    pub neutral: f64,
    /// The magnitude that it would have, in the unit of the anomaly.
    pub magnitude: f64,
    /// How probable it is, if all families were equally likely before, and within each all faults that were taught.
    pub probability: f64,
}

impl From<Option<alarm::Event>> for Event {
    fn from(event: Option<alarm::Event>) -> Event {
        match event {
            None => Event::None,
            Some(alarm::Event::Raised) => Event::Raised,
            Some(alarm::Event::Cleared) => Event::Cleared,
        }
    }
}

impl From<Option<offnominal_monitor::SensorEvent>> for SensorEvent {
    fn from(event: Option<offnominal_monitor::SensorEvent>) -> SensorEvent {
        match event {
            None => SensorEvent::None,
            Some(offnominal_monitor::SensorEvent::Lost) => SensorEvent::Lost,
            Some(offnominal_monitor::SensorEvent::Returned) => SensorEvent::Returned,
        }
    }
}

impl From<alarm::State> for State {
    fn from(state: alarm::State) -> State {
        match state {
            alarm::State::Disarmed => State::Disarmed,
            alarm::State::Armed => State::Armed,
            alarm::State::Raised => State::Raised,
        }
    }
}

impl From<diagnosis::Family> for Family {
    fn from(family: diagnosis::Family) -> Family {
        match family {
            diagnosis::Family::Observation => Family::Observation,
            diagnosis::Family::Action => Family::Action,
            diagnosis::Family::Dynamics => Family::Dynamics,
            diagnosis::Family::Unknown => Family::Unknown,
        }
    }
}

impl From<diagnosis::Direction> for Direction {
    fn from(direction: diagnosis::Direction) -> Direction {
        match direction {
            diagnosis::Direction::Up => Direction::Up,
            diagnosis::Direction::Down => Direction::Down,
        }
    }
}

impl From<offnominal_monitor::Verdict> for Verdict {
    fn from(v: offnominal_monitor::Verdict) -> Verdict {
        let (state, event) = (v.state.into(), v.event.into());
        Verdict {
            step: v.step,
            score: v.score,
            statistic: v.statistic,
            threshold: v.threshold,
            state,
            event,
            missing: v.missing,
            stale: v.stale,
            confidence: v.confidence,
            lost: v.lost,
            sensor_event: v.sensor_event.into(),
            beyond_promise: v.beyond_promise.into(),
        }
    }
}

impl From<diagnosis::Deviation> for Deviation {
    fn from(d: diagnosis::Deviation) -> Deviation {
        Deviation { channel: d.channel, size: d.size, bias: d.bias }
    }
}

impl Candidate {
    /// A candidate whose name is the text at that address.
    pub(crate) fn new(found: &offnominal_monitor::Candidate<'_>, anomaly: *const c_char) -> Candidate {
        Candidate {
            anomaly,
            direction: found.direction.into(),
            neutral: found.neutral,
            magnitude: found.magnitude,
            probability: found.probability,
        }
    }
}

impl Diagnosis {
    /// The answer without its channels, of which there are `n_channels`.
    pub(crate) fn new(found: &offnominal_monitor::Diagnosis<'_>, n_channels: usize) -> Diagnosis {
        let probabilities = found.probabilities().map(|(_, p)| p);
        Diagnosis { onset: found.onset(), probabilities, family: found.family().into(), n_channels }
    }
}
