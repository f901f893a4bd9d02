//! The compact table of a world: one line per policy, anomaly, strength and detector, repetitions averaged.
//!
//! After the columns that say what a line is, every metric has three: its value, `_low` and `_high`; a metric of alarms
//! has them once per rule, as in `d20_conformal`. An empty field is a number that does not exist; a median delay that is
//! not reached is `inf`. Numbers have four decimals.

use crate::report::aggregate::{Point, over_seeds};
use crate::results::Row;
use anyhow::{Context, Result, ensure};
use offnominal_stats::METRICS;
use std::collections::{BTreeSet, HashMap};

/// The alarm rules in the table.
pub const RULES: [&str; 4] = ["3sigma", "q95", "max", "conformal"];

/// The columns that say what a line is.
const KEYS: [&str; 9] =
    ["env", "policy", "anomaly_class", "anomaly", "strength", "magnitude", "detector", "seeds", "episodes"];

/// A line: what one detector made of one anomaly.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// World id.
    pub env: String,
    /// Policy id.
    pub policy: String,
    /// `observation`, `action`, `dynamics`, or `none` for the control.
    pub anomaly_class: String,
    /// Anomaly id.
    pub anomaly: String,
    /// Strength level.
    pub strength: String,
    /// Its magnitude; not a number if there is none.
    pub magnitude: f64,
    /// Detector.
    pub detector: String,
    /// Repetitions.
    pub seeds: u64,
    /// Episodes behind the numbers, in all repetitions.
    pub episodes: u64,
    /// Value, low and high of each of [`columns`]; not a number where there is none.
    pub values: Vec<[f64; 3]>,
}

/// The lines of one or more worlds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// In the order of the campaign.
    pub lines: Vec<Line>,
}

/// The metrics of a line, each with its rule or nothing.
pub fn columns() -> Vec<(&'static str, &'static str)> {
    let ranked = METRICS.iter().filter(|m| !m.thresholded).map(|m| (m.id, ""));
    let alarmed = |rule| METRICS.iter().filter(|m| m.thresholded).map(move |m| (m.id, rule));
    ranked.chain(RULES.into_iter().flat_map(alarmed)).collect()
}

fn header() -> Vec<String> {
    let name = |(metric, rule): (&str, &str)| match rule {
        "" => metric.to_string(),
        _ => format!("{metric}_{rule}"),
    };
    let three = |name: String| [name.clone(), format!("{name}_low"), format!("{name}_high")];
    let keys = KEYS.iter().map(ToString::to_string);
    keys.chain(columns().into_iter().map(name).flat_map(three)).collect()
}

impl Table {
    /// The table of long-format rows.
    pub fn of_rows(rows: &[Row]) -> Table {
        let mut places: HashMap<[&str; 4], usize> = HashMap::new();
        let mut groups: Vec<Vec<&Row>> = Vec::new();
        for row in rows {
            let key = [&*row.policy, &row.anomaly, &row.strength, &row.detector];
            let place = *places.entry(key).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Vec::new());
            }
            groups[place].push(row);
        }
        Table { lines: groups.iter().map(|group| line(group)).collect() }
    }

    /// The table as long-format rows, one per number that exists.
    pub fn rows(&self) -> Vec<Row> {
        let columns = columns();
        let of = |line: &Line| {
            let numbers = columns.iter().zip(&line.values).filter(|(_, v)| !v[0].is_nan());
            numbers.map(|(&column, values)| row(line, column, *values)).collect::<Vec<Row>>()
        };
        self.lines.iter().flat_map(of).collect()
    }

    /// The table as CSV.
    ///
    /// # Errors
    /// Never in practice: it is written to memory.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(header())?;
        for line in &self.lines {
            writer.write_record(fields(line))?;
        }
        Ok(writer.into_inner()?)
    }

    /// Reads what [`Table::csv`] wrote.
    ///
    /// # Errors
    /// Names the line, what was expected and what was found.
    pub fn read(text: &[u8]) -> Result<Table> {
        let mut reader = csv::Reader::from_reader(text);
        let (expected, found) = (header(), reader.headers()?.clone());
        for (i, name) in expected.iter().enumerate() {
            let at = found.get(i).unwrap_or("nothing");
            ensure!(at == name, "column {}: expected {name:?}, found {at:?}", i + 1);
        }
        let mut lines = Vec::new();
        for (i, record) in reader.records().enumerate() {
            lines.push(parsed(&record?).with_context(|| format!("line {}", i + 2))?);
        }
        Ok(Table { lines })
    }
}

fn line(group: &[&Row]) -> Line {
    let first = group[0];
    let seeds: BTreeSet<u64> = group.iter().map(|r| r.seed).collect();
    let episodes = |seed: &u64| group.iter().filter(|r| r.seed == *seed).map(|r| r.episodes).max();
    let value = |(metric, rule): (&str, &str)| {
        let own = group.iter().filter(|r| r.metric == metric && r.threshold == rule);
        let points: Vec<Point> =
            own.map(|r| Point { value: r.value, low: r.low, high: r.high, cluster: 0 }).collect();
        over_seeds(&points).map_or([f64::NAN; 3], |p| [p.value, p.low, p.high])
    };
    Line {
        env: first.env.clone(),
        policy: first.policy.clone(),
        anomaly_class: first.anomaly_class.clone(),
        anomaly: first.anomaly.clone(),
        strength: first.strength.clone(),
        magnitude: first.magnitude,
        detector: first.detector.clone(),
        seeds: seeds.len() as u64,
        episodes: seeds.iter().filter_map(episodes).sum(),
        values: columns().into_iter().map(value).collect(),
    }
}

fn row(line: &Line, (metric, rule): (&str, &str), [value, low, high]: [f64; 3]) -> Row {
    Row {
        campaign: String::new(),
        env: line.env.clone(),
        modality: "vector".into(),
        policy: line.policy.clone(),
        anomaly_class: line.anomaly_class.clone(),
        anomaly: line.anomaly.clone(),
        strength: line.strength.clone(),
        magnitude: line.magnitude,
        detector: line.detector.clone(),
        seed: 0,
        episodes: line.episodes,
        metric: metric.into(),
        threshold: rule.into(),
        value,
        low,
        high,
    }
}

fn fields(line: &Line) -> Vec<String> {
    let words =
        [&line.env, &line.policy, &line.anomaly_class, &line.anomaly, &line.strength].map(String::clone);
    let magnitude = if line.magnitude.is_nan() { String::new() } else { line.magnitude.to_string() };
    let counts = [line.seeds.to_string(), line.episodes.to_string()];
    let numbers = line.values.iter().flatten().map(|&v| decimals(v));
    words.into_iter().chain([magnitude, line.detector.clone()]).chain(counts).chain(numbers).collect()
}

/// Four decimals, without zeros at the end; nothing for what is not a number.
fn decimals(value: f64) -> String {
    if value.is_nan() {
        return String::new();
    }
    let text = format!("{value:.4}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

fn parsed(record: &csv::StringRecord) -> Result<Line> {
    let text = |i: usize| record.get(i).unwrap_or_default().to_string();
    let number = |i: usize| match record.get(i).unwrap_or_default() {
        "" => Ok(f64::NAN),
        field => field.parse::<f64>().with_context(|| format!("expected a number, found {field:?}")),
    };
    let count =
        |i: usize| text(i).parse::<u64>().with_context(|| format!("expected a count, found {:?}", text(i)));
    let numbers: Vec<f64> = (KEYS.len()..record.len()).map(number).collect::<Result<_>>()?;
    Ok(Line {
        env: text(0),
        policy: text(1),
        anomaly_class: text(2),
        anomaly: text(3),
        strength: text(4),
        magnitude: number(5)?,
        detector: text(6),
        seeds: count(7)?,
        episodes: count(8)?,
        values: numbers.chunks_exact(3).map(|three| [three[0], three[1], three[2]]).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::tests::rows as samples;

    /// Two repetitions of one cell, and a delay that is not reached.
    fn rows() -> Vec<Row> {
        let first = Row { seed: 1, value: 0.25, low: 0.0, high: 0.5, ..samples().remove(0) };
        let second = Row { seed: 2, value: 0.75, low: 0.5, high: 1.0, ..first.clone() };
        let never = Row {
            metric: "delay_median".into(),
            threshold: "conformal".into(),
            value: f64::INFINITY,
            high: f64::INFINITY,
            ..first.clone()
        };
        vec![first, second, never]
    }

    #[test]
    fn repetitions_are_averaged_and_nothing_is_lost_in_writing() {
        let table = Table::of_rows(&rows());
        assert_eq!((table.lines.len(), table.lines[0].seeds, table.lines[0].episodes), (1, 2, 100));
        let again = Table::read(&table.csv().unwrap()).unwrap();
        let rows = again.rows();
        let found = |metric: &str| rows.iter().find(|r| r.metric == metric).map(|r| [r.low, r.value, r.high]);
        assert_eq!(rows.len(), 2, "what does not exist is no row");
        assert_eq!(found("auroc_matched"), Some([0.25, 0.5, 0.75]));
        assert_eq!(found("delay_median").unwrap()[1], f64::INFINITY);
        assert_eq!(again.csv().unwrap(), table.csv().unwrap());
    }

    #[test]
    fn another_table_is_refused_where_it_differs() {
        let text = String::from_utf8(Table::of_rows(&rows()).csv().unwrap()).unwrap();
        let refused = |from: &str, to: &str| {
            format!("{:#}", Table::read(text.replacen(from, to, 1).as_bytes()).unwrap_err())
        };
        assert!(refused("policy", "police").contains("column 2: expected \"policy\", found \"police\""));
        assert!(refused("0.5,", "half,").contains("line 2: expected a number, found \"half\""));
    }
}
