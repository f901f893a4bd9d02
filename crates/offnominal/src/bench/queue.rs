//! A queue of numbered jobs: each thread takes the next one, so the order of starting is the order of the numbers.

use anyhow::Result;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work(0), …, work(n − 1)` on `jobs` threads; after a failure no further job is started.
///
/// # Errors
/// The failure with the lowest number.
pub fn run(jobs: usize, n: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<(usize, anyhow::Error)>> = Mutex::new(None);
    let worker = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                return;
            }
            if let Err(error) = work(i) {
                next.store(n, Ordering::Relaxed);
                let mut first = failure.lock().expect("no thread panics while it holds the lock");
                if first.as_ref().is_none_or(|(other, _)| i < *other) {
                    *first = Some((i, error));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, n.max(1)) {
            scope.spawn(worker);
        }
    });
    let failure = failure.into_inner().expect("no thread panics while it holds the lock");
    failure.map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn every_job_runs_once() {
        let counts: Vec<AtomicUsize> = (0..50).map(|_| AtomicUsize::new(0)).collect();
        run(4, 50, |i| {
            counts[i].fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
        assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn a_failure_stops_the_queue() {
        let ran = AtomicUsize::new(0);
        let error = run(1, 50, |i| {
            ran.fetch_add(1, Ordering::Relaxed);
            if i == 3 { bail!("job {i}") } else { Ok(()) }
        });
        assert_eq!((error.unwrap_err().to_string(), ran.load(Ordering::Relaxed)), ("job 3".into(), 4));
    }
}
