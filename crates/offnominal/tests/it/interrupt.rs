//! Ctrl-C: exit code 130, and a sentence with the command that goes on to the same bits.

use crate::{bare, offnominal, succeeds};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Starts a command, interrupts it once a file is there, and returns its exit code and what it said.
fn interrupted(command: &mut Command, file: &Path) -> (Option<i32>, String) {
    let child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while std::fs::metadata(file).map_or(0, |found| found.len()) == 0 {
        assert!(begun.elapsed() < Duration::from_secs(120), "the command never began");
        std::thread::sleep(Duration::from_millis(5));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let ended = child.wait_with_output().unwrap();
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

#[test]
fn an_estimate_says_how_it_goes_on_and_ends_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let [out, whole] = ["a", "b"].map(|name| folder.path().join(name));
    let asked =
        ["risk", "estimate", "--env", "sap-goal0", "--policy", "tqc", "--episodes", "40000", "--jobs", "1"];
    let (code, said) = interrupted(offnominal(&asked, &out).arg("--quiet"), &out.join("journal.jsonl"));
    assert_eq!(code, Some(130), "{said}");
    let line = said.lines().last().unwrap().trim();
    let words = shlex::split(line).unwrap();
    assert!(said.contains("interrupted; what is finished is saved"), "{said}");
    let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    succeeds(&mut bare(&words));
    succeeds(&mut offnominal(&asked, &whole));
    let result = |folder: &Path| std::fs::read_to_string(folder.join("risk.json")).unwrap();
    assert_eq!(result(&out), result(&whole));
}

#[test]
fn what_is_no_command_is_not_guessed_wildly() {
    let said = crate::fails(&mut bare(&["plot"]));
    assert!(said.contains("unrecognized subcommand 'plot'") && !said.contains("export"), "{said}");
    assert!(crate::fails(&mut bare(&["inspct"])).contains("'inspect'"));
    let said = crate::fails(&mut bare(&["inspect", "--verbose", "x.csv"]));
    assert!(said.contains("'--verbose'") && !said.contains("-- --verbose"), "{said}");
}
