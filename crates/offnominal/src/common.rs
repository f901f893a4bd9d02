//! The settings that all work shares: seed, threads, output folder, and how much is said.

use clap::{Arg, ArgMatches, Args};
use std::path::PathBuf;

/// Options that mean the same in every command that has them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// Seed of everything random; the same seed gives the same bits
    #[arg(long, global = true, default_value_t = 0)]
    pub seed: u64,
    /// Worker threads, 1 to 1024 [default: all cores]
    #[arg(long, global = true, value_parser = jobs, default_value_t = crate::parallel::default_jobs(), hide_default_value = true)]
    pub jobs: usize,
    /// Folder for everything that is written [default: one for the command under runs/]
    #[arg(long, global = true, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON value on standard output, and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// No progress on standard error
    #[arg(long, global = true)]
    pub quiet: bool,
}

fn jobs(text: &str) -> Result<usize, String> {
    let n = text.parse().map_err(|_| format!("expected a whole number, found {text:?}"))?;
    if (1..=1024).contains(&n) { Ok(n) } else { Err(format!("expected 1 to 1024 threads, found {n}")) }
}

impl Common {
    /// The options as a command offers them, but for those that it has no use for.
    pub fn options(unused: &[&str]) -> Vec<Arg> {
        let all = Common::augment_args(clap::Command::new("common"));
        all.get_arguments().filter(|option| !unused.contains(&option.get_id().as_str())).cloned().collect()
    }

    /// The settings from a command's matches; what the command does not offer has its default.
    pub fn read(matches: &ArgMatches) -> Common {
        Common {
            seed: value(matches, "seed").unwrap_or_default(),
            jobs: value(matches, "jobs").unwrap_or_else(crate::parallel::default_jobs),
            out: value(matches, "out"),
            json: value(matches, "json").unwrap_or_default(),
            quiet: value(matches, "quiet").unwrap_or_default(),
        }
    }

    /// The output folder, or `runs/<command>`.
    pub fn out_or(&self, command: &str) -> PathBuf {
        self.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(command))
    }
}

/// The value of an option; none too if the command does not offer it.
fn value<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, option: &str) -> Option<T> {
    matches.try_get_one(option).ok().flatten().cloned()
}
