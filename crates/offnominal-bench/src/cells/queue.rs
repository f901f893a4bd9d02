//! A queue of numbered jobs: each thread takes the next one, so the order of starting is the order of the numbers.

use anyhow::{Error, Result};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work(0), …, work(n − 1)` on `jobs` threads, and returns the failures by their numbers, in order.
pub(super) fn run(jobs: usize, n: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Vec<(usize, Error)> {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                return;
            }
            if let Err(error) = work(i) {
                failures.lock().expect("no thread panics while it holds the lock").push((i, error));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, n.max(1)) {
            scope.spawn(worker);
        }
    });
    let mut failures = failures.into_inner().expect("no thread panics while it holds the lock");
    failures.sort_by_key(|(i, _)| *i);
    failures
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn every_job_runs_once() {
        let counts: Vec<AtomicUsize> = (0..50).map(|_| AtomicUsize::new(0)).collect();
        let failures = run(4, 50, |i| {
            counts[i].fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        assert!(failures.is_empty() && counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn failures_are_counted_and_stop_nothing() {
        let ran = AtomicUsize::new(0);
        let failures = run(3, 50, |i| {
            ran.fetch_add(1, Ordering::Relaxed);
            if i % 20 == 3 { bail!("job {i}") } else { Ok(()) }
        });
        let found: Vec<String> = failures.iter().map(|(i, why)| format!("{i} {why}")).collect();
        assert_eq!(found, ["3 job 3", "23 job 23", "43 job 43"]);
        assert_eq!(ran.load(Ordering::Relaxed), 50);
    }
}
