//! `compare`: two policies on the same seeds, until it is clear whether the new one is better or worse.

use crate::cli::anomaly_request::AnomalyArgs;
use crate::cli::one_of::one_of;
use crate::cli::scenario::ScenarioArgs;
use crate::cli::terminal::say;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::compare::quantity::Quantity;
use offnominal_risk::compare::verdict::Requirement;
use offnominal_risk::compare::{self, Request};
use offnominal_risk::request;
use std::path::PathBuf;

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// The policy that is in use, as for `evaluate --policy`
    old: String,
    /// The policy that is to take its place
    new: String,
    /// Environment id (see `list envs`), with `?noise=LEVEL` for nominal noise, or `gymnasium:ID` for any environment of
    /// Gymnasium
    #[arg(long)]
    env: String,
    /// What decides [default: success where the environment defines it, else return]
    #[arg(long, value_parser = one_of::<Quantity>())]
    metric: Option<Quantity>,
    /// How much worse NEW may be, in the unit of the metric; then `no worse than the margin` is a verdict too
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    margin: Option<f64>,
    /// What must be shown of NEW: if it is not, or another exact interval says that NEW is worse, the exit code is 1, as it
    /// always is where NEW is worse by the metric
    #[arg(long, value_parser = one_of::<Requirement>())]
    require: Option<Requirement>,
    /// Smallest and largest possible return, which make its interval exact
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, allow_hyphen_values = true)]
    return_range: Option<(f64, f64)>,
    /// A monitor's file, as `fit` writes it: the share of episodes in which it raises an alarm is compared too
    #[arg(long, value_name = "FILE")]
    monitor: Option<PathBuf>,
    #[command(flatten)]
    scenario: ScenarioArgs,
    #[command(flatten)]
    anomaly: AnomalyArgs,
    /// Play the nominal twin of each anomalous episode too, and compare what the anomaly costs either policy
    #[arg(long, requires = "anomaly", help_heading = "Anomaly")]
    twin: bool,
    /// Pairs after which it ends, decided or not; a run in the output folder is continued to so many
    #[arg(long, default_value_t = compare::episodes())]
    episodes: u64,
    /// Pairs between two looks
    #[arg(long, value_name = "PAIRS", default_value_t = compare::block())]
    block: u64,
    /// Confidence level of each interval, which holds at every number of pairs
    #[arg(long, default_value_t = request::level())]
    level: f64,
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let ends = text
        .split_once(',')
        .and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
    ends.ok_or_else(|| "expected two numbers with a comma between, such as 0,1000".into())
}

impl Compare {
    /// Plays pairs until they decide, writes and prints what they show.
    ///
    /// # Errors
    /// If environment, policies or monitor cannot be had, a setting is out of its range, or a file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let command = self.command(common)?;
        let request = Request {
            env: common.environment(&self.env)?,
            old: self.old,
            new: self.new,
            scenario: self.scenario.request(),
            anomaly: self.anomaly.request(),
            twin: self.twin,
            monitor: self.monitor,
            metric: self.metric,
            return_range: self.return_range,
            margin: self.margin,
            require: self.require,
            episodes: self.episodes,
            block: self.block,
            level: self.level,
            out: Some(common.out_or("compare")),
            command: Some(command),
        };
        let report = compare::run(&request, &common.context())?;
        common.print(&report)?;
        let Some(why) = report.unacceptable() else { return Ok(Outcome::Done) };
        say(format!("not acceptable: {why}"));
        Ok(Outcome::NotAcceptable)
    }

    /// The command that makes the same result.
    fn command(&self, common: &Common) -> Result<String> {
        let quoted = shlex::try_join(["offnominal", "compare", &self.old, &self.new, "--env", &self.env])?;
        let mut words = vec![quoted + &self.scenario.request().words()];
        words.extend(common.words());
        words.extend(self.anomaly.clone().request().map(|anomaly| anomaly.words()));
        words.extend(self.twin.then(|| "--twin".into()));
        let monitor = self.monitor.as_ref().map(|file| file.display().to_string());
        words.extend(
            monitor
                .map(|file| Ok::<_, shlex::QuoteError>(format!("--monitor {}", shlex::try_quote(&file)?)))
                .transpose()?,
        );
        words.extend(self.metric.map(|metric| format!("--metric {}", <&str>::from(metric))));
        words.extend(self.return_range.map(|(low, high)| format!("--return-range {low},{high}")));
        words.extend(self.margin.map(|margin| format!("--margin {margin}")));
        words.extend(self.require.map(|require| format!("--require {}", <&str>::from(require))));
        let (episodes, block, level, seed) = (self.episodes, self.block, self.level, common.seed);
        words.push(format!("--episodes {episodes} --block {block} --level {level} --seed {seed}"));
        Ok(words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_two_numbers() {
        assert_eq!((range("-3.5, 1e3"), range("0,1")), (Ok((-3.5, 1e3)), Ok((0.0, 1.0))));
        assert!(range("1").is_err() && range("a,b").is_err());
    }
}
