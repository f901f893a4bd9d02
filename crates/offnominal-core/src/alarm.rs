//! From exceedances to alarms: the state machine between a monitor and whoever must act.
//!
//! ```text
//! disarmed ──arm_after steps──▶ armed ──raise_after exceedances in a row──▶ raised
//!                                 ▲                                            │
//!                                 └──clear_after quiet steps in a row──────────┘
//!                                    or `acknowledge`, the only way out of an alarm that latches
//! ```
//!
//! A debounced alarm is raised only in episodes in which some step exceeds the threshold, so it never has more false
//! alarms than the threshold promises, and it is `raise_after − 1` steps later at least.
//!
//! ```
//! use offnominal_core::alarm::{Alarm, Event, Settings};
//! let mut alarm = Alarm::new(Settings { raise_after: 2.try_into().unwrap(), ..Settings::default() });
//! let events: Vec<_> = [true, false, true, true, false].into_iter().map(|e| alarm.observe(e)).collect();
//! assert_eq!(events, [None, None, None, Some(Event::Raised), None]);
//! assert!(alarm.is_raised());
//! ```

use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

crate::with_defaults! {
    /// How an alarm behaves. The default is the alarm of the metrics: armed at once, raised by one exceedance, latched.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Settings {
        /// Steps at the beginning of an episode in which nothing is raised.
        pub arm_after: u32 = 0,
        /// Exceedances in a row that raise the alarm.
        pub raise_after: NonZeroU32 = NonZeroU32::MIN,
        /// Quiet steps in a row that clear the alarm; without it the alarm latches.
        pub clear_after: Option<NonZeroU32> = None,
    }
}

/// Where an alarm is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The episode is too young.
    Disarmed,
    /// Watching.
    Armed,
    /// The alarm is on.
    Raised,
}

/// A change that somebody should know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The alarm went on.
    Raised,
    /// The alarm went off.
    Cleared,
}

/// An alarm in an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    settings: Settings,
    state: State,
    /// Steps of the episode so far.
    steps: u32,
    /// Steps in a row that speak for a change of state.
    run: u32,
}

impl Alarm {
    /// An alarm before the first step of an episode.
    pub fn new(settings: Settings) -> Alarm {
        Alarm { settings, state: State::Disarmed, steps: 0, run: 0 }
    }

    /// An episode begins; nothing is remembered of the one before, not even a latched alarm.
    pub fn reset(&mut self) {
        *self = Alarm::new(self.settings);
    }

    /// Where it is after the steps so far.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the alarm is on.
    pub fn is_raised(&self) -> bool {
        self.state == State::Raised
    }

    /// One step more, in which the score exceeded the threshold or did not.
    pub fn observe(&mut self, exceeds: bool) -> Option<Event> {
        self.steps = self.steps.saturating_add(1);
        if self.steps <= self.settings.arm_after {
            return None;
        }
        if self.state == State::Disarmed {
            self.state = State::Armed;
        }
        let speaks = exceeds != self.is_raised();
        self.run = if speaks { self.run.saturating_add(1) } else { 0 };
        (self.run >= self.needed()?).then(|| self.change())
    }

    /// Somebody has seen the alarm: it goes off, and can be raised again.
    pub fn acknowledge(&mut self) -> Option<Event> {
        self.is_raised().then(|| self.change())
    }

    /// Steps in a row that change the state; `None` if no number does.
    fn needed(&self) -> Option<u32> {
        let steps =
            if self.is_raised() { self.settings.clear_after } else { Some(self.settings.raise_after) };
        steps.map(NonZeroU32::get)
    }

    fn change(&mut self) -> Event {
        self.run = 0;
        let (state, event) =
            if self.is_raised() { (State::Armed, Event::Cleared) } else { (State::Raised, Event::Raised) };
        self.state = state;
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(arm_after: u32, raise_after: u32, clear_after: u32) -> Settings {
        let raise_after = NonZeroU32::new(raise_after).unwrap();
        Settings { arm_after, raise_after, clear_after: NonZeroU32::new(clear_after) }
    }

    /// The alarm after each step of a drawn row of exceedances: `.` disarmed, `-` armed, `#` raised.
    #[track_caller]
    fn check(settings: Settings, exceedances: &str, want: &str) {
        let mut alarm = Alarm::new(settings);
        let mut after = |c: char| {
            alarm.observe(c == 'x');
            match alarm.state() {
                State::Disarmed => '.',
                State::Armed => '-',
                State::Raised => '#',
            }
        };
        assert_eq!(exceedances.chars().map(&mut after).collect::<String>(), want);
    }

    #[test]
    fn states_in_drawn_rows() {
        check(settings(0, 1, 0), "..x...x.", "--######");
        check(settings(0, 3, 0), "xx.xxx..", "-----###");
        check(settings(3, 1, 0), "xxx.x...", "...-####");
        check(settings(2, 2, 0), "xxxx....", "..-#####");
        check(settings(0, 1, 2), "x.x..x.x", "####-###");
        check(settings(0, 2, 1), "xxx.xx..", "-##--#--");
    }

    #[test]
    fn a_latched_alarm_needs_to_be_acknowledged_or_reset() {
        let mut alarm = Alarm::new(Settings::default());
        assert_eq!(alarm.acknowledge(), None);
        assert_eq!(alarm.observe(true), Some(Event::Raised));
        assert!((0..100).all(|_| alarm.observe(false).is_none()) && alarm.is_raised());
        assert_eq!((alarm.acknowledge(), alarm.state()), (Some(Event::Cleared), State::Armed));
        assert_eq!(alarm.observe(true), Some(Event::Raised));
        alarm.reset();
        assert_eq!(alarm, Alarm::new(Settings::default()));
    }

    /// Whether a debounced alarm is on only where that many exceedances in a row came before, over all rows of ten.
    fn needs_a_run(raise_after: usize, on: impl Fn(&[bool]) -> bool) -> bool {
        (0_u32..1024).all(|bits| {
            let row: Vec<bool> = (0..10).map(|t| bits >> t & 1 == 1).collect();
            on(&row) == row.windows(raise_after).any(|w| w.iter().all(|&x| x))
        })
    }

    #[test]
    fn debouncing_needs_exceedances_in_a_row() {
        for n in 1..=4_usize {
            let ends_on = |row: &[bool]| {
                let mut alarm = Alarm::new(settings(0, n as u32, 0));
                row.iter().for_each(|&x| _ = alarm.observe(x));
                alarm.is_raised()
            };
            assert!(needs_a_run(n, ends_on), "{n}");
        }
        // The law bites: an alarm that counts all exceedances, in a row or not, is none.
        assert!(!needs_a_run(2, |row| row.iter().filter(|&&x| x).count() >= 2));
    }

    #[test]
    fn settings_are_read_and_mistakes_named() {
        let read = |text: &str| serde_json::from_str::<Settings>(text).map_err(|e| e.to_string());
        assert_eq!(read("{}"), Ok(Settings::default()));
        assert_eq!(read(r#"{"raise_after": 3, "clear_after": 5}"#), Ok(settings(0, 3, 5)));
        assert!(read(r#"{"raise_after": 0}"#).unwrap_err().contains("expected a nonzero u32"));
        assert!(read(r#"{"latch": true}"#).unwrap_err().contains("unknown field `latch`"));
    }
}
