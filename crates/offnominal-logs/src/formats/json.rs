//! A message in JSON as one row.

use crate::record::Sink;
use anyhow::{Context, Result, bail};
use offnominal_topics::nested::{MAX_ITEMS, Nested, Place};
use serde_json::{Map, Value};

/// Reads one object and hands its row over.
///
/// # Errors
/// If the bytes are not an object, or the sink refuses the row.
pub fn read(bytes: &[u8], time: Option<i64>, into: &mut Nested, sink: &mut dyn Sink) -> Result<()> {
    let found = parse(bytes)?;
    into.begin();
    object(&found, Nested::ROOT, into, sink)?;
    into.end(time, sink)
}

/// The fields of an object.
///
/// # Errors
/// If the bytes are not an object.
pub fn parse(bytes: &[u8]) -> Result<Map<String, Value>> {
    match serde_json::from_slice(bytes).context("expected a JSON object")? {
        Value::Object(found) => Ok(found),
        other => bail!("expected a JSON object, found {}", kind(&other)),
    }
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
