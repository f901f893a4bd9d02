//! A threshold that follows benign drift: later nominal recordings move it, others do not.

use offnominal_engine::context::Context;
use offnominal_logs::{fit, recalibrate, score};
use offnominal_stats::Recalibration;
use offnominal_work::cli;
use std::fmt::Write;
use std::path::PathBuf;

const MAPPING: &str = "version = 1\nlabel = \"broken\"\nobservation = [{ column = \"level\" }]\ncommand = [{ column = \"valve\" }]\n\
                       [clock]\ncolumn = \"time\"\nrate_hz = 10.0\n";

/// A tank whose level is the more restless the more its valve is worn.
fn run(number: u32, wear: f64, is_broken: bool) -> String {
    let mut text = String::from("time,level,valve,broken\n");
    let (mut level, mut bits) = (0.5, u64::from(number) * 2_654_435_761 + 1);
    for step in 0..60_u32 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (bits >> 40) as f64 / f64::from(1 << 24) - 0.5;
        let valve = 0.5 + 0.4 * (f64::from(step) / 9.0).sin();
        level += 0.1 * (valve - level) + 0.01 * wear * noise;
        writeln!(text, "{},{level},{valve},{}", f64::from(step) / 10.0, u8::from(is_broken)).unwrap();
    }
    text
}

#[test]
fn a_monitor_follows_later_nominal_recordings() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let context = Context::silent(1, 2);
    std::fs::write(path("map.toml"), MAPPING).unwrap();
    let logs = |name: &str, from: u32, n: u32, wear: f64, is_broken: bool| -> Vec<PathBuf> {
        let write = |i: u32| {
            let log = path(&format!("{name}{i:03}.csv"));
            std::fs::write(&log, run(from + i, wear, is_broken)).unwrap();
            log
        };
        (0..n).map(write).collect()
    };
    let request = serde_json::json!({
        "logs": logs("new", 0, 80, 1.0, false), "map": path("map.toml"), "detector": "knn-transition", "diagnosis": false,
        "file": path("new.monitor"),
    });
    let fitted = fit::run(&cli::request(&request).unwrap(), &context).unwrap().fitted.monitor;
    let alarms = |monitor: &str| {
        let logs = logs("fresh", 1000, 40, 1.3, false);
        let (map, report, alarms) = (None, None, None);
        let request = score::Request {
            monitor: path(monitor),
            logs,
            map,
            events: None,
            bad: vec![],
            report,
            alarms,
            mcap: None,
        };
        let found = score::run(&request, &context).unwrap();
        found.recordings.iter().filter(|recording| !recording.alarms.is_empty()).count()
    };
    let before = alarms("new.monitor");
    let worn = [logs("worn", 500, 50, 1.3, false), logs("broken", 900, 2, 9.0, true)].concat();
    let request = |logs: Vec<PathBuf>, tolerance: f64| {
        let how = Recalibration { tolerance, ..Recalibration::default() };
        let (monitor, file) = (path("new.monitor"), path("worn.monitor"));
        recalibrate::run(&recalibrate::Request { monitor, logs, map: None, how, file }, &context)
    };
    let found = request(worn.clone(), 3.0).unwrap();
    let (set, drift) = (&found.fitted.monitor.threshold, found.fitted.monitor.threshold.drift.unwrap());
    assert_eq!((found.confirmed, found.fitted.left_out.len(), drift.confirmed), (50, 2, 50));
    assert!(
        drift.fitted == fitted.threshold.value && set.value > drift.fitted && !drift.is_limited,
        "{drift:?}"
    );
    assert!(found.to_string().contains("has followed 50 confirmed episodes"), "{found}");
    assert!(before >= 8 && alarms("worn.monitor") <= 4, "{before} {}", alarms("worn.monitor"));
    let limited = request(worn, 0.1).unwrap();
    assert!(limited.to_string().contains("fit again, or repair"), "{limited}");
    let none = request(logs("none", 900, 2, 9.0, true), 3.0).unwrap_err().to_string();
    assert!(none.starts_with("expected nominal episodes, found none"), "{none}");
}

/// The same numbers in another order of columns, with a text and more digits.
fn saved_again(text: &str) -> String {
    let mut again = String::from("note,broken,valve,level,time\n");
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [time, level, valve, broken] = cells[..] else { panic!("{line}") };
        writeln!(again, "ok,{broken},{valve}00,{level}0,{time}").unwrap();
    }
    again
}

#[test]
fn what_a_monitor_knows_does_not_move_its_threshold_whatever_it_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| -> PathBuf {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name)
    };
    let context = Context::silent(1, 2);
    let map = write("map.toml", MAPPING);
    let logs: Vec<PathBuf> = (0..60).map(|i| write(&format!("old{i:02}.csv"), &run(i, 1.0, false))).collect();
    let file = folder.path().join("old.monitor");
    let request =
        serde_json::json!({"logs": logs, "map": map, "detector": "mewma", "diagnosis": false, "file": file});
    fit::run(&cli::request(&request).unwrap(), &context).unwrap();
    let later = |monitor: &PathBuf, logs: &[PathBuf]| {
        let file = folder.path().join("later.monitor");
        let (monitor, logs, how) = (monitor.clone(), logs.to_vec(), Recalibration::default());
        let found = recalibrate::run(&recalibrate::Request { monitor, logs, map: None, how, file }, &context);
        found.map(|found| (found.confirmed, found.fitted.left_out))
    };
    let new = write("new.csv", &run(500, 1.0, false));
    let copies = [
        logs[0].clone(),
        logs[59].clone(),
        write("renamed.csv", &run(7, 1.0, false)),
        write("saved.csv", &saved_again(&run(8, 1.0, false))),
        new.clone(),
        write("new-saved.csv", &saved_again(&run(500, 1.0, false))),
    ];
    for copy in &copies[..4] {
        let why = later(&file, std::slice::from_ref(copy)).unwrap_err().to_string();
        assert!(why.contains("learned from") && why.contains(copy.to_str().unwrap()), "{why}");
    }
    let (confirmed, left_out) = later(&file, &copies).unwrap();
    assert_eq!((confirmed, left_out.len()), (1, 5), "{left_out:?}");
    // What was confirmed is known from then on.
    assert!(later(&folder.path().join("later.monitor"), &[new]).is_err());
}
