//! What there is at a tick of the clock: the observation, the action that answers it, and the verdict on the step that it
//! ends.

use offnominal_core::alarm::{Event, State};
use offnominal_monitor::{SensorEvent, Verdict};

/// A tick. A number that was not read is not finite.
#[derive(Debug, Clone)]
pub struct Tick {
    /// When it is, in nanoseconds of the clock of the log; without a log, of a clock that begins at 0 and counts steps.
    pub time_nanos: i64,
    /// Which episode, counted from 0.
    pub episode: u64,
    /// The observation, as the policy reads it.
    pub observation: Box<[f64]>,
    /// The action that answers it, as far as it is known.
    pub action: Option<Box<[f64]>>,
    /// What is said of the step that ends with the observation; nothing at the first tick of an episode.
    pub said: Option<TickVerdict>,
}

/// A verdict, and the line that tells it.
#[derive(Debug, Clone)]
pub struct TickVerdict {
    /// The numbers.
    pub verdict: Verdict,
    /// The line, a JSON object.
    pub line: Box<[u8]>,
}

impl Tick {
    /// Memory that it takes.
    pub fn n_bytes(&self) -> usize {
        let numbers = self.observation.len() + self.action.as_ref().map_or(0, |action| action.len());
        let line = self.said.as_ref().map_or(0, |said| said.line.len());
        size_of::<Tick>() + 8 * numbers + line
    }
}

/// The word for a state.
pub fn state(state: State) -> &'static str {
    match state {
        State::Disarmed => "disarmed",
        State::Armed => "armed",
        State::Raised => "raised",
    }
}

/// The word for what happened to an alarm.
pub fn event(event: Event) -> &'static str {
    match event {
        Event::Raised => "raised",
        Event::Cleared => "cleared",
    }
}

/// The word for what happened to the sensors.
pub fn sensor_event(event: SensorEvent) -> &'static str {
    match event {
        SensorEvent::Lost => "lost",
        SensorEvent::Returned => "returned",
    }
}
