//! JSON lines: one object per line, which is a row; or an episode, if one of its fields is a list of objects. Then each of
//! these is a row, and the other fields are the same in all of them.

use super::json;
use crate::record::{Sink, Topic};
use anyhow::{Context, Result, ensure};
use offnominal_topics::nested::Nested;
use serde_json::{Map, Value};
use std::io::{BufRead, Read};

/// Longest line that is read.
const MAX_LINE: usize = 16 << 20;

/// Reads all lines.
///
/// # Errors
/// If a line is too long or is not an object, or the sink refuses a row.
pub fn read(mut from: impl BufRead, sink: &mut dyn Sink) -> Result<()> {
    if !sink.topic(0, &Topic { name: String::new(), kind: "JSON lines".into(), is_timed: false })? {
        return Ok(());
    }
    let (mut into, mut line) = (Nested::new(0), Vec::new());
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
        let mut take = || rows(&json::parse(&line, sink)?, &mut into, sink);
        match take().with_context(|| format!("line {number}")) {
            Err(why) if !sink.is_refusing() => sink.lost(None, "lines", &format!("{why:#}"))?,
            told => told?,
        }
    }
    Ok(())
}

fn rows(found: &Map<String, Value>, into: &mut Nested, sink: &mut dyn Sink) -> Result<()> {
    let Some((list, steps)) = steps(found) else {
        into.begin();
        json::object(found, Nested::ROOT, into, sink)?;
        return into.end(None, sink);
    };
    for step in steps {
        into.begin();
        for (name, field) in found.iter().filter(|(name, _)| *name != list) {
            json::value(field, into.field(Nested::ROOT, name), into, sink)?;
        }
        json::value(step, into.field(Nested::ROOT, list), into, sink)?;
        into.end(None, sink)?;
    }
    Ok(())
}

/// The only field that is a list of objects.
fn steps(found: &Map<String, Value>) -> Option<(&String, &Vec<Value>)> {
    let of_objects = |(name, field)| {
        let list = Value::as_array(field)?;
        (!list.is_empty() && list.iter().all(Value::is_object)).then_some((name, list))
    };
    let mut lists = found.iter().filter_map(of_objects);
    lists.next().filter(|_| lists.next().is_none())
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
        let text =
            r#"{"episode": 4, "steps": [{"x": 1, "p": [5, 6]}, {"x": 2, "p": [7, 8]}], "success": true}"#;
        read(text.as_bytes(), &mut kept).unwrap();
        assert_eq!(kept.0, ["episode", "success", "steps.p[0]", "steps.p[1]", "steps.x"]);
        let rows: Vec<Vec<f64>> = kept.1.into_iter().map(|row| row.into_iter().flatten().collect()).collect();
        assert_eq!(rows, [[4.0, 1.0, 5.0, 6.0, 1.0], [4.0, 1.0, 7.0, 8.0, 2.0]]);
    }
}
