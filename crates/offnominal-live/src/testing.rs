//! A monitor's header, ticks and notes for tests.

use super::tick::{Tick, TickVerdict};
use offnominal_core::alarm::{Event, State};
use offnominal_monitor::{About, Verdict};
use offnominal_work::progress::{Progress, Silent, Tracker};
use serde_json::json;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A header with two observed channels and one commanded one, of which two have the same name.
pub fn about() -> About {
    let identity = json!({ "id": "tank", "digest": "" });
    serde_json::from_value(json!({
        "format": 3, "engine": "0", "detector": { "id": "knn", "params": {} }, "environment": identity,
        "policy": identity, "observation": [{ "name": "level", "unit": "m" }, { "name": "valve", "unit": "" }],
        "action": [{ "name": "valve", "unit": "1" }], "dt_secs": 1.0, "train_episodes": 1, "seed": 0, "diagnoses": false,
        "threshold": { "rule": "conformal", "alpha": 0.1, "statistic": "score", "value": 2.0, "episodes": 9, "false_alarms": null },
        "alarm": {}, "missing": "held", "lost_after": 10
    }))
    .unwrap()
}

/// A verdict of a step, which may raise an alarm.
pub fn verdict(step: u64, is_raised: bool) -> Verdict {
    Verdict {
        step,
        score: 0.1 + step as f64,
        statistic: 0.2,
        threshold: 2.0,
        state: if is_raised { State::Raised } else { State::Armed },
        event: is_raised.then_some(Event::Raised),
        missing: 1,
        stale: 0,
        confidence: 1.0,
        lost: 0,
        sensor_event: None,
        beyond_promise: false,
    }
}

/// A tick of a clock of seconds, whose second observation was not read.
pub fn tick(secs: i64, is_raised: bool) -> Tick {
    let verdict = verdict(secs as u64, is_raised);
    let line = serde_json::to_vec(&verdict).unwrap().into();
    let observation = [0.1 * secs as f64, f64::NAN].into();
    Tick {
        time_nanos: secs * 1_000_000_000,
        episode: 0,
        observation,
        action: None,
        said: Some(TickVerdict { verdict, line }),
    }
}

/// Keeps what is said; a slow one takes half a second for it.
#[derive(Default)]
pub struct Notes {
    lines: Mutex<Vec<String>>,
    pub is_slow: AtomicBool,
}

impl Notes {
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

impl Progress for Notes {
    fn begin(&self, what: &str, work: Range<u64>) -> Box<dyn Tracker> {
        Silent.begin(what, work)
    }

    fn note(&self, line: &str) {
        self.lines.lock().unwrap().push(line.into());
        if self.is_slow.load(Ordering::Relaxed) && line.contains("ticks before") {
            std::thread::sleep(Duration::from_millis(500));
        }
    }
}
