//! `risk stress`: what it says, that it goes on, and that its failures are replayed bit for bit.

use super::{fails, offnominal, succeeds};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Noise of the torque of a pendulum: half its unit.
const NOISE: &str = "
[sensors.motor]
unit = \"1\"
white = 0.5
source = \"a fixture\"

[[action]]
channels = [\"*\"]
sensor = \"motor\"
";

fn noise(folder: &Path) -> String {
    let path: PathBuf = folder.join("motor.toml");
    std::fs::write(&path, NOISE).unwrap();
    format!("pendulum?noise={}", path.display())
}

fn stress<'a>(env: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let args = ["risk", "stress", "--env", env, "--policy", "random", "--quiet", "--json", "--searches", "3"];
    let rest = ["--budget", "60", "--refine", "60", "--stl", "always (abs(theta_velocity) < 7)"];
    [&args[..], &rest, more].concat()
}

#[test]
fn failures_are_found_kept_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let (env, out) = (noise(folder.path()), folder.path().join("out"));
    let run = |jobs: &str, out: &Path| {
        let found = succeeds(&mut offnominal(&stress(&env, &["--jobs", jobs]), out));
        serde_json::from_slice::<Value>(&found.stdout).unwrap()
    };
    let json = run("2", &out);
    let kept = std::fs::read(out.join("stress.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&kept).unwrap(), json);
    assert_eq!(json["strategies"].as_array().unwrap().len(), 3);
    assert!(json["made"]["command"].as_str().unwrap().contains("--budget 60 --refine 60"));
    let failure = &json["failures"][0];
    assert!(failure["likelihood"]["distance"].as_f64() <= failure["first"]["distance"].as_f64(), "{failure}");
    assert!(std::fs::read_to_string(out.join("stress.html")).unwrap().contains("Likely failures"));
    // The same bits without the journals.
    assert_eq!(run("1", &folder.path().join("again")), json);
    let again = offnominal(&["render", out.to_str().unwrap(), "--json"], &folder.path().join("video"))
        .output()
        .unwrap();
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!((&again["steps"], &again["likelihood"]), (&failure["steps"], &failure["likelihood"]));
    assert!(folder.path().join("video/episode.gif").is_file());
}

#[test]
fn a_failure_that_was_edited_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (env, out) = (noise(folder.path()), folder.path().join("out"));
    succeeds(&mut offnominal(&stress(&env, &["--strategy", "random"]), &out));
    let path = out.join("stress.json");
    let mut json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let said = |json: &Value| {
        std::fs::write(&path, json.to_string()).unwrap();
        fails(&mut offnominal(&["render", out.to_str().unwrap()], &folder.path().join("video")))
    };
    json["failures"][0]["disturbances"][0] = serde_json::json!([0.5, 0.5]);
    assert!(said(&json).contains("disturbances: expected 1 numbers in each step, found 2"));
    json["failures"][0]["disturbances"] = serde_json::json!([]);
    assert!(said(&json).contains("expected the episode to fail in step"));
}

#[test]
fn what_cannot_be_searched_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let said = |env: &str, more: &[&str]| fails(&mut offnominal(&stress(env, more), folder.path()));
    assert!(
        said("pendulum", &[]).contains("environment pendulum: expected nominal noise to search, found none")
    );
    assert!(said("pendulum", &["--noise", "rouh"]).contains("did you mean \"rough\"?"));
    assert!(said("pendulum", &["--strategy", "clim"]).contains("climb"));
}
