//! The audit as a user runs it.

use crate::{fails, offnominal, succeeds};
use serde_json::Value;
use std::fs;
use std::path::Path;

const GLANCE: [&str; 9] =
    ["audit", "--env", "sap-goal0", "--policy", "tqc", "--depth", "glance", "--seed", "3"];

fn document(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("audit.json")).unwrap()).unwrap()
}

#[test]
fn an_audit_says_what_is_noticed_and_has_the_same_bytes_with_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    succeeds(&mut offnominal(&[&GLANCE[..], &["--jobs", "1"]].concat(), &one));
    succeeds(&mut offnominal(&[&GLANCE[..], &["--jobs", "2"]].concat(), &two));
    let (mut first, mut second) = (document(&one), document(&two));
    // The command names the folder, and the digest of the settings is that of the command.
    for found in [&mut first, &mut second] {
        found["made"]["command"].take();
        found["made"]["config"].take();
    }
    assert_eq!(first, second);
    let detectors = first["detectors"].as_array().unwrap();
    let clock = detectors.iter().find(|d| d["name"] == "clock").unwrap();
    assert_eq!(clock["auroc_matched"]["value"], 0.5);
    assert!(
        first["failures"]["episodes"].as_u64() == Some(60) && !first["advice"].as_array().unwrap().is_empty()
    );
    for file in
        ["audit.html", "audit.monitor", "badge.svg", "badge.json", "plan.json", "benchmark/report.html"]
    {
        assert!(one.join(file).is_file(), "{file} is missing");
    }
}

#[test]
fn a_requirement_that_is_not_met_gives_exit_code_1_and_a_finished_audit_is_not_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let with = |rules: &str| {
        offnominal(
            &[&GLANCE[..], &["--anomaly", "obs-offset", "--require", rules, "--json"]].concat(),
            folder.path(),
        )
        .output()
        .unwrap()
    };
    let output = with("success >= 1.1, return >= -1e9");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let met: Vec<&Value> = found["requirements"].as_array().unwrap().iter().map(|r| &r["met"]).collect();
    assert_eq!(met, [&Value::Bool(false), &Value::Bool(true)]);
    let cells = || fs::read_dir(folder.path().join("benchmark/cells")).unwrap().count();
    let before = cells();
    assert_eq!(with("return >= -1e9").status.code(), Some(0));
    assert_eq!(cells(), before);
}

#[test]
fn what_cannot_be_audited_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |more: &[&str]| fails(&mut offnominal(&[&GLANCE[..], more].concat(), folder.path()));
    assert!(refused(&["--require", "auroc(tiny) >= .8"]).contains("expected one of auroc_matched"));
    assert!(refused(&["--anomaly", "obs-nois"]).contains("did you mean \"obs-noise\"?"));
    assert!(refused(&["--alpha", "0.9"]).contains("alpha: expected a number from 0.001 to 0.5"));
    let said = fails(&mut offnominal(
        &["audit", "--env", "sap-goal0", "--policy", "random", "--depth", "glance"],
        folder.path(),
    ));
    assert!(said.contains("expected a mean return above that of the random policy"), "{said}");
}
