//! `compare`: what it says, its exit codes, its journal, and a monitor that watches both policies.

use super::{fails, offnominal, succeeds};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

fn compare(policies: [&str; 2], more: &[&str], out: &Path) -> Output {
    let args = [&["compare", policies[0], policies[1], "--quiet"], more].concat();
    offnominal(&args, out).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const SUCCESS: [&str; 4] = ["--env", "sap-goal0", "--metric", "success"];

#[test]
fn a_gate_passes_what_is_better_and_stops_what_is_worse_or_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let better = compare(["random", "tqc"], &SUCCESS, &at("better"));
    assert_eq!(better.status.code(), Some(0), "{}", text(&better.stderr));
    assert!(text(&better.stdout).contains("NEW is better by success (nominal)"), "{}", text(&better.stdout));
    let worse = compare(["tqc", "random"], &SUCCESS, &at("worse"));
    assert_eq!(worse.status.code(), Some(1));
    assert!(text(&worse.stderr).contains("not acceptable: random is worse than tqc by success"));
    // The same policy is as good as itself, but not better.
    let same = [&SUCCESS[..], &["--episodes", "50"]].concat();
    assert_eq!(compare(["tqc", "tqc"], &same, &at("same")).status.code(), Some(0));
    let required = [&same[..], &["--require", "better"]].concat();
    let found = compare(["tqc", "tqc"], &required, &at("same"));
    let said = text(&found.stderr);
    assert!(
        found.status.code() == Some(1) && said.contains("to be better by success, found undecided"),
        "{said}"
    );
    let within = [&SUCCESS[..], &["--margin", "0.2", "--require", "no-worse", "--json"]].concat();
    let found = compare(["tqc", "tqc"], &within, &at("within"));
    let json: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((found.status.code(), json["verdict"].as_str()), (Some(0), Some("no-worse")));
    let kept: Value =
        serde_json::from_slice(&std::fs::read(at("within").join("compare.json")).unwrap()).unwrap();
    assert_eq!(kept, json);
}

#[test]
fn a_monitor_counts_alarms_and_one_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let monitor = folder.path().join("goal0.monitor");
    let fit = [
        "fit",
        "--env",
        "sap-goal0",
        "--policy",
        "tqc",
        "--detector",
        "knn",
        "--train",
        "20",
        "--calibration",
        "20",
    ];
    let quick = ["--alpha", "0.2", "--diagnosis", "false", "--quiet"];
    succeeds(&mut offnominal(&[&fit[..], &quick].concat(), &monitor));
    let watched = ["--env", "sap-goal0", "--monitor", monitor.to_str().unwrap(), "--json"];
    let alarms = [&watched[..], &["--metric", "alarms"]].concat();
    let found = compare(["tqc", "random"], &alarms, &folder.path().join("alarms"));
    let json: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((found.status.code(), json["verdict"].as_str()), (Some(1), Some("worse")), "{json}");
    // Under an anomaly an alarm is due: it is reported, and decides nothing.
    let fault = ["--anomaly", "obs-offset", "--magnitude", "5", "--onset", "1", "--twin", "--episodes", "25"];
    let found = compare(["tqc", "tqc"], &[&watched[..], &fault].concat(), &folder.path().join("fault"));
    let json: Value = serde_json::from_slice(&found.stdout).unwrap();
    let rows = json["comparisons"].as_array().unwrap();
    let share = |condition: &str| {
        let row = rows.iter().find(|r| r["quantity"] == "alarms" && r["condition"] == condition).unwrap();
        row["old"]["value"].as_f64().unwrap()
    };
    assert!(share("anomalous") > share("nominal") && share("cost") > 0.0, "{json}");
    let other = ["compare", "random", "random", "--env", "cartpole", "--monitor", monitor.to_str().unwrap()];
    let said = fails(&mut offnominal(&other, &folder.path().join("other")));
    assert!(said.contains("expected one of cartpole, found one of sap-goal0"), "{said}");
}
