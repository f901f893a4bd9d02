//! Work on all cores, with results in order: the same bits for any number of threads.

use crate::progress::{self, Task};
use crate::stop;
use anyhow::{Error, Result};
use offnominal_core::env::Env;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of worker threads to use when the user does not say.
pub fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The number of threads on which an environment can play: one, if it cannot be copied.
pub fn jobs_for(env: &dyn Env, jobs: usize) -> usize {
    if env.fork().is_some() { jobs } else { 1 }
}

/// Computes `work(0), …, work(n − 1)` on `jobs` threads and returns the results in order.
///
/// # Errors
/// The first error in order of index, or that the task was asked to stop.
///
/// # Panics
/// If the operating system refuses to start threads.
pub fn map<T: Send>(
    jobs: usize,
    n: usize,
    task: &Task,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    // The first failure. What comes after it, or after a stop, changes nothing and costs nothing, not even an error.
    let failed = AtomicUsize::new(usize::MAX);
    let one = |i| {
        if task.is_stopped() || i > failed.load(Ordering::Relaxed) {
            return None;
        }
        let result = stop::within(task.stop(), || work(i));
        task.inc(1);
        if result.is_err() {
            failed.fetch_min(i, Ordering::Relaxed);
        }
        // What was done while a stop was asked for may be half done.
        (!task.is_stopped()).then_some(result)
    };
    // In a browser there are no threads.
    let each: Vec<_> = if cfg!(target_family = "wasm") {
        (0..n).map(one).collect()
    } else {
        let pool = ThreadPoolBuilder::new().num_threads(jobs.max(1)).build().expect("threads can be started");
        pool.install(|| (0..n).into_par_iter().with_max_len(1).map(one).collect())
    };
    each.into_iter().map(|result| result.unwrap_or_else(|| Err(progress::stopped()))).collect()
}

/// Runs `work(0), …, work(n − 1)` on `jobs` threads, begun in the order of their numbers, whatever fails; the failures
/// come by their numbers, in order.
///
/// # Panics
/// If the operating system refuses to start threads.
pub fn run_all(
    jobs: usize,
    n: usize,
    task: &Task,
    work: impl Fn(usize) -> Result<()> + Sync,
) -> Vec<(usize, Error)> {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        for i in std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|&i| i < n) {
            let result = task.check().and_then(|()| stop::within(task.stop(), || work(i)));
            // What was done while a stop was asked for may be half done.
            if let Err(error) = task.check().and(result) {
                failures.lock().expect("no thread panics while it holds the lock").push((i, error));
            }
            task.inc(1);
        }
    };
    // Plain threads, so that what a job does in parallel has the pool of the process.
    std::thread::scope(|scope| (0..jobs.clamp(1, n.max(1))).for_each(|_| drop(scope.spawn(worker))));
    let mut failures = failures.into_inner().expect("no thread panics while it holds the lock");
    failures.sort_by_key(|(i, _)| *i);
    failures
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn results_come_in_order_and_the_first_error_wins() {
        let squares = map(3, 100, &Task::hidden(), |i| Ok(i * i)).unwrap();
        assert_eq!(squares, (0..100).map(|i| i * i).collect::<Vec<_>>());
        let failed = map(3, 100, &Task::hidden(), |i| if i % 40 == 39 { bail!("{i}") } else { Ok(i) });
        assert_eq!(failed.unwrap_err().to_string(), "39");
        let done = AtomicUsize::new(0);
        let failed = map(2, 10_000, &Task::hidden(), |i| {
            done.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_micros(50));
            if i == 3 { bail!("3") } else { Ok(()) }
        });
        assert_eq!(failed.unwrap_err().to_string(), "3");
        assert!(done.load(Ordering::Relaxed) < 10_000, "what comes after a failure is not done");
    }

    #[test]
    fn what_is_left_when_the_task_stops_is_not_begun() {
        let stop = Arc::new(AtomicBool::new(false));
        let task = Task::begin(&progress::Silent, Arc::clone(&stop), 0..0, "");
        let begun = AtomicUsize::new(0);
        let work = |_| {
            stop.store(begun.fetch_add(1, Ordering::Relaxed) == 9, Ordering::Relaxed);
            Ok(())
        };
        let error = map(1, 1000, &task, work).unwrap_err().to_string();
        assert!(error.starts_with("stopped") && begun.into_inner() == 10, "{error}");
    }

    #[test]
    fn every_job_runs_once_and_failures_stop_nothing() {
        let counts: Vec<AtomicUsize> = (0..50).map(|_| AtomicUsize::new(0)).collect();
        let failures = run_all(3, 50, &Task::hidden(), |i| {
            counts[i].fetch_add(1, Ordering::Relaxed);
            if i % 20 == 3 { bail!("job {i}") } else { Ok(()) }
        });
        let found: Vec<String> = failures.iter().map(|(i, why)| format!("{i} {why}")).collect();
        assert_eq!(found, ["3 job 3", "23 job 23", "43 job 43"]);
        assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
    }
}
