//! Measuring a policy in its undisturbed world.

use crate::common::Common;
use crate::{parallel, progress};
use anyhow::{Result, anyhow, ensure};
use offnominal_agents::Card;
use offnominal_core::policy::Random;
use offnominal_core::prelude::*;
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use offnominal_stats::proportion::clopper_pearson;

/// What nominal episodes say of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Mean undiscounted return, with Student's interval.
    pub total_reward: Estimate,
    /// Success rate with the exact binomial interval; `None` where the world defines no success.
    pub success: Option<Estimate>,
    /// Mean return of the random policy in the same number of episodes.
    pub random_return: Estimate,
}

impl Evaluation {
    /// The card with these numbers.
    pub fn onto(self, card: Card) -> Card {
        let Evaluation { total_reward: mean_return, success: success_rate, random_return } = self;
        Card { mean_return, success_rate, random_return, ..card }
    }
}

/// Plays `n` nominal episodes of the policy, and as many of the random policy.
///
/// # Errors
/// If fewer than two episodes are asked for: one says nothing of the spread.
pub fn evaluate(env: &dyn Env, policy: &dyn Policy, n: usize, common: &Common) -> Result<Evaluation> {
    ensure!(n >= 2, "expected at least 2 episodes, found {n}");
    let seed = Seed(common.seed).child("evaluate");
    let episodes = play(env, policy, seed, n, common, "policy")?;
    let random = play(env, &Random::new(&env.spec().action), seed, n, common, "random policy")?;
    Ok(Evaluation {
        total_reward: mean_return(&episodes)?,
        success: success(&episodes)?,
        random_return: mean_return(&random)?,
    })
}

/// Plays nominal episodes on all cores, in order of their seeds.
fn play(
    env: &dyn Env,
    policy: &dyn Policy,
    seed: Seed,
    n: usize,
    common: &Common,
    what: &str,
) -> Result<Vec<Episode>> {
    let bar = progress::bar(common.quiet, n, what);
    let trial = Trial::new(env, policy);
    let jobs = parallel::jobs_for(env, common.jobs);
    let episodes = parallel::map(jobs, n, &bar, |i| {
        let episode = trial.nominal(seed.child(i));
        // A robot that stopped says nothing of the policy.
        env.trouble().map_or(Ok(episode), |why| Err(anyhow!("{what}, episode {i}: {why}")))
    });
    bar.finish_and_clear();
    episodes
}

fn mean_return(episodes: &[Episode]) -> Result<Estimate> {
    let returns: Vec<f64> = episodes.iter().map(Episode::total_reward).collect();
    Ok(student_t(&returns, Level::P95)?)
}

fn success(episodes: &[Episode]) -> Result<Option<Estimate>> {
    let verdicts: Option<Vec<bool>> = episodes.iter().map(Episode::success).collect();
    let count = |v: Vec<bool>| clopper_pearson(v.iter().filter(|&&s| s).count(), v.len(), Level::P95);
    Ok(verdicts.map(count).transpose()?)
}
