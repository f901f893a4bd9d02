//! Options of `risk estimate` for a cheap environment whose episodes help.

use crate::cli::Common;
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_risk::estimate::{self, Request};
use std::collections::BTreeMap;

/// A cheap environment, and what pairs with it are.
#[derive(Debug, Args)]
pub struct CheapArgs {
    /// A cheap environment with the same channels and initial conditions as --env, the dear one: pairs of episodes in both,
    /// and fresh ones in the cheap one, need fewer dear episodes
    #[arg(long, value_name = "ENV")]
    cheap: Option<String>,
    /// A parameter of the dear environment that differs from nominal, in all episodes; can be repeated
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = parameter, allow_hyphen_values = true, requires = "cheap")]
    parameters: Vec<(String, f64)>,
    /// A parameter of the cheap environment that differs from nominal, in all episodes; can be repeated
    #[arg(long = "cheap-parameter", value_name = "NAME=VALUE", value_parser = parameter, allow_hyphen_values = true, requires = "cheap")]
    cheap_parameters: Vec<(String, f64)>,
    /// Fresh cheap episodes per dear one, beside the one that begins as it does
    #[arg(long, value_name = "K", default_value_t = estimate::per_dear(), requires = "cheap")]
    per_dear: u64,
    /// Pairs between two looks
    #[arg(long, value_name = "PAIRS", default_value_t = estimate::block(), requires = "cheap")]
    block: u64,
}

fn parameter(text: &str) -> Result<(String, f64), String> {
    let found = text.split_once('=').and_then(|(name, value)| Some((name.into(), value.parse().ok()?)));
    found.ok_or_else(|| "expected a name and a number with = between, such as friction=0.8".into())
}

/// Parameters by name.
fn by_name(option: &str, given: &[(String, f64)]) -> Result<BTreeMap<String, f64>> {
    let all: BTreeMap<String, f64> = given.iter().cloned().collect();
    ensure!(all.len() == given.len(), "{option}: expected each parameter once, found one twice");
    Ok(all)
}

impl CheapArgs {
    /// Adds them to a request.
    ///
    /// # Errors
    /// If the environment cannot be had, or a parameter is given twice.
    pub fn add_to(&self, request: Request, common: &Common) -> Result<Request> {
        Ok(Request {
            cheap: self.cheap.as_deref().map(|cheap| common.environment(cheap)).transpose()?,
            parameters: by_name("parameter", &self.parameters)?,
            cheap_parameters: by_name("cheap-parameter", &self.cheap_parameters)?,
            per_dear: self.per_dear,
            block: self.block,
            ..request
        })
    }

    /// The words that say the same.
    pub fn words(&self) -> Vec<String> {
        let Some(cheap) = &self.cheap else { return vec![] };
        let each = |option: &str, given: &[(String, f64)]| -> Vec<String> {
            given.iter().map(|(name, value)| format!("--{option} {name}={value}")).collect()
        };
        let mut words = vec![format!("--cheap {cheap}")];
        words.extend(each("parameter", &self.parameters));
        words.extend(each("cheap-parameter", &self.cheap_parameters));
        words.push(format!("--per-dear {} --block {}", self.per_dear, self.block));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_a_name_and_a_number() {
        assert_eq!(parameter("friction=-0.5"), Ok(("friction".into(), -0.5)));
        assert!(parameter("friction").is_err() && parameter("friction=much").is_err());
        let twice = [("a".into(), 1.0), ("a".into(), 2.0)];
        assert!(by_name("parameter", &twice).is_err() && by_name("parameter", &twice[..1]).is_ok());
    }
}
