//! Measuring a policy in its undisturbed environment.

use crate::context::Context;
use crate::parallel;
use anyhow::{Result, anyhow, ensure};
use offnominal_agents::Card;
use offnominal_core::episode::Outcome;
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
    /// Success rate with the exact binomial interval; `None` where the environment defines no success.
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
pub fn evaluate(env: &dyn Env, policy: &dyn Policy, n: usize, context: &Context) -> Result<Evaluation> {
    ensure!(n >= 2, "expected at least 2 episodes, found {n}");
    let seed = Seed(context.seed).child("evaluate");
    let outcomes = play(env, policy, seed, n, context, "policy")?;
    let random = play(env, &Random::new(&env.spec().action), seed, n, context, "random policy")?;
    Ok(Evaluation {
        total_reward: mean_return(&outcomes)?,
        success: success(&outcomes)?,
        random_return: mean_return(&random)?,
    })
}

/// Plays nominal episodes on all cores, in order of their seeds.
fn play(
    env: &dyn Env,
    policy: &dyn Policy,
    seed: Seed,
    n: usize,
    context: &Context,
    what: &str,
) -> Result<Vec<Outcome>> {
    let bar = context.task(n, what);
    let trial = Trial::new(env, policy);
    let jobs = parallel::jobs_for(env, context.jobs);
    parallel::map(jobs, n, &bar, |i| {
        let outcome = trial.outcome(seed.child(i));
        // A robot that stopped says nothing of the policy.
        env.health().map(|()| outcome).map_err(|why| anyhow!("{what}, episode {i}: {why}"))
    })
}

fn mean_return(outcomes: &[Outcome]) -> Result<Estimate> {
    let returns: Vec<f64> = outcomes.iter().map(|o| o.total_reward).collect();
    Ok(student_t(&returns, Level::P95)?)
}

fn success(outcomes: &[Outcome]) -> Result<Option<Estimate>> {
    let verdicts: Option<Vec<bool>> = outcomes.iter().map(|o| o.success).collect();
    let count = |v: Vec<bool>| clopper_pearson(v.iter().filter(|&&s| s).count(), v.len(), Level::P95);
    Ok(verdicts.map(count).transpose()?)
}
