//! The last test program of `cargo test --workspace`: says how many tests were skipped, and for want of what.

use std::collections::BTreeMap;
use std::io::Write;

#[test]
fn the_skipped_tests_are_counted() {
    let skipped = skips::recorded();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in &skipped {
        let missing = line.strip_prefix("skipped for want of ").unwrap_or(line);
        let end = missing.rfind(": ").unwrap_or(missing.len());
        *counts.entry(&missing[..end]).or_default() += 1;
    }
    let mut said = format!("\n{} tests or parts of tests were skipped in this run\n", skipped.len());
    for (missing, n) in counts {
        said += &format!("{n:5} for want of {missing}\n");
    }
    // Not `eprintln!`, which libtest captures.
    std::io::stderr().write_all(said.as_bytes()).unwrap();
}

#[test]
fn every_allowed_skip_has_a_reason_and_is_listed_once() {
    let mut names: Vec<&str> = skips::ALLOWED.iter().map(|(name, _)| *name).collect();
    assert!(skips::ALLOWED.iter().all(|(name, reason)| !name.is_empty() && reason.len() > 20));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), skips::ALLOWED.len());
}
