//! JSON lines: one object per line, which is a row; or an episode, where that is certain: each line has one list of objects that
//! is called as steps are, no time and no counter stands beside it, and no line lacks it. Then each of these objects is a row,
//! and the other fields are the same in all of them.

use super::json;
use crate::record::{Sink, Topic};
use anyhow::{Context, Result, bail, ensure};
use offnominal_topics::nested::Nested;
use serde_json::{Map, Value};
use std::io::{BufRead, Read};

/// Longest line that is read.
const MAX_LINE: usize = 16 << 20;

/// Names of lists that hold the steps of an episode.
const STEPS: [&str; 9] =
    ["steps", "transitions", "trajectory", "episode", "frames", "samples", "rows", "records", "timesteps"];

/// Names, or ends of names, of fields that a step has and an episode has not.
const OF_STEPS: [&str; 13] =
    ["time", "timestamp", "t", "ts", "stamp", "date", "datetime", "frame", "step", "index", "seq", "i", "n"];

/// A field of an episode that is named as one of a step: when its failure began.
const FAILURE: &str = "failure_step";

/// The field with the number of an episode, where it has none.
const EPISODE: &str = "episode";

/// Reads all lines.
///
/// # Errors
/// If a line is too long or is not an object, or the sink refuses a row.
pub fn read(mut from: impl BufRead, sink: &mut dyn Sink) -> Result<()> {
    if !sink.topic(0, &Topic { name: String::new(), kind: "JSON lines".into(), is_timed: false })? {
        return Ok(());
    }
    let mut lines = Lines { into: Nested::new(0), list: None, episodes: 0 };
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = from.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line)?;
        ensure!(read <= MAX_LINE, "line {number}: expected at most {MAX_LINE} bytes, found more");
        if read == 0 {
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let mut take = || lines.take(&json::parse(&line, sink)?, sink);
        match take().with_context(|| format!("line {number}")) {
            Err(why) if !sink.is_refusing() => sink.lost(None, "lines", &format!("{why:#}"))?,
            told => told?,
        }
    }
    Ok(())
}

/// The lines so far.
struct Lines {
    into: Nested,
    /// The list of steps in each line, if lines are episodes; it is told by the first line.
    list: Option<Option<String>>,
    episodes: i64,
}

impl Lines {
    fn take(&mut self, found: &Map<String, Value>, sink: &mut dyn Sink) -> Result<()> {
        if self.list.is_none() {
            let list = steps(found);
            if let Some(name) = &list {
                sink.assumed(None, &format!("each line is an episode, with its rows in the list {name:?}"));
            }
            self.list = Some(list);
        }
        match self.list.clone().flatten() {
            Some(list) => self.episode(found, &list, sink),
            None => {
                self.into.begin();
                json::object(found, Nested::ROOT, &mut self.into, sink)?;
                self.into.end(None, sink)
            }
        }
    }

    fn episode(&mut self, found: &Map<String, Value>, list: &str, sink: &mut dyn Sink) -> Result<()> {
        let Some(Value::Array(steps)) = found.get(list) else {
            bail!("expected a list {list:?} of the steps of an episode, as in the lines before, found none")
        };
        ensure!(!steps.is_empty(), "expected steps in the list {list:?}, as in the lines before, found none");
        let is_numbered = found.iter().any(|(name, field)| name.contains(EPISODE) && !field.is_array());
        // The list may be called so too, and is below that place.
        self.into.begin();
        let number = (!is_numbered).then(|| self.into.field(Nested::ROOT, EPISODE));
        for step in steps {
            self.into.begin();
            for (name, field) in found.iter().filter(|(name, _)| *name != list) {
                json::value(field, self.into.field(Nested::ROOT, name), &mut self.into, sink)?;
            }
            if let Some(at) = number {
                self.into.integer(at, self.episodes, sink)?;
            }
            json::value(step, self.into.field(Nested::ROOT, list), &mut self.into, sink)?;
            self.into.end(None, sink)?;
        }
        self.episodes += 1;
        Ok(())
    }
}

/// The list of the steps of an episode, if the object certainly is one.
fn steps(found: &Map<String, Value>) -> Option<String> {
    let of_objects = |field: &Value| {
        field.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_object))
    };
    let mut lists = found.iter().filter(|(_, field)| of_objects(field));
    let (name, _) = lists.next().filter(|_| lists.next().is_none())?;
    let of_step = |(name, field): (&String, &Value)| {
        let plain = name.to_lowercase();
        let last = plain.rsplit(['_', '.', ' ']).next().unwrap_or_default().to_string();
        let is_named = plain != FAILURE && [plain.as_str(), &last].iter().any(|name| OF_STEPS.contains(name));
        (is_named && !field.is_array()) || field.as_f64().is_some_and(|x| x.fract() != 0.0)
    };
    (STEPS.contains(&name.to_lowercase().as_str()) && !found.iter().any(of_step)).then(|| name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Column, Value as Entry};

    #[derive(Default)]
    struct Kept(Vec<String>, Vec<Vec<Option<f64>>>);

    impl Sink for Kept {
        fn topic(&mut self, _: usize, _: &Topic) -> Result<bool> {
            Ok(true)
        }

        fn column(&mut self, _: usize, _: usize, column: &Column) -> Result<()> {
            self.0.push(column.name.clone());
            Ok(())
        }

        fn row(&mut self, _: usize, _: Option<i64>, row: &[Entry<'_>]) -> Result<()> {
            self.1.push(row.iter().map(|entry| entry.number()).collect());
            Ok(())
        }

        fn left_out(&mut self, _: Option<usize>, _: &str) {}
    }

    #[test]
    fn an_object_with_a_list_of_steps_is_an_episode() {
        let mut kept = Kept::default();
        let text = r#"{"episode": 4, "steps": [{"x": 1, "p": [5, 6]}, {"x": 2, "p": [7, 8]}], "success": true, "failure_step": null}"#;
        read(text.as_bytes(), &mut kept).unwrap();
        assert_eq!(kept.0, ["episode", "success", "steps.p[0]", "steps.p[1]", "steps.x"]);
        let rows: Vec<Vec<f64>> = kept.1.into_iter().map(|row| row.into_iter().flatten().collect()).collect();
        assert_eq!(rows, [[4.0, 1.0, 5.0, 6.0, 1.0], [4.0, 1.0, 7.0, 8.0, 2.0]]);
    }

    #[test]
    fn a_step_with_a_list_of_objects_is_one_row() {
        for list in ["detections", "steps"] {
            let mut kept = Kept::default();
            let line = |t: f64, n: usize| {
                let seen: Vec<String> = (0..n).map(|i| format!("{{\"x\": {i}}}")).collect();
                format!("{{\"t\": {t}, \"speed\": 5.5, \"{list}\": [{}]}}\n", seen.join(", "))
            };
            let text = [line(0.0, 2), line(0.02, 0), line(0.04, 3)].concat();
            read(text.as_bytes(), &mut kept).unwrap();
            assert_eq!(kept.1.len(), 3, "{list}");
        }
    }

    #[test]
    fn items_of_one_name_and_a_list_called_episode_keep_what_they_hold() {
        let mut kept = Kept::default();
        read(br#"{"name": ["", ""], "position": [1, 2]}"#.as_slice(), &mut kept).unwrap();
        assert_eq!(kept.0, ["position[]", "position[.1]"]);
        assert_eq!(kept.1, [[Some(1.0), Some(2.0)]]);
        for (line, names) in [
            (r#"{"episode": [7], "steps": [{"x": 1}]}"#, &["episode[0]", "episode", "steps.x"][..]),
            (r#"{"episode": [{"x": 1}, {"x": 2}]}"#, &["episode", "episode.x"]),
        ] {
            let mut kept = Kept::default();
            read(line.as_bytes(), &mut kept).unwrap();
            assert_eq!(kept.0, names, "{line}");
        }
    }

    #[test]
    fn an_episode_without_steps_is_lost_and_one_without_a_number_gets_it() {
        let mut kept = Kept::default();
        let text = "{\"steps\": [{\"x\": 1}]}\n{\"steps\": [{\"x\": 2}, {\"x\": 3}]}\n";
        read(text.as_bytes(), &mut kept).unwrap();
        let rows: Vec<Vec<f64>> = kept.1.into_iter().map(|row| row.into_iter().flatten().collect()).collect();
        assert_eq!(
            (kept.0, rows),
            (vec!["episode".into(), "steps.x".into()], vec![vec![0.0, 1.0], vec![1.0, 2.0], vec![1.0, 3.0]])
        );
        let empty = "{\"steps\": [{\"x\": 1}]}\n{\"steps\": []}\n";
        let mut kept = Kept::default();
        read(empty.as_bytes(), &mut kept).unwrap();
        assert_eq!(kept.1.len(), 1, "the second line is lost alone");
    }
}
