//! The seeds of the mutants: small files that our own writers make, and those of the tests of other formats.
//!
//! `mutate --write-seeds` writes them into `fuzz/corpus`, which is to be done when a format changes.

mod policies;
mod texts;
mod works;

use crate::{Target, corpus};
use std::path::{Path, PathBuf};

/// The seeds that are there for a target.
///
/// # Panics
/// If there is no folder of seeds.
pub fn read(target: &Target) -> Vec<Vec<u8>> {
    let folder = corpus().join(target.name);
    let there = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = there.map(|item| item.expect("a folder can be listed").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a seed can be read")).collect()
}

/// Files of the tests that declare more than they hold, of which mutants are made too, though no reader accepts them: types
/// within types, views that compute their rows, links that lead back, rows that take no bytes.
pub fn refused(target: &Target) -> Vec<Vec<u8>> {
    let names: &[&str] = match target.name {
        "log_hdf5" => &["links.h5", "rows.h5"],
        "log_mcap" => &["types.mcap"],
        "log_rosbag" => &["computed.db3"],
        _ => &[],
    };
    let read = |name: &&str| repository(&format!("crates/offnominal-logs/tests/data/parts/{name}")).1;
    names.iter().map(read).collect()
}

/// Makes the seeds of a target anew: a name and the bytes of each.
///
/// # Panics
/// If there is no such target.
pub fn made(target: &Target) -> Vec<(String, Vec<u8>)> {
    let named = |name: &str, bytes: Vec<u8>| vec![(name.to_string(), bytes)];
    match target.name {
        "policy" => policies::policies(),
        "card" => vec![repository("agents/sap-goal0-sac.json")],
        "onnx" => ["mlp", "cnn", "pieces"]
            .map(|name| repository(&format!("crates/offnominal-agents/tests/onnx/{name}.onnx")))
            .into(),
        "network" => policies::networks(),
        "sb3" => policies::sb3(),
        "sb3_statistics" => vec![repository("crates/offnominal-agents/tests/sb3/sac.pkl")],
        "cleanrl" => ["ppo", "td3"]
            .map(|name| repository(&format!("crates/offnominal-agents/tests/torch/{name}.cleanrl_model")))
            .into(),
        "rsl_rl" => ["rsl-rl-2-lstm", "rsl-rl-5"]
            .map(|name| repository(&format!("crates/offnominal-agents/tests/torch/{name}.pt")))
            .into(),
        "checkpoint" => named("light", policies::checkpoint()),
        "history" => named("two", policies::history()),
        "predictor" => named("dictionary", policies::predictor()),
        "tensors" => named("two", policies::tensors()),
        "torch_legacy" => vec![repository("crates/offnominal-agents/tests/torch/legacy.pth")],
        "npy" => named("six.npy", works::npy()),
        "npz" => named("six.npz", works::npz()),
        "dataset" => named("two.arrow", works::dataset()),
        "table_csv" => named("two.csv", works::table().0),
        "table_parquet" => named("two.parquet", works::table().1),
        "journal" => named("two.jsonl", works::journal()),
        "stress" => named("one.json", texts::STRESS.into()),
        "cell" => named("done.json", works::cell()),
        "png" => works::images(),
        "picture" => {
            ["halves.jpg", "progressive.jpg", "grey.jpg", "lossless.webp", "lossy.webp", "alpha.webp"]
                .map(|name| repository(&format!("crates/offnominal-files/tests/data/{name}")))
                .into()
        }
        "segmentation" => vec![repository("crates/offnominal-pixels/tests/onnx/net.onnx")],
        "segmentation_feed" => vec![repository("crates/offnominal-pixels/tests/onnx/net.json")],
        "label_map" => vec![repository("label-maps/cityscapes.toml"), repository("label-maps/idd.toml")],
        "outcomes_json" => ["lerobot-old", "lerobot-tasks-old", "inspect-robots-random"]
            .map(|name| repository(&format!("crates/offnominal-risk/tests/data/{name}.json")))
            .into(),
        "outcomes_table" => ["trials", "perturbed", "scores"]
            .map(|name| repository(&format!("crates/offnominal-risk/tests/data/{name}.csv")))
            .into(),
        "rollout_lines" => texts::numbered(texts::ROLLOUTS),
        "rollout_table" => vec![repository("crates/offnominal-rollouts/tests/data/lists.parquet")],
        "rollout_pickle" => vec![repository("crates/offnominal-agents/tests/torch/records.pkl")],
        "rollout_request" => texts::numbered(texts::ROLLOUT_REQUESTS),
        "task_embeddings" => vec![repository("crates/offnominal-agents/tests/torch/two.npy")],
        "log_csv" => logs(&["same.csv", "same.tsv", "same.csv.gz"]),
        "log_json_lines" => logs(&["same.jsonl"]),
        "log_columnar" => logs(&[
            "same.arrow",
            "same.arrows",
            "same.parquet",
            "kinds.arrow",
            "kinds.parquet",
            "pages.parquet",
        ]),
        "log_hdf5" => logs(&["same.h5"]),
        "log_mcap" => logs(&["json.mcap", "plain.mcap", "ros.mcap", "bag-mcap/bag-mcap.mcap"]),
        "log_rosbag" => logs(&["bag-sqlite/bag-sqlite.db3"]),
        "log_ulog" => logs(&["state.ulg"]),
        "mapping" => named("tanks.toml", texts::MAPPING.into()),
        "monitor_file" => named("knn", works::monitor()),
        "campaign" => named("small.toml", texts::CAMPAIGN.into()),
        "noise" => {
            vec![repository("noise/datasheet/sap-goal1.toml"), repository("noise/rough/sap-goal2.toml")]
        }
        "evidence" => named("two.zip", works::evidence()),
        "manifest" => named("pole.toml", texts::MANIFEST.into()),
        "results" => named("small.json", works::results()),
        "rtde" => named("greeting", works::rtde()),
        "hosted" => named("answers", works::hosted()),
        "policy_line" => texts::numbered(texts::POLICY_LINES),
        "page_request" => named("browser", texts::PAGE_REQUEST.as_bytes().into()),
        "polygons" => named("two.xml", texts::POLYGONS.into()),
        "monitor_lines" => named("both.jsonl", texts::LINES.into()),
        "metrics_csv" => named("two.csv", texts::SCORES.into()),
        "distribution" => named("cart.toml", texts::DISTRIBUTION.into()),
        "formula" => texts::numbered(texts::FORMULAS),
        "request" => texts::numbered(texts::REQUESTS),
        "recipe" => texts::recipes(),
        "train_config" => texts::numbered(texts::TRAININGS),
        "anomaly" => texts::numbered(texts::ANOMALIES),
        other => panic!("expected the seeds of {other}"),
    }
}

/// Logs that the formats' own writers wrote.
fn logs(names: &[&str]) -> Vec<(String, Vec<u8>)> {
    names.iter().map(|name| repository(&format!("crates/offnominal-logs/tests/data/{name}"))).collect()
}

/// A file of this repository.
fn repository(path: &str) -> (String, Vec<u8>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    (name, std::fs::read(&path).expect("the file is there"))
}
