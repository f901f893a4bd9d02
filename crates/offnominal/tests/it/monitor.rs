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
pub(crate) fn small(folder: &Path) -> PathBuf {
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
    let line = |t: offnominal_core::transition::Transition<'_>| {
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
    let more = |alpha| ["--detector", "knn", "--alpha", alpha, "--data", nominal.to_str().unwrap()];
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
    let taught = ["--detector", "knn", "--alpha", "0.4", "--data", anomalous.to_str().unwrap()];
    let said = succeeds(&mut fit(&taught, &folder.path().join("x.monitor"))).stdout;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("4 episodes were left out: episode 0: its label says so, "), "{said}");
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
        "line 1: expected an object with obs, action and perhaps next_obs, reset, group, step; found unknown field `reward`",
    );
    let far = tick(", \"step\": 7") + &tick(", \"step\": 1009");
    refuses(&far, "line 2: step: expected 8 to 1008, found 1009");
    refuses(&(tick(", \"step\": 7") + &tick("")), "line 2: step: expected 8 to 1008, found none");
    refuses(&tick("").replace("0.5", "1e99"), "line 1: obs, channel");
    refuses(&tick("").replace("0.5", "NaN"), "line 1: expected an object");
    let last = format!("{{\"obs\": {}}}\n", row(14));
    refuses(&(tick("") + &last + &tick("")), "line 3: expected \"reset\": true");
    refuses(&(tick("") + &tick(&format!(", \"next_obs\": {}", row(14)))), "line 2: expected no next_obs");
    let both = tick("") + &last + &tick(", \"reset\": true");
    assert!(stream(&monitor, &both).status.success());
}

#[test]
fn numbers_and_steps_may_be_missing_and_lines_may_come_late() {
    let folder = tempfile::tempdir().unwrap();
    let monitor = small(folder.path());
    let line = |obs: &str, more: &str| format!("{{\"obs\": {obs}, \"action\": [0, 0]{more}}}\n");
    let (whole, gap) = (format!("{:?}", vec![0.5; 14]), format!("[{}null]", "0.5, ".repeat(13)));
    let lines = line(&whole, ", \"step\": 0")
        + &line(&gap, ", \"step\": 1")
        + &line(&whole, ", \"step\": 1")
        + &line(&whole, ", \"step\": 14")
        + &line("{}", ", \"step\": 15");
    let output = stream(&monitor, &lines);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    let said: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let field = |name: &str| said.iter().map(|verdict| verdict[name].clone()).collect::<Vec<_>>();
    let counted = |name: &str| field(name).iter().map(|v| v.as_u64().unwrap_or(0)).collect::<Vec<_>>();
    // The second line, twelve steps without a line, the line of step 14, and one in which nothing was read.
    assert_eq!(counted("step"), (0..15).collect::<Vec<u64>>());
    let missing: Vec<u64> = (0..15)
        .map(|t| {
            if t == 0 {
                1
            } else if t == 13 {
                0
            } else {
                14
            }
        })
        .collect();
    assert_eq!(counted("missing"), missing);
    assert_eq!(counted("dropped")[1..], [1; 14]);
    assert_eq!(field("confidence")[5], 0.0);
    // The last number went first, so it is lost first, with the eleventh observation that lacks it.
    let events: Vec<_> = (0..15).filter(|&t| !said[t]["sensor_event"].is_null()).collect();
    assert_eq!(events, [10, 11, 13]);
    assert_eq!(said[10]["lost_sensors"].as_array().unwrap().len(), 1);
    assert_eq!((&said[11]["sensor_event"], counted("lost")[11]), (&"lost".into(), 14));
    assert_eq!((&said[13]["sensor_event"], counted("lost")[13]), (&"returned".into(), 0));
}

/// The names of the channels in a monitor's file, `[obs, action]`.
fn channels(monitor: &Path) -> [Vec<String>; 2] {
    let monitor = offnominal_monitor::Monitor::open(monitor).unwrap();
    let about = monitor.about();
    [&about.observation, &about.action].map(|of| of.iter().map(|channel| channel.name.clone()).collect())
}

#[test]
fn channels_are_told_apart_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let monitor = small(folder.path());
    let [obs, action] = channels(&monitor);
    let values: Vec<f32> = (0..obs.len()).map(|i| 0.1 * i as f32).collect();
    let scores = |lines: String| {
        let output = stream(&monitor, &lines);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).unwrap();
        let score =
            |l: &str| serde_json::from_str::<serde_json::Value>(l).unwrap()["score"].as_f64().unwrap();
        said.lines().map(score).collect::<Vec<f64>>()
    };
    let line = |obs: serde_json::Value| {
        format!("{}\n", serde_json::json!({"obs": obs, "action": [0.5, -0.5], "next_obs": obs}))
    };
    let listed = scores(line(serde_json::json!(values)));
    let named: serde_json::Map<_, _> =
        obs.iter().zip(&values).rev().map(|(name, v)| (name.clone(), serde_json::json!(v))).collect();
    assert_eq!(scores(line(named.clone().into())), listed);
    let mut turned = obs.clone();
    turned.reverse();
    let reversed: Vec<f32> = values.iter().rev().copied().collect();
    let header = serde_json::json!({"channels": {"obs": turned, "action": action}});
    assert_eq!(scores(format!("{header}\n{}", line(serde_json::json!(reversed)))), listed);
    assert_ne!(scores(line(serde_json::json!(reversed))), listed, "without names nobody can tell");
    let mut wrong = named;
    wrong.insert("temperature".into(), 1.into());
    let output = stream(&monitor, &line(wrong.into()));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("line 1: obs: expected the channels"), "{said}");
    assert!(said.contains("found \"temperature\""), "{said}");
}

#[test]
fn a_reader_that_is_gone_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let monitor = small(folder.path());
    let mut child = Command::new(BIN)
        .arg("monitor")
        .arg(&monitor)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let line = format!("{{\"obs\": {:?}, \"action\": [0, 0]}}\n", vec![0.5; 14]);
    // The command ends at the first verdict, after which nobody reads these lines either.
    let _ = child.stdin.take().unwrap().write_all(line.repeat(100).as_bytes());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && said.contains("the verdict on line 2 cannot be told"),
        "{said}"
    );
}

#[test]
fn a_line_without_end_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let monitor = small(folder.path());
    let mut child = Command::new(BIN)
        .arg("monitor")
        .arg(&monitor)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"\n").unwrap();
    // The command ends long before the last of them.
    let written = (0..1000).take_while(|_| input.write_all(&[b' '; 1 << 16]).is_ok()).count();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("standard input, line 2: expected at most 1048576 bytes, found more"), "{said}");
    assert!(output.status.code() == Some(2) && written < 1000, "{written}");
}

#[test]
fn no_line_makes_the_stream_panic() {
    use offnominal_live::stream::Stream;
    let folder = tempfile::tempdir().unwrap();
    let monitor = small(folder.path());
    let [obs, action] = channels(&monitor);
    let named: serde_json::Map<_, _> = obs.iter().map(|name| (name.clone(), 0.5.into())).collect();
    let seeds = [
        serde_json::json!({"obs": vec![0.5; 14], "action": [0, 0], "next_obs": vec![0.5; 14], "step": 3}),
        serde_json::json!({"obs": named, "action": [0, 0], "reset": true, "group": "lift"}),
        serde_json::json!({"channels": {"obs": obs, "action": action}}),
    ]
    .map(|line| line.to_string().into_bytes());
    let mut rng = offnominal_core::Rng::new(9);
    let mut understood = 0;
    let mut stream = Stream::new(offnominal_monitor::Monitor::open(&monitor).unwrap());
    for i in 0..20_000 {
        let mut line = seeds[i % seeds.len()].clone();
        for _ in 0..rng.below(4) {
            let at = rng.below(line.len());
            match rng.below(3) {
                0 => line[at] ^= 1 << rng.below(8),
                1 => drop(line.remove(at)),
                _ => line.insert(at, b"{}[]:,\"0-9eE.xn"[rng.below(15)]),
            }
        }
        understood += usize::from(stream.read(&line, |_| {}).is_ok());
        if i % 100 == 0 {
            stream = Stream::new(offnominal_monitor::Monitor::open(&monitor).unwrap());
        }
    }
    assert!(understood > 1000, "{understood}");
}

#[test]
fn a_threshold_follows_recorded_episodes_of_its_own_policy_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let monitor = small(folder.path());
    let recalibrate = |data: &Path| {
        let out = folder.path().join("later.monitor");
        let [monitor, data] = [&monitor, data].map(|path| path.to_str().unwrap());
        offnominal(&["fit", "--quiet", "--json", "--recalibrate", monitor, "--data", data], &out)
    };
    let said = succeeds(&mut recalibrate(&collect(&[], folder.path()))).stdout;
    let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
    let (set, before) = (&said["monitor"]["threshold"], offnominal_monitor::Monitor::open(&monitor).unwrap());
    assert_eq!((&set["drift"]["confirmed"], &set["episodes"]), (&4.into(), &13.into()));
    assert_eq!(set["drift"]["fitted"], before.about().threshold.value);
    let later = offnominal_monitor::Monitor::open(folder.path().join("later.monitor")).unwrap();
    assert_eq!(set["value"], later.threshold());
    let anomalous = collect(&["--anomaly", "act-offset", "--magnitude", "0.9"], folder.path());
    let said: serde_json::Value =
        serde_json::from_slice(&succeeds(&mut recalibrate(&anomalous)).stdout).unwrap();
    assert_eq!(said["monitor"]["threshold"]["drift"]["confirmed"], 4, "the twins");
    assert_eq!(said["left_out"].as_array().map(Vec::len), Some(4));
    let args =
        ["collect", "--quiet", "--json", "--env", "sap-goal0", "--policy", "random", "--episodes", "1"];
    let said: serde_json::Value =
        serde_json::from_slice(&succeeds(&mut offnominal(&args, folder.path())).stdout).unwrap();
    let error = fails(&mut recalibrate(Path::new(said["file"].as_str().unwrap())));
    assert!(error.contains("expected episodes of the policy tqc"), "{error}");
}
