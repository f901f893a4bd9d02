//! Prints the topics of a log with the number of their rows and columns.

use offnominal_logs::formats;
use offnominal_logs::record::{Column, Sink, Topic, Value};

#[derive(Default)]
struct Counts(Vec<(String, usize, usize)>);

impl Sink for Counts {
    fn topic(&mut self, _: usize, topic: &Topic) -> anyhow::Result<bool> {
        self.0.push((topic.name.clone(), 0, 0));
        Ok(true)
    }

    fn column(&mut self, topic: usize, _: usize, _: &Column) -> anyhow::Result<()> {
        self.0[topic].1 += 1;
        Ok(())
    }

    fn row(&mut self, topic: usize, _: Option<i64>, _: &[Value<'_>]) -> anyhow::Result<()> {
        self.0[topic].2 += 1;
        Ok(())
    }

    fn left_out(&mut self, _: Option<usize>, what: &str) {
        println!("left out: {what}");
    }
}

fn main() -> anyhow::Result<()> {
    for path in std::env::args().skip(1) {
        let mut counts = Counts::default();
        let format = formats::read(path.as_ref(), &mut counts)?;
        println!("{path}: {format:?}");
        for (name, columns, rows) in counts.0 {
            println!("  {name:40} {columns:4} columns {rows:8} rows");
        }
    }
    Ok(())
}
