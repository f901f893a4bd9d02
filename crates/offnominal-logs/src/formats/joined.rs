//! Several files as one log: topics and columns of the same name are the same, but for columns of one file.

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
    n_files: usize,
}

struct Known {
    is_wanted: bool,
    /// The number of each column, and the last file that has it.
    columns: HashMap<String, (usize, usize)>,
}

impl Known {
    /// The name of a column that no other one of this file has.
    fn own(&self, name: &str, file: usize) -> String {
        let is_free = |name: &String| self.columns.get(name).is_none_or(|(_, last)| *last != file);
        let numbered = (1..).map(|n| format!("{name}.{n}"));
        std::iter::once(name.to_string()).chain(numbered).find(is_free).unwrap_or_default()
    }
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
            n_files: 0,
        }
    }

    /// The next file begins.
    pub fn next_file(&mut self) {
        self.now.clear();
        self.n_files += 1;
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
        let (renamed, file) = ((self.rename)(&column.name), self.n_files);
        let of = self.now[topic].0;
        let (known, columns) = self.known(topic);
        let name = known.own(&renamed, file);
        let (n, is_new) = (known.columns.len(), !known.columns.contains_key(&name));
        let entry = known.columns.entry(name.clone()).or_insert((n, file));
        entry.1 = file;
        columns.push(entry.0);
        if is_new {
            self.sink.column(of, n, &Column { name: name.clone(), unit: column.unit.clone() })?;
            if name != renamed {
                let what = format!("two columns are called {renamed}: the later one is {name}");
                self.sink.assumed(Some(of), &what);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Told(Vec<String>, Vec<Vec<Option<f64>>>);

    impl Sink for Told {
        fn topic(&mut self, _: usize, _: &Topic) -> Result<bool> {
            Ok(true)
        }

        fn column(&mut self, _: usize, _: usize, column: &Column) -> Result<()> {
            self.0.push(column.name.clone());
            Ok(())
        }

        fn row(&mut self, _: usize, _: Option<i64>, row: &[Value<'_>]) -> Result<()> {
            self.1.push(row.iter().map(|value| value.number()).collect());
            Ok(())
        }

        fn left_out(&mut self, _: Option<usize>, _: &str) {}

        fn assumed(&mut self, _: Option<usize>, what: &str) {
            self.0.push(what.into());
        }
    }

    #[test]
    fn two_columns_of_one_file_that_get_one_name_stay_two() {
        let mut told = Told::default();
        let mut joined = Joined::new(&mut told, |name| name.replace(['0', '1'], "joint"));
        for file in [1.0, 2.0] {
            joined.next_file();
            joined.topic(0, &Topic { name: String::new(), kind: "table".into(), is_timed: false }).unwrap();
            (0..2).for_each(|i| joined.column(0, i, &Column::new(i.to_string())).unwrap());
            joined.row(0, None, &[Value::Number(file), Value::Number(-file)]).unwrap();
        }
        drop(joined);
        assert_eq!(told.0, ["joint", "joint.1", "two columns are called joint: the later one is joint.1"]);
        assert_eq!(told.1, [[Some(1.0), Some(-1.0)], [Some(2.0), Some(-2.0)]].map(Vec::from));
    }
}
