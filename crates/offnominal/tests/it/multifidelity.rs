//! `risk estimate --cheap`: what it says, its exit codes, and that a run goes on.

use super::{fails, offnominal};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

fn multifidelity(more: &[&str], out: &Path) -> Output {
    let args =
        ["risk", "estimate", "--env", "sap-goal2", "--policy", "tqc", "--cheap", "sap-goal2", "--quiet"];
    offnominal(&[&args[..], more].concat(), out).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_largest_risk_is_a_gate_and_a_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let changed = ["--cheap-parameter", "mass=1.1", "--cheap-parameter", "force=-0.1"];
    let run = |more: &[&str]| multifidelity(&[&changed[..], more].concat(), &out);
    let found = run(&["--max-risk", "0.5", "--early-stop", "--json"]);
    let json: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((found.status.code(), json["stop"].as_str()), (Some(0), Some("below")));
    let kept = std::fs::read(out.join("multifidelity.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&kept).unwrap(), json);
    let command = json["made"]["command"].as_str().unwrap();
    assert!(command.contains("--cheap-parameter 'mass=1.1' --cheap-parameter 'force=-0.1'"), "{command}");
    // The same pairs and more; so small a risk is not shown by a hundred.
    let found = run(&["--max-risk", "0.001", "--early-stop", "--episodes", "100"]);
    assert_eq!(found.status.code(), Some(1));
    assert!(text(&found.stderr).contains("not acceptable: risk: expected at most 0.001, found up to"));
    assert!(text(&found.stdout).contains("failure probability  "), "{}", text(&found.stdout));
}

#[test]
fn what_cannot_be_paired_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["risk", "estimate", "--env", "sap-goal2", "--policy", "tqc", "--cheap"];
    let said = |more: &[&str]| fails(&mut offnominal(&[&args[..], more].concat(), folder.path()));
    assert!(said(&["pendulum"]).contains("expected those of sap-goal2 and pendulum to be the same, found"));
    assert!(
        said(&["sap-goal2", "--parameter", "mass"]).contains("expected a name and a number with = between")
    );
    assert!(
        said(&["sap-goal2", "--parameter", "mass=1", "--parameter", "mass=2"]).contains("found one twice")
    );
    assert!(said(&["sap-goal2", "--cheap-parameter", "mas=1"]).contains("did you mean \"mass\"?"));
}

#[test]
fn what_only_pairs_have_needs_a_cheap_environment() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["risk", "estimate", "--env", "sap-goal2", "--policy", "tqc"];
    let said = |more: &[&str]| fails(&mut offnominal(&[&args[..], more].concat(), folder.path()));
    assert!(said(&["--per-dear", "3"]).contains("--cheap"));
    assert!(
        said(&["--cheap", "sap-goal2", "--method", "plain"])
            .contains("method: expected none with the low-fidelity")
    );
}
