//! `evaluate`: return and success rate of a policy, with intervals.

use crate::cli::randomise::Randomise;
use crate::cli::robot::RobotArg;
use crate::cli::{Common, Outcome};
use anyhow::{Context, Result, ensure};
use clap::Args;
use offnominal_agents::Card;
use offnominal_core::estimate::Estimate;
use offnominal_engine::catalogues;
use offnominal_engine::evaluation::{self, Evaluation};
use offnominal_engine::policies::{self, Found};
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Arguments of `evaluate`.
#[derive(Debug, Args)]
pub struct Evaluate {
    /// Environment id (see `list envs`), or `gymnasium:ID` for any environment of Gymnasium
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, the path of a file, or `random`
    #[arg(long)]
    policy: String,
    #[command(flatten)]
    robot: RobotArg,
    #[command(flatten)]
    randomise: Randomise,
    /// Number of episodes, 2 to 1000000
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    episodes: u32,
    /// Least acceptable mean return: if the lower end of its interval is below it, the exit code is 1
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    min_return: Option<f64>,
    /// Least acceptable success rate: if the lower end of its interval is below it, the exit code is 1
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    min_success: Option<f64>,
    /// Also write the numbers into the card beside the policy's file; the episodes are then those of the card's own seed
    #[arg(long)]
    card: bool,
}

impl Evaluate {
    /// Plays the episodes and prints the estimates.
    ///
    /// # Errors
    /// If the environment or the policy cannot be had, or there are fewer than two episodes.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        self.check()?;
        let env = catalogues::environment(&self.env, self.robot.host())?;
        let Found { policy, card, .. } = policies::find(&self.policy, env.as_ref())?;
        let env = match self.randomise.request().resolve(env.spec())? {
            Some(change) => change.apply(env)?,
            None => env,
        };
        let card = self.card.then(|| self.card_of(card)).transpose()?;
        let seed = card.as_ref().map_or(common.seed, |card| Card::evaluation_seed(card.seed));
        let common = &Common { seed, ..common.clone() };
        let found =
            evaluation::evaluate(env.as_ref(), policy.as_ref(), self.episodes as usize, &common.context())?;
        self.print(&found, common.json)?;
        let refusals = self.refusals(&found);
        for refusal in &refusals {
            eprintln!("not acceptable: {refusal}");
        }
        if let Some(card) = card {
            policies::write_card(&found.onto(card), Path::new(&self.policy))?;
        }
        Ok(if refusals.is_empty() { Outcome::Done } else { Outcome::NotAcceptable })
    }

    /// The card to be written, which must lie beside a file.
    fn card_of(&self, card: Option<Card>) -> Result<Card> {
        let is_file = Path::new(&self.policy).is_file();
        ensure!(is_file, "--card: expected the path of a policy file, found {:?}", self.policy);
        card.with_context(|| format!("--card: {} has no card beside it", self.policy))
    }

    fn check(&self) -> Result<()> {
        let as_it_is = self.randomise.words().is_empty() || !self.card;
        ensure!(
            as_it_is,
            "--card: expected no --randomise and no --parameter-table, as cards describe the nominal environment"
        );
        ensure!(self.min_return.is_none_or(f64::is_finite), "--min-return: expected a finite number");
        let is_share = |p: f64| (0.0..=1.0).contains(&p);
        ensure!(self.min_success.is_none_or(is_share), "--min-success: expected a number from 0 to 1");
        Ok(())
    }

    /// The requirements that are not met: one is met only if the whole interval meets it.
    fn refusals(&self, found: &Evaluation) -> Vec<String> {
        let success = found.success.as_ref();
        let checks =
            [("return", self.min_return, Some(&found.total_reward)), ("success", self.min_success, success)];
        let refusal = |(what, least, found): (&str, Option<f64>, Option<&Estimate>)| {
            let least = least?;
            match found {
                Some(e) if e.low >= least => None,
                Some(e) => {
                    Some(format!("{what}: expected at least {least}, found {e:.3} ({} episodes)", e.n))
                }
                None => Some(format!("{what}: this environment does not define it")),
            }
        };
        checks.into_iter().filter_map(refusal).collect()
    }

    fn print(&self, found: &Evaluation, as_json: bool) -> Result<()> {
        let mut out = std::io::stdout().lock();
        if as_json {
            let value = json!({
                "env": self.env,
                "policy": self.policy,
                "episodes": self.episodes,
                "return": found.total_reward,
                "success": found.success,
                "random_return": found.random_return,
            });
            writeln!(out, "{value:#}")?;
            return Ok(());
        }
        let (env, words) = (&self.env, self.randomise.words());
        writeln!(out, "{} in {env}{words}, {} episodes, 95 % intervals", self.policy, self.episodes)?;
        writeln!(out, "  return         {:.2}", found.total_reward)?;
        match &found.success {
            Some(success) => writeln!(out, "  success        {success:.3}")?,
            None => writeln!(out, "  success        not defined by this environment")?,
        }
        writeln!(out, "  random return  {:.2}", found.random_return)?;
        Ok(())
    }
}
