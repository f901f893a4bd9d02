//! Ticks as messages of MCAP: `/observation`, `/action` and `/verdict`, JSON with a schema.
//!
//! A number that was not read, and what is null in a verdict, is left out.

use super::tick::Tick;
use offnominal_files::mcap::Writer;
use offnominal_monitor::{About, ChannelName};
use serde_json::{Map, Value, json};
use std::io::{Result, Seek, Write};

/// The numbers of the channels of a file, and the names in their messages.
pub struct Topics {
    observation: (u16, Vec<String>),
    action: (u16, Vec<String>),
    verdict: u16,
}

impl Topics {
    /// Adds the channels to a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(to: &mut Writer<impl Write + Seek>, about: &About) -> Result<Topics> {
        let mut numbers = |topic: &str, name, of: &[ChannelName]| -> Result<(u16, Vec<String>)> {
            let id = to.channel(topic, name, &numbers_schema(of))?;
            Ok((id, of.iter().map(|channel| channel.name.clone()).collect()))
        };
        let observation = numbers("/observation", "offnominal.Observation", &about.observation)?;
        let action = numbers("/action", "offnominal.Action", &about.action)?;
        let verdict = to.channel("/verdict", "offnominal.Verdict", &verdict_schema())?;
        Ok(Topics { observation, action, verdict })
    }

    /// Writes the messages of a tick.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&self, to: &mut Writer<impl Write + Seek>, tick: &Tick) -> Result<()> {
        let time = time(tick.time_nanos);
        to.message(self.observation.0, time, &numbers(&self.observation.1, &tick.observation))?;
        if let Some(action) = &tick.action {
            self.action(to, tick.time_nanos, action)?;
        }
        if let Some(said) = &tick.said {
            to.message(self.verdict, time, &without_nulls(&said.line))?;
        }
        Ok(())
    }

    /// Writes the action that answers the observation of this time.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn action(&self, to: &mut Writer<impl Write + Seek>, time_nanos: i64, action: &[f64]) -> Result<()> {
        to.message(self.action.0, time(time_nanos), &numbers(&self.action.1, action))
    }
}

/// MCAP has no time before 1970; the verdict has the time of the log in any case.
fn time(nanos: i64) -> u64 {
    u64::try_from(nanos).unwrap_or(0)
}

/// The shortest decimal numbers that give the same bits.
fn numbers(names: &[String], values: &[f64]) -> Vec<u8> {
    let mut text = vec![b'{'];
    for (name, value) in names.iter().zip(values).filter(|(_, value)| value.is_finite()) {
        if text.len() > 1 {
            text.push(b',');
        }
        serde_json::to_writer(&mut text, name).expect("a name is JSON");
        text.push(b':');
        serde_json::to_writer(&mut text, value).expect("a number is JSON");
    }
    text.push(b'}');
    text
}

/// A schema of Foxglove knows no null.
fn without_nulls(line: &[u8]) -> Vec<u8> {
    let mut fields: Map<String, Value> = serde_json::from_slice(line).expect("a verdict is an object");
    fields.retain(|_, value| !value.is_null());
    serde_json::to_vec(&fields).expect("an object is JSON")
}

fn numbers_schema(channels: &[ChannelName]) -> Value {
    let field = |channel: &ChannelName| {
        let mut field = json!({ "type": "number" });
        if !channel.unit.is_empty() {
            field["description"] = channel.unit.clone().into();
        }
        (channel.name.clone(), field)
    };
    json!({ "type": "object", "properties": Map::from_iter(channels.iter().map(field)) })
}

fn verdict_schema() -> Value {
    let mut fields = Map::new();
    let mut all = |kind: &str, names: &[&str]| {
        names.iter().for_each(|name| drop(fields.insert((*name).into(), json!({ "type": kind }))));
    };
    all("integer", &["line", "time_nanos", "episode", "step", "missing", "stale", "lost", "dropped"]);
    all("number", &["secs", "score", "statistic", "threshold", "confidence"]);
    all("string", &["state", "event", "sensor_event"]);
    all("boolean", &["acknowledged"]);
    let share = json!({ "name": { "type": "string" }, "share": { "type": "number" } });
    let shares = json!({ "type": "array", "items": { "type": "object", "properties": share } });
    fields.insert("shares".into(), shares);
    fields.insert("lost_sensors".into(), json!({ "type": "array", "items": { "type": "string" } }));
    let channel =
        json!({ "name": { "type": "string" }, "size": { "type": "number" }, "bias": { "type": "number" } });
    let channels = json!({ "type": "array", "items": { "type": "object", "properties": channel } });
    let probability = json!({ "type": "number" });
    let families = json!({ "observation": probability, "action": probability, "dynamics": probability });
    let candidate = json!({
        "anomaly": { "type": "string" },
        "direction": { "type": "string" },
        "neutral": { "type": "number" },
        "magnitude": { "type": "number" },
        "probability": probability,
    });
    let candidates = json!({ "type": "array", "items": { "type": "object", "properties": candidate } });
    let diagnosis = json!({
        "family": { "type": "string" },
        "onset": { "type": "integer" },
        "probabilities": { "type": "object", "properties": families },
        "channels": channels,
        "candidates": candidates,
    });
    fields.insert("diagnosis".into(), json!({ "type": "object", "properties": diagnosis }));
    json!({ "type": "object", "properties": fields })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_bits_and_what_is_missing_is_left_out() {
        let names = ["a", "b\"c", "d"].map(String::from);
        let text = numbers(&names, &[0.1, f64::NAN, -0.0]);
        assert_eq!(text, br#"{"a":0.1,"d":-0.0}"#);
        assert_eq!(without_nulls(br#"{"step":1,"event":null}"#), br#"{"step":1}"#);
    }
}
