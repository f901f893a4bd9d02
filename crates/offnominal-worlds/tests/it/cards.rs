//! The committed cards are those of the code; `UPDATE_EXPECT=1` writes them anew.

use offnominal_core::prelude::*;
use offnominal_worlds::{ENVS, cards};
use std::fs;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference")
}

#[track_caller]
fn check(path: &Path, want: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, want).unwrap();
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == want,
        "{} is not what the code says; run the tests with UPDATE_EXPECT=1",
        path.display()
    );
}

/// The environment, unless something that it needs from outside is missing here.
fn built(entry: &Entry<dyn Env>) -> Option<Box<dyn Env>> {
    match (entry.build)(&serde_json::json!({})) {
        Ok(env) => Some(env),
        Err(BuildError::Missing(why)) => {
            skips::skip(&format!("environment {}", entry.id), format!("the card: {why}"));
            None
        }
        Err(other) => panic!("{}: {other}", entry.id),
    }
}

#[test]
fn every_environment_has_its_card() {
    for entry in ENVS {
        if let Some(env) = built(entry) {
            check(&docs().join(format!("environments/{}.md", entry.id)), &cards::environment(env.spec()));
        }
    }
}

#[test]
fn no_card_is_left_of_an_environment_that_is_gone() {
    for file in fs::read_dir(docs().join("environments")).into_iter().flatten() {
        let path = file.unwrap().path();
        let id = path.file_stem().unwrap().to_str().unwrap();
        assert!(ENVS.iter().any(|e| e.id == id), "{} describes no environment", path.display());
    }
}

#[test]
fn the_anomalies_have_their_card() {
    check(&docs().join("anomalies.md"), &cards::anomalies());
}
