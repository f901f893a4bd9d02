//! Work on all cores, with results in order: the same bits for any number of threads.

use crate::progress::Task;
use offnominal_core::env::Env;
use rayon::prelude::*;

/// Number of worker threads to use when the user does not say.
pub fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The number of threads on which a world can play: one, if it cannot be copied.
pub fn jobs_for(env: &dyn Env, jobs: usize) -> usize {
    if env.fork().is_some() { jobs } else { 1 }
}

/// Computes `work(0), …, work(n − 1)` on `jobs` threads and returns the results in order.
///
/// # Errors
/// The first error, in order of index.
///
/// # Panics
/// If the operating system refuses to start threads.
pub fn map<T, E>(
    jobs: usize,
    n: usize,
    task: &Task,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E>
where
    T: Send,
    E: Send,
{
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(jobs.max(1)).build().expect("threads can be started");
    let results: Vec<Result<T, E>> = pool.install(|| {
        (0..n)
            .into_par_iter()
            .with_max_len(1)
            .map(|i| {
                let result = work(i);
                task.inc(1);
                result
            })
            .collect()
    });
    results.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_the_first_error_wins() {
        let bar = Task::hidden();
        let squares = map(3, 100, &bar, |i| Ok::<_, String>(i * i)).unwrap();
        assert_eq!(squares, (0..100).map(|i| i * i).collect::<Vec<_>>());
        let failed = map(3, 100, &bar, |i| if i % 40 == 39 { Err(i) } else { Ok(i) });
        assert_eq!(failed, Err(39));
    }
}
