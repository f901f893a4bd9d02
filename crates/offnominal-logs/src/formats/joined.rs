//! Several files as one log: topics and columns of the same name are the same.

use crate::record::{Column, Sink, Topic, Value};
use anyhow::Result;
use offnominal_topics::record::Charge;
use std::collections::HashMap;

/// A sink for one file after another, which tells another sink of the whole.
pub struct Joined<'s> {
    sink: &'s mut dyn Sink,
    rename: Box<dyn Fn(&str) -> String + 's>,
    topics: Vec<Known>,
    by_name: HashMap<String, usize>,
    /// The topic of the whole for each topic of the present file, and its columns.
    now: Vec<(usize, Vec<usize>)>,
}

struct Known {
    is_wanted: bool,
    columns: HashMap<String, usize>,
}

impl<'s> Joined<'s> {
    /// Joins files, of which each column gets the name that `rename` gives it.
    pub fn new(sink: &'s mut dyn Sink, rename: impl Fn(&str) -> String + 's) -> Self {
        Joined {
            sink,
            rename: Box::new(rename),
            topics: Vec::new(),
            by_name: HashMap::new(),
            now: Vec::new(),
        }
    }

    /// The next file begins.
    pub fn next_file(&mut self) {
        self.now.clear();
    }

    fn known(&mut self, number: usize) -> (&mut Known, &mut Vec<usize>) {
        let (whole, columns) = &mut self.now[number];
        (&mut self.topics[*whole], columns)
    }
}

impl Sink for Joined<'_> {
    fn topic(&mut self, _: usize, topic: &Topic) -> Result<bool> {
        let number = match self.by_name.get(&topic.name) {
            Some(&number) => number,
            None => {
                let number = self.topics.len();
                let is_wanted = self.sink.topic(number, topic)?;
                self.topics.push(Known { is_wanted, columns: HashMap::new() });
                self.by_name.insert(topic.name.clone(), number);
                number
            }
        };
        self.now.push((number, Vec::new()));
        Ok(self.topics[number].is_wanted)
    }

    fn column(&mut self, topic: usize, _: usize, column: &Column) -> Result<()> {
        let name = (self.rename)(&column.name);
        let of = self.now[topic].0;
        let (known, columns) = self.known(topic);
        let n = known.columns.len();
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
        let number = self.now[topic].0;
        let (known, columns) = self.known(topic);
        let mut whole = vec![Value::Missing; known.columns.len()];
        for (&at, &value) in columns.iter().zip(row) {
            whole[at] = value;
        }
        self.sink.row(number, time, &whole)
    }

    fn left_out(&mut self, topic: Option<usize>, what: &str) {
        let topic = topic.map(|t| self.now[t].0);
        self.sink.left_out(topic, what);
    }

    fn lost(&mut self, topic: Option<usize>, what: &str, why: &str) -> Result<()> {
        let topic = topic.map(|t| self.now[t].0);
        self.sink.lost(topic, what, why)
    }

    fn charge(&mut self, charge: Charge) -> Result<()> {
        self.sink.charge(charge)
    }

    fn is_refusing(&self) -> bool {
        self.sink.is_refusing()
    }

    fn assumed(&mut self, topic: Option<usize>, what: &str) {
        let topic = topic.map(|t| self.now[t].0);
        self.sink.assumed(topic, what);
    }
}
