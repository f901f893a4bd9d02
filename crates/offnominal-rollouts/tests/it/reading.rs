//! Rollouts out of files: what is read, and what is refused in words.

use offnominal_files::array::to_npy;
use offnominal_files::table::to_parquet;
use offnominal_rollouts::read::{Settings, read};
use offnominal_rollouts::rollout::Rollouts;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

const TWO: &str = r#"{"rollout": "a", "task": "lift", "success": true, "steps": [{"t": 0, "tce": 0.5, "note": "x"}, {"t": 1, "tce": 1}]}

{"episode_id": 7, "task_id": "lift", "success": 0, "length": 1, "other": {}, "steps": [{"step": 0, "tce": -2}]}
"#;

fn files(of: &[(&str, &[u8])]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, bytes): &(&str, &[u8])| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let paths = of.iter().map(write).collect();
    (folder, paths)
}

fn of_lines(text: &str) -> Result<Rollouts, String> {
    let (_folder, paths) = files(&[("r.jsonl", text.as_bytes())]);
    read(&paths, Settings::default()).map_err(|e| format!("{e:#}"))
}

#[test]
fn json_lines_are_rollouts() {
    let found = of_lines(TWO).unwrap();
    assert_eq!((found.signals, found.tasks), (vec!["tce".to_string()], vec!["lift".to_string()]));
    let [a, b] = &found.rollouts[..] else { panic!("two rollouts") };
    assert_eq!((a.name.as_str(), a.fails, &a.signals), ("a", false, &vec![vec![0.5, 1.0]]));
    assert_eq!((b.name.as_str(), b.fails, &b.signals), ("7", true, &vec![vec![-2.0]]), "of one step");
}

#[test]
fn tasks_are_sorted_and_a_folder_is_all_its_files() {
    let line =
        |task: &str, success| format!(r#"{{"task": "{task}", "success": {success}, "steps": [{{"x": 1}}]}}"#);
    let (folder, _) = files(&[
        ("2.jsonl", line("b", true).as_bytes()),
        ("1.jsonl", line("c", false).as_bytes()),
        ("other.txt", b"?"),
    ]);
    let found = read(&[folder.path().into()], Settings::default()).unwrap();
    assert_eq!(found.tasks, ["b", "c"]);
    assert_eq!(found.rollouts.iter().map(|r| r.task).collect::<Vec<_>>(), [1, 0]);
}

#[track_caller]
fn refuse(from: &str, to: &str, expected: &str) {
    assert!(TWO.contains(from), "{from}");
    let error = of_lines(&TWO.replacen(from, to, 1)).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn bad_lines_are_refused_with_their_place() {
    refuse("\"t\": 1", "\"t\": 2", "r.jsonl, line 1: step 1: t: expected 1, found 2");
    refuse("-2", "null", "line 3: step 0: tce: expected a finite number, found null");
    refuse(
        "\"tce\": 1}",
        "\"tcx\": 1}",
        "step 1: expected the signals [\"tce\", \"tcx\"] once, as in the steps before, found [\"tcx\"]",
    );
    refuse(
        "\"tce\": -2",
        "\"tcx\": 2",
        "line 3: expected the signals [\"tce\"] of the rollouts before, found [\"tcx\"]",
    );
    refuse("\"success\": 0", "\"success\": 2", "success: expected true or false, found 2");
    refuse("\"success\": 0, ", "", "expected success, found no such field");
    refuse(
        "\"task\": \"lift\"",
        "\"job\": \"lift\"",
        "r.jsonl, line 3: expected task, task_id, task_index in every line or in none, found it in some",
    );
    refuse(
        "\"task\": \"lift\"",
        "\"task\": []",
        "task: expected a text or a whole number, found a list of 0",
    );
    refuse(
        "\"success\": 0",
        "\"success\": 0, \"failure_step\": 1",
        "failure_step: expected a step of the rollout, below 1",
    );
    refuse(
        "\"success\": true",
        "\"success\": true, \"failure_step\": 1",
        "failure_step: expected a failed rollout",
    );
    refuse("\"length\": 1", "\"length\": 5", "length: expected 1, found 5");
    let steps = "\"length\": 1, \"other\": {}, \"steps\": [{\"step\": 0, \"tce\": -2}]";
    refuse(steps, "\"steps\": []", "expected a rollout of at least one step, found none");
    refuse("[{\"step\": 0, \"tce\": -2}]", "[3]", "step 0: expected an object, found 3");
    refuse("{\"rollout\"", "[{\"rollout\"", "line 1: expected a JSON object");
    refuse("\"episode_id\": 7", "\"episode_id\": \"a\"", "expected each rollout once, found \"a\" twice");
    refuse(
        "\"success\": 0",
        "\"success\": 1",
        "expected failed and successful rollouts, found 0 failed ones of 2",
    );
}

/// In the form of ActProbe's files of GR00T: no task, signals that look back, signals within others.
const LATE: &str = r#"{"success": true, "steps": [{"t": 0, "now": true, "at": {"xy": [1, 2]}}]}
{"success": true, "steps": [{"t": 0, "now": true, "at": {"xy": [1, 2]}}, {"t": 1, "now": true, "mse": 5, "at": {"xy": [3, 4]}}]}
{"success": false, "steps": [{"t": 0, "now": true, "at": {"xy": [1, 2]}}, {"t": 1, "now": true, "mse": 6, "at": {"xy": [3, 4]}}, {"t": 2, "now": true, "mse": 7, "jerk": 8, "at": {"xy": [5, 6]}}]}"#;

#[test]
fn a_signal_that_looks_back_is_zero_before_and_the_task_is_the_name_of_the_file() {
    let found = of_lines(LATE).unwrap();
    let said = [
        "3 rollouts have no field task, task_id, task_index: their task is the name of their file",
        "mse begins at step 1; before, it is taken as 0",
        "jerk begins at step 2; before, it is taken as 0",
    ];
    assert_eq!(found.remarks, said);
    assert_eq!(
        (found.signals, found.tasks),
        (["at.xy[0]", "at.xy[1]", "now", "mse", "jerk"].map(String::from).into(), vec!["r".into()])
    );
    assert_eq!(found.rollouts[0].signals, [[1.0], [2.0], [1.0], [0.0], [0.0]]);
    assert_eq!(found.rollouts[1].signals[3..], [[0.0, 5.0], [0.0, 0.0]]);
    assert_eq!(found.rollouts[2].signals[3..], [[0.0, 6.0, 7.0], [0.0, 0.0, 8.0]]);
}

#[test]
fn a_signal_that_is_missing_or_begins_elsewhere_is_refused() {
    let refuse = |from: &str, to: &str, expected: &str| {
        assert!(LATE.contains(from), "{from}");
        let error = of_lines(&LATE.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    refuse(
        "\"mse\": 7, ",
        "",
        "line 3: step 2: expected the signals [\"at.xy[0]\", \"at.xy[1]\", \"jerk\", \"mse\"",
    );
    refuse("\"mse\": 6, ", "", "line 3: mse: expected it from step 1 on as before, found it from 2 on");
    refuse(
        "\"mse\": 5, ",
        "",
        "line 3: expected the signals [\"at.xy[0]\", \"at.xy[1]\", \"now\"] of the rollouts before",
    );
    refuse("[5, 6]", "[5]", "step 2: expected the signals");
    refuse("[5, 6]}", "[5, 6]}, \"at.xy[0]\": 1", "line 3: step 2: expected the signals");
    let long = r#"{"success": true, "steps": [{"x": 1}, {"x": 1}, {"x": 1}, {"x": 1}, {"x": 1}, {"x": 1}, {"x": 1}, {"x": 1}, {"x": 1}, {"x": 1}, {"x": 1}, {"x": 1, "over": 1}]}"#;
    assert!(
        of_lines(long)
            .unwrap_err()
            .contains("line 1: over: expected it from step 10 on or before, found it from 11 on")
    );
    refuse("[5, 6]", "[5, null]", "step 2: at.xy[1]: expected a finite number, found null");
    let late = r#"{"success": false, "steps": [{"now": 1, "mse": 0, "at": {"xy": [1, 2]}}]}"#;
    let error = of_lines(&format!("{LATE}\n{late}")).unwrap_err();
    assert!(
        error.contains("line 4: mse: expected it from step 1 on as before, found it from 0 on"),
        "{error}"
    );
}

/// Made by `make_records.py`, in the form of ActProbe's pickles.
const RECORDS: &[u8] = include_bytes!("../../../offnominal-agents/tests/torch/records.pkl");

#[test]
fn pickles_of_actprobe_are_rollouts() {
    let (folder, _) = files(&[("lift.pkl", RECORDS), ("lower.pkl", RECORDS)]);
    let found = read(&[folder.path().into()], Settings::default()).unwrap();
    assert_eq!(found.remarks[1..], ["fields that are not read: task_name, weight"]);
    assert_eq!((found.tasks, found.embedding), (vec!["lift".to_string(), "lower".to_string()], 2));
    assert_eq!((found.signals.len(), found.signals[4].as_str()), (10, "eef_speed_3d"));
    let mse = found.signals.iter().position(|signal| signal == "chunk_mse").unwrap();
    assert_eq!((found.rollouts[0].fails, &found.rollouts[0].signals[mse]), (false, &vec![4.0, 14.0]));
    assert_eq!((found.rollouts[1].fails, found.rollouts[1].steps()), (true, 1));
    let refuse = |from: &[u8], to: &[u8], expected: &str| {
        let at = RECORDS.windows(from.len()).position(|w| w == from).unwrap();
        let mut changed = RECORDS.to_vec();
        changed[at..at + from.len()].copy_from_slice(to);
        let (_folder, paths) = files(&[("lift.pkl", &changed)]);
        let error = format!("{:#}", read(&paths, Settings::default()).unwrap_err());
        assert!(error.contains("lift.pkl") && error.contains(expected), "{error}");
    };
    refuse(
        b"probe_features_10",
        b"probe_features_11",
        "rollout 0: expected probe_features_10, found no such field",
    );
    refuse(b"success", b"succeed", "rollout 0: expected success, found no such field");
    refuse(b"length\x94K\x02", b"length\x94K\x03", "rollout 0: length: expected 2, found 3");
    refuse(b"ndarray", b"runpath", "found numpy.runpath; nothing was executed");
}

#[test]
fn chunks_become_signals_and_need_to_know_what_is_executed() {
    let text = r#"{"task": 1, "success": true, "executed": 1, "steps": [{"chunk": [[1], [2]]}, {"chunk": [[4], [0]]}]}
{"task": 1, "success": false, "steps": [{"executed": 2, "chunk": [[1], [2]]}, {"executed": 1, "chunk": [[4]]}]}"#;
    let found = of_lines(text).unwrap();
    assert_eq!(found.signals, ["tce", "acm", "jerk"]);
    assert_eq!(found.rollouts[0].signals[0], [0.0, 4.0]);
    assert_eq!(found.rollouts[1].signals[0], [0.0, 0.0], "all of the first chunk was executed");
    let error = of_lines(&text.replace("\"executed\": 1, \"steps\"", "\"steps\"")).unwrap_err();
    assert!(error.contains("line 1: step 0: chunk: expected `executed`"), "{error}");
    let (_folder, paths) =
        files(&[("r.jsonl", text.replace("\"executed\": 1, \"steps\"", "\"steps\"").as_bytes())]);
    assert!(read(&paths, Settings { executed: Some(1), ..Settings::default() }).is_ok());
    let error = of_lines(&text.replace("{\"chunk\": [[4], [0]]}", "{}")).unwrap_err();
    assert!(error.contains("step 1: expected a chunk as at the steps before"), "{error}");
    let error = of_lines(&text.replace("[[4], [0]]", "[[4, 1]]")).unwrap_err();
    assert!(error.contains("step 1: chunk: expected actions of 1 numbers as before, found 2"), "{error}");
}

#[test]
fn arrays_may_stand_in_files_beside_and_nowhere_else() {
    let line = |name: &str, success| {
        format!(
            r#"{{"rollout": "{success}", "task": 0, "success": {success}, "executed": 1, "chunks": "{name}", "embeddings": "e.npy", "steps": [{{}}, {{}}]}}"#
        )
    };
    let text = |name: &str| format!("{}\n{}", line(name, true), line(name, false));
    let chunks = to_npy(&[2, 2, 2, 1], &[1.0, 2.0, 1.0, 2.0, 2.0, 3.0, 2.0, 3.0]);
    let embeddings = to_npy(&[2, 3], &[0.5; 6]);
    let arrays = [("c.npy", &chunks[..]), ("e.npy", &embeddings[..])];
    let (_folder, paths) = files(&[("r.jsonl", text("c.npy").as_bytes()), arrays[0], arrays[1]]);
    let found = read(&paths[..1], Settings::default()).unwrap();
    assert_eq!(found.signals, ["tce", "acm", "jerk", "stac-mmd", "stac-energy", "entropy"]);
    assert_eq!((found.rollouts[0].steps(), found.embedding), (2, 3));
    for name in ["../c.npy", "/c.npy", "x/c.npy", ".."] {
        let (_folder, paths) = files(&[("r.jsonl", text(name).as_bytes()), arrays[0], arrays[1]]);
        let error = format!("{:#}", read(&paths[..1], Settings::default()).unwrap_err());
        assert!(error.contains("expected the name of an array file in the same folder"), "{error}");
    }
    let short = to_npy(&[1, 2, 1], &[1.0, 2.0]);
    let (_folder, paths) = files(&[("r.jsonl", text("c.npy").as_bytes()), ("c.npy", &short), arrays[1]]);
    let error = format!("{:#}", read(&paths[..1], Settings::default()).unwrap_err());
    assert!(error.contains("chunks: expected 2 steps, found 1"), "{error}");
}

#[derive(Serialize, Deserialize, Clone)]
struct Row {
    episode_index: u64,
    task: String,
    frame_index: u64,
    success: bool,
    tce: f64,
    words: String,
}

fn table(rows: &[Row]) -> Result<Rollouts, String> {
    let (_folder, paths) = files(&[("r.parquet", &to_parquet(rows).unwrap())]);
    read(&paths, Settings::default()).map_err(|e| format!("{e:#}"))
}

#[test]
fn parquet_has_a_step_in_each_row() {
    let row = |episode, step, success, tce| Row {
        episode_index: episode,
        task: "lift".into(),
        frame_index: step,
        success,
        tce,
        words: "?".into(),
    };
    let rows = [row(0, 0, true, 0.5), row(0, 1, true, 1.0), row(7, 0, false, -2.0)];
    let found = table(&rows).unwrap();
    assert_eq!(found.signals, ["tce"]);
    assert_eq!(found.rollouts[0].signals, [[0.5, 1.0]]);
    assert_eq!((found.rollouts[1].name.as_str(), found.rollouts[1].fails), ("7", true));
    let mut changed = rows.to_vec();
    changed[1].success = false;
    let error = table(&changed).unwrap_err();
    assert!(error.contains("row 2: success: expected true as in the rows before, found false"), "{error}");
    changed[1] = row(0, 5, true, 1.0);
    let error = table(&changed).unwrap_err();
    assert!(error.contains("row 2: frame_index: expected 1, found 5"), "{error}");
    assert!(table(&[]).unwrap_err().contains("expected rows, found none"));
}

/// Made by `make_lists.py` with pyarrow: chunks and embeddings as columns of lists, compressed.
#[test]
fn lists_of_other_writers_are_chunks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/lists.parquet");
    let found = read(&[path], Settings::default()).unwrap();
    assert_eq!(found.signals, ["speed", "tce", "acm", "jerk"]);
    assert_eq!((found.rollouts.len(), found.embedding), (2, 2));
    assert_eq!(found.rollouts[0].signals[1], [0.0, 4.0]);
}

#[test]
fn what_is_no_file_of_rollouts_is_named() {
    let error = |path: &str| format!("{:#}", read(&[path.into()], Settings::default()).unwrap_err());
    assert!(error("x.csv").contains("x.csv: expected a file that ends in .jsonl, .parquet or .pkl"));
    assert!(error("nowhere.jsonl").contains("cannot read nowhere.jsonl"));
    let empty = tempfile::tempdir().unwrap();
    assert!(
        error(&empty.path().display().to_string())
            .contains("expected .jsonl, .parquet or .pkl files, found none")
    );
}
