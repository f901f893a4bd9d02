//! Tests of the places of policies.

use super::*;
use std::fs;

/// A cache with one model of two files, of which `main` is the second revision.
fn cache() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("models--sb3--ppo-CartPole-v1");
    for (revision, files) in [("0aa1", &["old.zip"][..]), ("9fc2", &["ppo.zip", "config.json"])] {
        fs::create_dir_all(model.join("snapshots").join(revision)).unwrap();
        files
            .iter()
            .for_each(|file| fs::write(model.join("snapshots").join(revision).join(file), "x").unwrap());
    }
    fs::create_dir_all(model.join("refs")).unwrap();
    fs::write(model.join("refs/main"), "9fc2\n").unwrap();
    folder
}

fn found(name: &Path) -> PathBuf {
    Place::find(name.to_str().unwrap()).unwrap().unwrap().path
}

#[test]
fn a_model_of_a_cache_is_its_revision_main() {
    let folder = cache();
    let model = folder.path().join("models--sb3--ppo-CartPole-v1");
    let want = model.join("snapshots/9fc2/ppo.zip");
    for name in ["", "ppo.zip", "snapshots/9fc2/ppo.zip", "snapshots/9fc2"] {
        assert_eq!(found(&model.join(name)), want, "{name}");
    }
    assert_eq!(found(&model.join("snapshots/0aa1/old.zip")), model.join("snapshots/0aa1/old.zip"));
    let with = format!("{}?stack=4", model.display());
    assert_eq!(Place::find(&with).unwrap().unwrap().options(&["stack"]).unwrap()["stack"], "4");
}

#[track_caller]
fn refused(name: &Path, want: &str) {
    let error = Place::find(name.to_str().unwrap()).unwrap_err().to_string();
    assert!(error.contains(want), "{error}");
}

#[test]
fn what_is_not_in_a_cache_is_named() {
    let folder = cache();
    let model = folder.path().join("models--sb3--ppo-CartPole-v1");
    refused(&model.join("other.zip"), "there is no such file in the revision");
    fs::write(model.join("snapshots/9fc2/b.onnx"), "x").unwrap();
    refused(&model, "expected one policy, found b.onnx, ppo.zip; name one of them");
    fs::write(model.join("refs/main"), "../../..").unwrap();
    refused(&model, "expected the name of a revision, found \"../../..\"");
    assert_eq!(Place::find("models--a--b/c.zip").unwrap(), None);
    assert_eq!(Place::find("tqc").unwrap(), None);
}

#[test]
fn options_must_be_known() {
    let folder = cache();
    let file = folder.path().join("p.zip");
    fs::write(&file, "x").unwrap();
    refused(&folder.path().join("p.zip?stack"), "expected options such as stack=4, found \"stack\"");
    let place = Place::find(&format!("{}?stak=4", file.display())).unwrap().unwrap();
    let error = place.options(&["normalize", "stack"]).unwrap_err().to_string();
    assert!(error.contains("found \"stak\"; did you mean \"stack\"?"), "{error}");
    assert!(place.options(&[]).unwrap_err().to_string().contains("expected no option, found \"stak\""));
}
