//! Mutants of JSON that are JSON: one value somewhere in the tree is another one.

use super::dice::{Dice, NUMBERS};
use serde_json::{Map, Value, json};

/// Changes one thing in one of the lines; false if none of them is JSON.
pub fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) -> bool {
    if let Ok(mut value) = serde_json::from_slice::<Value>(bytes) {
        change(&mut value, dice);
        *bytes = value.to_string().into_bytes();
        return true;
    }
    let mut lines: Vec<Vec<u8>> = bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    let at = dice.below(lines.len());
    match dice.below(6) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[dice.below(lines.len())].clone()),
        2 => {
            let other = dice.below(lines.len());
            lines.swap(at, other);
        }
        _ => {
            let Ok(mut value) = serde_json::from_slice::<Value>(&lines[at]) else { return false };
            change(&mut value, dice);
            lines[at] = value.to_string().into_bytes();
        }
    }
    *bytes = lines.join(&b'\n');
    true
}

/// Changes one value in a tree.
pub fn change(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Object(map) if !map.is_empty() && !dice.once_in(8) => {
            let key = map.keys().nth(dice.below(map.len())).cloned().expect("there is one");
            match dice.below(12) {
                0 => drop(map.remove(&key)),
                1 => rename(map, &key, dice),
                2 => drop(map.insert("surplus".into(), other(dice))),
                _ => map.get_mut(&key).into_iter().for_each(|inner| change(inner, dice)),
            }
        }
        Value::Array(list) if !list.is_empty() && !dice.once_in(8) => {
            let at = dice.below(list.len());
            match dice.below(8) {
                0 => drop(list.remove(at)),
                1 => {
                    let times = if dice.once_in(8) { 1000 } else { 1 };
                    let copies = vec![list[at].clone(); times];
                    list.splice(at..at, copies);
                }
                _ => change(&mut list[at], dice),
            }
        }
        // Text that is JSON itself.
        Value::String(text) if text.starts_with(['{', '[']) && !dice.once_in(8) => {
            if let Ok(mut inner) = serde_json::from_str(text) {
                change(&mut inner, dice);
                *text = inner.to_string();
            }
        }
        leaf => *leaf = other(dice),
    }
}

fn rename(map: &mut Map<String, Value>, key: &str, dice: &mut Dice) {
    let Some(value) = map.remove(key) else { return };
    let others: Vec<String> = map.keys().cloned().collect();
    let name =
        if others.is_empty() || dice.once_in(2) { format!("{key}x") } else { dice.of(&others).clone() };
    map.insert(name, value);
}

/// Words that mean something elsewhere.
const WORDS: &[&str] = &["\n", "\u{0}", "../../x", "no such thing", "tqc", "knn"];

/// A value that is not expected there.
fn other(dice: &mut Dice) -> Value {
    match dice.below(12) {
        0 => Value::Null,
        1 => Value::Bool(dice.once_in(2)),
        2 => json!(""),
        3 => json!("x".repeat(1 << dice.below(14))),
        4 => json!([]),
        5 => json!({}),
        6 => (0..1 << dice.below(8)).fold(json!(0), |inner, _| json!([inner])),
        7 => json!(dice.number()),
        8 => json!((dice.number() as i64).wrapping_neg()),
        9 => Value::from(*dice.of(WORDS)),
        _ => {
            let text: &&str = dice.of(NUMBERS);
            serde_json::from_str(text).unwrap_or(json!(0.25))
        }
    }
}
