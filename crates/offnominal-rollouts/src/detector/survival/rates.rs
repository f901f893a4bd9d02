//! At which rate rollouts of a task fail and succeed at each step.

use crate::rollout::Rollouts;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use std::collections::BTreeMap;

/// Rollouts of all tasks that count as much as those of the task itself.
const BORROWED: f64 = 5.0;
/// Ends of each kind that are added to each step of all tasks together, so that no rate is zero.
const ADDED: f64 = 0.02;

/// The rates of both ends at each step: of failure, then of success.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rates {
    all: Of,
    tasks: BTreeMap<usize, Of>,
}

/// The rates of one task, or of all.
#[derive(Debug, Clone, PartialEq)]
struct Of {
    /// `[2][steps]`.
    rates: [Vec<f64>; 2],
    /// Their sums up to each step, which begin with 0, `[2][steps + 1]`.
    sums: [Vec<f64>; 2],
}

impl Of {
    fn new(rates: [Vec<f64>; 2]) -> Of {
        let sums = rates.each_ref().map(|rates| {
            let mut sum = 0.0;
            let up_to = rates.iter().map(|rate| {
                sum += rate;
                sum
            });
            [0.0].into_iter().chain(up_to).collect()
        });
        Of { rates, sums }
    }
}

/// Rollouts that run at each step, and ends of both kinds.
fn counts<'r>(data: &'r Rollouts, rollouts: impl Iterator<Item = usize> + 'r, steps: usize) -> [Vec<f64>; 3] {
    let mut found = [(); 3].map(|()| vec![0.0; steps]);
    for i in rollouts {
        let (r, n) = (&data.rollouts[i], data.rollouts[i].steps());
        found[0][..n].iter_mut().for_each(|running| *running += 1.0);
        found[1 + usize::from(!r.fails)][n - 1] += 1.0;
    }
    found
}

impl Rates {
    /// Counted on rollouts.
    pub(super) fn of(data: &Rollouts, train: &[usize]) -> Rates {
        let steps = train.iter().map(|&i| data.rollouts[i].steps()).max().unwrap_or(1);
        let [running, fails, succeeds] = counts(data, train.iter().copied(), steps);
        let common = [fails, succeeds].map(|ends| -> Vec<f64> {
            ends.iter().zip(&running).map(|(n, of)| (n + ADDED) / (of + 2.0 * ADDED)).collect()
        });
        let own = |task: usize| {
            let members = train.iter().copied().filter(move |&i| data.rollouts[i].task == task);
            let [running, fails, succeeds] = counts(data, members, steps);
            let rates = |ends: Vec<f64>, common: &Vec<f64>| -> Vec<f64> {
                let each = ends.iter().zip(&running).zip(common);
                each.map(|((n, of), common)| (n + BORROWED * common) / (of + BORROWED)).collect()
            };
            Of::new([rates(fails, &common[0]), rates(succeeds, &common[1])])
        };
        let mut tasks: Vec<usize> = train.iter().map(|&i| data.rollouts[i].task).collect();
        tasks.sort_unstable();
        tasks.dedup();
        Rates { tasks: tasks.into_iter().map(|task| (task, own(task))).collect(), all: Of::new(common) }
    }

    fn at(&self, task: Option<usize>) -> &Of {
        task.and_then(|task| self.tasks.get(&task)).unwrap_or(&self.all)
    }

    /// The sum of each rate over the steps from k to the last one of a rollout of so many steps, all of them known.
    pub(super) fn sums(&self, task: usize, k: usize, length: usize) -> [f64; 2] {
        self.at(Some(task)).sums.each_ref().map(|sums| sums[length] - sums[k])
    }

    /// The probability to fail before one succeeds from step k on, if θ changes the logarithms of both rates.
    pub(super) fn probability(&self, task: Option<usize>, k: usize, theta: [f64; 2]) -> f64 {
        let [fail, succeed] = &self.at(task).rates;
        let (factors, k) = (theta.map(f64::exp), k.min(fail.len() - 1));
        let (mut running, mut ends) = (1.0, [0.0; 2]);
        for (fail, succeed) in fail[k..].iter().zip(&succeed[k..]) {
            let rates = [fail * factors[0], succeed * factors[1]];
            let both = rates[0] + rates[1];
            let share = running * -(-both).exp_m1() / both;
            ends.iter_mut().zip(rates).for_each(|(end, rate)| *end += share * rate);
            running *= (-both).exp();
        }
        ends[0] / (ends[0] + ends[1])
    }

    pub(super) fn save(&self, to: &mut Writer<'_>) {
        to.put("tasks", &self.tasks.keys().map(|&task| task as u64).collect::<Vec<_>>());
        for (c, name) in ["fail", "succeed"].into_iter().enumerate() {
            to.put(name, &self.all.rates[c]);
            let of_tasks: Vec<f64> = self.tasks.values().flat_map(|of| &of.rates[c]).copied().collect();
            to.put(&format!("{name}-of-tasks"), &of_tasks);
        }
    }

    pub(super) fn load(from: &Reader<'_>, n_tasks: usize) -> Result<Rates, ArchiveError> {
        let tasks: &[u64] = from.list("tasks")?;
        let is_known = tasks.is_sorted_by(|a, b| a < b) && tasks.iter().all(|&task| task < n_tasks as u64);
        from.require(is_known, "tasks", format!("ascending numbers below {n_tasks}"), "others")?;
        let steps = from.list::<f64>("fail")?.len();
        from.require(steps > 0, "fail", "a step or more", "none")?;
        let positive = |name: &str, n: usize| -> Result<Vec<f64>, ArchiveError> {
            let list = from.exactly::<f64>(name, n)?;
            // Larger ones end everything in one step.
            let is_rate = list.iter().all(|rate| (1e-12..=1e3).contains(rate));
            from.require(is_rate, name, "rates from 1e-12 to 1000", "others")?;
            Ok(list.to_vec())
        };
        let all = Of::new([positive("fail", steps)?, positive("succeed", steps)?]);
        let fail = positive("fail-of-tasks", tasks.len() * steps)?;
        let succeed = positive("succeed-of-tasks", tasks.len() * steps)?;
        let each = fail.chunks_exact(steps).zip(succeed.chunks_exact(steps));
        let each = each.map(|(fail, succeed)| Of::new([fail.to_vec(), succeed.to_vec()]));
        Ok(Rates { all, tasks: tasks.iter().map(|&task| task as usize).zip(each).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detector::tests::drawn;

    #[test]
    fn constant_rates_give_their_share_and_a_change_of_both_none() {
        let rates = Rates { all: Of::new([vec![0.01; 2000], vec![0.03; 2000]]), tasks: BTreeMap::new() };
        for (theta, want) in [([0.0, 0.0], 0.25), ([1.0, 1.0], 0.25), ([3f64.ln(), 0.0], 0.5)] {
            let found = rates.probability(None, 7, theta);
            assert!((found - want).abs() < 1e-9, "{found}");
        }
        assert_eq!(rates.probability(Some(3), 1999, [0.0; 2]), rates.probability(None, 5000, [0.0; 2]));
    }

    #[test]
    fn sums_are_those_of_the_rates() {
        let data = drawn(60);
        let all: Vec<usize> = (0..60).collect();
        let rates = Rates::of(&data, &all);
        let of = &rates.tasks[&1];
        let want = [0, 1].map(|c| of.rates[c][3..10].iter().sum::<f64>());
        let found = rates.sums(1, 3, 10);
        assert!((0..2).all(|c| (found[c] - want[c]).abs() < 1e-12), "{found:?} and {want:?}");
        assert!(of.rates.iter().flatten().all(|&rate| rate > 0.0 && rate <= 1.0));
    }
}
