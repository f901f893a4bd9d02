//! Figures on the signals that were published with ActProbe (π0 on LIBERO, 500 rollouts), where those are there.
//!
//! `OFFNOMINAL_ACTPROBE` names the folder with `task_0.jsonl` … `task_9.jsonl`, or `shared/data/actprobe/pi0_libero` lies
//! beside the repository.

use offnominal_rollouts::judge::{DetectorResult, Judged, Request, judge};
use offnominal_rollouts::read::{Settings, read};
use offnominal_work::context::Context;
use std::path::{Path, PathBuf};

fn folder() -> Option<PathBuf> {
    let beside = || {
        let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let shared = above.map(|folder| folder.join("shared/data/actprobe/pi0_libero"));
        shared.into_iter().find(|folder| folder.join("task_0.jsonl").is_file())
    };
    std::env::var_os("OFFNOMINAL_ACTPROBE").map(PathBuf::from).or_else(beside)
}

fn judged(folder: &Path, detectors: &[&str], splits: &[&str]) -> Judged {
    let data = read(&[folder.into()], Settings::default()).unwrap();
    assert_eq!((data.rollouts.len(), data.failures()), (500, 134));
    let request = Request {
        detectors: detectors.iter().map(|d| d.parse().unwrap()).collect(),
        splits: splits.iter().map(|s| s.parse().unwrap()).collect(),
        replicates: 100,
        ..plain()
    };
    judge(&request, &data, &Context::silent(0, 2)).unwrap()
}

fn row<'a>(found: &'a Judged, section: usize, detector: &str) -> &'a DetectorResult {
    found.sections[section].detectors.iter().find(|d| d.detector == detector).unwrap()
}

#[track_caller]
fn close(found: f64, published: f64) {
    assert!((found - published).abs() < 0.002, "expected {published}, found {found}");
}

#[test]
fn figures_are_those_of_the_published_signals() {
    let Some(folder) = folder() else {
        return skips::skip("recordings of ActProbe", "figures on published signals");
    };
    let detectors = [
        "chunk_mse",
        "max(chunk_mse)",
        "mean(chunk_mse)",
        "ewma(chunk_mse)",
        "sum(chunk_mse)",
        "action_norm",
    ];
    let found = judged(&folder, &detectors, &[]);
    let protocol = |detector: &str, name: &str| {
        let found = row(&found, 0, detector).protocols.iter().find(|p| p.protocol == name).unwrap();
        found.auroc.value
    };
    for (detector, name, area) in [
        ("clock", "whole", 0.8966),
        ("clock", "task-max 0.25", 0.568),
        ("clock", "task-max 0.5", 0.759),
        ("clock", "task-max 0.75", 0.887),
        ("clock", "task-min 0.25", 0.662),
        ("clock", "episode 0.25", 0.893),
        ("chunk_mse", "whole", 0.7805),
        ("chunk_mse", "task-max 0.25", 0.621),
        ("chunk_mse", "task-max 0.5", 0.664),
        ("chunk_mse", "task-max 0.75", 0.736),
        ("chunk_mse", "task-min 0.25", 0.550),
        ("sum(chunk_mse)", "whole", 0.850),
        ("sum(chunk_mse)", "task-max 0.25", 0.658),
        ("action_norm", "whole", 0.449),
        ("task-prior", "whole", 0.835),
    ] {
        close(protocol(detector, name), area);
    }
    for (detector, pairs) in [
        ("clock", 0.5),
        ("task-prior", 0.5),
        ("chunk_mse", 0.5932),
        ("mean(chunk_mse)", 0.6345),
        ("max(chunk_mse)", 0.611),
        ("ewma(chunk_mse)", 0.631),
        ("action_norm", 0.416),
    ] {
        close(row(&found, 0, detector).landmark.pairs.value, pairs);
    }
    let raw = &row(&found, 0, "chunk_mse").landmark;
    close(raw.cells.value, 0.629);
    close(raw.tasks.value, 0.613);
    assert_eq!(found.sections[0].cells, 747);
}

#[test]
fn published_splits_are_those_of_the_seeds() {
    let Some(folder) = folder() else {
        return skips::skip("recordings of ActProbe", "its splits");
    };
    let found = judged(&folder, &["chunk_mse"], &["seen:0", "seen:1", "seen:2", "unseen:0"]);
    for section in 0..3 {
        assert_eq!((found.sections[section].rollouts, found.sections[section].failures), (90, 28));
        close(row(&found, section, "task-prior").protocols[0].auroc.value, 0.7785);
    }
    // Tasks 5, 4 and 7.
    assert_eq!((found.sections[3].rollouts, found.sections[3].failures), (150, 22));
}

/// What is asked for if nothing is.
fn plain() -> Request {
    offnominal_work::cli::request(&serde_json::json!({ "files": ["-"] })).unwrap()
}
