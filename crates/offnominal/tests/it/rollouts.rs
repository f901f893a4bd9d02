//! `rollouts`: from recorded chunks to a page, and what is said of bad input.

use super::{fails, offnominal, succeeds};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Rollouts of three tasks with chunks of two actions; failures jump, and run longer.
fn recorded(folder: &Path) -> String {
    let mut text = String::new();
    for i in 0..60_u32 {
        let (task, fails) = (i % 3, i % 4 == 0);
        let n = if fails { 12 } else { 6 + i % 5 };
        let steps: Vec<String> = (0..n)
            .map(|t| {
                // A number that looks random, and is the same on every machine.
                let noise = f64::from((i * 7919 + t * 104_729) % 1000) / 1000.0;
                let jump = if fails { 1.0 } else { 0.6 } * noise;
                format!(r#"{{"step": {t}, "chunk": [[{jump}], [0.5]]}}"#)
            })
            .collect();
        let (success, steps) = (!fails, steps.join(", "));
        writeln!(
            text,
            r#"{{"rollout": {i}, "task": "task {task}", "success": {success}, "executed": 1, "steps": [{steps}]}}"#
        )
        .unwrap();
    }
    let path = folder.join("rollouts.jsonl");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// What a command that succeeds prints.
fn printed(args: &[&str], out: &Path) -> String {
    String::from_utf8(succeeds(&mut offnominal(args, out)).stdout).unwrap()
}

#[test]
fn chunks_are_judged_and_the_clock_has_one_half() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (recorded(folder.path()), folder.path().join("out"));
    let args = ["rollouts", "judge", &file, "--quiet", "--json", "--replicates", "100", "--split", "folds:4"];
    let detectors =
        ["--detector", "tce", "--detector", "-mean(acm)", "--detector", "hazard", "--versus", "tce"];
    let text = printed(&[&args[..], &detectors].concat(), &out);
    let found: Value = serde_json::from_str(&text).unwrap();
    let section = &found["sections"][0];
    let rows: Vec<&str> =
        section["detectors"].as_array().unwrap().iter().map(|d| d["detector"].as_str().unwrap()).collect();
    assert_eq!(rows, ["clock", "task-prior", "random", "tce", "-mean(acm)", "hazard"]);
    let of = |detector: usize, pointer: &str| {
        section["detectors"][detector].pointer(pointer).and_then(Value::as_f64).unwrap()
    };
    assert_eq!((of(0, "/landmark/pairs/value"), of(1, "/landmark/pairs/value")), (0.5, 0.5));
    assert!(of(0, "/protocols/0/auroc/value") > 0.9, "failures run longer");
    assert!(of(5, "/landmark/pairs/value") > 0.6, "failures jump more");
    assert_eq!(section["detectors"][5]["difference"]["versus"], "tce");
    let page = fs::read_to_string(out.join("rollouts.html")).unwrap();
    assert!(page.contains("Which published protocol leaks how much time") && page.contains("task-max 0.25"));
    let table = fs::read_to_string(out.join("rollouts.csv")).unwrap();
    assert!(table.starts_with("split,detector,metric,versus,value,low,high,level,n\n"));
    let again = printed(&[&args[..], &detectors, &["--jobs", "1"]].concat(), &out);
    assert_eq!(text, again, "the same for any number of threads");
}

#[test]
fn signals_of_chunks_are_written_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (recorded(folder.path()), folder.path().join("out"));
    let said = printed(&["rollouts", "signals", &file, "--quiet"], &out);
    assert!(said.contains("60 rollouts with the signals tce, acm, jerk"), "{said}");
    let judge = |file: &str, out: &str| {
        let args = ["rollouts", "judge", file, "--quiet", "--replicates", "100"];
        succeeds(&mut offnominal(&args, &folder.path().join(out)));
        let table = fs::read_to_string(folder.path().join(out).join("rollouts.csv")).unwrap();
        // The signals are in another order.
        let mut rows: Vec<String> = table.lines().map(String::from).collect();
        rows.sort();
        rows
    };
    let signals = out.join("signals.jsonl").display().to_string();
    assert_eq!(judge(&file, "a"), judge(&signals, "b"));
}

#[test]
fn signals_are_a_log_with_a_threshold_for_each_task() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (recorded(folder.path()), folder.path().join("out"));
    printed(&["rollouts", "signals", &file, "--quiet"], &out);
    let [signals, map, monitor] =
        ["signals.jsonl", "signals.toml", "m.monitor"].map(|name| out.join(name).display().to_string());
    let args = ["fit", &signals, "--map", &map, "--by-task", "--detector", "knn", "--alpha", "0.15"];
    let fitted = printed(&[&args[..], &["--quiet", "--json"]].concat(), monitor.as_ref());
    let fitted: Value = serde_json::from_str(&fitted).unwrap();
    assert_eq!((&fitted["recordings"], &fitted["channels"]), (&60.into(), &3.into()));
    assert_eq!(fitted["left_out"].as_array().unwrap().len(), 15, "those that failed");
    let unlabelled = folder.path().join("unlabelled.jsonl");
    let text = fs::read_to_string(&file).unwrap().replace(r#""success": true, "#, "");
    fs::write(&unlabelled, text.replace(r#""success": false, "#, "").replace("task 2", "juggle")).unwrap();
    let later = folder.path().join("later");
    printed(&["rollouts", "signals", &unlabelled.display().to_string(), "--quiet"], &later);
    let log = later.join("signals.jsonl").display().to_string();
    assert!(!fs::read_to_string(&log).unwrap().contains("success"));
    let score = |log: &str| -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_offnominal"));
        let output = succeeds(command.args(["score", &monitor, log, "--quiet", "--json"]));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(score(&signals)["truth"]["detected"]["n"], 15, "each failure is an event");
    let scored = score(&log);
    assert_eq!(scored["recordings"].as_array().unwrap().len(), 60);
    assert!(scored["remarks"].to_string().contains("juggle"), "{}", scored["remarks"]);
}

#[test]
fn bad_input_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (recorded(folder.path()), folder.path().join("out"));
    let error = |args: &[&str]| fails(&mut offnominal(&[&["rollouts", "judge", &file], args].concat(), &out));
    let found = error(&["--detector", "hazard"]);
    assert!(
        found.contains("hazard learns from rollouts: expected a split, such as folds:5, found none"),
        "{found}"
    );
    let found = error(&["--detector", "mse"]);
    assert!(found.contains("expected a signal of the rollouts (tce, acm, jerk), found \"mse\""), "{found}");
    assert!(error(&["--split", "tasks:9"]).contains("tasks:9: expected at least 9 tasks, found 3"));
    assert!(error(&["--split", "half:2"]).contains("expected seen:SEEDS, unseen:SEEDS, folds:N or tasks:N"));
    assert!(error(&["--alpha", "2"]).contains("share of false alarms"));
    let partly = folder.path().join("partly.jsonl");
    let text = fs::read_to_string(&file).unwrap().replacen(r#""success": true, "#, "", 1);
    fs::write(&partly, text).unwrap();
    let found = fails(&mut offnominal(&["rollouts", "signals", &partly.display().to_string()], &out));
    assert!(found.contains("of every rollout or of none, found that of 59 of 60"), "{found}");
}
