//! Streams against the logs that are made of them.

use super::*;
use crate::chosen::Rows;
use crate::episodes;
use crate::gather::Gathered;
use offnominal_core::Seed;
use std::path::Path;

/// Observations, commands and times of one episode.
type Told = (Vec<f64>, Vec<f64>, Vec<i64>);

#[derive(Default)]
struct Keep(Vec<Told>);

impl Ticks for &mut Keep {
    fn tick(&mut self, tick: Tick<'_>) -> Result<()> {
        if tick.is_first {
            self.0.push(Told::default());
        }
        let (observations, commands, times) = self.0.last_mut().expect("an episode has begun");
        observations.extend_from_slice(tick.observation);
        commands.extend_from_slice(tick.command);
        times.push(tick.time_nanos);
        Ok(())
    }
}

/// A row: its topic, its time, and the places it fills.
type Row = (usize, i64, Vec<(usize, f64)>);

/// Rows of one or two topics in the order of their time; the third column is now zero, now one.
fn rows(seed: u64, n_topics: usize, n_columns: usize) -> Vec<Row> {
    let mut rng = Seed(seed).rng();
    let mut time = 0;
    let row = |i: usize| {
        let long = if rng.uniform() < 0.03 { 400.0 } else { 30.0 };
        time += (1.0 + rng.uniform() * long) as i64 * 1_000_000;
        let mut value = |x: f64| if rng.uniform() < 0.2 { f64::NAN } else { x };
        let x = i as f64;
        let row = [(0, value(x)), (1, value(-x)), (2, (i / 37 % 2) as f64)];
        let of_topic = match (n_topics, i % n_topics) {
            (2, 0) => &row[..1],
            (2, _) => &row[1..n_columns],
            _ => &row[..n_columns],
        };
        (i % n_topics, time, of_topic.to_vec())
    };
    (0..200).map(row).collect()
}

fn fed<R: Rows>(rows: &[Row], mut into: R) -> R {
    let mut told = Vec::new();
    for (topic, time, row) in rows {
        for (place, _) in row {
            if !told.contains(place) {
                told.push(*place);
                into.column(*topic, *place);
            }
        }
        into.row(*topic, *time, row).unwrap();
    }
    into
}

/// Whether they have the same bits, or both lack a value.
fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
}

/// Compares what a stream tells with the recordings of the same rows.
fn compare(seed: u64, n_topics: usize, mapping: &Mapping, place: &str) {
    let n = mapping.columns().len();
    let rows = rows(seed, n_topics, n);
    let empty = Gathered { places: vec![None; n], is_text: vec![false; n], ..Gathered::default() };
    let recorded = episodes::cut(&fed(&rows, empty), mapping, Path::new("log")).unwrap().0;
    let mut told = Keep::default();
    fed(&rows, Live::new(mapping, &mut told)).finish().unwrap();
    told.0.retain(|(_, _, times)| times.len() > 1);
    assert_eq!(recorded.len(), told.0.len(), "{place}");
    for (recorded, (observations, commands, times)) in recorded.iter().zip(&told.0) {
        let signals = recorded.signals(mapping);
        assert!(same(signals.observations(), observations), "{place}");
        assert!(same(signals.actions(), &commands[..commands.len() - 1]), "{place}");
        assert_eq!(recorded.start_nanos, times[0], "{place}");
    }
}

#[test]
fn rows_that_come_late_within_the_wait_change_no_tick() {
    let text = "version = 1\nobservation = [{ column = \"a\" }]\ncommand = [{ column = \"b\" }]\n[clock]\nrate_hz = 50.0\n\
                wait_secs = 0.1\n[episodes]\nby = \"file\"";
    let mapping = Mapping::parse(text).unwrap();
    let told = |rows: &[Row]| {
        let mut told = Keep::default();
        fed(rows, Live::new(&mapping, &mut told)).finish().unwrap();
        told.0
    };
    for seed in 0..20 {
        let sorted = rows(seed, 2, mapping.columns().len());
        let mut late: Vec<(i64, Row)> = Vec::new();
        let mut rng = Seed(seed).child("late").rng();
        // Each row comes up to 0.1 s after its time.
        late.extend(sorted.iter().map(|row| (row.1 + (rng.uniform() * 1e8) as i64, row.clone())));
        late.sort_by_key(|(comes, _)| *comes);
        let late: Vec<Row> = late.into_iter().map(|(_, row)| row).collect();
        assert!(late != sorted, "seed {seed}");
        let (expected, found) = (told(&sorted), told(&late));
        assert_eq!(expected.len(), found.len(), "seed {seed}");
        for (a, b) in expected.iter().zip(&found) {
            assert!(same(&a.0, &b.0) && same(&a.1, &b.1) && a.2 == b.2, "seed {seed}");
        }
    }
}

#[test]
fn a_stream_has_the_same_ticks_as_the_log_that_is_made_of_it() {
    let clocks = ["", "rate_hz = 50.0", "rate_hz = 70.0\nmax_age_secs = 0.05"];
    let cuts = [
        "file\"",
        "gap\"\nsecs = 0.1",
        "window\"\nsecs = 0.4",
        "event\"\ncolumn = \"c\"",
        "column\"\ncolumn = \"c\"",
    ];
    for (cut, clock) in cuts.iter().flat_map(|cut| clocks.map(|clock| (cut, clock))) {
        let mapping = Mapping::parse(&format!(
            "version = 1\nobservation = [{{ column = \"a\" }}]\ncommand = [{{ column = \"b\" }}]\n[clock]\n{clock}\n\
             [episodes]\nby = \"{cut}"
        ))
        .unwrap();
        // Several topics need a rate, and a table for episodes by column.
        let can_be_two = !clock.is_empty() && !cut.starts_with("column");
        for (seed, n_topics) in (0..20).flat_map(|seed| [(seed, 1), (seed, 2)]) {
            if n_topics == 1 || can_be_two {
                compare(
                    seed,
                    n_topics,
                    &mapping,
                    &format!("seed {seed}, {n_topics} topics, {clock:?}, {cut:?}"),
                );
            }
        }
    }
}
