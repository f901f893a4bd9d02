//! Several files as one log: topics and columns of the same name are the same.

use crate::record::{Column, Sink, Topic, Value};
use anyhow::Result;
use std::collections::HashMap;

/// A sink for one file after another, which tells another sink of the whole.
pub struct Joined<'s> {
    sink: &'s mut dyn Sink,
    rename: Box<dyn Fn(&str) -> String + 's>,
    topics: HashMap<String, Known>,
    /// The topic of the whole for each topic of the present file, and its columns.
    now: Vec<(usize, Vec<usize>)>,
}

struct Known {
    number: usize,
    is_wanted: bool,
    columns: HashMap<String, usize>,
}

impl<'s> Joined<'s> {
    /// Joins files, of which each column gets the name that `rename` gives it.
    pub fn new(sink: &'s mut dyn Sink, rename: impl Fn(&str) -> String + 's) -> Self {
        Joined { sink, rename: Box::new(rename), topics: HashMap::new(), now: Vec::new() }
    }

    /// The next file begins.
    pub fn next_file(&mut self) {
        self.now.clear();
    }

    fn known(&mut self, number: usize) -> (&mut Known, &mut Vec<usize>) {
        let (whole, columns) = &mut self.now[number];
        let known = self.topics.values_mut().find(|known| known.number == *whole);
        (known.expect("each topic of a file is known"), columns)
    }
}

impl Sink for Joined<'_> {
    fn topic(&mut self, _: usize, topic: &Topic) -> Result<bool> {
        let number = self.topics.len();
        let known = match self.topics.get(&topic.name) {
            Some(known) => known,
            None => {
                let is_wanted = self.sink.topic(number, topic)?;
                let new = Known { number, is_wanted, columns: HashMap::new() };
                self.topics.entry(topic.name.clone()).or_insert(new)
            }
        };
        self.now.push((known.number, Vec::new()));
        Ok(known.is_wanted)
    }

    fn column(&mut self, topic: usize, _: usize, column: &Column) -> Result<()> {
        let name = (self.rename)(&column.name);
        let (known, columns) = self.known(topic);
        let (of, n) = (known.number, known.columns.len());
        let (number, is_new) = match known.columns.get(&name) {
            Some(&number) => (number, false),
            None => (n, true),
        };
        columns.push(number);
        if is_new {
            known.columns.insert(name.clone(), number);
            self.sink.column(of, number, &Column { name, unit: column.unit.clone() })?;
        }
        Ok(())
    }

    fn row(&mut self, topic: usize, time: Option<i64>, row: &[Value<'_>]) -> Result<()> {
        let (known, columns) = self.known(topic);
        let (number, mut whole) = (known.number, vec![Value::Missing; known.columns.len()]);
        for (&at, &value) in columns.iter().zip(row) {
            whole[at] = value;
        }
        self.sink.row(number, time, &whole)
    }

    fn left_out(&mut self, topic: Option<usize>, what: &str) {
        let topic = topic.map(|t| self.now[t].0);
        self.sink.left_out(topic, what);
    }
}
