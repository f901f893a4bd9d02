//! `evaluate`: return and success rate of a policy, with intervals.

use crate::cli::scenario::ScenarioArgs;
use crate::cli::terminal::say;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_engine::evaluation::{self, Request, run};

/// Arguments of `evaluate`.
#[derive(Debug, Args)]
pub struct Evaluate {
    /// Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID` for any environment of
    /// Gymnasium
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, the file of a policy of this program or
    /// another library, `module:name` of Python, `command:COMMAND`, or `random`
    #[arg(long)]
    policy: String,
    /// Address of the robot, for environments of robots; it moves! [default: a simulated robot in this process]
    #[arg(long, value_name = "HOST")]
    robot: Option<String>,
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Number of episodes, 2 to 1000000
    #[arg(long, default_value_t = evaluation::episodes(), value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
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
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Evaluate { env, policy, robot, scenario, episodes, min_return, min_success, card } = self;
        let (env, scenario) = (common.environment(&env)?, scenario.request());
        let request = Request { env, policy, robot, scenario, episodes, min_return, min_success, card };
        let found = run(&request, &common.context())?;
        common.print(&found)?;
        found.refusals.iter().for_each(|refusal| say(format!("not acceptable: {refusal}")));
        Ok(if found.refusals.is_empty() { Outcome::Done } else { Outcome::NotAcceptable })
    }
}
