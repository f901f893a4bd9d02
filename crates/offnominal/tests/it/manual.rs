//! Completions and man pages have every command.

use super::{fails, succeeds};
use std::process::Command;

fn offnominal(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_offnominal"));
    command.args(args);
    command
}

/// The commands, as help lists them in groups.
fn commands() -> Vec<String> {
    let help = String::from_utf8(succeeds(&mut offnominal(&["--help"])).stdout).unwrap();
    let is_command = |line: &&str| line.starts_with("  ") && !line.starts_with("   ") && !line.contains(" -");
    let names = help.lines().filter(is_command).filter_map(|line| line.split_whitespace().next());
    names.map(String::from).collect()
}

#[test]
fn every_command_is_completed_and_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("man1");
    succeeds(&mut offnominal(&["man", into.to_str().unwrap()]));
    let of =
        |shell: &str| String::from_utf8(succeeds(&mut offnominal(&["completions", shell])).stdout).unwrap();
    let completions = ["bash", "elvish", "fish", "powershell", "zsh"].map(of);
    let commands = commands();
    assert!(commands.len() > 20 && commands.contains(&"evidence".into()), "{commands:?}");
    for name in commands {
        assert!(completions.iter().all(|text| text.contains(&name)), "{name} is not completed");
        let page = std::fs::read_to_string(into.join(format!("offnominal-{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    let inner = std::fs::read_to_string(into.join("offnominal-risk-estimate.1")).unwrap();
    assert!(inner.contains("max\\-risk"), "{inner}");
    assert!(fails(&mut offnominal(&["completions", "tcsh"])).contains("possible values: bash"));
}
