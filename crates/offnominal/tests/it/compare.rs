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

/// Files of recorded outcomes.
fn recorded(name: &str) -> String {
    format!("{}/../offnominal-risk/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn outcomes_that_were_recorded_elsewhere_are_compared_without_an_environment() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("recorded");
    let files = ["lerobot-old.json", "lerobot-new.json"].map(recorded);
    let found = compare([&files[0], &files[1]], &["--json"], &out);
    let json: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((found.status.code(), json["verdict"].as_str()), (Some(0), Some("undecided")), "{json}");
    assert_eq!(json["decides"][0]["pairs"].as_u64(), Some(50), "{json}");
    let page = std::fs::read_to_string(out.join("compare.html")).unwrap();
    assert!(page.contains("no decision yet: 50 pairs do not separate them; about "), "{page}");
    let required = compare([&files[0], &files[1]], &["--require", "better"], &out);
    assert!(required.status.code() == Some(1) && text(&required.stderr).contains("no decision yet"));
    // What is recorded cannot be played again.
    let sealed = fails(&mut offnominal(&["evidence", out.to_str().unwrap()], &folder.path().join("e.zip")));
    assert!(sealed.contains("found recorded outcomes, which cannot be played again"), "{sealed}");
}

#[test]
fn counts_make_a_gate_and_flags_of_an_environment_are_refused_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("counts");
    let worse = compare(["45/50", "20/50"], &[], &out);
    assert_eq!(worse.status.code(), Some(1));
    assert!(
        text(&worse.stderr).contains("not acceptable: 20/50: NEW is worse by success"),
        "{}",
        text(&worse.stderr)
    );
    let flags: [&[&str]; 4] = [
        &["--metric", "return"],
        &["--twin", "--anomaly", "obs-drift"],
        &["--block", "5"],
        &["--below", "3"],
    ];
    for flag in flags {
        let said = fails(&mut offnominal(&[&["compare", "1/2", "2/2"], flag].concat(), &out));
        assert!(said.contains("expected it with --env"), "{said}");
    }
    let alone = fails(&mut offnominal(&["compare", "random", "--env", "cartpole"], &out));
    assert!(alone.contains("expected a new policy to compare with, found none"), "{alone}");
    let many = fails(&mut offnominal(&["compare", "random", "tqc", "sac", "--env", "cartpole"], &out));
    assert!(many.contains("expected two policies in an environment, found 3"), "{many}");
}
