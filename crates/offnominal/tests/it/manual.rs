//! Completions and man pages have every command.

use super::succeeds;
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
    succeeds(&mut offnominal(&["manual", folder.path().to_str().unwrap()]));
    let read = |file: &str| std::fs::read_to_string(folder.path().join(file)).unwrap();
    let completions = [
        "bash-completion/completions/offnominal",
        "elvish/lib/offnominal.elv",
        "fish/vendor_completions.d/offnominal.fish",
        "powershell/offnominal.ps1",
        "zsh/site-functions/_offnominal",
    ]
    .map(read);
    let commands = commands();
    assert!(commands.len() > 20 && commands.contains(&"evidence".into()), "{commands:?}");
    for name in commands {
        assert!(completions.iter().all(|text| text.contains(&name)), "{name} is not completed");
        let page = read(&format!("man/man1/offnominal-{name}.1"));
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    let inner = read("man/man1/offnominal-risk-estimate.1");
    assert!(inner.contains("max\\-risk"), "{inner}");
}
