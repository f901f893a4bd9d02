//! What logs say of the truth: labels and outcomes between ticks, without cells, in words of any kind.

use offnominal_engine::context::Context;
use offnominal_logs::chosen::Truth;
use offnominal_logs::mapping::Mapping;
use offnominal_logs::recordings::{self, Recordings};
use offnominal_logs::source::Log;
use std::path::PathBuf;

/// A log of 30 rows at 10 Hz with a level and one column of the truth.
fn table(name: &str, cell: impl Fn(usize) -> String) -> String {
    let rows = (0..30).map(|row| format!("{:.1},{},{}\n", 0.1 * row as f64, (row * 7) % 11, cell(row)));
    format!("time,level,{name}\n") + &rows.collect::<String>()
}

fn read(text: String, rest: &str) -> anyhow::Result<Recordings> {
    let log = [Log::Bytes(PathBuf::from("run.csv"), text.into_bytes().into())];
    let mapping = format!(
        "version = 1\nobservation = [{{ column = \"level\" }}]\n{rest}\n[clock]\ncolumn = \"time\"\nunit = \"s\"\nrate_hz = 10.0\n\
         [episodes]\nby = \"file\""
    );
    recordings::read(&log, &Mapping::parse(&mapping)?, Truth::IfThere, &Context::silent(1, 1))
}

fn labels(text: String) -> Vec<bool> {
    read(text, "label = \"fault\"").unwrap().all[0].labels.clone().unwrap()
}

/// How many steps are labelled of a log whose rows 10 to 14 have a fault.
fn labelled(fault: &str, otherwise: &str) -> usize {
    let of = |row: usize| if (10..15).contains(&row) { fault } else { otherwise }.to_string();
    labels(table("fault", of)).into_iter().filter(|&is| is).count()
}

#[test]
fn a_label_is_the_same_however_nominal_rows_say_it() {
    for (fault, nominal) in
        [("1", "0"), ("1", ""), ("leak", ""), ("leak", "normal"), ("leak", "No fault"), ("on", "off")]
    {
        assert_eq!(labelled(fault, nominal), 5, "{fault:?} and {nominal:?}");
    }
    let sparse = |row: usize| {
        [(0, "0"), (10, "1"), (15, "0")].iter().find(|at| at.0 == row).map_or("", |at| at.1).into()
    };
    assert_eq!(labels(table("fault", sparse)).iter().filter(|&&is| is).count(), 5, "written on change");
}

#[test]
fn words_that_are_not_known_are_named_as_faults() {
    let text = table("fault", |row| if row < 10 { "quiet" } else { "leak" }.into());
    let found = read(text, "label = \"fault\"").unwrap();
    let says = "label fault: no row says that nothing is wrong; leak, quiet are taken as faults";
    assert!(found.remarks.iter().any(|remark| remark.contains(says)), "{:?}", found.remarks);
    let text = table("fault", |row| if row < 10 { "" } else { "leak" }.into());
    let found = read(text, "label = \"fault\"").unwrap();
    assert!(
        found.remarks[0].contains("its empty cells are taken to say it, and leak as faults"),
        "{:?}",
        found.remarks
    );
    let text = table("fault", |row| if row < 10 { "0" } else { "1" }.into());
    assert!(read(text, "label = \"fault\"").unwrap().remarks.is_empty());
}

#[test]
fn what_is_written_between_two_ticks_or_after_the_last_one_counts() {
    let short = table("fault", |_| "0".into()).replace("1.0,", "0.95,5,1\n1.0,");
    let found = labels(short);
    assert_eq!((found.iter().filter(|&&is| is).count(), found[9]), (1, true));
    let late = table("done", |_| String::new()) + "2.95,3,1\n";
    let done = |success: &str| {
        let outcome = format!("outcome = {{ column = \"done\", success = {success} }}");
        read(late.clone(), &outcome).unwrap().all[0].success
    };
    assert_eq!(["1", "true", "1.0", "\"1\"", "\"True\""].map(done), [Some(true); 5]);
    assert_eq!(["0", "false", "\"0\"", "2"].map(done), [Some(false); 4]);
}

#[test]
fn success_that_the_column_cannot_hold_is_refused() {
    let of = |word: &str, success: &str| {
        let outcome = format!("outcome = {{ column = \"result\", success = {success} }}");
        read(table("result", |_| word.into()), &outcome)
            .map(|found| found.all[0].success)
            .map_err(|e| format!("{e:#}"))
    };
    assert_eq!(of("reached", "\"reached\""), Ok(Some(true)));
    for (word, success) in [("reached", "true"), ("reached", "1"), ("1", "\"reached\"")] {
        let error = of(word, success).unwrap_err();
        assert!(error.contains("outcome.success: expected what the column \"result\" holds"), "{error}");
    }
}

#[test]
fn steps_before_the_first_value_are_counted() {
    let text = table("fault", |row| if row < 5 { "1" } else { "0" }.into());
    let lines = text.lines().enumerate().map(|(at, line)| match at {
        1..=12 => line
            .split(',')
            .enumerate()
            .map(|(i, cell)| if i == 1 { "" } else { cell })
            .collect::<Vec<_>>()
            .join(","),
        _ => line.into(),
    });
    let found = read(lines.collect::<Vec<_>>().join("\n"), "label = \"fault\"").unwrap();
    let says = "12 of 30 steps lie before the first value of level, and are left out, with labels that say";
    assert!(found.remarks.iter().any(|remark| remark.contains(says)), "{:?}", found.remarks);
}

#[test]
fn steps_in_a_gap_are_counted() {
    let text = table("fault", |_| "0".into());
    let after: String =
        (0..30).map(|row| format!("{:.1},{},0\n", 60.0 + 0.1 * row as f64, row % 7)).collect();
    let found = read(text.clone() + &after, "").unwrap();
    assert!(
        found.remarks.iter().any(|remark| remark.contains("of 630 steps lie in gaps")),
        "{:?}",
        found.remarks
    );
    assert!(read(text, "").unwrap().remarks.is_empty());
}

#[test]
fn a_log_that_is_given_twice_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.csv");
    std::fs::write(&path, table("fault", |_| "0".into())).unwrap();
    let again = folder.path().join(".").join("run.csv");
    let mapping =
        Mapping::parse("version = 1\nobservation = [{ column = \"level\" }]\n[clock]\ncolumn = \"time\"")
            .unwrap();
    let read = |logs: &[PathBuf]| {
        recordings::read(logs, &mapping, Truth::IfThere, &Context::silent(1, 1)).map(|f| f.all.len())
    };
    assert_eq!(read(std::slice::from_ref(&path)).unwrap(), 1);
    let error = read(&[path, again]).unwrap_err().to_string();
    assert!(error.contains("expected each log once, found it twice"), "{error}");
}
