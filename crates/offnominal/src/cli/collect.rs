//! `collect`: plays episodes and stores them as one Arrow file.

use crate::cli::anomaly_request::AnomalyArgs;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_engine::collect::{self, Request};

/// Arguments of `collect`.
#[derive(Debug, Args)]
pub struct Collect {
    /// Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID` for any environment of
    /// Gymnasium
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, the file of a policy of this program or
    /// another library, `module:name` of Python, `command:COMMAND`, or `random`
    #[arg(long)]
    policy: String,
    /// Number of episodes; with an anomaly each is followed by its nominal twin. A dataset that is there already is
    /// extended to so many, with the same bits as if it had been made at once; it is never replaced
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(collect::MAX_EPISODES)))]
    episodes: u32,
    /// Address of the robot, for environments of robots; it moves! [default: a simulated robot in this process]
    #[arg(long, value_name = "HOST")]
    robot: Option<String>,
    // Last, for the heading of its options would hold for those behind it.
    #[command(flatten)]
    anomaly: AnomalyArgs,
}

impl Collect {
    /// Plays the episodes, stores them, and prints where.
    ///
    /// # Errors
    /// If the environment, the policy or the anomaly cannot be had, or the file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Collect { env, policy, episodes, robot, anomaly } = self;
        let (env, out) = (common.environment(&env)?, common.out_or("collect"));
        let request = Request { env, policy, episodes, robot, anomaly: anomaly.request(), out };
        common.print(&collect::run(&request, &common.context())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        collect: Collect,
    }

    fn parsed(args: &str) -> Result<Collect, clap::Error> {
        let fixed = ["collect", "--env", "sap-goal1", "--policy", "random"];
        Line::try_parse_from(fixed.into_iter().chain(args.split_whitespace())).map(|line| line.collect)
    }

    #[test]
    fn the_number_of_episodes_is_limited() {
        assert!(parsed("--episodes 1").is_ok() && parsed("--episodes 1000000").is_ok());
        assert!(parsed("--episodes 0").is_err() && parsed("--episodes 1000001").is_err());
    }
}
