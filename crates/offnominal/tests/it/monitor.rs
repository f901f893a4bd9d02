//! `fit`, `score` and `monitor` as a user types them: what is scored, what is streamed, what is refused.

use crate::{fails, offnominal, succeeds};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const BIN: &str = env!("CARGO_BIN_EXE_offnominal");
const ENVIRONMENT: [&str; 4] = ["--env", "sap-goal0", "--policy", "tqc"];

fn fit(more: &[&str], out: &Path) -> Command {
    offnominal(&[&["fit", "--quiet", "--seed", "1"], &ENVIRONMENT[..], more].concat(), out)
}

/// A monitor that takes no time to fit.
fn small(folder: &Path) -> PathBuf {
    let path = folder.join("m.monitor");
    let more = ["--detector", "knn-transition", "--train", "12", "--calibration", "9", "--alpha", "0.1"];
    succeeds(&mut fit(&more, &path));
    path
}

fn collect(more: &[&str], folder: &Path) -> PathBuf {
    let args = [&["collect", "--quiet", "--json", "--episodes", "4", "--seed", "5"], &ENVIRONMENT[..], more]
        .concat();
    let said = succeeds(&mut offnominal(&args, folder)).stdout;
    let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
    said["file"].as_str().unwrap().into()
}

/// Feeds lines to the monitor.
fn stream(monitor: &Path, lines: &str) -> Output {
    let mut child = Command::new(BIN)
        .arg("monitor")
        .arg(monitor)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn score(monitor: &Path, episodes: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(BIN);
    command.arg("score").arg(monitor).arg(episodes).args(more).stdin(Stdio::null());
    command
}

/// The scores of the first episode of a file, of both commands.
fn both_ways(monitor: &Path, episodes: &Path) -> (Vec<f64>, Vec<f64>) {
    let csv = String::from_utf8(succeeds(&mut score(monitor, episodes, &["--csv"])).stdout).unwrap();
    let first = csv.lines().skip(1).filter(|l| l.starts_with("0,"));
    let scored = first.map(|l| l.split(',').nth(2).unwrap().parse().unwrap()).collect();
    let dataset = offnominal_files::dataset::load(episodes).unwrap();
    let line = |t: offnominal_core::detector::Transition<'_>| {
        format!("{}\n", serde_json::json!({"obs": t.obs, "action": t.action, "next_obs": t.next_obs}))
    };
    let lines: String = dataset.episodes[0].signals().transitions().map(line).collect();
    let output = stream(monitor, &lines);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer = |l: &str| serde_json::from_str::<serde_json::Value>(l).unwrap()["score"].as_f64().unwrap();
    (scored, String::from_utf8(output.stdout).unwrap().lines().map(answer).collect())
}

#[test]
fn a_fitted_monitor_scores_files_and_streams_alike_and_finds_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let monitor = small(folder.path());
    let anomalous = collect(&["--anomaly", "obs-offset", "--magnitude", "9", "--onset", "3"], folder.path());
    let (scored, streamed) = both_ways(&monitor, &anomalous);
    assert!(scored.len() > 4 && scored == streamed, "{scored:?} {streamed:?}");
    let said = succeeds(&mut score(&monitor, &anomalous, &["--json"])).stdout;
    let said: Vec<serde_json::Value> = serde_json::from_slice(&said).unwrap();
    let found =
        said.iter().filter(|s| s["onset"] == 3 && s["alarm"].as_u64().is_some_and(|t| t >= 3)).count();
    // Four anomalous episodes, each with its twin; one of them may have a false alarm before.
    assert!(said.len() == 8 && found >= 3, "{said:?}");
    let csv = succeeds(&mut score(&monitor, &anomalous, &["--csv"])).stdout;
    assert!(
        offnominal_bench::metrics_file::read("scores.csv", &csv).is_ok_and(|episodes| episodes.len() == 8)
    );
}

#[test]
fn a_fit_on_recorded_episodes_has_the_same_bits_again() {
    let folder = tempfile::tempdir().unwrap();
    let nominal = collect(&[], folder.path());
    let more = |alpha| ["--detector", "knn", "--alpha", alpha, "--episodes", nominal.to_str().unwrap()];
    let paths = ["a.monitor", "b.monitor"].map(|name| folder.path().join(name));
    paths.iter().for_each(|path| drop(succeeds(&mut fit(&more("0.4"), path))));
    let [a, b] = paths.map(|path| std::fs::read(path).unwrap());
    assert!(a == b);
    let refused = folder.path().join("none.monitor");
    let error = fails(&mut fit(&more("0.05"), &refused));
    assert!(error.contains("expected at least 19 nominal calibration episodes, found 2"), "{error}");
    assert!(!refused.exists());
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let monitor = small(folder.path());
    let args = ["collect", "--quiet", "--env", "sap-goal1", "--policy", "random", "--episodes", "1"];
    succeeds(&mut offnominal(&args, folder.path()));
    let other = folder.path().join("sap-goal1-random-nominal-seed0.arrow");
    let error = fails(&mut score(&monitor, &other, &[]));
    assert!(error.contains("expected episodes of sap-goal0") && error.contains("found sap-goal1"), "{error}");
    let anomalous = collect(&["--anomaly", "act-offset", "--magnitude", "0.9"], folder.path());
    let taught = ["--detector", "knn", "--episodes", anomalous.to_str().unwrap()];
    let error = fails(&mut fit(&taught, &folder.path().join("x.monitor")));
    assert!(error.contains("expected nominal episodes, found anomalous ones"), "{error}");
}

#[test]
fn a_wrong_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let monitor = small(folder.path());
    let refuses = |lines: &str, want: &str| {
        let output = stream(&monitor, lines);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(want), "{said}");
    };
    let row = |n: usize| format!("{:?}", vec![0.5; n]);
    let tick = |more: &str| format!("{{\"obs\": {}, \"action\": [0, 0]{more}}}\n", row(14));
    refuses("{\"obs\": [1], \"action\": [0, 0]}\n", "line 1: obs: expected 14 numbers, found 1");
    refuses(&(tick("") + "\n" + "x\n"), "line 3: expected an object with obs");
    refuses(
        &tick(", \"reward\": 1"),
        "line 1: expected an object with obs, action and perhaps next_obs, reset, step; found unknown field `reward`",
    );
    refuses(&(tick(", \"step\": 7") + &tick(", \"step\": 9")), "line 2: step: expected 8, found 9");
    refuses(&(tick(", \"step\": 7") + &tick("")), "line 2: step: expected 8, found none");
    refuses(&tick("").replace("0.5", "1e99"), "line 1: expected an object");
    refuses(&tick("").replace("0.5", "NaN"), "line 1: expected an object");
    let last = format!("{{\"obs\": {}}}\n", row(14));
    refuses(&(tick("") + &last + &tick("")), "line 3: expected \"reset\": true");
    refuses(&(tick("") + &tick(&format!(", \"next_obs\": {}", row(14)))), "line 2: expected no next_obs");
    let both = tick("") + &last + &tick(", \"reset\": true");
    assert!(stream(&monitor, &both).status.success());
}
