//! `risk replay`: a failure once more.

use crate::cli::risk::print;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::replay::{self, Request};
use std::path::PathBuf;

/// Arguments of `risk replay`.
#[derive(Debug, Args)]
pub struct Replay {
    /// Folder of a `risk estimate` or a `risk stress`
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Number of the failure, as the report names it
    #[arg(long, default_value_t = 0, value_name = "N")]
    failure: usize,
    /// The policy, where it is not to be found under the name it had
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,
    /// Width and height of the images in pixels
    #[arg(long, default_value_t = replay::size())]
    size: usize,
}

impl Replay {
    /// Plays the episode, writes its video and last image where the environment has a camera, and says how it ended.
    ///
    /// # Errors
    /// If the run or the policy cannot be read, there is no such failure, or it does not fail again.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let inside = || self.run.join(format!("failure-{}", self.failure));
        let request = Request {
            run: self.run.clone(),
            failure: self.failure,
            policy: self.policy.clone(),
            size: self.size,
            out: Some(common.out.clone().unwrap_or_else(inside)),
        };
        print(common, &replay::run(&request, &common.context())?)
    }
}
