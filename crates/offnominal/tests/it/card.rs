//! The numbers of a card can be counted again, over more episodes or fewer.

use crate::inside::train;
use crate::{fails, succeeds};
use std::process::Command;

fn evaluate(env: &str, policy: &str, episodes: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_offnominal"));
    command.args(["evaluate", "--card", "--env", env, "--policy", policy, "--episodes", episodes]);
    command
}

#[test]
fn a_card_counted_again_over_as_many_episodes_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let policy = train("3", "dropout=0.1", &folder.path().join("run"));
    let card = || std::fs::read_to_string(policy.with_extension("json")).unwrap();
    let count = |episodes: &str| {
        succeeds(&mut evaluate("cartpole", policy.to_str().unwrap(), episodes));
        card()
    };
    let trained = card();
    assert!(count("20").contains("\"n\": 20"));
    assert_eq!(count("200"), trained);
}

#[test]
fn only_the_card_of_a_file_is_written() {
    let said = fails(&mut evaluate("sap-goal0", "tqc", "2"));
    assert!(said.contains("card: expected the path of a policy file, found \"tqc\""), "{said}");
}
