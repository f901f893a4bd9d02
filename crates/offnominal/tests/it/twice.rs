//! Two processes with one output folder, and what a kill leaves of its lock.

use crate::{fails, offnominal, succeeds};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

/// Starts a command that runs for long, and waits until it holds its lock.
fn running(args: &[&str], out: &Path, lock: &str) -> Child {
    let child = offnominal(args, out).arg("--quiet").spawn().unwrap();
    let begun = Instant::now();
    while !std::fs::read_to_string(out.join(lock)).is_ok_and(|who| !who.is_empty()) {
        assert!(begun.elapsed() < Duration::from_secs(120), "the command never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

/// Runs the same command beside one that runs, and kills that one.
#[track_caller]
fn refused_beside_itself(args: &[&str], out: &Path, command: &str) {
    let mut first = running(args, out, ".lock");
    let said = fails(&mut offnominal(args, out));
    first.kill().unwrap();
    first.wait().unwrap();
    let who = format!("is in use by process {}", first.id());
    assert!(said.contains(&who) && said.contains(command) && said.contains("since"), "{said}");
}

#[test]
fn a_second_estimate_is_told_who_has_the_folder_and_a_killed_one_locks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("risk");
    let estimate = |n| ["risk", "estimate", "--env", "driving", "--policy", "random", "--episodes", n];
    refused_beside_itself(&estimate("10000000"), &out, "offnominal risk estimate");
    assert!(out.join(".lock").exists(), "the killed one could not remove it");
    succeeds(&mut offnominal(&estimate("20"), &out));
    assert!(!out.join(".lock").exists() && out.join("risk.json").exists());
}

#[test]
fn a_second_training_is_told_who_has_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let train = ["train", "--env", "sap-goal0", "--steps", "100000000", "--eval-every", "100000000"];
    refused_beside_itself(&train, folder.path(), "offnominal train");
}

#[test]
fn datasets_are_collected_beside_one_another_and_each_by_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let collect = |env, episodes| ["collect", "--env", env, "--policy", "random", "--episodes", episodes];
    let (out, long) = (folder.path(), collect("sap-goal0", "1000000"));
    let mut first = running(&long, out, ".sap-goal0-random-nominal-seed0.arrow.lock");
    let said = fails(&mut offnominal(&long, out));
    succeeds(&mut offnominal(&collect("sap-goal1", "2"), out));
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(said.contains(&format!("is in use by process {}", first.id())), "{said}");
}
