//! `shift`: policies on bodies that they do not know, and whether their return gap can be predicted.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_shift::{Request, run};
use offnominal_worlds::env::body::{Fall, Mass, Reading};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::PathBuf;

/// Arguments of `shift`.
#[derive(Debug, Args)]
pub struct Shift {
    /// Environment: hopper, walker, ant, half-cheetah-m
    #[arg(long)]
    env: String,
    /// Folder or zip archive with policies named ENV-ALGORITHM-SEED.safetensors, or one policy [default: the shipped
    /// ones]
    #[arg(long = "policy", value_name = "PATH")]
    policies: Option<PathBuf>,
    /// Policies that were trained on such bodies (`train --parameter-table`), or toplines.parquet of another run, for
    /// figure 5
    #[arg(long, value_name = "PATH")]
    toplines: Option<PathBuf>,
    /// Spreads of the bodies, relative to the nominal one
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = Request::default().sigma)]
    sigma: Vec<f64>,
    /// Bodies of each spread
    #[arg(long, default_value_t = Request::default().bodies)]
    bodies: usize,
    /// Steps of each policy on each body
    #[arg(long, default_value_t = Request::default().steps)]
    steps: usize,
    /// What is drawn: limbs, mass, ground-friction, motor-strength
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = Request::default().randomise)]
    randomise: Vec<String>,
    /// What the numbers of lengths mean: true, or paper-literal (the publication's tables as they stand)
    #[arg(long, value_parser = word::<Reading>, default_value = "true")]
    reading: Reading,
    /// What becomes of the mass: by-volume, or fixed-total
    #[arg(long, value_parser = word::<Mass>, default_value = "by-volume")]
    mass: Mass,
    /// What the fall test compares with: relative (the body's own height) or absolute (the nominal body's)
    #[arg(long, value_parser = word::<Fall>, default_value = "relative")]
    fall: Fall,
    /// Runs of each policy on the nominal body from which the internal models learn
    #[arg(long, default_value_t = Request::default().nominal_runs)]
    nominal_runs: usize,
    /// Gradient steps of the internal models
    #[arg(long, default_value_t = Request::default().updates)]
    updates: u64,
    /// Detectors whose scores are set against the return gap
    #[arg(long = "detector", value_name = "D,…", value_delimiter = ',', default_values_t = Request::default().detectors)]
    detectors: Vec<String>,
}

/// Reads one of the words of an option.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(Value::from(text)).map_err(|e| e.to_string())
}

impl Shift {
    /// Plays what is not finished, writes tables and page, and prints the answer.
    ///
    /// # Errors
    /// If an option makes no sense, a policy cannot be read, or a file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let found = run(&self.request(common), &common.context())?;
        if common.json {
            return common.print_text(Common::as_json(&found)?);
        }
        let (n, secs, page) = (found.policies, found.wall_secs, found.report.display());
        common.print_text(format!(
            "{}\n{n} policies, {} cells played in {secs:.0} s; {page}",
            found.summary, found.ran
        ))
    }

    fn request(self, common: &Common) -> Request {
        Request {
            env: self.env,
            policies: self.policies,
            toplines: self.toplines,
            sigma: self.sigma,
            bodies: self.bodies,
            steps: self.steps,
            randomise: self.randomise,
            reading: self.reading,
            mass: self.mass,
            fall: self.fall,
            nominal_runs: self.nominal_runs,
            updates: self.updates,
            detectors: self.detectors,
            out: common.out.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        shift: Shift,
        #[command(flatten)]
        common: Common,
    }

    #[test]
    fn defaults_are_those_of_the_library() {
        let Line { shift, common } = Line::parse_from(["shift", "--env", "ant"]);
        assert_eq!(shift.request(&common), Request { env: "ant".into(), ..Request::default() });
    }
}
