//! Recordings out of files and counts; the content says which format it is.
//!
//! | content                                  | format                      |
//! |------------------------------------------|-----------------------------|
//! | `37/50`                                  | counts                      |
//! | `{"per_episode": …}`, `{"per_task": …}`  | `eval_info.json` of LeRobot |
//! | `{"eval": …, "samples": …}`              | log of inspect-robots       |
//! | a table (`.csv`, `.parquet`)             | one row per trial           |

use super::trials::{Outcomes, Recording, Trial, name, outcome};
use super::{inspect_robots, lerobot};
use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::limits::EPISODES;
use offnominal_files::{read, table};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::fmt;
use std::path::Path;

/// The format of counts.
const COUNTS: &str = "counts";
/// The columns of a table of trials; one of the first two is needed.
const COLUMNS: [&str; 6] = ["success", "score", "policy", "task", "seed", "condition"];

/// The policies that files and counts are of, in their order.
///
/// # Errors
/// If a file cannot be read or says something else, or a policy is there twice.
pub fn all(named: &[&str]) -> Result<Vec<Recording>> {
    let mut found: Vec<Recording> = Vec::new();
    for (i, text) in named.iter().enumerate() {
        found.extend(one(text, named.len() == 1)?);
        // Two policies may have the same counts; a file is given once.
        let before = found[..found.len() - 1].iter().any(|other| other.policy == *text);
        if let Some(last) = found.last_mut().filter(|last| before && last.format == COUNTS) {
            last.policy = format!("{text} ({})", i + 1);
        }
    }
    for (i, recording) in found.iter().enumerate() {
        recording.check().with_context(|| recording.from.clone())?;
        let twice = found[..i].iter().any(|other| other.policy == recording.policy);
        ensure!(!twice, "{}: expected each policy once, found {} again", recording.from, recording.policy);
    }
    let most = found.len() >= 2;
    ensure!(most, "expected two policies at least, found {} in {}", found.len(), named.join(", "));
    Ok(found)
}

/// What one word of the command stands for.
fn one(text: &str, alone: bool) -> Result<Vec<Recording>> {
    if let Some((k, n)) = counts(text)? {
        let outcomes = Outcomes::Counts(k, n);
        let from = text.to_string();
        return Ok(vec![Recording { policy: from.clone(), from, format: COUNTS, outcomes, remarks: vec![] }]);
    }
    let path = Path::new(text);
    ensure!(
        path.exists(),
        "{text}: expected a file of recorded outcomes, or counts such as 37/50, found no such file; policies are compared in \
         an environment (--env)"
    );
    let bytes = read::bytes(path)?;
    let found = from_bytes(&bytes, path)?;
    let several = found.len() > 1 && !alone;
    ensure!(!several, "{text}: expected one policy in each of several files, found {}", found.len());
    Ok(found)
}

/// Successes of trials, written `37/50`; nothing if it is the name of something else.
fn counts(text: &str) -> Result<Option<(u64, u64)>> {
    let Some((k, n)) = text.split_once('/') else { return Ok(None) };
    let (Ok(k), Ok(n)) = (k.trim().parse::<u64>(), n.trim().parse::<u64>()) else { return Ok(None) };
    let most = EPISODES as u64;
    let fits = k <= n && (1..=most).contains(&n);
    ensure!(fits, "{text}: expected successes of 1 to {most} trials, such as 37/50");
    Ok(Some((k, n)))
}

/// The policies in a file.
///
/// # Errors
/// If it is none of the formats, or a part of it is something else than its format says.
pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Vec<Recording>> {
    let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
    let found = if first == Some(&b'{') {
        json(bytes, path)
    } else {
        rows(bytes, path).and_then(|r| of_rows(r, path))
    };
    found.with_context(|| path.display().to_string())
}

fn json(bytes: &[u8], path: &Path) -> Result<Vec<Recording>> {
    let document: Map<String, Value> = serde_json::from_slice(bytes).context("expected JSON")?;
    let (format, (trials, remarks)) = if document.contains_key("per_episode")
        || document.contains_key("per_task")
    {
        ("eval_info.json of LeRobot", (lerobot::trials(&document)?, vec![]))
    } else if document.contains_key("eval") && document.contains_key("samples") {
        ("log of inspect-robots", inspect_robots::trials(&document)?)
    } else {
        let keys: Vec<&str> = document.keys().take(8).map(String::as_str).collect();
        bail!(
            "expected per_episode or per_task of LeRobot, or eval and samples of inspect-robots, found the fields {}",
            keys.join(", ")
        );
    };
    let from = path.display().to_string();
    Ok(vec![Recording { policy: from.clone(), from, format, outcomes: Outcomes::Trials(trials), remarks }])
}

fn rows(bytes: &[u8], path: &Path) -> Result<Vec<Row>> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("parquet") => table::from_parquet(bytes, path),
        Some("csv") => table::from_csv(bytes, path),
        _ => bail!(
            "expected a table (.csv, .parquet), JSON of LeRobot or inspect-robots, or counts such as 37/50"
        ),
    }
}

/// Policies in the order in which they first appear; a table without names has one, which is called as the file.
fn of_rows(rows: Vec<Row>, path: &Path) -> Result<Vec<Recording>> {
    let from = path.display().to_string();
    let mut found: Vec<(String, Vec<Trial>)> = Vec::new();
    for (i, Row(fields)) in rows.iter().enumerate() {
        let (policy, trial) = of_row(fields).with_context(|| format!("row {}", i + 1))?;
        let policy = policy.unwrap_or_else(|| from.clone());
        match found.iter_mut().find(|(name, _)| *name == policy) {
            Some((_, trials)) => trials.push(trial),
            None => found.push((policy, vec![trial])),
        }
    }
    ensure!(!found.is_empty(), "expected rows with trials, found none");
    let remarks = left_out(&rows);
    let recording = |(policy, trials)| {
        let outcomes = Outcomes::Trials(trials);
        Recording { policy, from: from.clone(), format: "table", outcomes, remarks: remarks.clone() }
    };
    Ok(found.into_iter().map(recording).collect())
}

fn of_row(fields: &Map<String, Value>) -> Result<(Option<String>, Trial)> {
    let (field, value) = match (fields.get("success"), fields.get("score")) {
        (Some(value), None) => ("success", value),
        (None, Some(value)) => ("score", value),
        (Some(_), Some(_)) => bail!("expected a column success or score, found both"),
        (None, None) => {
            let names: Vec<&str> = fields.keys().map(String::as_str).collect();
            bail!("expected a column success or score, found {}", names.join(", "))
        }
    };
    let trial = Trial {
        task: name(fields, "task")?.unwrap_or_default(),
        seed: name(fields, "seed")?,
        condition: name(fields, "condition")?,
        outcome: outcome(field, value)?,
    };
    Ok((name(fields, "policy")?, trial))
}

fn left_out(rows: &[Row]) -> Vec<String> {
    let Some(Row(first)) = rows.first() else { return vec![] };
    let names: Vec<&str> = first.keys().map(String::as_str).filter(|name| !COLUMNS.contains(name)).collect();
    if names.is_empty() { vec![] } else { vec![format!("columns that are not read: {}", names.join(", "))] }
}

/// A row of a table whose columns may be missing.
struct Row(Map<String, Value>);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Row, D::Error> {
        // A struct without fields that are required: whoever wrote the table says which there are.
        from.deserialize_struct("Row", &[], Fields).map(Row)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Map<String, Value>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the fields of a row")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut found = Map::new();
        while let Some((name, value)) = fields.next_entry()? {
            found.insert(name, value);
        }
        Ok(found)
    }
}
