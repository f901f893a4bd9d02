//! One step of a rollout: its signals, and those that are computed from its chunk.

use super::{STEP, Settings, shown};
use crate::chunk::{Chunk, ChunkSignals};
use anyhow::{Context, Result, bail, ensure};
use offnominal_core::limits::{COLUMNS, POINTS, WINDOW};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Bytes of the longest name of a signal.
const LONGEST_NAME: usize = 1000;

/// One signal of a rollout.
#[derive(Debug)]
pub(super) struct Signal {
    /// The first step that has it; what looks back begins late.
    pub(super) begins: usize,
    /// Its values, 0 before it begins.
    pub(super) values: Vec<f64>,
}

/// The steps of one rollout as they come.
#[derive(Debug, Default)]
pub(super) struct Steps {
    signals: BTreeMap<String, Signal>,
    n: usize,
    executed: Option<usize>,
    chunks: Option<ChunkSignals>,
    embeddings: Vec<f32>,
    embedding: usize,
}

/// Named signals and embeddings (with their width) of a rollout that has ended.
pub(super) type Ended = (Vec<(String, Signal)>, (Vec<f32>, usize));

impl Steps {
    /// None yet, of a rollout that says how many actions of a chunk are executed, or does not.
    pub(super) fn new(executed: Option<usize>, settings: Settings) -> Steps {
        Steps { executed: executed.or(settings.executed), ..Steps::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.n
    }

    /// Adds a step from its fields, but for those that `is_known` says to be of the whole rollout.
    ///
    /// # Errors
    /// If a field is not what it should be, or the step has other fields than those before it.
    pub(super) fn add(&mut self, fields: &Map<String, Value>, is_known: fn(&str) -> bool) -> Result<()> {
        ensure!(self.n < POINTS, "expected at most {POINTS} steps, found more");
        let mut found = Vec::new();
        for (name, value) in fields.iter().filter(|(name, _)| !is_known(name)) {
            match (name.as_str(), value) {
                ("chunk" | "embedding" | "executed", _) => {}
                (name, value) if STEP.contains(&name) => {
                    let n = self.n;
                    ensure!(value.as_u64() == Some(n as u64), "{name}: expected {n}, found {}", shown(value));
                }
                (name, value) => numbers(name.into(), value, &mut found)?,
            }
        }
        let executed = fields.get("executed").map(executed).transpose()?.or(self.executed);
        if let Some(value) = fields.get("chunk") {
            let chunk = Chunk::of(value).context("chunk")?;
            self.push_chunk(chunk, executed)?;
        } else if self.n > 0 && self.chunks.is_some() {
            bail!("expected a chunk as at the steps before, found none");
        }
        if let Some(value) = fields.get("embedding") {
            let items = value
                .as_array()
                .with_context(|| format!("embedding: expected a list, found {}", shown(value)))?;
            let numbers = items.iter().map(|item| number(item).map(|x| x as f32));
            let numbers: Vec<f32> = numbers.collect::<Result<_>>().context("embedding")?;
            self.push_embedding(&numbers)?;
        }
        self.push(found)
    }

    /// Adds the chunks of all steps, `[steps, H, A]` or `[steps, S, H, A]`, and their embeddings, `[steps, D]`.
    pub(super) fn add_chunks(&mut self, shape: &[usize], values: &[f32]) -> Result<()> {
        let (n, sizes) = match *shape {
            [n, horizon, width] => (n, [1, horizon, width]),
            [n, samples, horizon, width] => (n, [samples, horizon, width]),
            _ => bail!("chunks: expected the shape [steps, H, A] or [steps, S, H, A], found {shape:?}"),
        };
        ensure!(n == self.n, "chunks: expected {} steps, found {n}", self.n);
        let size = sizes.iter().product::<usize>();
        ensure!(size > 0, "chunks: expected numbers, found the shape {shape:?}");
        for values in values.chunks_exact(size) {
            self.push_chunk(Chunk::new(sizes, values.to_vec())?, self.executed)?;
        }
        Ok(())
    }

    /// Adds the embeddings of all steps.
    pub(super) fn add_embeddings(&mut self, shape: &[usize], values: &[f32]) -> Result<()> {
        let [n, width] = *shape else { bail!("embeddings: expected the shape [steps, D], found {shape:?}") };
        ensure!(n == self.n && width > 0, "embeddings: expected {} steps, found the shape {shape:?}", self.n);
        (self.embeddings, self.embedding) = (values.to_vec(), width);
        Ok(())
    }

    fn push_chunk(&mut self, chunk: Chunk, executed: Option<usize>) -> Result<()> {
        let executed =
            executed.context("chunk: expected `executed`, the number of its actions that are executed")?;
        self.chunks.get_or_insert_default().push(chunk, executed).context("chunk")
    }

    fn push_embedding(&mut self, numbers: &[f32]) -> Result<()> {
        let width = if self.n == 0 { numbers.len() } else { self.embedding };
        ensure!(
            numbers.len() == width && width > 0,
            "embedding: expected {} numbers as at the first step, found {}",
            width.max(1),
            numbers.len()
        );
        self.embedding = width;
        self.embeddings.extend_from_slice(numbers);
        Ok(())
    }

    fn push(&mut self, found: Vec<(String, f64)>) -> Result<()> {
        let (n, names) = (self.n, found.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        for (name, value) in found {
            ensure!(
                self.signals.len() < COLUMNS || self.signals.contains_key(&name),
                "expected at most {COLUMNS} signals, found more"
            );
            let begun = || Signal { begins: n, values: vec![0.0; n] };
            let values = &mut self.signals.entry(name).or_insert_with(begun).values;
            values.push(value);
        }
        let expected: Vec<&String> = self.signals.keys().collect();
        ensure!(
            self.signals.values().all(|signal| signal.values.len() == n + 1),
            "expected the signals {expected:?} once, as in the steps before, found {names:?}"
        );
        self.n += 1;
        Ok(())
    }

    /// What was found, with the signals of chunks behind the others.
    pub(super) fn end(self) -> Result<Ended> {
        let Steps { signals, n, chunks, embeddings, embedding, .. } = self;
        ensure!(n > 0, "expected a rollout of at least one step, found none");
        ensure!(
            embeddings.len() == n * embedding,
            "embedding: expected one at each of {n} steps, found {}",
            embeddings.len() / embedding.max(1)
        );
        let mut signals: Vec<(String, Signal)> = signals.into_iter().collect();
        for (name, values) in chunks.map_or(vec![], ChunkSignals::end) {
            ensure!(values.len() == n, "chunk: expected one at each of {n} steps, found {}", values.len());
            ensure!(
                !signals.iter().any(|(other, _)| other == name),
                "{name}: expected no such signal beside chunks"
            );
            signals.push((name.into(), Signal { begins: 0, values }));
        }
        Ok((signals, (embeddings, embedding)))
    }
}

/// The numbers of a field: those of an object by their names, those of a list by their places. Texts are left out.
fn numbers(name: String, value: &Value, found: &mut Vec<(String, f64)>) -> Result<()> {
    ensure!(
        name.len() <= LONGEST_NAME,
        "expected a name of at most {LONGEST_NAME} bytes, found {}",
        name.len()
    );
    match value {
        Value::String(_) => {}
        Value::Object(fields) => {
            for (field, value) in fields {
                numbers(format!("{name}.{field}"), value, found)?;
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                numbers(format!("{name}[{place}]"), item, found)?;
            }
        }
        value => {
            let value = number(value).with_context(|| name.clone())?;
            found.push((name, value));
        }
    }
    ensure!(found.len() <= COLUMNS, "expected at most {COLUMNS} signals, found more");
    Ok(())
}

/// A finite number, or a truth as 0 or 1.
fn number(value: &Value) -> Result<f64> {
    match value {
        Value::Bool(is) => Ok(f64::from(u8::from(*is))),
        other => {
            let number = other.as_f64().filter(|x| x.is_finite());
            number.with_context(|| format!("expected a finite number, found {}", shown(value)))
        }
    }
}

/// How many actions are executed.
pub(super) fn executed(value: &Value) -> Result<usize> {
    let n = value.as_u64().filter(|n| (1..=WINDOW as u64).contains(n));
    n.map(|n| n as usize).with_context(|| {
        format!("executed: expected a whole number from 1 to {WINDOW}, found {}", shown(value))
    })
}
