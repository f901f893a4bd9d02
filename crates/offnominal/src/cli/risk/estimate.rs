//! `risk estimate`: how often a policy fails.

use crate::cli::anomaly_request::AnomalyArgs;
use crate::cli::one_of::one_of;
use crate::cli::risk::cheap::CheapArgs;
use crate::cli::risk::print;
use crate::cli::scenario::ScenarioArgs;
use crate::cli::terminal::say;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::estimate::{self, Goal, Request, SamplingMethod};
use offnominal_risk::request;
use std::path::PathBuf;

/// Arguments of `risk estimate`.
#[derive(Debug, Args)]
pub struct EstimateArgs {
    /// Environment id (see `list envs`)
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, the file of a policy of this program or
    /// another library, `module:name` of Python, `command:COMMAND`, or `random`
    #[arg(long)]
    policy: String,
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// How initial conditions are chosen [default: thinned with a predictor, else plain]
    #[arg(long, value_parser = one_of::<SamplingMethod>())]
    method: Option<SamplingMethod>,
    /// The predictor that `risk learn` wrote
    #[arg(long, value_name = "FILE")]
    predictor: Option<PathBuf>,
    /// Number of episodes, each from an initial condition that the method chooses; a run in the output folder is
    /// continued to so many
    #[arg(long, default_value_t = estimate::episodes())]
    episodes: u64,
    /// How much the predictor is trusted: experiments go where its chance to this power is large [default: as learned]
    #[arg(long, value_name = "A")]
    exponent: Option<f64>,
    /// What the run is for; it sets --plain-share
    #[arg(long, value_parser = one_of::<Goal>(), default_value = "estimate")]
    goal: Goal,
    /// Share of the experiments that ignores the predictor, above 0, at most 1 [default: 0.1, and 0.8 with --goal gate]
    #[arg(long, value_name = "SHARE")]
    plain_share: Option<f64>,
    /// Tell the failures of this share of all draws, those with the highest predictions, from those elsewhere: a whole number
    /// of percent
    #[arg(long, value_name = "SHARE")]
    top_share: Option<f64>,
    /// Experiments per draw of the methods thinned and adaptive, above 0, at most 1 [default: as few as the predictor can
    /// use; 0.1 for adaptive]
    #[arg(long, value_name = "R")]
    rate: Option<f64>,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = request::level())]
    level: f64,
    /// Largest acceptable failure probability: if the upper end of the interval is above it, the exit code is 1
    #[arg(long, value_name = "P")]
    max_risk: Option<f64>,
    /// End as soon as the interval lies on one side of --max-risk; --episodes are then the most
    #[arg(long, requires = "max_risk")]
    early_stop: bool,
    /// End as soon as the interval is at most so wide; --episodes are then the most
    #[arg(long, value_name = "W")]
    width: Option<f64>,
    #[command(flatten)]
    cheap: CheapArgs,
    // Last, for the heading of its options would hold for those behind it.
    #[command(flatten)]
    anomaly: AnomalyArgs,
}

impl EstimateArgs {
    /// Makes the experiments, writes what was found, and prints the estimate.
    ///
    /// # Errors
    /// If environment, policy or predictor cannot be had, a setting is out of its range, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request {
            env: common.environment(&self.env)?,
            policy: self.policy.clone(),
            scenario: self.scenario.request(),
            anomaly: self.anomaly.clone().request(),
            method: self.method,
            predictor: self.predictor.clone(),
            episodes: self.episodes,
            exponent: self.exponent,
            goal: self.goal,
            plain_share: self.plain_share,
            top_share: self.top_share,
            rate: self.rate,
            level: self.level,
            max_risk: self.max_risk,
            early_stop: self.early_stop,
            width: self.width,
            cheap: None,
            parameters: Default::default(),
            cheap_parameters: Default::default(),
            per_dear: estimate::per_dear(),
            block: estimate::block(),
            out: Some(common.out_or("risk")),
            command: None,
        };
        let mut request = self.cheap.add_to(request, common)?;
        request.command = Some(self.command(&request, common)?);
        let report = estimate::run(&request, &common.context())?;
        print(common, &report)?;
        let Some(why) = self.max_risk.and_then(|most| report.unacceptable(most)) else {
            return Ok(Outcome::Done);
        };
        say(format!("not acceptable: {why}"));
        Ok(Outcome::NotAcceptable)
    }

    /// The command that makes the same report.
    fn command(&self, request: &Request, common: &Common) -> Result<String> {
        let quoted = shlex::try_join([
            "offnominal",
            "risk",
            "estimate",
            "--env",
            &self.env,
            "--policy",
            &self.policy,
        ])?;
        let mut words = vec![quoted + &self.scenario.request().words()];
        words.extend(common.words());
        words.extend(self.cheap.words());
        let method = request.cheap.is_none().then(|| request.method()).transpose()?;
        words.extend(method.map(|method| format!("--method {}", <&str>::from(method))));
        words.push(format!("--episodes {}", self.episodes));
        words.extend(self.predictor.as_ref().map(|p| format!("--predictor {}", p.display())));
        words.extend(self.exponent.map(|a| format!("--exponent {a}")));
        words.extend(self.top_share.map(|share| format!("--top-share {share}")));
        words.extend(self.rate.map(|r| format!("--rate {r}")));
        words.extend(self.width.map(|width| format!("--width {width}")));
        words.extend(self.max_risk.map(|p| format!("--max-risk {p}")));
        words.extend(self.early_stop.then(|| "--early-stop".into()));
        if method.is_some_and(|method| method != SamplingMethod::Plain) {
            words.push(format!("--plain-share {}", request.plain_share()));
        }
        words.extend(self.anomaly.clone().request().map(|anomaly| anomaly.words()));
        words.push(format!("--level {} --seed {}", self.level, common.seed));
        Ok(words.join(" "))
    }
}
