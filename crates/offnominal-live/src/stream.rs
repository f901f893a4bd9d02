//! Steps as JSON lines, in; verdicts as JSON lines, out.
//!
//! A line in is an object. Either each line is a whole transition,
//!
//! ```json
//! {"obs": [0.1, 0.2], "action": [0.5], "next_obs": [0.1, 0.3]}
//! ```
//!
//! or each line is what a robot has at a tick of its clock, the observation and the command for it:
//!
//! ```json
//! {"obs": [0.1, 0.2], "action": [0.5]}
//! ```
//!
//! Numbers may also be given by the names of the channels, `{"obs": {"level": 0.1, "flow": 0.2}, …}`, in any order, or a
//! line before the first step says in which order they come:
//!
//! ```json
//! {"channels": {"obs": ["flow", "level"], "action": ["valve"]}}
//! ```
//!
//! Names that are not those of the monitor's file are an error. A number that was not read is `null`, or its name is not
//! there.
//!
//! In the second form the step is judged when the next observation comes, and an observation without a command ends
//! the episode. In both forms `"reset": true` says that an episode begins with this line, `"group": "lift"` beside it or in the
//! first line that it is one of a group which the monitor knows, and `"step": 7` gives the line a
//! number, which all lines up to the next reset then have. A first line begins an episode without saying so. Where numbers
//! are left out, so are steps: nothing was read in them, and each has its verdict. A line whose number is not larger than
//! that of one before it came late or twice; it is dropped, and counted.
//!
//! A line out is a [`VerdictLine`] with the number of the line in that it answers. [`Live`] may be told each tick too, after
//! the line.

mod channels;

use crate::{Live, TickInput as Tick};
use channels::{Names, Numbers};
use offnominal_core::transition::Transition;
use offnominal_monitor::{ChannelName, Monitor, StepError, UnknownGroup, Verdict, VerdictLine};
use serde::Deserialize;

/// One line in.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Line {
    /// Observation before the step, as the policy reads it.
    obs: Numbers,
    /// The policy's action; in the second form, an observation without an action ends the episode.
    action: Option<Numbers>,
    /// Observation after the step.
    next_obs: Option<Numbers>,
    /// Whether an episode begins with this line.
    #[serde(default)]
    reset: bool,
    /// The group of the episode that begins with this line, if the monitor has groups.
    group: Option<String>,
    /// Number of the step; it grows until the next reset.
    step: Option<u64>,
}

/// The schema of a line in.
#[cfg(feature = "schema")]
pub fn line_schema() -> schemars::Schema {
    schemars::schema_for!(AnyLine)
}

/// A line in: a step, or the order of the channels.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum AnyLine {
    Step(Line),
    Channels(Header),
}

/// A line with its numbers in the order of the monitor.
#[derive(Clone)]
struct LineValues {
    obs: Vec<f64>,
    action: Option<Vec<f64>>,
    next_obs: Option<Vec<f64>>,
}

/// A line that says in which order the numbers come.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Header {
    channels: Announced,
}

/// The names of the channels in the order in which they come.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Announced {
    obs: Option<Vec<String>>,
    action: Option<Vec<String>>,
}

/// Whether an object's first key is that of a [`Header`].
fn names_channels(text: &[u8]) -> bool {
    let inner = text.trim_ascii().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    inner.is_some_and(|inner| inner.starts_with(b"\"channels\""))
}

pub use channels::ChannelsError;

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// It is not such an object.
    #[error("expected an object with obs, action and perhaps next_obs, reset, group, step; found {0}")]
    Syntax(String),
    /// Whole transitions and single observations were mixed.
    #[error("expected {expected}, as in the lines before, found {found}")]
    Form {
        /// What the lines before have.
        expected: &'static str,
        /// What this one has.
        found: &'static str,
    },
    /// A transition without a command.
    #[error("expected an action beside next_obs, found none")]
    NoAction,
    /// A line after the end of an episode.
    #[error("expected \"reset\": true after an observation without an action, found a line without it")]
    NoReset,
    /// A group in the middle of an episode.
    #[error("expected group in a line that begins an episode, found it in another")]
    LateGroup,
    /// There is no such group.
    #[error(transparent)]
    Group(#[from] UnknownGroup),
    /// Channels are not those of the monitor.
    #[error(transparent)]
    Channels(#[from] ChannelsError),
    /// Channels are named after the first step.
    #[error("expected channels before the first step, found them after it")]
    LateChannels,
    /// A step has no number, or one far beyond that of the last one.
    #[error("step: expected {first} to {last}, found {found}; a reset is missing, or the steps between")]
    Gap {
        /// The number that comes next.
        first: u64,
        /// The largest that may come next.
        last: u64,
        /// The number of this line; none if it has none.
        found: String,
    },
    /// The step cannot be scored.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Feeds a monitor line by line.
pub struct Stream {
    monitor: Monitor,
    /// Who is told the ticks too, and how many there were.
    live: Live,
    n_ticks: i64,
    n_lines: u64,
    episode: u64,
    /// Whether lines are whole transitions.
    is_whole: Option<bool>,
    /// Number of the last line, if it had one.
    step: Option<u64>,
    /// Whether the next step is the first of an episode.
    is_first: bool,
    has_begun: bool,
    has_ended: bool,
    /// Lines that came late or twice.
    dropped: u64,
    /// The group of episodes of which no line says it.
    group: Option<String>,
    obs: Names,
    action: Names,
}

/// The most steps in a row that may be left out.
const MOST_LEFT_OUT: u64 = 1000;

/// What the number of a line says.
enum Order {
    /// It came late, or twice.
    Dropped,
    /// So many steps were left out before it.
    After(u64),
}

impl Stream {
    /// Before the first line.
    pub fn new(monitor: Monitor) -> Stream {
        Stream::with(monitor, None, Live::default())
    }

    /// Before the first line. Episodes of which no line says the group are of the given one, and somebody else is told the
    /// ticks too.
    pub fn with(monitor: Monitor, group: Option<String>, live: Live) -> Stream {
        let names = |of: &[ChannelName]| Names::of(of.iter().map(|channel| channel.name.clone()).collect());
        let (obs, action) = (names(&monitor.about().observation), names(&monitor.about().action));
        Stream {
            monitor,
            live,
            n_ticks: 0,
            obs,
            action,
            n_lines: 0,
            episode: 0,
            is_whole: None,
            step: None,
            is_first: true,
            has_begun: false,
            has_ended: false,
            dropped: 0,
            group,
        }
    }

    /// Nothing comes any more.
    ///
    /// # Errors
    /// If whoever was told the ticks could not keep them.
    pub fn finish(self) -> anyhow::Result<()> {
        self.live.finish()
    }

    /// Reads a line, and tells what there is to say; an empty one says nothing.
    ///
    /// # Errors
    /// If something is wrong with it.
    pub fn read(&mut self, text: &[u8], mut tell: impl FnMut(&VerdictLine<'_>)) -> Result<(), LineError> {
        self.n_lines += 1;
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        let Some(line) = self.parsed(text)? else { return Ok(()) };
        let seen = self.ordered(&line)?;
        self.same_form(&line)?;
        let Order::After(left_out) = self.follows(&line)? else {
            self.dropped += 1;
            return Ok(());
        };
        let unread = (left_out > 0).then(|| self.unread());
        for unread in std::iter::repeat_n(unread, left_out as usize).flatten() {
            self.step(&unread, &mut tell)?;
        }
        self.step(&seen, &mut tell)?;
        (self.step, self.has_begun, self.has_ended) = (line.step, true, line.action.is_none());
        Ok(())
    }

    /// A step in which nothing was read.
    fn unread(&self) -> LineValues {
        let nothing = |width| vec![f64::NAN; width];
        let (obs, act) = (self.monitor.about().obs_width(), self.monitor.about().act_width());
        let next_obs = self.is_whole.unwrap_or(false).then(|| nothing(obs));
        LineValues { obs: nothing(obs), action: Some(nothing(act)), next_obs }
    }

    /// Judges a step, and tells what there is to say.
    fn step(&mut self, seen: &LineValues, tell: &mut impl FnMut(&VerdictLine<'_>)) -> Result<(), StepError> {
        let acknowledged = self.live.is_acknowledged() && self.monitor.acknowledge().is_some();
        let verdict = self.judge(seen)?;
        let is_first = std::mem::replace(&mut self.is_first, false);
        let action = seen.action.as_deref();
        let Some(next_obs) = &seen.next_obs else {
            self.tick(verdict, acknowledged, &seen.obs, action, tell);
            return Ok(());
        };
        if is_first {
            self.tick(None, acknowledged, &seen.obs, action, tell);
        } else {
            action.iter().for_each(|action| self.live.acted(action));
        }
        self.tick(verdict, acknowledged, next_obs, None, tell);
        Ok(())
    }

    /// Tells a tick, and the verdict on the step that it ends.
    fn tick(
        &mut self,
        verdict: Option<Verdict>,
        acknowledged: bool,
        observation: &[f64],
        action: Option<&[f64]>,
        tell: &mut impl FnMut(&VerdictLine<'_>),
    ) {
        // Lines have no time, so it is that of a clock which counts steps.
        let nanos_per_step = (self.monitor.about().dt_secs * 1e9).round().max(1.0) as i64;
        let time_nanos = self.n_ticks.saturating_mul(nanos_per_step);
        self.n_ticks += 1;
        let seen = Tick { time_nanos, episode: self.episode, observation, action };
        let Some(verdict) = verdict else { return self.live.first(&seen) };
        let (line, dropped) = (Some(self.n_lines), self.dropped);
        let said = VerdictLine { line, dropped, acknowledged, ..self.monitor.line(verdict, self.episode) };
        tell(&said);
        self.live.step(&seen, &said);
    }

    /// A step; nothing if the line names the channels.
    fn parsed(&mut self, text: &[u8]) -> Result<Option<Line>, LineError> {
        let wrong = |e: serde_json::Error| LineError::Syntax(syntax(&e));
        // What looks like a step is read only once.
        if !names_channels(text) {
            return serde_json::from_slice(text).map(Some).map_err(wrong);
        }
        let Header { channels } = serde_json::from_slice(text).map_err(wrong)?;
        if self.has_begun {
            return Err(LineError::LateChannels);
        }
        channels.obs.map_or(Ok(()), |names| self.obs.announce("obs", &names))?;
        channels.action.map_or(Ok(()), |names| self.action.announce("action", &names))?;
        Ok(None)
    }

    /// The numbers of a step in the order of the monitor.
    fn ordered(&self, line: &Line) -> Result<LineValues, ChannelsError> {
        let obs = self.obs.ordered("obs", &line.obs)?;
        let action = line.action.as_ref().map(|a| self.action.ordered("action", a)).transpose()?;
        let next_obs = line.next_obs.as_ref().map(|o| self.obs.ordered("next_obs", o)).transpose()?;
        Ok(LineValues { obs, action, next_obs })
    }

    fn same_form(&mut self, line: &Line) -> Result<(), LineError> {
        let name = |is_whole| if is_whole { "next_obs" } else { "no next_obs" };
        let found = line.next_obs.is_some();
        let expected = *self.is_whole.get_or_insert(found);
        if expected != found {
            return Err(LineError::Form { expected: name(expected), found: name(found) });
        }
        if found && line.action.is_none() { Err(LineError::NoAction) } else { Ok(()) }
    }

    /// Begins an episode, or goes on with one.
    fn follows(&mut self, line: &Line) -> Result<Order, LineError> {
        if line.reset || !self.has_begun {
            self.monitor.begin(line.group.as_deref().or(self.group.as_deref()))?;
            self.episode += u64::from(self.has_begun);
            self.is_first = true;
            return Ok(Order::After(0));
        }
        if line.group.is_some() {
            return Err(LineError::LateGroup);
        }
        let Some(before) = self.step else {
            return if self.has_ended { Err(LineError::NoReset) } else { Ok(Order::After(0)) };
        };
        let (first, last) = (before.saturating_add(1), before.saturating_add(1 + MOST_LEFT_OUT));
        match line.step {
            Some(step) if step <= before => Ok(Order::Dropped),
            Some(_) if self.has_ended => Err(LineError::NoReset),
            Some(step) if step <= last => Ok(Order::After(step - first)),
            step => {
                let found = step.map_or("none".into(), |step| step.to_string());
                Err(LineError::Gap { first, last, found })
            }
        }
    }

    fn judge(&mut self, line: &LineValues) -> Result<Option<Verdict>, StepError> {
        match (&line.action, &line.next_obs) {
            (Some(action), Some(next_obs)) => {
                self.monitor.transition(&Transition { obs: &line.obs, action, next_obs }).map(Some)
            }
            (Some(action), None) => self.monitor.step(&line.obs, action),
            (None, _) => self.monitor.last(&line.obs),
        }
    }
}

/// What the parser says, without the line number, which is always 1.
fn syntax(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}
