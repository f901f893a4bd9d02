//! What has happened so far in the text format of Prometheus, version 0.0.4.

use super::hub::{Counts, state};
use std::fmt::Write;

/// The media type.
pub const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

const STATES: [&str; 4] = ["waiting", "disarmed", "armed", "raised"];

/// All metrics, with the name of the monitor's file as a label.
pub fn text(counts: &Counts, file: &str) -> String {
    let mut page = Page { text: String::new(), label: format!("monitor=\"{}\"", escaped(file)) };
    page.counter("steps", "Steps that were judged.", counts.steps);
    page.counter("alarms", "Alarms that were raised.", counts.alarms);
    page.counter("acknowledgements", "Requests to take back an alarm that was on.", counts.acknowledgements);
    page.counter("missing_numbers", "Numbers of observations that were not read.", counts.missing);
    page.counter("dropped_lines", "Lines or rows that came late or twice.", counts.dropped);
    page.counter("sensor_losses", "Steps in which at least one sensor was lost.", counts.sensors_lost);
    let lost = "Alarms of which what happened before could not be written.";
    page.counter("lost_recordings", lost, counts.recordings_lost);
    if let Some(last) = &counts.last {
        page.gauge("score", "The detector's score of the last step.", last.score);
        page.gauge("statistic", "What is compared with the threshold in the last step.", last.statistic);
        page.gauge("threshold", "An alarm is a statistic above this.", last.threshold);
        page.gauge("confidence", "Share of what the detector compares that was read.", last.confidence);
        page.gauge("lost_sensors", "Sensors that are lost now.", last.lost.into());
    }
    page.about("state", "State of the alarm: 1 for the one that holds.", "gauge");
    let now = state(counts);
    for state in STATES {
        let Page { text, label } = &mut page;
        let _ = writeln!(text, "offnominal_state{{{label},state=\"{state}\"}} {}", u8::from(state == now));
    }
    page.text
}

struct Page {
    text: String,
    label: String,
}

impl Page {
    fn about(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.text, "# HELP offnominal_{name} {help}\n# TYPE offnominal_{name} {kind}");
    }

    fn counter(&mut self, name: &str, help: &str, n: u64) {
        self.about(&format!("{name}_total"), help, "counter");
        let _ = writeln!(self.text, "offnominal_{name}_total{{{}}} {n}", self.label);
    }

    fn gauge(&mut self, name: &str, help: &str, x: f64) {
        self.about(name, help, "gauge");
        let value = match x {
            f64::INFINITY => "+Inf".into(),
            f64::NEG_INFINITY => "-Inf".into(),
            x => x.to_string(),
        };
        let _ = writeln!(self.text, "offnominal_{name}{{{}}} {value}", self.label);
    }
}

/// The value of a label between quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_every_line_has_its_kind() {
        let text = text(&Counts { steps: 3, ..Counts::default() }, "a\"b\\c\n.monitor");
        assert!(text.contains("offnominal_steps_total{monitor=\"a\\\"b\\\\c\\n.monitor\"} 3\n"), "{text}");
        assert!(text.contains("state=\"waiting\"} 1\n") && text.ends_with('\n'));
        assert!(!text.contains("offnominal_score"), "there is no score before the first step");
    }
}
