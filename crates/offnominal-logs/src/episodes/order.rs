//! The order of rows: which of them belong together, and what becomes of those whose time is not after that before them.

use crate::gather::{Gathered, Table};
use crate::mapping::{Clock, Episodes, Mapping, Order};
use anyhow::{Result, bail, ensure};
use offnominal_topics::clock::nanos;
use std::collections::HashMap;
use std::ops::Range;

/// The rows of a table that belong together, where rows tell episodes apart; else all.
pub(super) fn parts(gathered: &Gathered, mapping: &Mapping) -> Result<Vec<Option<Range<usize>>>> {
    let cuts: Box<dyn Fn(usize) -> bool> = match &mapping.episodes {
        Episodes::Column { .. } => {
            let key = key_columns(gathered, mapping)?[0];
            refuse_turns(key, gathered, mapping)?;
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

/// Refuses rows of several episodes in turns, such as those of two robots in one table: they are no hundreds of episodes.
fn refuse_turns(key: &[f64], gathered: &Gathered, mapping: &Mapping) -> Result<()> {
    let times = &gathered.topics[0].times;
    // The rows of others begin before those of the key end, and later it goes on from there.
    let in_turns =
        |&(row, last): &(usize, usize)| times[last + 1] <= times[last] && times[last] <= times[row];
    let Some((row, last)) = returns(key).into_iter().find(in_turns) else { return Ok(()) };
    bail!(
        "episodes by the column {}: expected the rows of an episode one after the other, found {} again in row {row}, while rows \
         of {} have the same times: sort the rows by {0} and by time, or write a file for each episode",
        mapping.episodes.columns().next().unwrap_or_default(),
        word(key[row], gathered, mapping),
        word(key[last + 1], gathered, mapping)
    )
}

/// Where a key comes back after others: the row, and the last one before it that has the key. One that is missing tells nothing.
fn returns(key: &[f64]) -> Vec<(usize, usize)> {
    let (mut lasts, mut before, mut found) = (HashMap::new(), None, Vec::new());
    for (row, x) in key.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
        let last = lasts.insert(x.to_bits(), row);
        if before.replace(x.to_bits()) != Some(x.to_bits()) {
            found.extend(last.map(|last| (row, last)));
        }
    }
    found
}

/// A key as the log has it.
fn word(key: f64, gathered: &Gathered, mapping: &Mapping) -> String {
    let name = mapping.episodes.columns().next();
    let place = mapping.columns().iter().position(|column| Some(*column) == name);
    let is_text = key.is_finite() && place.is_some_and(|place| gathered.is_text[place]);
    let text = if is_text { gathered.texts.get(key as usize).cloned() } else { None };
    text.unwrap_or_else(|| key.to_string())
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

/// What is to be said of the order of rows.
pub(super) fn remark(gathered: &Gathered, mapping: &Mapping) -> Option<String> {
    let both: Vec<String> =
        [of_times(gathered, mapping), of_keys(gathered, mapping)].into_iter().flatten().collect();
    (!both.is_empty()).then(|| both.join("; "))
}

/// A key that comes back, such as a mode, begins another recording each time.
fn of_keys(gathered: &Gathered, mapping: &Mapping) -> Option<String> {
    let Episodes::Column { column } = &mapping.episodes else { return None };
    let n = returns(key_columns(gathered, mapping).ok()?[0]).len();
    (n > 0)
        .then(|| format!("{column}: {n} times a value comes back after others, and begins another recording"))
}

/// What is to be said of times that are not after those before them.
fn of_times(gathered: &Gathered, mapping: &Mapping) -> Option<String> {
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
