//! The order of rows: which of them belong together, and what becomes of those whose time is not after that before them.

use crate::gather::{Gathered, Table};
use crate::mapping::{Clock, Episodes, Mapping, Order};
use anyhow::{Result, bail, ensure};
use offnominal_topics::clock::nanos;
use std::ops::Range;

/// The rows of a table that belong together, where rows tell episodes apart; else all.
pub(super) fn parts(gathered: &Gathered, mapping: &Mapping) -> Result<Vec<Option<Range<usize>>>> {
    let cuts: Box<dyn Fn(usize) -> bool> = match &mapping.episodes {
        Episodes::Column { .. } => {
            let key = key_columns(gathered, mapping)?[0];
            Box::new(|row| key[row].to_bits() != key[row - 1].to_bits())
        }
        Episodes::Ends { .. } => {
            let flags = key_columns(gathered, mapping)?;
            Box::new(move |row| flags.iter().any(|flag| flag[row - 1].is_finite() && flag[row - 1] != 0.0))
        }
        Episodes::Gap { secs } if mapping.clock.column.is_some() && gathered.topics.len() == 1 => {
            let (times, gap) = (&gathered.topics[0].times, nanos(*secs));
            // Rows that fall by less are out of order.
            Box::new(move |row| times[row - 1].saturating_sub(times[row]) > gap)
        }
        _ => return Ok(vec![None]),
    };
    let n = gathered.topics[0].times.len();
    let mut edges: Vec<usize> = (1..n).filter(|&row| cuts(row)).collect();
    edges.insert(0, 0);
    edges.push(n);
    Ok(edges.windows(2).filter(|pair| pair[0] < pair[1]).map(|pair| Some(pair[0]..pair[1])).collect())
}

/// The columns that tell episodes apart.
fn key_columns<'g>(gathered: &'g Gathered, mapping: &Mapping) -> Result<Vec<&'g Vec<f64>>> {
    let columns = mapping.columns();
    let topics = gathered.topics.len();
    let of = |name: &str| {
        let place = columns.iter().position(|column| *column == name).expect("it is a column of the mapping");
        let (topic, number) = gathered.places[place].expect("all columns were found");
        ensure!(topics == 1, "episodes by the column {name}: expected one table, found {topics} topics");
        Ok(&gathered.topics[topic].columns[number])
    };
    mapping.episodes.columns().map(of).collect()
}

/// Rows in the order of their time. Messages are written in the order in which they came; a table's rows are in that of their
/// time, or the mapping says what to do.
pub(super) fn rows(table: &Table, part: Option<Range<usize>>, clock: &Clock) -> Result<Vec<usize>> {
    let mut rows: Vec<usize> = part.unwrap_or(0..table.times.len()).collect();
    let time = |row: &usize| table.times[*row];
    let n_back = rows.windows(2).filter(|pair| time(&pair[1]) < time(&pair[0])).count();
    match clock.order {
        Order::Drop if clock.column.is_some() => {
            let mut latest = None;
            rows.retain(|row| {
                let is_later = latest.is_none_or(|latest| time(row) > latest);
                latest = latest.max(Some(time(row)));
                is_later
            });
        }
        Order::Refuse if clock.column.is_some() && n_back > 0 => return refuse(table, &rows, n_back, clock),
        _ => rows.sort_by_key(time),
    }
    Ok(rows)
}

fn refuse(table: &Table, rows: &[usize], n_back: usize, clock: &Clock) -> Result<Vec<usize>> {
    let back = rows.windows(2).find(|pair| table.times[pair[1]] < table.times[pair[0]]);
    let (row, before) = back.map_or((0, 0), |pair| (pair[1], pair[0]));
    bail!(
        "column {}: expected times that do not fall, found {n_back} of {} that do, first in row {row}: {} after {}; in `[clock]` \
         of the mapping `order = \"sort\"` sorts the rows and `order = \"drop\"` leaves those rows out, and `[episodes]` \
         `by = \"gap\"` begins a recording where the clock begins anew",
        clock.column.as_deref().unwrap_or_default(),
        rows.len(),
        shown(table.times[row], clock),
        shown(table.times[before], clock)
    )
}

/// A time as its column has it.
fn shown(time: i64, clock: &Clock) -> String {
    match clock.unit.nanos() {
        Some(nanos) => (time as f64 / nanos).to_string(),
        None => chrono::DateTime::from_timestamp_nanos(time).naive_utc().to_string(),
    }
}

/// What is to be said of times that are not after those before them.
pub(super) fn remark(gathered: &Gathered, mapping: &Mapping) -> Option<String> {
    let (clock, [table]) = (&mapping.clock, &gathered.topics[..]) else { return None };
    let column = clock.column.as_deref()?;
    let count = |is: fn(i64, i64) -> bool| table.times.windows(2).filter(|pair| is(pair[0], pair[1])).count();
    let (back, equal) = (count(|before, time| time < before), count(|before, time| time == before));
    let done = match clock.order {
        Order::Sort => "sorted",
        Order::Drop => "left out",
        Order::Refuse => "the last of equal times counts at a step",
    };
    let n = table.times.len();
    (back + equal > 0).then(|| {
        format!("{column}: of {n} rows {back} have a time before that of the row before, and {equal} repeat it: {done}")
    })
}
