//! `risk sensitivity`: which parts of where an episode begins decide whether it fails.

use crate::cli::risk::print;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::request;
use offnominal_risk::sensitivity::{self, Request};
use std::path::PathBuf;

/// Arguments of `risk sensitivity`.
#[derive(Debug, Args)]
pub struct SensitivityArgs {
    /// Folder of a `risk estimate --method plain`
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The policy, where it is not to be found under the name that it had
    #[arg(long)]
    policy: Option<String>,
    /// How often each failure is played again for each of the two effects of a part
    #[arg(long, value_name = "N", default_value_t = sensitivity::redraws())]
    redraws: u64,
    /// Take each number of an initial condition as a part, in place of all whose names differ in their last number
    #[arg(long)]
    each: bool,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = request::level())]
    level: f64,
}

impl SensitivityArgs {
    /// Plays the failures of the run again, writes and prints what they show.
    ///
    /// # Errors
    /// If the folder holds no such run, it saw no failure, the policy cannot be had, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request {
            run: self.run.clone(),
            policy: self.policy.clone(),
            redraws: self.redraws,
            each: self.each,
            level: self.level,
            out: Some(common.out_or("risk-sensitivity")),
            command: Some(self.command()),
        };
        print(common, &sensitivity::run(&request, &common.context())?)
    }

    /// The command that makes the same result.
    fn command(&self) -> String {
        let policy = self.policy.as_ref().map_or(String::new(), |policy| format!(" --policy {policy}"));
        let each = if self.each { " --each" } else { "" };
        let (run, redraws, level) = (self.run.display(), self.redraws, self.level);
        format!("offnominal risk sensitivity {run}{policy} --redraws {redraws}{each} --level {level}")
    }
}
