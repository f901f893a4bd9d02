//! `--randomise`, `--sigma` and `--parameter-table`: parameters that are drawn for each episode (domain randomisation).

use clap::Args;
use offnominal_engine::randomisation::RandomisationRequest;
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
}

/// The return that is a failure.
#[derive(Debug, Clone, Default, Args)]
pub struct Below {
    #[command(flatten)]
    pub randomise: Randomise,
    /// With --randomise or --parameter-table: an episode fails if and only if its return is below this
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub below: Option<f64>,
}

impl Randomise {
    /// The options as a request.
    pub fn request(&self) -> RandomisationRequest {
        let usual = RandomisationRequest::default();
        RandomisationRequest {
            parameters: self.randomise.clone(),
            sigma: self.sigma.unwrap_or(usual.sigma),
            table: self.parameter_table.clone(),
            below: None,
        }
    }
}

impl Below {
    /// The options as a request.
    pub fn request(&self) -> RandomisationRequest {
        RandomisationRequest { below: self.below, ..self.randomise.request() }
    }
}
