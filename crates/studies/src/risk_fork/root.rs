//! One root: an episode whose copies go on with random numbers of their own where failure comes near.
//!
//! An importance V of the state rises towards failure. When an episode first reaches level k, it becomes R_k copies of
//! equal weight. The total T of a root is the weight of its copies that fail, so 0 ≤ T ≤ 1, and E T is the chance to fail
//! from there, whatever V is: at each level the expected weight that fails stays the same. Copies of one root depend on
//! one another; roots do not.
//!
//! Reference: Garvels, "The splitting method in rare event simulation", 2000; Villén-Altamirano and Villén-Altamirano,
//! "RESTART", 1991, whose copies end below their level. Here they go on: a total never exceeds one.

use anyhow::{Context as _, Result};
use offnominal_core::Seed;
use offnominal_core::episode::End;
use offnominal_core::run::Branch;
use serde::{Deserialize, Serialize};

/// What rises towards failure in an episode in progress.
pub trait Importance {
    /// The larger, the nearer.
    fn value(&mut self, branch: &Branch) -> f64;
}

impl<F: FnMut(&Branch) -> f64> Importance for F {
    fn value(&mut self, branch: &Branch) -> f64 {
        self(branch)
    }
}

/// Where episodes are copied, from the lowest level on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The importance at which an episode is copied.
    pub importance: f64,
    /// How many it becomes.
    pub copies: u32,
}

/// What came of a root.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Total {
    /// Weight of the copies that failed.
    pub failed: f64,
    /// Steps of all copies; what they share counts once.
    pub steps: u64,
    /// Steps of the copy that has the root's own random numbers: a plain episode.
    pub plain_steps: u64,
    /// Copies that came to an end.
    pub ends: u64,
    /// Copies without an outcome, which count as failures.
    pub diverged: u64,
}

/// A copy that is to be played to its end.
struct Copy {
    branch: Branch,
    /// The level that it reaches next.
    next: usize,
    weight: f64,
}

/// Why an episode cannot have copies.
pub(crate) const NO_COPIES: &str =
    "copies of an episode in progress need an environment that can be copied while it plays";

/// Plays a root to the end of all its copies.
///
/// # Errors
/// If the environment cannot be copied while it plays.
pub fn play(root: Branch, key: Seed, levels: &[Level], importance: &mut dyn Importance) -> Result<Total> {
    let mut total = Total::default();
    let mut open = vec![Copy { branch: root, next: 0, weight: 1.0 }];
    let mut copies = 0_u64;
    while let Some(mut copy) = open.pop() {
        let from = copy.branch.steps();
        let end = loop {
            let value = importance.value(&copy.branch);
            while levels.get(copy.next).is_some_and(|level| value >= level.importance) {
                let n = levels[copy.next].copies;
                (copy.next, copy.weight) = (copy.next + 1, copy.weight / f64::from(n));
                for _ in 1..n {
                    copies += 1;
                    let branch = copy.branch.fork(key.child("copy").child(copies)).context(NO_COPIES)?;
                    open.push(Copy { branch, next: copy.next, weight: copy.weight });
                }
            }
            if let Some(end) = copy.branch.step() {
                break end;
            }
        };
        total.add(&copy, end, from);
    }
    Ok(total)
}

impl Total {
    fn add(&mut self, copy: &Copy, end: End, from: u32) {
        let steps = u64::from(copy.branch.steps() - from);
        self.steps += steps;
        if self.ends == 0 {
            self.plain_steps = steps;
        }
        self.ends += 1;
        self.diverged += u64::from(end == End::Diverged);
        if matches!(end, End::Failed | End::Diverged) {
            self.failed += copy.weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::prelude::*;

    /// A walk on whole numbers that begins at 0, goes up with a chance of a third and else down, fails at its height, and
    /// succeeds at −1.
    #[derive(Clone)]
    struct Chain {
        spec: EnvSpec,
        height: i32,
        at: i32,
    }

    impl Chain {
        /// One that fails at this height.
        fn new(height: i32) -> Chain {
            let spec = EnvSpec {
                observation: vec![Channel::unbounded("x", "where it is", "1")],
                action: vec![Channel::new("push", "nothing", "1", -1.0, 1.0)],
                initial: vec!["x".into()],
                dt_secs: 1.0,
                horizon: 100_000,
                ..EnvSpec::new("chain", "a walk on whole numbers")
            };
            Chain { spec, height, at: 0 }
        }

        /// The failure probability: the ruin of a gambler whose odds are two to one against him.
        fn p(&self) -> f64 {
            1.0 / (2.0_f64.powi(self.height + 1) - 1.0)
        }
    }

    impl Env for Chain {
        fn spec(&self) -> &EnvSpec {
            &self.spec
        }

        fn draw(&self, _: &mut Rng) -> Vec<f64> {
            vec![0.0]
        }

        fn start(&mut self, x: &[f64], _: &mut Rng) {
            self.at = x[0] as i32;
        }

        fn observe(&self, obs: &mut [f32]) {
            obs[0] = self.at as f32;
        }

        fn step(&mut self, _: &[f32], rng: &mut Rng) -> Step {
            self.at += if rng.uniform() < 1.0 / 3.0 { 1 } else { -1 };
            let status = match self.at {
                -1 => Status::Succeeded,
                at if at >= self.height => Status::Failed,
                _ => Status::Running,
            };
            Step { reward: 0.0, status }
        }

        fn set_parameter(&mut self, name: &str, _: f64) -> Result<(), ParameterError> {
            self.spec.parameter(name).map(|_| ())
        }

        fn fork(&self) -> Option<Box<dyn Env>> {
            Some(Box::new(self.clone()))
        }
    }

    fn still(_: &[f32], action: &mut [f32]) {
        action.fill(0.0);
    }

    /// The mean total of roots with its standard error, the mean steps of a root and the largest total.
    fn mean(chain: &Chain, levels: &[Level], roots: u64, mut importance: impl Importance) -> [f64; 3] {
        let trial = Trial::new(chain, &still);
        let one = |i: u64| {
            let root = trial.branch(&[0.0], Seed(i)).unwrap();
            play(root, Seed(i).child("forks"), levels, &mut importance).unwrap()
        };
        let totals: Vec<f64> = (0..roots).map(one).map(|total| total.failed).collect();
        let n = roots as f64;
        let mean = totals.iter().sum::<f64>() / n;
        let variance = totals.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / n;
        [mean, (variance / n).sqrt(), totals.iter().copied().fold(0.0, f64::max)]
    }

    fn levels(at: &[f64], copies: u32) -> Vec<Level> {
        at.iter().map(|&importance| Level { importance, copies }).collect()
    }

    #[test]
    fn totals_are_unbiased_from_a_thousandth_to_a_billionth() {
        for (height, each) in [(10, 1), (20, 1), (30, 1)] {
            let chain = Chain::new(height);
            let at: Vec<f64> = (1..height / each).map(|k| f64::from(k * each)).collect();
            let [found, error, most] =
                mean(&chain, &levels(&at, 2), 4000, |branch: &Branch| f64::from(branch.observation()[0]));
            let p = chain.p();
            assert!((found - p).abs() < 3.0 * error, "{found} {error} {p}");
            assert!(error < 0.2 * p && most <= 1.0, "{error} {p} {most}");
        }
    }

    #[test]
    fn a_wrong_importance_is_unbiased_too() {
        let chain = Chain::new(8);
        let wrong = |branch: &Branch| f64::from(branch.observation()[0]).sin() + 20.0 * branch.time();
        let [found, error, most] = mean(&chain, &levels(&[0.3, 0.9, 2.0], 3), 20_000, wrong);
        assert!((found - chain.p()).abs() < 3.0 * error && most <= 1.0, "{found} {error} {}", chain.p());
    }

    #[test]
    fn without_levels_a_root_is_an_episode() {
        let chain = Chain::new(3);
        let trial = Trial::new(&chain, &still);
        for i in 0..50 {
            let episode = trial.starting_at(vec![0.0], Seed(i), &mut |_| ());
            let root = trial.branch(&[0.0], Seed(i)).unwrap();
            let total = play(root, Seed(0), &[], &mut |_: &Branch| 0.0).unwrap();
            let n = episode.len() as u64;
            assert_eq!((total.steps, total.plain_steps, total.ends), (n, n, 1));
            assert_eq!(total.failed, f64::from(u8::from(episode.end == End::Failed)));
        }
    }
}
