//! Tests of policies that are commands.

use super::*;
use offnominal_core::Rng;
use offnominal_core::spec::Channel;
use std::time::{Duration, Instant};

fn spec() -> EnvSpec {
    EnvSpec {
        observation: vec![Channel::unbounded("x", "a number", "1")],
        action: vec![Channel::new("u", "an action", "1", -100.0, 100.0)],
        ..EnvSpec::new("w", "an environment of a number")
    }
}

fn opened(name: &str) -> Box<dyn Policy> {
    open(name, &spec()).unwrap().0
}

fn acted(policy: &mut dyn Policy) -> f32 {
    let mut action = [0.0];
    policy.act(&[0.5], &mut action, &mut Rng::new(0));
    action[0]
}

/// Counts the observations since the episode began.
const COUNTS: &str = r#"command:n=0; while read line; do case "$line" in *'"episode_start": true}'*) n=0;; esac; n=$((n+1)); echo "{\"action\": [$n]}"; done"#;

#[test]
fn a_command_acts_and_is_told_where_episodes_begin() {
    let mut policy = opened(COUNTS);
    assert_eq!([acted(policy.as_mut()), acted(policy.as_mut())], [1.0, 2.0]);
    let mut other = policy.fork();
    assert_eq!([acted(other.as_mut()), acted(policy.as_mut()), acted(other.as_mut())], [1.0, 3.0, 2.0]);
    policy.reset();
    assert_eq!([acted(policy.as_mut()), acted(other.as_mut())], [1.0, 3.0]);
    assert_eq!(policy.health(), Ok(()));
}

#[test]
fn a_process_is_used_for_one_copy_after_another() {
    let policy = opened(r#"command:while read line; do echo "{\"action\": $(($$ % 100))}"; done"#);
    let numbers: Vec<f32> = (0..5).map(|_| acted(policy.fork().as_mut())).collect();
    assert!(numbers.iter().all(|n| *n == numbers[0]), "{numbers:?}");
}

#[track_caller]
fn fails(name: &str, want: &str) {
    let mut policy = opened(name);
    // A line too many may come a little later.
    assert!((0..1000).any(|_| acted(policy.as_mut()).is_nan()), "{name}");
    for copy in [policy.fork(), policy] {
        let why = copy.health().unwrap_err();
        assert!(why.starts_with(&format!("policy {name}")) && why.contains(want), "{why}");
    }
}

#[test]
fn death_and_garbage_are_named() {
    fails(
        "command:read line; echo a reason >&2; exit 3",
        "the command ended (exit status: 3); it said last: a reason",
    );
    fails("command:no-such-command-of-anybody", "the command ended (exit status: 127)");
    fails("command:while read line; do echo hello; done", "found \"hello");
    fails("command:while read line; do echo '{\"action\": [1, 2]}'; done", "expected 1 numbers, found 2");
    fails(
        "command:while read line; do echo '{\"action\": 1}'; echo '{\"action\": 1}'; done",
        "found another one",
    );
    fails("command:head -c 3000000 /dev/zero; sleep 5", "expected a line of at most 1048576 bytes");
}

#[test]
fn who_is_late_is_not_waited_for() {
    let began = Instant::now();
    fails("command?timeout=0.2:sleep 60; read line", "expected an answer within 0.2 s, found none");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn names_tell_commands_from_others() {
    assert!(is_remote("command:a") && is_remote("command?timeout=1:a"));
    assert!(
        !is_remote("command")
            && !is_remote("tqc")
            && !is_remote("my.module:policy")
            && !is_remote("a/command:b")
    );
}
