//! `pixels frames`: camera frames of an environment as a data set.

use crate::cli::Common;
use crate::cli::anomaly_request::AnomalyArgs;
use crate::cli::pixels::{Outcome, as_text, print};
use anyhow::Result;
use clap::Args;
use offnominal_engine::subject::Subject;
use offnominal_pixels::frames::{Request, run};

/// Arguments of `pixels frames`.
#[derive(Debug, Args)]
pub struct Frames {
    /// Environment id (see `list envs`)
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, the file of a policy of this program or
    /// another library, `module:name` of Python, `command:COMMAND`, or `random`
    #[arg(long)]
    policy: String,
    /// Number of episodes
    #[arg(long, default_value_t = Request::default().episodes, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    episodes: u32,
    /// Steps from one frame to the next
    #[arg(long, default_value_t = Request::default().every, value_name = "STEPS", value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Width and height of the frames in pixels
    #[arg(long, default_value_t = Request::default().size, value_name = "PIXELS", value_parser = clap::value_parser!(u16).range(16..=1024))]
    size: u16,
    /// Classes of the environment that are unknown to a network, such as debris
    #[arg(long, value_name = "CLASS,…", value_delimiter = ',')]
    unknown: Vec<String>,
    // Last, for the heading of its options would hold for those behind it.
    #[command(flatten)]
    anomaly: AnomalyArgs,
}

impl Frames {
    /// Plays the episodes, writes the frames, and prints where they are.
    ///
    /// # Errors
    /// If environment, policy, anomaly or class cannot be had, or the folder exists or cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Frames { env, policy, episodes, every, size, unknown, anomaly } = self;
        let anomaly_spec = Subject::new(&env, &policy)?.anomaly_spec(anomaly.request().as_ref())?;
        let out = common.out_or("frames");
        let request = Request { env, policy, anomaly_spec, episodes, every, size, unknown, out };
        print(&run(&request, &common.context())?, common, as_text)
    }
}
