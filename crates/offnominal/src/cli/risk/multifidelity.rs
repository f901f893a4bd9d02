//! `risk multifidelity`: how often a policy fails in a dear simulator, helped by a cheap one.

use crate::cli::risk::print;
use crate::cli::terminal::say;
use crate::cli::{Common, Outcome};
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_risk::multifidelity::{self, Request};
use offnominal_risk::request;
use std::collections::BTreeMap;

/// Arguments of `risk multifidelity`.
#[derive(Debug, Args)]
pub struct MultifidelityArgs {
    /// The dear environment, in which the failure probability is wanted (see `list envs`), with `?noise=LEVEL` for nominal
    /// noise, or `gymnasium:ID`
    #[arg(long, value_name = "DEAR")]
    env: String,
    /// The cheap environment, which has the same channels and initial conditions
    #[arg(long, value_name = "ENV")]
    cheap: String,
    /// `tqc` for the one shipped with the dear environment, a name of `list policies`, the file of a policy of this program
    /// or another library, `module:name` of Python, `command:COMMAND`, or `random`
    #[arg(long)]
    policy: String,
    /// A parameter of the dear environment that differs from nominal, in all episodes; can be repeated
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = parameter, allow_hyphen_values = true)]
    parameters: Vec<(String, f64)>,
    /// A parameter of the cheap environment that differs from nominal, in all episodes; can be repeated
    #[arg(long = "cheap-parameter", value_name = "NAME=VALUE", value_parser = parameter, allow_hyphen_values = true)]
    cheap_parameters: Vec<(String, f64)>,
    /// Fresh cheap episodes per dear one, beside the one that begins as it does
    #[arg(long, value_name = "K", default_value_t = multifidelity::per_dear())]
    per_dear: u64,
    /// Pairs, and so dear episodes, after which it ends; a run in the output folder is continued to so many
    #[arg(long, default_value_t = multifidelity::episodes())]
    episodes: u64,
    /// Stop as soon as the interval is at most so wide, from end to end
    #[arg(long, value_name = "W", conflicts_with = "max_risk")]
    width: Option<f64>,
    /// Largest acceptable failure probability: stop as soon as the interval lies below or above it; if it is not shown to be
    /// below, the exit code is 1
    #[arg(long, value_name = "P")]
    max_risk: Option<f64>,
    /// Pairs between two looks
    #[arg(long, value_name = "PAIRS", default_value_t = multifidelity::block())]
    block: u64,
    /// Confidence level of each interval, which holds at every number of pairs
    #[arg(long, default_value_t = request::level())]
    level: f64,
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

impl MultifidelityArgs {
    /// Plays pairs until it is enough, writes and prints what they show.
    ///
    /// # Errors
    /// If environments or policy cannot be had, the environments do not belong together, a setting is out of its range, or
    /// a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request {
            env: common.environment(&self.env)?,
            cheap: common.environment(&self.cheap)?,
            policy: self.policy.clone(),
            parameters: by_name("parameter", &self.parameters)?,
            cheap_parameters: by_name("cheap-parameter", &self.cheap_parameters)?,
            per_dear: self.per_dear,
            episodes: self.episodes,
            width: self.width,
            max_risk: self.max_risk,
            block: self.block,
            level: self.level,
            out: Some(common.out_or("risk-multifidelity")),
            command: Some(self.command(common)),
        };
        let report = multifidelity::run(&request, &common.context())?;
        print(common, &report)?;
        let Some(why) = report.unacceptable() else { return Ok(Outcome::Done) };
        say(format!("not acceptable: {why}"));
        Ok(Outcome::NotAcceptable)
    }

    /// The command that makes the same result.
    fn command(&self, common: &Common) -> String {
        let Self { env, cheap, policy, per_dear, episodes, block, level, .. } = self;
        let mut words =
            vec![format!("offnominal risk multifidelity --env {env} --cheap {cheap} --policy {policy}")];
        words.extend(self.parameters.iter().map(|(name, value)| format!("--parameter {name}={value}")));
        words.extend(
            self.cheap_parameters.iter().map(|(name, value)| format!("--cheap-parameter {name}={value}")),
        );
        words.push(format!("--per-dear {per_dear} --episodes {episodes}"));
        words.extend(self.width.map(|width| format!("--width {width}")));
        words.extend(self.max_risk.map(|most| format!("--max-risk {most}")));
        words.extend(common.words());
        words.push(format!("--block {block} --level {level} --seed {}", common.seed));
        words.join(" ")
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
