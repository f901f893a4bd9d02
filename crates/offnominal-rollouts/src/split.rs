//! Which rollouts a detector learns from, which set its threshold, and which it is judged on.
//!
//! | split | what |
//! |---|---|
//! | `seen:0,1,2` | the published splits of ActProbe with those seeds: of each task and outcome 70 % to learn, 15 % to set thresholds, the others to judge |
//! | `unseen:0,1,2` | likewise: three tasks to judge; of the others 70 % to learn and 30 % to set thresholds |
//! | `folds:5` | each rollout is judged once: of each task and outcome a fifth to judge, a fifth to set thresholds, the others to learn |
//! | `tasks:5` | each task is judged once: a fifth of the tasks to judge; of the others a quarter of each outcome to set thresholds |
//!
//! The first two shuffle exactly as Python does ([`mersenne`]), so they are the same rollouts; the other two draw from the
//! command's seed. What is judged in one part of a split is never compared with what is judged in another, because two
//! models scored them.
//!
//! Reference: ActProbe, arXiv 2606.08508, `code/lib/splits.py`.

pub mod mersenne;

use crate::rollout::Rollouts;
use anyhow::{Context, Result, bail, ensure};
use mersenne::Mersenne;
use offnominal_core::Rng;
use serde::Deserialize;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// Bytes of a split's name.
const LONGEST: usize = 4096;
/// Tasks that the published splits leave out.
const UNSEEN_TASKS: usize = 3;

/// Numbers of rollouts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// To learn from.
    pub train: Vec<usize>,
    /// To set thresholds, and to stop training in time.
    pub val: Vec<usize>,
    /// To judge.
    pub test: Vec<usize>,
}

/// How rollouts are split; in requests it is its name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Split {
    /// All tasks in every part, with the seeds of Python's generator.
    Seen(Vec<u64>),
    /// Some tasks are judged only.
    Unseen(Vec<u64>),
    /// Each rollout is judged once.
    Folds(usize),
    /// Each task is judged once.
    Tasks(usize),
}

impl Part {
    /// The successes that set thresholds.
    pub fn held_out_successes<'p>(&'p self, data: &'p Rollouts) -> impl Iterator<Item = usize> + 'p {
        self.val.iter().copied().filter(|&i| !data.rollouts[i].fails)
    }
}

impl Split {
    /// The parts.
    ///
    /// # Errors
    /// If there are too few tasks or rollouts.
    pub fn parts(&self, data: &Rollouts, seed: u64) -> Result<Vec<Part>> {
        let parts = match self {
            Split::Seen(seeds) => seeds.iter().map(|&seed| seen(data, seed)).collect(),
            Split::Unseen(seeds) => {
                let n = data.tasks.len();
                ensure!(n > UNSEEN_TASKS, "{self}: expected more than {UNSEEN_TASKS} tasks, found {n}");
                seeds.iter().map(|&seed| unseen(data, seed)).collect()
            }
            Split::Folds(n) => (0..*n).map(|fold| fold_of(data, *n, fold, seed)).collect(),
            Split::Tasks(n) => {
                let found = data.tasks.len();
                ensure!(found >= *n, "{self}: expected at least {n} tasks, found {found}");
                (0..*n).map(|fold| tasks_of(data, *n, fold, seed)).collect::<Vec<_>>()
            }
        };
        for part in &parts {
            let has_both = [true, false].map(|f| part.train.iter().any(|&i| data.rollouts[i].fails == f));
            ensure!(has_both == [true; 2], "{self}: expected failed and successful rollouts to learn from");
        }
        Ok(parts)
    }

    /// Whether tasks that are judged are among those that are learned from.
    pub fn knows_tasks(&self) -> bool {
        matches!(self, Split::Seen(_) | Split::Folds(_))
    }
}

fn seen(data: &Rollouts, seed: u64) -> Part {
    let (mut part, mut python) = (Part::default(), Mersenne::new(seed));
    for task in 0..data.tasks.len() {
        for fails in [false, true] {
            let mut of = data.of(task, fails);
            python.shuffle(&mut of);
            let (n_train, n_val) = (share(0.70, of.len()), share(0.15, of.len()));
            part.train.extend(&of[..n_train]);
            part.val.extend(&of[n_train..n_train + n_val]);
            part.test.extend(&of[n_train + n_val..]);
        }
    }
    part
}

fn unseen(data: &Rollouts, seed: u64) -> Part {
    let mut tasks: Vec<usize> = (0..data.tasks.len()).collect();
    Mersenne::new(seed + 1000).shuffle(&mut tasks);
    let unseen = &tasks[..UNSEEN_TASKS];
    let (mut part, mut python) = (Part::default(), Mersenne::new(seed));
    for task in 0..data.tasks.len() {
        for fails in [false, true] {
            let mut of = data.of(task, fails);
            if unseen.contains(&task) {
                part.test.extend(of);
                continue;
            }
            python.shuffle(&mut of);
            let n_train = share(0.70, of.len());
            part.train.extend(&of[..n_train]);
            part.val.extend(&of[n_train..]);
        }
    }
    part
}

/// `int(share * n)` of Python.
fn share(share: f64, n: usize) -> usize {
    (share * n as f64) as usize
}

fn fold_of(data: &Rollouts, n: usize, fold: usize, seed: u64) -> Part {
    let (mut part, mut rng) = (Part::default(), Rng::new(seed));
    for task in 0..data.tasks.len() {
        for fails in [false, true] {
            let mut of = data.of(task, fails);
            rng.shuffle(&mut of);
            // Small groups begin at different folds, so that no fold gets all of them.
            let first = rng.below(n);
            for (i, rollout) in of.into_iter().enumerate() {
                match (first + i + n - fold) % n {
                    0 => part.test.push(rollout),
                    1 => part.val.push(rollout),
                    _ => part.train.push(rollout),
                }
            }
        }
    }
    part
}

fn tasks_of(data: &Rollouts, n: usize, fold: usize, seed: u64) -> Part {
    let (mut part, mut rng) = (Part::default(), Rng::new(seed));
    let mut order: Vec<usize> = (0..data.tasks.len()).collect();
    rng.shuffle(&mut order);
    for (place, &task) in order.iter().enumerate() {
        for fails in [false, true] {
            let mut of = data.of(task, fails);
            rng.shuffle(&mut of);
            match place % n == fold {
                true => part.test.extend(of),
                false => {
                    let n_val = of.len() / 4;
                    part.val.extend(&of[..n_val]);
                    part.train.extend(&of[n_val..]);
                }
            }
        }
    }
    part
}

impl FromStr for Split {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Split> {
        ensure!(text.len() <= LONGEST, "expected a split of at most {LONGEST} bytes, found {}", text.len());
        let expected = "expected seen:SEEDS, unseen:SEEDS, folds:N or tasks:N";
        let (kind, rest) = text.split_once(':').with_context(|| format!("{expected}, found {text:?}"))?;
        let numbers: Result<Vec<u64>, _> = rest.split(',').map(str::parse).collect();
        let numbers = numbers.with_context(|| format!("{expected}, found {text:?}"))?;
        ensure!(
            numbers.len() <= 100 && numbers.iter().all(|&n| n < 1 << 32),
            "{text:?}: expected at most 100 seeds below 2^32"
        );
        let n = usize::try_from(numbers[0]).unwrap_or(0);
        match kind {
            "seen" => Ok(Split::Seen(numbers)),
            "unseen" => Ok(Split::Unseen(numbers)),
            "folds" if numbers.len() == 1 && (3..=100).contains(&n) => Ok(Split::Folds(n)),
            "tasks" if numbers.len() == 1 && (2..=100).contains(&n) => Ok(Split::Tasks(n)),
            "folds" | "tasks" => bail!("{text:?}: expected folds:3 to folds:100, or tasks:2 to tasks:100"),
            _ => bail!("{expected}, found {text:?}"),
        }
    }
}

impl TryFrom<String> for Split {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Split> {
        text.parse()
    }
}

impl Display for Split {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let list = |seeds: &[u64]| seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        match self {
            Split::Seen(seeds) => write!(f, "seen:{}", list(seeds)),
            Split::Unseen(seeds) => write!(f, "unseen:{}", list(seeds)),
            Split::Folds(n) => write!(f, "folds:{n}"),
            Split::Tasks(n) => write!(f, "tasks:{n}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::Rollout;

    /// Ten tasks of ten rollouts each, of which three fail.
    fn data() -> Rollouts {
        let rollout = |i: usize| Rollout {
            name: i.to_string(),
            task: i / 10,
            fails: i % 10 < 3,
            signals: vec![vec![0.0]],
            ..Rollout::default()
        };
        Rollouts {
            signals: vec!["x".into()],
            tasks: (0..10).map(|t| t.to_string()).collect(),
            rollouts: (0..100).map(rollout).collect(),
            ..Rollouts::default()
        }
    }

    #[test]
    fn unseen_tasks_are_those_that_python_leaves_out() {
        // random.Random(seed + 1000).shuffle(list(range(10))): the first three.
        for (seed, want) in [(0, [4, 5, 7]), (1, [2, 6, 9]), (2, [0, 4, 5])] {
            let data = data();
            let part = unseen(&data, seed);
            let mut tasks: Vec<usize> = part.test.iter().map(|&i| data.rollouts[i].task).collect();
            tasks.dedup();
            tasks.sort_unstable();
            assert_eq!(tasks, want);
            assert_eq!([part.train.len(), part.val.len(), part.test.len()], [7 * (4 + 2), 7 * (3 + 1), 30]);
        }
    }

    #[test]
    fn every_split_uses_each_rollout_once_in_a_part() {
        let data = data();
        for text in ["seen:0,7", "unseen:3", "folds:5", "tasks:4"] {
            let split: Split = text.parse().unwrap();
            assert_eq!(split.to_string(), text);
            let parts = split.parts(&data, 1).unwrap();
            for part in &parts {
                let mut all = [part.train.clone(), part.val.clone(), part.test.clone()].concat();
                all.sort_unstable();
                assert_eq!(all, (0..100).collect::<Vec<_>>(), "{text}");
            }
            if !split.knows_tasks() {
                let tasks = |of: &[usize]| of.iter().map(|&i| data.rollouts[i].task).collect::<Vec<_>>();
                let part = &parts[0];
                assert!(tasks(&part.test).iter().all(|task| !tasks(&part.train).contains(task)), "{text}");
            }
        }
        let folds = Split::Folds(5).parts(&data, 1).unwrap();
        let mut judged: Vec<usize> = folds.into_iter().flat_map(|part| part.test).collect();
        judged.sort_unstable();
        assert_eq!(judged, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["seen", "seen:", "seen:-1", "folds:2", "folds:3,4", "tasks:1", "half:2"] {
            assert!(text.parse::<Split>().is_err(), "{text}");
        }
    }
}
