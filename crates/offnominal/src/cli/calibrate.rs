//! `calibrate`: the magnitudes at which an anomaly costs a policy 1, 10, 25 and 50 % of its score.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_bench::calibrate::{Request, run};
use std::path::PathBuf;

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
pub struct Calibrate {
    /// Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID` for any environment of
    /// Gymnasium
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, or the file of a policy of this program
    /// or another library
    #[arg(long, default_value_t = Request::default().policy)]
    policy: String,
    /// Anomalies to calibrate, with commas between [default: all that apply to the environment]
    #[arg(long = "anomaly", value_name = "A,…", value_delimiter = ',')]
    anomalies: Vec<String>,
    /// Nominal episodes, and the most that are played at one magnitude
    #[arg(long, default_value_t = Request::default().episodes)]
    episodes: usize,
    /// Most episodes for one anomaly in one direction
    #[arg(long, default_value_t = Request::default().budget)]
    budget: usize,
    /// Half-width aimed at for a score's 95 % interval, as a share of 1 − target
    #[arg(long, default_value_t = Request::default().tolerance, allow_negative_numbers = true)]
    tolerance: f64,
    /// Half-width of that interval up to which a magnitude is used, as a share of 1 − target; else it is `imprecise`
    #[arg(long, default_value_t = Request::default().precision, allow_negative_numbers = true)]
    precision: f64,
    /// The camera faults instead, by what they leave of the images' structural similarity to clean ones
    #[arg(long, conflicts_with_all = ["anomalies", "at"])]
    cameras: bool,
    /// Width and height of the camera's images
    #[arg(long, default_value_t = Request::default().images, requires = "cameras", value_parser = clap::value_parser!(u16).range(16..=1024))]
    images: u16,
    /// Search nothing: score the policy at the magnitudes of a table, in `--episodes` episodes each
    #[arg(long, value_name = "FILE.csv", conflicts_with = "anomalies")]
    at: Option<PathBuf>,
}

impl Calibrate {
    /// Finds the magnitudes, prints the table and writes `<out>/<env>.csv`.
    ///
    /// # Errors
    /// If a name is wrong, the policy is not better than the random one, or a file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Calibrate { env, policy, anomalies, episodes, budget, tolerance, precision, cameras, images, at } =
            self;
        let env = common.environment(&env)?;
        let out = common.out_or("calibrate");
        let request = Request {
            env,
            policy,
            anomalies,
            episodes,
            budget,
            tolerance,
            precision,
            cameras,
            images,
            at,
            out,
        };
        common.print_in_order(&run(&request, &common.context())?)
    }
}
