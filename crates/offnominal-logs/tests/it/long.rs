//! One long log: it is cut into windows, or used up to a moment, and fitted as it is typed.

use offnominal_logs::inspect::guess::Proposal;
use offnominal_logs::mapping::Episodes;
use offnominal_logs::{fit, recordings, score};
use offnominal_work::cli;
use offnominal_work::context::Context;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// How the time of a row is written.
type Clock = fn(usize) -> String;

/// Clocks of one row each half second, and the seconds that a row without a time is taken for.
const CLOCKS: [(&str, Clock, f64); 4] = [
    ("time [s]", |row| format!("{}", row as f64 / 2.0), 0.5),
    ("time [ms]", |row| format!("{}", row * 500), 0.5),
    (
        "date",
        |row| {
            format!("2024-05-01T{:02}:{:02}:{:02}.{}", row / 7200, row / 120 % 60, row / 2 % 60, row % 2 * 5)
        },
        0.5,
    ),
    ("", |_| String::new(), 1.0),
];

/// A log of a pump, with a label that is 1 in some rows.
fn write(path: &Path, rows: usize, (name, time, _): (&str, Clock, f64), labelled: std::ops::Range<usize>) {
    let mut text = if name.is_empty() { String::new() } else { format!("{name},") };
    text += "flow,pressure,label\n";
    // A walk of the congruential kind is noise enough.
    let mut state = 1_u64;
    for row in 0..rows {
        if !name.is_empty() {
            let _ = write!(text, "{},", time(row));
        }
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (state >> 40) as f64 / 2f64.powi(24);
        let is_anomalous = labelled.contains(&row);
        let flow = noise + if is_anomalous { 3.0 } else { 0.0 };
        let _ = writeln!(text, "{flow},{},{}", noise * noise + row as f64 % 7.0, u8::from(is_anomalous));
    }
    std::fs::write(path, text).unwrap();
}

fn proposal(logs: &[PathBuf]) -> Proposal {
    recordings::proposal(logs, &Context::silent(1, 1)).unwrap()
}

fn fitted(folder: &Path, logs: &[PathBuf], more: serde_json::Value) -> anyhow::Result<fit::FittedOnLogs> {
    let mut request = serde_json::json!({
        "logs": ["-"], "detector": "mewma", "diagnosis": false, "file": folder.join("pump.monitor"),
    });
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    fit::run(&fit::Request { logs: logs.to_vec(), ..cli::request(&request)? }, &Context::silent(1, 1))
}

#[test]
fn a_long_log_is_cut_into_windows_whatever_its_clock_and_fitted_as_it_is_typed() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("pump.csv");
    for clock in CLOCKS {
        write(&log, 9_000, clock, 0..0);
        let found = proposal(std::slice::from_ref(&log));
        let Episodes::Window { secs } = found.mapping.episodes else {
            panic!("{}: {:?}", clock.0, found.episodes_why)
        };
        assert!((secs / clock.2 - 150.0).abs() < 2.0, "{}: {secs} s", clock.0);
        assert!(found.episodes_why.contains("windows of about 150 steps"), "{}", found.episodes_why);
        let monitor = fitted(folder.path(), std::slice::from_ref(&log), serde_json::json!({})).unwrap();
        assert!((58..=61).contains(&monitor.recordings), "{}: {}", clock.0, monitor.recordings);
    }
}

#[test]
fn a_step_that_takes_minutes_is_a_whole_number_of_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("plant.csv");
    write(&log, 1_000, ("time [s]", |row| format!("{}", row * 300), 300.0), 0..0);
    let rate = proposal(std::slice::from_ref(&log)).mapping.clock.rate_hz.unwrap();
    assert!((1.0 / rate - 300.0).abs() < 1e-9, "{rate}");
}

#[test]
fn what_is_too_short_and_what_are_recordings_enough_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let logs: Vec<PathBuf> = (0..20).map(|i| folder.path().join(format!("{i}.csv"))).collect();
    logs.iter().for_each(|log| write(log, 1_000, CLOCKS[0], 0..0));
    let of = |n: usize| proposal(&logs[..n]);
    assert_eq!(of(1).mapping.episodes, Episodes::File);
    assert!(of(1).episodes_why.ends_with("too short for 40 windows of 100 steps"), "{}", of(1).episodes_why);
    assert!(matches!(of(5).mapping.episodes, Episodes::Window { .. }), "{}", of(5).episodes_why);
    assert_eq!(of(20).mapping.episodes, Episodes::File);
}

#[test]
fn what_lies_before_the_first_label_is_used_alone() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("pump.csv");
    write(&log, 9_000, CLOCKS[0], 6_000..6_600);
    let of = |more| fitted(folder.path(), std::slice::from_ref(&log), more);
    let found = of(serde_json::json!({"until": "label"})).unwrap();
    assert!(found.steps < 6_000 && found.recordings == 40, "{found}");
    assert!(found.remarks[0].contains("steps lie before the first labelled row"), "{:?}", found.remarks);
    // A time and a date that lie at the label leave the same.
    assert_eq!(of(serde_json::json!({"until": "3000s"})).unwrap().steps, found.steps);
    let request = score::Request {
        monitor: folder.path().join("pump.monitor"),
        logs: vec![log.clone()],
        map: None,
        events: None,
        bad: vec![],
        report: None,
        alarms: None,
        mcap: None,
    };
    let scored = score::run(&request, &Context::silent(1, 1)).unwrap();
    assert!(scored.to_string().contains("alarm after"), "{scored}");
}

#[test]
fn a_log_of_which_no_part_is_nominal_is_told_how_to_use_what_lies_before_the_label() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("pump.csv");
    write(&log, 1_000, CLOCKS[0], 600..700);
    let error = fitted(folder.path(), &[log], serde_json::json!({})).unwrap_err().to_string();
    assert!(error.contains("--until label"), "{error}");
}

#[test]
fn the_code_of_a_command_is_no_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("arm.csv");
    let outcome = |rows: &str| {
        std::fs::write(&log, format!("current,result\n{rows}")).unwrap();
        proposal(std::slice::from_ref(&log)).mapping.outcome
    };
    assert_eq!(outcome("0.1,0\n0.2,1\n0.4,0\n"), None);
    assert!(outcome("0.1,ok\n0.2,ok\n0.4,failed\n").is_some());
}
