//! Committed pages that a script writes are what it writes from the committed numbers.

use super::succeeds;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a script in a copy of the folder whose page it writes.
#[track_caller]
fn check_script(script: &str, folder: &str, page: &str) {
    let (copy, from) = (tempfile::tempdir().unwrap(), root().join(folder));
    copy_files(&from, copy.path());
    succeeds(Command::new("python3").arg(root().join(script)).arg(copy.path()));
    let read = |folder: &Path| fs::read_to_string(folder.join(page)).unwrap();
    assert!(read(&from) == read(copy.path()), "{folder}/{page} is old; python3 {script} {folder}");
}

/// The files of a folder and of the folders in it.
fn copy_files(from: &Path, to: &Path) {
    for item in fs::read_dir(from).unwrap().map(|item| item.unwrap()) {
        let target = to.join(item.file_name());
        if item.path().is_file() {
            fs::copy(item.path(), target).unwrap();
        } else if item.file_name() != "cells" {
            fs::create_dir(&target).unwrap();
            copy_files(&item.path(), &target);
        }
    }
}

#[test]
fn the_pages_of_scripts_are_made_of_their_tables() {
    if super::python_has("csv") {
        check_script("studies/shift/summary.py", "studies/shift", "summary.md");
        check_script("studies/pixels/order.py", "studies/pixels", "order.md");
    }
}
