//! The columns of a mapping, gathered from a log: per topic, the time stamps and one list of numbers for each column.

use crate::chosen::{Chosen, Rows, Truth};
use crate::mapping::Mapping;
use crate::source::Source;
use anyhow::{Context, Result};

/// The columns that were wanted.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The topics that have any of them.
    pub topics: Vec<Table>,
    /// For each wanted column its topic and its number there.
    pub places: Vec<Option<(usize, usize)>>,
    /// Whether the entries of a wanted column are texts.
    pub is_text: Vec<bool>,
    /// The texts that were found.
    pub texts: Vec<String>,
    /// Rows that were read.
    pub n_rows: usize,
    /// What is to be said of them.
    pub remarks: Vec<String>,
}

/// Rows of one topic.
#[derive(Debug, Default)]
pub struct Table {
    /// Its number in the log.
    pub topic: usize,
    /// Time stamps in nanoseconds, in the order of the rows.
    pub times: Vec<i64>,
    /// The columns: numbers, one per row; NaN where nothing was recorded. A text is its place in [`Gathered::texts`].
    pub columns: Vec<Vec<f64>>,
}

/// Reads a log.
///
/// # Errors
/// If it cannot be read, lacks a column, or a time is none.
pub fn gather(log: &(impl Source + ?Sized), mapping: &Mapping, truth: Truth) -> Result<Gathered> {
    let n = mapping.columns().len();
    let empty = Gathered { places: vec![None; n], ..Gathered::default() };
    let mut chosen = Chosen::new(mapping, empty);
    log.read(&mut chosen)?;
    chosen.check(truth).with_context(|| format!("log {}", log.name().display()))?;
    let is_text = (0..n).map(|place| chosen.is_text(place)).collect();
    let (n_rows, remarks) = (chosen.n_rows(), chosen.remarks());
    Ok(Gathered { is_text, n_rows, remarks, texts: chosen.texts, ..chosen.rows })
}

impl Rows for Gathered {
    fn column(&mut self, topic: usize, place: usize) {
        let known = self.topics.iter().position(|table| table.topic == topic);
        let at = known.unwrap_or_else(|| {
            self.topics.push(Table { topic, ..Table::default() });
            self.topics.len() - 1
        });
        let table = &mut self.topics[at];
        self.places[place] = Some((at, table.columns.len()));
        // What came before the column appeared is missing.
        table.columns.push(vec![f64::NAN; table.times.len()]);
    }

    fn row(&mut self, topic: usize, time: i64, row: &[(usize, f64)]) -> Result<()> {
        let table = self.topics.iter_mut().find(|table| table.topic == topic).expect("its columns were told");
        table.times.push(time);
        // The columns of a topic come in the order in which they appeared.
        table.columns.iter_mut().zip(row).for_each(|(column, (_, x))| column.push(*x));
        Ok(())
    }
}
