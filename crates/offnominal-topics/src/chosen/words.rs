//! What stands in a channel in place of numbers: words that say that nothing was read, others, and numbers that mean the same.

use crate::words::{are_numbers, means_missing};
use anyhow::{Result, ensure};

/// Words that mean nothing known before their share is looked at.
const FEW: u64 = 20;

/// What was found in one channel.
#[derive(Default)]
pub(super) struct Words {
    pub numbers: u64,
    missing: u64,
    others: u64,
    /// The first of each kind with its row.
    first_missing: Option<(String, usize)>,
    first_other: Option<(String, usize)>,
}

impl Words {
    /// Nothing but numbers stands before a row.
    pub fn after(row: usize) -> Words {
        Words { numbers: row as u64, ..Words::default() }
    }

    /// A word; one that means nothing known is borne as long as it is rare.
    pub fn add(&mut self, word: &str, row: usize) -> Result<()> {
        if means_missing(word) {
            self.missing(word.into(), row);
            return Ok(());
        }
        self.others += 1;
        self.first_other.get_or_insert_with(|| (word.into(), row));
        if self.others > FEW { self.insist() } else { Ok(()) }
    }

    /// Something that says that nothing was read.
    pub fn missing(&mut self, what: String, row: usize) {
        self.missing += 1;
        self.first_missing.get_or_insert((what, row));
    }

    fn insist(&self) -> Result<()> {
        let (word, row) = self.first_other.clone().unwrap_or_default();
        ensure!(
            are_numbers(self.numbers, self.others),
            "expected numbers, as it is a channel of the mapping, found {} words in {} rows, such as {word:?} in row {row}",
            self.others,
            self.numbers + self.others + self.missing
        );
        Ok(())
    }

    /// Insists on numbers but for a few words.
    pub fn check(&self, column: &str) -> Result<()> {
        use anyhow::Context;
        self.insist().with_context(|| format!("column {column:?}"))
    }

    /// What is to be said of them.
    pub fn remark(&self, column: &str) -> String {
        let of = |n: u64, first: &Option<(String, usize)>| {
            let (what, row) = first.as_ref()?;
            Some(format!("{n} entries such as {what} in row {row}"))
        };
        let all = [of(self.missing, &self.first_missing), of(self.others, &self.first_other)];
        format!(
            "{column}: taken as missing: {}",
            all.into_iter().flatten().collect::<Vec<_>>().join(", and ")
        )
    }
}
