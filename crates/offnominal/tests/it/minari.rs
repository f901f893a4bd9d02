//! What `collect` records, `export minari` gives to Minari, and Minari gives back.

use crate::{fails, offnominal, python, python_has, succeeds};
use offnominal_files::dataset::{self, Dataset};
use std::path::{Path, PathBuf};

/// Episodes of the random policy under an offset, with their twins.
fn collected(folder: &Path) -> PathBuf {
    let args = ["collect", "--env", "sap-goal1", "--policy", "random", "--episodes", "4", "--seed", "3"];
    let anomaly_spec =
        ["--anomaly", "obs-offset", "--magnitude", "0.25", "--channels", "0,agent_y", "--window", "9"];
    succeeds(&mut offnominal(&[&args[..], &anomaly_spec[..]].concat(), folder));
    folder.join("sap-goal1-random-obs-offset-0.25-channels-0+agent_y-window-9-seed3.arrow")
}

#[test]
fn collecting_again_gives_the_same_bytes_on_any_number_of_threads() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let args = ["collect", "--env", "sap-goal2", "--policy", "random", "--episodes", "7"];
    for (folder, jobs) in folders.iter().zip(["1", "3"]) {
        succeeds(offnominal(&args, folder.path()).args(["--jobs", jobs]));
    }
    let read =
        |i: usize| std::fs::read(folders[i].path().join("sap-goal2-random-nominal-seed0.arrow")).unwrap();
    assert_eq!(read(0), read(1));
}

#[test]
fn a_dataset_is_extended_to_the_bits_of_a_whole_one_and_never_cut() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let args =
        ["collect", "--env", "sap-goal2", "--policy", "random", "--anomaly", "act-noise", "--magnitude", "1"];
    let collect =
        |i: usize, n: &str| offnominal(&[&args[..], &["--episodes", n]].concat(), folders[i].path());
    let read =
        |i: usize| std::fs::read(folders[i].path().join("sap-goal2-random-act-noise-1-seed0.arrow")).unwrap();
    for (i, n) in [(0, "2"), (0, "5"), (1, "5")] {
        succeeds(&mut collect(i, n));
    }
    assert!(read(0) == read(1), "5 episodes in two parts are 5 episodes at once");
    let said = fails(&mut collect(0, "3"));
    assert!(said.contains("holds 5 episodes") && said.contains("choose another --out"), "{said}");
    assert!(read(0) == read(1), "nothing was lost");
}

#[test]
fn twins_are_the_same_until_the_onset() {
    let folder = tempfile::tempdir().unwrap();
    let Dataset { episodes, twins, recipe } = dataset::load(&collected(folder.path())).unwrap();
    assert_eq!(episodes.len(), 8);
    assert_eq!(recipe.anomaly_spec.unwrap().params["channels"], serde_json::json!([0, "agent_y"]));
    for (episode, twin) in episodes.iter().zip(&twins) {
        let Some(twin) = twin.map(|i| &episodes[i]) else { continue };
        let n = episode.onset.unwrap() as usize * episode.obs_width;
        assert_eq!(episode.observations[..n], twin.observations[..n]);
        assert!(episode.labels.iter().filter(|&&l| l).count() <= 9 && !twin.labels.contains(&true));
    }
}

/// Prints what Minari reads, as numbers that do not depend on how it is stored.
const READ: &str = r#"
import json, sys, minari, numpy as np
dataset = minari.load_dataset(sys.argv[1].split("/datasets/")[1])
space = dataset.observation_space
out = [dataset.total_episodes, int(dataset.total_steps), space.shape[0], str(space.dtype),
       int(np.isinf(space.high).sum()), dataset.storage.metadata["offnominal"]["anomaly_spec"]["anomaly"]]
for e in dataset.iterate_episodes():
    out.append([e.observations.shape, e.actions.shape, float(e.observations.astype(np.float64).sum()),
                float(e.actions.astype(np.float64).sum()), float(e.rewards.sum()), int(e.terminations.sum()),
                int(e.truncations.sum()), np.nonzero(e.infos["label"])[0].tolist(), str(e.rewards.dtype)])
print(json.dumps(out))
"#;

fn expected(dataset: &Dataset) -> serde_json::Value {
    let sum = |values: &[f32]| values.iter().map(|&v| f64::from(v)).sum::<f64>();
    let steps: usize = dataset.episodes.iter().map(|e| e.len()).sum();
    let unbounded = dataset.recipe.observation.iter().filter(|c| c.high.is_none()).count();
    let width = dataset.recipe.observation.len();
    let mut out = vec![
        serde_json::json!(dataset.episodes.len()),
        serde_json::json!(steps),
        serde_json::json!(width),
        serde_json::json!("float32"),
        serde_json::json!(unbounded),
        serde_json::json!("obs-offset"),
    ];
    for e in &dataset.episodes {
        let labels: Vec<usize> = (0..e.len()).filter(|&t| e.labels[t]).map(|t| t + 1).collect();
        let ended = usize::from(e.success().is_some() && e.end != offnominal_core::prelude::End::TimedOut);
        out.push(serde_json::json!([
            [e.len() + 1, width],
            [e.len(), e.act_width],
            sum(&e.observations),
            sum(&e.actions),
            e.total_reward(),
            ended,
            1 - ended,
            labels,
            "float64"
        ]));
    }
    out.into()
}

/// Numbers may differ in the order of summation, everything else not at all.
fn same(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    match (a.as_array(), b.as_array(), a.as_f64(), b.as_f64()) {
        (Some(a), Some(b), _, _) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (_, _, Some(a), Some(b)) => (a - b).abs() <= 1e-9 * (1.0 + a.abs()),
        _ => a == b,
    }
}

#[test]
fn minari_reads_what_was_recorded() {
    if !python_has("minari, h5py, pyarrow, PIL") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = collected(folder.path());
    let datasets = folder.path().join("datasets");
    for format in ["hdf5", "arrow"] {
        let id = format!("offnominal/sap-{format}-v0");
        let file = file.to_str().unwrap();
        succeeds(&mut offnominal(&["export", "minari", file, "--id", &id, "--format", format], &datasets));
        let said = python(READ, &[&datasets.join(&id)], &[("MINARI_DATASETS_PATH", &datasets)]);
        let found: serde_json::Value = serde_json::from_str(&said).unwrap();
        let want = expected(&dataset::load(Path::new(file)).unwrap());
        assert!(same(&found, &want), "{format}:\n{found}\n{want}");
    }
}

#[test]
fn a_damaged_dataset_is_not_exported_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = collected(folder.path());
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&file, bytes).unwrap();
    let out = folder.path().join("out");
    let said = fails(&mut offnominal(&["export", "minari", file.to_str().unwrap(), "--id", "a-v0"], &out));
    assert!(said.contains(file.to_str().unwrap()) && said.contains("truncated"), "{said}");
    assert!(!out.exists());
}

/// Prints the action space, and shape, type and values of the first episode's commands.
const READ_CHOICES: &str = r#"
import json, sys, minari
dataset = minari.load_dataset(sys.argv[1].split("/datasets/")[1])
actions = next(iter(dataset.iterate_episodes())).actions
print(json.dumps([str(dataset.action_space), actions.ndim, str(actions.dtype), actions.tolist()]))
"#;

#[test]
fn a_choice_is_a_discrete_space_of_whole_numbers() {
    if !python_has("minari, h5py, pyarrow, PIL") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    succeeds(&mut offnominal(
        &["collect", "--env", "cartpole", "--policy", "random", "--episodes", "2"],
        folder.path(),
    ));
    let file = folder.path().join("cartpole-random-nominal-seed0.arrow");
    let first = dataset::load(&file).unwrap().episodes.remove(0);
    let chosen: Vec<i64> = first.actions.iter().map(|&a| a as i64).collect();
    let datasets = folder.path().join("datasets");
    for format in ["hdf5", "arrow"] {
        let id = format!("offnominal/cartpole-{format}-v0");
        let args = ["export", "minari", file.to_str().unwrap(), "--id", &id, "--format", format];
        succeeds(&mut offnominal(&args, &datasets));
        let said = python(READ_CHOICES, &[&datasets.join(&id)], &[("MINARI_DATASETS_PATH", &datasets)]);
        let found: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(found, serde_json::json!(["Discrete(2)", 1, "int64", chosen]), "{format}");
    }
}
