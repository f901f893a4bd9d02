//! The lines of JSON between this program and a policy that is a command.
//!
//! A line in: `{"observation": [0.1, 0.2], "episode_start": true}`; an observation that is not a number is `null`.
//! A line out: `{"action": [0.3]}`, or `{"action": 1}`. Other keys are ignored.

use anyhow::{Context, Result, ensure};
use offnominal_core::spec::Channel;
use serde::Deserialize;
use std::io::Write;

/// The most bytes of a line that comes out.
pub(super) const LONGEST: usize = 1 << 20;

/// Characters of a line that errors show.
const SHOWN: usize = 120;

/// Writes the line for an observation.
pub(super) fn write_request(obs: &[f32], is_first: bool, line: &mut Vec<u8>) {
    line.clear();
    line.extend(b"{\"observation\": [");
    for (i, x) in obs.iter().enumerate() {
        line.extend(if i > 0 { &b", "[..] } else { b"" });
        // Writing into memory cannot fail.
        let _ = if x.is_finite() { write!(line, "{x}") } else { write!(line, "null") };
    }
    let _ = writeln!(line, "], \"episode_start\": {is_first}}}");
}

#[derive(Deserialize)]
struct Answer {
    action: Numbers,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Numbers {
    One(f64),
    Many(Vec<f64>),
}

/// Reads the action in a line that came out.
///
/// # Errors
/// If there is none, or it is none of the environment.
pub fn read_answer(line: &[u8], channels: &[Channel], action: &mut [f32]) -> Result<()> {
    let shown = || {
        let text = String::from_utf8_lossy(line);
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect::<String>()
    };
    let answer: Answer = serde_json::from_slice(line)
        .map_err(|_| anyhow::anyhow!("expected a line such as {{\"action\": [0.5]}}, found {:?}", shown()))?;
    let found = match answer.action {
        Numbers::One(number) => vec![number],
        Numbers::Many(numbers) => numbers,
    };
    write_action(&found, channels, action)
}

/// Writes an action, if it is one of the environment.
///
/// # Errors
/// If it has another number of numbers, one of them is not finite, or is none of the choices.
fn write_action(found: &[f64], channels: &[Channel], action: &mut [f32]) -> Result<()> {
    ensure!(found.len() == action.len(), "action: expected {} numbers, found {}", action.len(), found.len());
    for ((to, &x), channel) in action.iter_mut().zip(found).zip(channels) {
        *to = x as f32;
        ensure!(to.is_finite(), "action {}: expected a finite number, found {x}", channel.name);
        let last = f64::from(channel.choices.max(1) - 1);
        let is_choice = x.fract() == 0.0 && (0.0..=last).contains(&x);
        if channel.is_choice() && !is_choice {
            return Err(anyhow::anyhow!("found {x}")).with_context(|| {
                format!("action {}: expected a whole number from 0 to {last}", channel.name)
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_observation() {
        let mut line = Vec::new();
        write_request(&[0.5, -1e-8, f32::NAN], true, &mut line);
        let read: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(read, serde_json::json!({"observation": [0.5, -1e-8, null], "episode_start": true}));
        assert!(line.ends_with(b"\n"));
    }

    fn read(line: &str, channels: &[Channel]) -> Result<Vec<f32>> {
        let mut action = vec![0.0; channels.len()];
        read_answer(line.as_bytes(), channels, &mut action).map(|()| action)
    }

    #[test]
    fn an_action_is_a_number_or_several() {
        let real = [Channel::unbounded("u", "", "1"), Channel::unbounded("v", "", "1")];
        let choice = [Channel::choice("push", "", 3)];
        assert_eq!(read(r#"{"action": [0.5, -2], "value": 3}"#, &real).unwrap(), [0.5, -2.0]);
        assert_eq!(read(r#"{"action": 2}"#, &choice).unwrap(), [2.0]);
        let refused = |line, channels: &[Channel], want: &str| {
            let error = format!("{:#}", read(line, channels).unwrap_err());
            assert!(error.contains(want), "{error}");
        };
        refused("Traceback", &real, "expected a line such as {\"action\": [0.5]}, found \"Traceback\"");
        refused(r#"{"act": [1, 2]}"#, &real, "expected a line such as");
        refused(r#"{"action": [1]}"#, &real, "action: expected 2 numbers, found 1");
        refused(r#"{"action": [1, 1e300]}"#, &real, "action v: expected a finite number");
        refused(r#"{"action": 3}"#, &choice, "action push: expected a whole number from 0 to 2: found 3");
        refused(r#"{"action": 0.5}"#, &choice, "found 0.5");
    }
}
