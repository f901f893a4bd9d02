//! What is drawn for each episode (`--randomise`, `--parameter-table`), and by what one fails (`--below`, `--stl`).

use clap::Args;
use offnominal_engine::scenario::ScenarioRequest;
use offnominal_stats::stl::Formula;
use std::path::PathBuf;

/// Parameters that are drawn for each episode.
#[derive(Debug, Clone, Default, Args)]
pub struct Randomise {
    /// Draw these parameters of the environment for each episode, around their nominal values; `limbs` for all sizes
    /// of a body, `NAME=S` for a standard deviation S in the parameter's own unit
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub randomise: Vec<String>,
    /// Their standard deviation, relative to the nominal values [default: 0.1]
    #[arg(long, value_name = "S", requires = "randomise")]
    pub sigma: Option<f64>,
    /// Take the parameters of each episode from a row of this table instead, such as the bodies.csv of `shift`
    #[arg(long, value_name = "FILE", conflicts_with = "randomise")]
    pub parameter_table: Option<PathBuf>,
    /// Draw parameters and initial conditions from the distributions of this file instead (docs/risk.md)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["randomise", "parameter_table"])]
    pub distribution: Option<PathBuf>,
}

/// What is drawn for each episode, and by what one fails.
#[derive(Debug, Clone, Default, Args)]
pub struct ScenarioArgs {
    #[command(flatten)]
    pub randomise: Randomise,
    /// An episode fails if and only if its return is below this
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub below: Option<f64>,
    /// An episode fails if it breaks this formula of signal temporal logic over the channels of the environment, or as
    /// the environment says itself; such as 'always[0, 5] (speed < 3)', times in seconds
    #[arg(long, value_name = "FORMULA", conflicts_with = "below")]
    pub stl: Option<Formula>,
}

impl Randomise {
    /// The options as a request.
    pub fn request(&self) -> ScenarioRequest {
        let usual = ScenarioRequest::default();
        ScenarioRequest {
            parameters: self.randomise.clone(),
            sigma: self.sigma.unwrap_or(usual.sigma),
            table: self.parameter_table.clone(),
            distribution: self.distribution.clone(),
            ..usual
        }
    }
}

impl ScenarioArgs {
    /// The options as a request.
    pub fn request(&self) -> ScenarioRequest {
        ScenarioRequest { below: self.below, stl: self.stl.clone(), ..self.randomise.request() }
    }
}
