//! Bundles that are right, and bundles that somebody changed.

use super::{Check, Report, Request, run};
use crate::evidence::bundle::{Bundle, Manifest};
use crate::evidence::key::SecretKey;
use crate::evidence::{self, kind::Kind};
use offnominal_engine::context::Context;
use offnominal_files::journal::Journal;
use offnominal_risk::estimate;
use offnominal_work::cli;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn context() -> Context {
    Context::silent(1, 2)
}

/// An estimate in driving, where random commands fail in most episodes, and its bundle.
fn bundle(folder: &Path, key: Option<&Path>) -> PathBuf {
    let run = folder.join("run");
    let command = "offnominal risk estimate --env driving --policy random --episodes 40 --seed 1";
    let request = json!({ "env": "driving", "policy": "random", "episodes": 40, "out": run });
    let request: estimate::Request = cli::request(&request).unwrap();
    estimate::run(&request, &Context { command: command.into(), ..context() }).unwrap();
    put_together(folder, key)
}

fn put_together(folder: &Path, key: Option<&Path>) -> PathBuf {
    let request = json!({ "run": folder.join("run"), "key": key, "out": folder.join("evidence.zip") });
    let request: evidence::Request = cli::request(&request).unwrap();
    evidence::run(&request, &context()).unwrap().bundle
}

/// What is found in this process: the bundles are our own.
fn verified(bundle: &Path, more: Value) -> Report {
    let mut request = json!({ "bundle": bundle, "sample": 30, "sample_seed": 1, "allow_programs": true });
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let request: Request = cli::request(&request).unwrap();
    run(&request, &context()).unwrap()
}

fn check<'r>(report: &'r Report, what: &str) -> &'r Check {
    report.checks.iter().find(|check| check.what == what).unwrap()
}

#[test]
fn a_signed_estimate_is_right_and_says_who_signed_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, key) = (folder.path().join("key"), SecretKey::new().unwrap());
    key.save(&path).unwrap();
    let bundle = bundle(folder.path(), Some(&path));
    let report = verified(&bundle, json!({ "key": key.public().to_string() }));
    assert!(report.is_sound() && !report.is_incomplete(), "{report}");
    assert!(report.checks.iter().all(|check| check.holds == Some(true)), "{report}");
    let found = report.recomputed.as_ref().unwrap();
    assert!((found.of, found.n) == (40, 30) && found.failures > 10, "{found:?}");
    let other = SecretKey::new().unwrap().public().to_string();
    let report = verified(&bundle, json!({ "key": other, "sample": 0 }));
    assert_eq!(check(&report, "signature").holds, Some(false));
}

#[test]
fn a_changed_file_is_found_and_nothing_is_played_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = bundle(folder.path(), None);
    let mut changed = Bundle::read(&path).unwrap();
    changed.files.get_mut("results/risk.json").unwrap().push(b' ');
    changed.write(&path).unwrap();
    let report = verified(&path, json!({}));
    assert_eq!(check(&report, "files").found, "results/risk.json was changed");
    assert!(!report.is_sound() && report.recomputed.is_none());
    let report = verified(&path, json!({ "key": SecretKey::new().unwrap().public().to_string() }));
    assert!(check(&report, "signature").found.contains("found none"), "{report}");
}

/// Claims that results are those of another seed, everywhere and with new digests.
#[test]
fn results_of_another_seed_are_found_by_playing_parts_once_more() {
    let folder = tempfile::tempdir().unwrap();
    bundle(folder.path(), None);
    let run = folder.path().join("run");
    let (result, journal) = (run.join("risk.json"), run.join("journal.jsonl"));
    let mut document: Value = serde_json::from_slice(&std::fs::read(&result).unwrap()).unwrap();
    let blocks = Journal::open::<Value, Value>(&journal, &document["run"]).unwrap().1;
    document["run"]["seed"] = json!(2);
    std::fs::remove_file(&journal).unwrap();
    let mut forged = Journal::open::<Value, Value>(&journal, &document["run"]).unwrap().0;
    blocks.iter().for_each(|block| forged.push(block).unwrap());
    drop(forged);
    std::fs::write(&result, document.to_string()).unwrap();
    let report = verified(&put_together(folder.path(), None), json!({}));
    assert_eq!(check(&report, "files").holds, Some(true));
    assert_eq!(check(&report, "once more").holds, Some(false), "{report}");
    assert!(report.recomputed.as_ref().unwrap().differences.len() > 20, "{report}");
}

#[test]
fn an_estimate_that_does_not_follow_from_its_journal_is_found() {
    let folder = tempfile::tempdir().unwrap();
    bundle(folder.path(), None);
    let result = folder.path().join("run/risk.json");
    let mut document: Value = serde_json::from_slice(&std::fs::read(&result).unwrap()).unwrap();
    document["risk"]["risk"]["high"] = json!(0.5);
    std::fs::write(&result, document.to_string()).unwrap();
    let report = verified(&put_together(folder.path(), None), json!({}));
    let found = &check(&report, "once more").found;
    assert!(
        found.starts_with("the result: expected ") && found.contains("which follows from the journal"),
        "{found}"
    );
}

#[test]
fn draws_with_the_noise_that_they_had_come_out_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let noise = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/risk/driving/command-noise.toml");
    let env = format!("driving?noise={}", noise.display());
    let request =
        json!({ "env": env, "policy": "random", "episodes": 200, "out": folder.path().join("run") });
    let request: estimate::Request = cli::request(&request).unwrap();
    let command = "offnominal risk estimate --env driving?noise=c.toml --policy random".into();
    estimate::run(&request, &Context { command, ..context() }).unwrap();
    let path = put_together(folder.path(), None);
    // As if the command had been given where the table lies.
    let read = Bundle::read(&path).unwrap();
    let mut files = read.files;
    files.insert("inputs/c.toml".into(), std::fs::read(noise).unwrap());
    let manifest = Manifest::new(Kind::RiskEstimate, read.manifest.made, &files, vec![]);
    Bundle::new(manifest, files, None).unwrap().write(&path).unwrap();
    let report = verified(&path, json!({}));
    assert!(
        report.is_sound() && check(&report, "once more").found.starts_with("30 of 200 draws"),
        "{report}"
    );
}

#[test]
fn what_is_neither_in_the_bundle_nor_here_leaves_it_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = bundle(folder.path(), None);
    let mut read = Bundle::read(&path).unwrap();
    read.files.remove("results/journal.jsonl");
    let manifest = Manifest::new(Kind::RiskEstimate, read.manifest.made, &read.files, vec![]);
    Bundle::new(manifest, read.files, None).unwrap().write(&path).unwrap();
    let report = verified(&path, json!({}));
    assert!(report.is_sound() && report.is_incomplete(), "{report}");
    assert!(check(&report, "once more").found.contains("expected the journal of the run"), "{report}");
}

#[test]
fn a_part_of_the_result_that_does_not_follow_from_the_journal_is_found() {
    let folder = tempfile::tempdir().unwrap();
    bundle(folder.path(), None);
    let result = folder.path().join("run/risk.json");
    let mut document: Value = serde_json::from_slice(&std::fs::read(&result).unwrap()).unwrap();
    document["kinds"][0]["failures"] = json!(1);
    std::fs::write(&result, document.to_string()).unwrap();
    let report = verified(&put_together(folder.path(), None), json!({}));
    assert_eq!(check(&report, "once more").found, "the result: kinds does not follow from the journal");
}
