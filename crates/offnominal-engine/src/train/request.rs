//! What to train, and where.

use crate::context::Context;
use crate::request::within;
use crate::scenario::{Scenario, ScenarioRequest};
use crate::train::{Folder, Given, Keepsakes, Run};
use crate::{catalogues, noise};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use clap::builder::PossibleValuesParser;
use offnominal_agents::config::PRESETS;
use offnominal_agents::{Card, TrainConfig};
use offnominal_core::Seed;
use offnominal_core::spec::EnvSpec;
use offnominal_files::lock::Lock;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// What to train; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// Environment id (see `list envs`)
    #[arg(long)]
    pub env: String,
    /// Learning algorithm (see `list algorithms`) [default: the preset's]
    #[arg(long, conflicts_with = "resume")]
    pub algorithm: Option<String>,
    /// Environment steps [default: the preset's]
    #[arg(long)]
    pub steps: Option<u64>,
    /// Hyperparameters [default: of the environment's family]
    #[arg(long, conflicts_with = "resume", value_parser = PossibleValuesParser::new(PRESETS))]
    pub preset: Option<String>,
    /// Change one hyperparameter, such as gamma=0.98; repeatable
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "resume")]
    pub set: Vec<String>,
    /// Policy of the demonstrations [default: the environment's scripted one]
    #[arg(long, value_name = "POLICY", conflicts_with = "resume")]
    pub demonstrator: Option<String>,
    /// Steps between evaluations [default: the preset's]
    #[arg(long, value_name = "STEPS", conflicts_with = "resume")]
    pub eval_every: Option<u64>,
    /// Also write the training episodes, for `risk learn`
    #[arg(long, conflicts_with = "resume")]
    pub history: bool,
    /// Also keep this many evenly spaced policies, 1 to 1000
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub checkpoints: Option<u64>,
    /// Continue the run in the output folder
    #[arg(long)]
    pub resume: bool,
    /// Output folder [default: runs/train/ENV-ALGORITHM]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What is drawn for each episode, and by what one fails.
    #[command(flatten)]
    pub scenario: ScenarioRequest,
}

/// A trained policy: its card, and its file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Trained {
    /// What is known of it.
    pub card: Card,
    /// The file.
    #[serde(skip)]
    pub policy: PathBuf,
}

/// Trains to the end, and writes the policy with its card.
///
/// # Errors
/// If a name or an option is wrong, or a file cannot be read or written.
pub fn run(request: &Request, context: &Context) -> Result<Trained> {
    within("checkpoints", request.checkpoints.unwrap_or(0), 0..=1000)?;
    let env = catalogues::environment(&request.env, None)?;
    let config = request.config()?;
    let default = || {
        PathBuf::from("runs/train").join(format!("{}-{}", noise::file_name(&request.env), config.algorithm))
    };
    let folder = Folder::new(request.out.clone().unwrap_or_else(default));
    let _held = Lock::folder(folder.path())?;
    let (policy, seed) = (folder.policy(), Seed(context.seed));
    let scenario = request.scenario(&folder, env.spec())?;
    let env = match &scenario {
        Some(scenario) => scenario.apply(env)?,
        None => env,
    };
    let run = if request.resume {
        Run::resume(env.as_ref(), folder, request.steps, seed)?
    } else {
        let given =
            Given { command: context.command.clone(), scenario, demonstrator: request.demonstrator.clone() };
        let keepsakes =
            Keepsakes { history: request.history, checkpoints: request.checkpoints.unwrap_or_default() };
        Run::begin(config, env.as_ref(), seed, folder, given, keepsakes)?
    };
    Ok(Trained { card: run.finish(env.as_ref(), context)?, policy })
}

impl Request {
    /// What is drawn of the environment; a run that is continued knows it itself.
    fn scenario(&self, folder: &Folder, spec: &EnvSpec) -> Result<Option<Scenario>> {
        if !self.resume {
            return self.scenario.resolve(spec);
        }
        ensure!(self.scenario.words().is_empty(), "resume: a run that goes on knows what it draws");
        folder.scenario()
    }

    /// The recipe that is described.
    fn config(&self) -> Result<TrainConfig> {
        let preset = match &self.preset {
            Some(name) => TrainConfig::preset(name)?,
            None => TrainConfig::for_env(&self.env),
        };
        let mut config = match &self.algorithm {
            Some(name) => preset.with_algorithm(name)?,
            None => preset,
        };
        for option in &self.set {
            let (name, value) =
                option.split_once('=').with_context(|| format!("set {option}: expected NAME=VALUE"))?;
            config = config.with(name, value)?;
        }
        config.steps = self.steps.unwrap_or(config.steps);
        config.eval_every = self.eval_every.unwrap_or(config.eval_every);
        Ok(config)
    }
}

impl Display for Trained {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let card = &self.card;
        writeln!(out, "{} after {} steps, {:.0} s", card.id, card.steps, card.seconds)?;
        writeln!(out, "  return         {:.2}", card.mean_return)?;
        if let Some(success) = &card.success_rate {
            writeln!(out, "  success        {success:.3}")?;
        }
        writeln!(out, "  random return  {:.2}", card.random_return)?;
        write!(out, "written to {}", self.policy.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_work::cli::request;
    use serde_json::json;

    fn of(env: &str) -> Request {
        request(&json!({ "env": env })).unwrap()
    }

    #[test]
    fn options_change_the_recipe() {
        let asked =
            json!({ "env": "sap-goal0", "preset": "mjc", "set": ["gamma=0.9"], "steps": 7, "eval_every": 3 });
        let config = request::<Request>(&asked).unwrap().config().unwrap();
        assert_eq!((config.gamma, config.steps, config.eval_every, config.batch), (0.9, 7, 3, 512));
    }

    #[test]
    fn wrong_options_are_named() {
        let refusal = |request: Request| request.config().unwrap_err().to_string();
        let set = |option: &str| Request { set: vec![option.into()], ..of("x") };
        let algorithm = |id: &str| Some(id.to_string());
        assert_eq!(of("cartpole").config().unwrap().algorithm, "dqn");
        assert!(refusal(set("gamma")).contains("set gamma: expected NAME=VALUE"));
        assert!(refusal(set("lr=fast")).contains("training option lr: invalid type"));
        let unknown = refusal(Request { algorithm: algorithm("sacc"), ..of("x") });
        assert!(unknown.contains("did you mean \"sac\"?"), "{unknown}");
        let foreign = refusal(Request { algorithm: algorithm("td3"), ..set("alpha=0.2") });
        assert!(foreign.contains("alpha: td3 has no such option"), "{foreign}");
    }
}
