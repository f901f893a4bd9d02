//! Measuring a policy in its undisturbed environment.

use crate::alike;
use crate::context::Context;
use crate::diverged::Diverged;
use crate::request::within;
use crate::request::{EnvId, POLICY, ROBOT};
use crate::scenario::ScenarioRequest;
use crate::subject::{Subject, health};
use crate::{parallel, policies, provenance, stop};
use anyhow::{Context as _, Result, anyhow, ensure};
use clap::Args;
use offnominal_agents::Card;
use offnominal_core::episode::Outcome;
use offnominal_core::limits::EPISODES;
use offnominal_core::policy::Random;
use offnominal_core::prelude::*;
use offnominal_files::dataset::PolicyName;
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use offnominal_stats::proportion::clopper_pearson;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

/// What to measure; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// The policy.
    #[arg(long, help = POLICY)]
    pub policy: String,
    /// The address of the robot.
    #[arg(long, value_name = "HOST", help = ROBOT)]
    pub robot: Option<String>,
    /// Number of episodes, 2 to 1000000
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub episodes: u32,
    /// Least acceptable mean return; exit code 1 if not shown
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub min_return: Option<f64>,
    /// Least acceptable success rate; exit code 1 if not shown
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub min_success: Option<f64>,
    /// Also update return and success of the policy's card, with the card's own seed
    #[arg(long)]
    pub card: bool,
    /// What is drawn for each episode, and by what one fails.
    #[command(flatten)]
    pub scenario: ScenarioRequest,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The environment.
    pub env: String,
    /// The policy.
    pub policy: String,
    /// Number of episodes.
    pub episodes: u32,
    /// Those of them that have no outcome, and are in no number.
    pub diverged: Diverged,
    /// The same of the episodes of the random policy.
    pub random_diverged: Diverged,
    /// Versions of what played the episodes.
    pub versions: BTreeMap<String, String>,
    /// The numbers.
    #[serde(flatten)]
    pub found: Evaluation,
    /// What is wrong with the episodes, if all are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<String>,
    /// The options of the parameters that were drawn, in words.
    #[serde(skip)]
    pub drawn: String,
    /// The requirements that are not met.
    #[serde(skip)]
    pub refusals: Vec<String>,
}

/// What nominal episodes say of a policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Mean undiscounted return, with Student's interval.
    #[serde(rename = "return")]
    pub total_reward: Estimate,
    /// Success rate with the exact binomial interval; `None` where the environment defines no success.
    pub success: Option<Estimate>,
    /// Mean return of the random policy in the same number of episodes.
    pub random_return: Estimate,
}

/// Plays the episodes, and judges the numbers by what is asked of them.
///
/// # Errors
/// If the environment or the policy cannot be had, or a number of the request makes no sense.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    within("episodes", request.episodes as usize, 0..=EPISODES)?;
    request.check()?;
    let subject = Subject::on(&request.env, request.robot.as_deref(), &request.policy)?;
    let card = request.card.then(|| request.card_of(subject.card.clone())).transpose()?;
    let scenario = request.scenario.resolve(subject.env.spec())?;
    let subject = subject.under(scenario)?;
    let seed = card.as_ref().map_or(context.seed, |card| Card::evaluation_seed(card.seed));
    let (env, policy) = (subject.env.as_ref(), subject.policy.as_ref());
    let (found, [diverged, random_diverged]) =
        evaluate(env, policy, request.episodes as usize, &context.with_seed(seed))?;
    if let Some(card) = card {
        diverged.at_most(context.allow_diverged).context("card")?;
        policies::write_card(&found.clone().onto(card), Path::new(&request.policy))?;
    }
    let copies = alike::copies(&subject, context)?;
    let doubts = diverged.beyond(context.allow_diverged).into_iter().chain(copies.clone());
    Ok(Report {
        env: request.env.to_string(),
        policy: PolicyName { id: request.policy.clone(), ..subject.name.clone() }.label(),
        versions: provenance::versions(env.spec(), &subject.name),
        episodes: request.episodes,
        drawn: request.scenario.words(),
        refusals: request.refusals(&found, doubts),
        copies,
        diverged,
        random_diverged,
        found,
    })
}

impl Request {
    fn check(&self) -> Result<()> {
        ensure!(
            !self.card || self.scenario.words().is_empty(),
            "card: expected no --randomise and no --parameter-table, as cards describe the nominal environment"
        );
        ensure!(self.min_return.is_none_or(f64::is_finite), "min-return: expected a finite number");
        let is_share = |p: f64| (0.0..=1.0).contains(&p);
        ensure!(self.min_success.is_none_or(is_share), "min-success: expected a number from 0 to 1");
        Ok(())
    }

    /// The card to be written, which must lie beside a file.
    fn card_of(&self, card: Option<Card>) -> Result<Card> {
        let is_file = Path::new(&self.policy).is_file();
        ensure!(is_file, "card: expected the path of a policy file, found {:?}", self.policy);
        card.with_context(|| format!("card: {} has no card beside it", self.policy))
    }

    /// The requirements that are not met: one is met only if the whole interval meets it, it is finite, and no more
    /// episodes are without an outcome than is allowed. Episodes that are doubted show nothing.
    fn refusals(&self, found: &Evaluation, doubts: impl Iterator<Item = String>) -> Vec<String> {
        let success = found.success.as_ref();
        let checks =
            [("return", self.min_return, Some(&found.total_reward)), ("success", self.min_success, success)];
        let refusal = |(what, least, found): (&str, Option<f64>, Option<&Estimate>)| {
            let least = least?;
            match found {
                Some(e) if e.is_finite() && e.low >= least => None,
                Some(e) => {
                    Some(format!("{what}: expected at least {least}, found {e:.3} ({} episodes)", e.n))
                }
                None => Some(format!("{what}: this environment does not define it")),
            }
        };
        let refused = checks.into_iter().filter_map(refusal);
        let is_gated = self.min_return.is_some() || self.min_success.is_some();
        doubts.filter(|_| is_gated).chain(refused).collect()
    }
}

impl Display for Report {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Report { env, policy, episodes, diverged, random_diverged, found, drawn, .. } = self;
        writeln!(out, "{policy} in {env}{drawn}, {episodes} episodes, 95 % intervals")?;
        let conditions = ["failure", "policy"].iter().filter_map(|what| self.versions.get(*what));
        conditions.into_iter().try_for_each(|said| writeln!(out, "  {said}"))?;
        if diverged.episodes > 0 {
            writeln!(out, "  {diverged}; the numbers are of the others")?;
        }
        self.copies.iter().try_for_each(|why| writeln!(out, "  {why}"))?;
        writeln!(out, "  return         {:.2}", found.total_reward)?;
        match &found.success {
            Some(success) => writeln!(out, "  success        {success:.3}")?,
            None => writeln!(out, "  success        not defined by this environment")?,
        }
        writeln!(out, "  random return  {:.2}", found.random_return)?;
        if random_diverged.episodes > 0 {
            writeln!(out, "  of the random policy, {random_diverged}")?;
        }
        Ok(())
    }
}

impl Evaluation {
    /// The card with these numbers. The return of the random policy stays: strengths were calibrated with it.
    pub fn onto(self, card: Card) -> Card {
        let Evaluation { total_reward: mean_return, success: success_rate, .. } = self;
        Card { mean_return, success_rate, ..card }
    }
}

/// Plays `n` nominal episodes of the policy, and as many of the random policy; also says how many of each have no outcome
/// and are in no number.
///
/// # Errors
/// If fewer than two episodes are asked for, or have an outcome: one says nothing of the spread.
pub fn evaluate(
    env: &dyn Env,
    policy: &dyn Policy,
    n: usize,
    context: &Context,
) -> Result<(Evaluation, [Diverged; 2])> {
    ensure!(n >= 2, "expected at least 2 episodes, found {n}");
    let seed = Seed(context.seed).child("evaluate");
    let (outcomes, diverged) = sound(env, play(env, policy, seed, n, context, "policy")?, "policy")?;
    note_ends_at_once(env, &outcomes, context);
    let random = Random::new(&env.spec().action);
    let random = play(env, &random, seed, n, context, "random policy")?;
    let (random, random_diverged) = sound(env, random, "random policy")?;
    let found = Evaluation {
        total_reward: mean_return(&outcomes)?,
        success: success(&outcomes)?,
        random_return: mean_return(&random)?,
    };
    Ok((found, [diverged, random_diverged]))
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
    let trial = Trial { stop: stop::is_requested, ..Trial::new(env, policy) };
    let jobs = parallel::jobs_for(env, context.jobs);
    parallel::map(jobs, n, &bar, |i| {
        let outcome = trial.outcome(seed.child(i));
        // A robot that stopped says nothing of the policy, and neither does a process of a policy that ended.
        health(env, policy).map(|()| outcome).map_err(|why| anyhow!("{what}, episode {i}: {why}"))
    })
}

/// The episodes that have an outcome, and how many have none.
fn sound(env: &dyn Env, outcomes: Vec<Outcome>, what: &str) -> Result<(Vec<Outcome>, Diverged)> {
    let diverged = Diverged::of_outcomes(env.spec(), &outcomes);
    let sound: Vec<Outcome> = outcomes.into_iter().filter(|o| o.divergence.is_none()).collect();
    ensure!(
        sound.len() >= 2,
        "{what}, environment {}: {diverged}; expected at least 2 with an outcome",
        env.spec().id
    );
    Ok((sound, diverged))
}

/// Says where no episode goes beyond its first step, which is rarely meant.
fn note_ends_at_once(env: &dyn Env, outcomes: &[Outcome], context: &Context) {
    let spec = env.spec();
    if spec.horizon > 1 && outcomes.iter().all(|outcome| outcome.steps <= 1) {
        context.note(&format!(
            "environment {}: each of {} episodes ends in its first step, of {} that it may have: expected a reset from which \
             the environment goes on",
            spec.id,
            outcomes.len(),
            spec.horizon
        ));
    }
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
