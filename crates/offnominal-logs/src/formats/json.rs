//! A message in JSON as one row.

use crate::record::Sink;
use anyhow::{Context, Result, bail, ensure};
use offnominal_topics::nested::{MAX_ITEMS, Nested, Place};
use serde_json::{Map, Value};

/// Reads one object and hands its row over.
///
/// # Errors
/// If the bytes are not an object, or the sink refuses the row.
pub fn read(bytes: &[u8], time: Option<i64>, into: &mut Nested, sink: &mut dyn Sink) -> Result<()> {
    let found = parse(bytes, sink)?;
    into.begin();
    object(&found, Nested::ROOT, into, sink)?;
    into.end(time, sink)
}

/// Objects in a text, at most: one of a few bytes takes six hundred in memory.
const MAX_OBJECTS: usize = 1 << 19;

/// The fields of an object. Words for numbers that are not finite are read as missing: they are no JSON, but what many
/// programs write.
///
/// # Errors
/// If the bytes are not an object.
pub fn parse(bytes: &[u8], sink: &mut dyn Sink) -> Result<Map<String, Value>> {
    let objects = bytes.iter().filter(|&&b| b == b'{').count();
    ensure!(objects <= MAX_OBJECTS, "expected at most {MAX_OBJECTS} objects, found {objects}");
    let found = match serde_json::from_slice(bytes) {
        Ok(found) => found,
        Err(why) => {
            let (finite, n) = without_words(bytes);
            let found = serde_json::from_slice(&finite).ok().filter(|_| n > 0);
            let found = found.ok_or(why).context("expected a JSON object")?;
            sink.lost(
                None,
                "objects with NaN or Infinity, which are read as missing",
                &format!("{n} of them"),
            )?;
            found
        }
    };
    match found {
        Value::Object(found) => Ok(found),
        other => bail!("expected a JSON object, found {}", kind(&other)),
    }
}

/// The text with `null` in place of NaN and Infinity outside of texts, and how many these are.
fn without_words(bytes: &[u8]) -> (Vec<u8>, usize) {
    const WORDS: [&[u8]; 8] =
        [b"-Infinity", b"+Infinity", b"Infinity", b"-inf", b"inf", b"-NaN", b"NaN", b"nan"];
    let (mut found, mut n, mut at, mut is_text) = (Vec::with_capacity(bytes.len()), 0, 0, false);
    while at < bytes.len() {
        let word = WORDS.iter().find(|word| !is_text && bytes[at..].starts_with(word));
        let length = match (bytes[at], word) {
            (_, Some(word)) => {
                found.extend_from_slice(b"null");
                n += 1;
                at += word.len();
                continue;
            }
            (b'\\', None) if is_text => 2,
            (byte, None) => {
                is_text ^= byte == b'"';
                1
            }
        };
        let end = (at + length).min(bytes.len());
        found.extend_from_slice(&bytes[at..end]);
        at = end;
    }
    (found, n)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Puts a value where it belongs.
///
/// # Errors
/// If the sink refuses a column.
pub fn value(found: &Value, at: Place, into: &mut Nested, sink: &mut dyn Sink) -> Result<()> {
    match found {
        Value::Null => Ok(()),
        Value::Bool(is) => into.integer(at, (*is).into(), sink),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(n), _) => into.integer(at, n, sink),
            (None, Some(x)) => into.number(at, x, sink),
            (None, None) => Ok(()),
        },
        Value::String(text) => into.text(at, text, sink),
        Value::Array(items) if items.len() > MAX_ITEMS => {
            into.leave_out(at, &format!("an array of {} items", items.len()), sink);
            Ok(())
        }
        Value::Array(items) => items.iter().enumerate().try_for_each(|(i, item)| {
            let at = into.item(at, i);
            value(item, at, into, sink)
        }),
        Value::Object(fields) => object(fields, at, into, sink),
    }
}

/// Puts the fields of an object where they belong.
///
/// # Errors
/// If the sink refuses a column.
pub fn object(fields: &Map<String, Value>, at: Place, into: &mut Nested, sink: &mut dyn Sink) -> Result<()> {
    let names = fields.get("name").or_else(|| fields.get("names")).and_then(Value::as_array);
    for (key, field) in fields {
        let place = into.field(at, key);
        match (names, field) {
            // Names of the items of the arrays beside them, as in a JointState.
            (Some(names), Value::Array(items)) if names.len() == items.len() && items.len() <= MAX_ITEMS => {
                if matches!(key.as_str(), "name" | "names") {
                    continue;
                }
                for (i, (name, item)) in names.iter().zip(items).enumerate() {
                    let place = match name.as_str() {
                        Some(name) => into.named_item(place, name),
                        None => into.item(place, i),
                    };
                    value(item, place, into, sink)?;
                }
            }
            _ => value(field, place, into, sink)?,
        }
    }
    Ok(())
}
