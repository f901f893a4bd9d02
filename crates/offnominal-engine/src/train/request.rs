//! What to train, and where.

use crate::context::Context;
use crate::request::within;
use crate::scenario::{Scenario, ScenarioRequest};
use crate::train::{Folder, Given, Keepsakes, Run};
use crate::{catalogues, noise};
use anyhow::{Context as _, Result, ensure};
use offnominal_agents::{Card, TrainConfig};
use offnominal_core::Seed;
use offnominal_core::spec::EnvSpec;
use offnominal_files::lock::Lock;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// What to train; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The environment.
    pub env: String,
    /// Learning algorithm; that of the preset, if none is named.
    pub algorithm: Option<String>,
    /// Steps in the environment; those of the preset, if none are given.
    pub steps: Option<u64>,
    /// Recipe to start from; that of the environment's family, if none is named.
    pub preset: Option<String>,
    /// Options of the recipe, each as `name=value`.
    pub set: Vec<String>,
    /// The policy that plays the demonstrations of the recipe; the environment's scripted one, if none is named.
    pub demonstrator: Option<String>,
    /// What is drawn for each episode, and by what one fails.
    pub scenario: ScenarioRequest,
    /// Steps between evaluations; those of the preset, if none are given.
    pub eval_every: Option<u64>,
    /// Whether to write what became of each training episode.
    pub history: bool,
    /// Evenly spaced steps at which the policy is kept; none, if none are given.
    pub checkpoints: Option<u64>,
    /// Whether the run in the folder is continued; only steps can be given with it.
    pub resume: bool,
    /// The folder; `runs/train/<env>-<algorithm>`, if none is named.
    pub out: Option<PathBuf>,
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
        let command = request.command(&config.algorithm, context.seed);
        let given = Given { command, scenario, demonstrator: request.demonstrator.clone() };
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

    /// The command that repeats this run, without what does not change its result.
    fn command(&self, algorithm: &str, seed: u64) -> String {
        let mut words = vec![format!("offnominal train --env {} --algorithm {algorithm}", self.env)];
        words.extend(self.preset.iter().map(|p| format!("--preset {p}")));
        words.extend(self.set.iter().map(|s| format!("--set '{s}'")));
        words.extend(self.demonstrator.iter().map(|d| format!("--demonstrator '{d}'")));
        words.extend(Some(self.scenario.words().trim_start().to_string()).filter(|w| !w.is_empty()));
        words.extend(self.steps.map(|n| format!("--steps {n}")));
        words.extend(self.eval_every.map(|n| format!("--eval-every {n}")));
        words.extend(self.history.then(|| "--history".to_string()));
        words.extend(self.checkpoints.map(|n| format!("--checkpoints {n}")));
        words.push(format!("--seed {seed}"));
        words.join(" ")
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

    fn of(env: &str) -> Request {
        Request { env: env.into(), ..Request::default() }
    }

    #[test]
    fn the_command_of_a_card_repeats_the_recipe() {
        let request = Request {
            algorithm: Some("tqc".into()),
            preset: Some("mjc".into()),
            set: vec!["gamma=0.9".into()],
            steps: Some(7),
            eval_every: Some(3),
            ..of("sap-goal0")
        };
        let line = "--env sap-goal0 --algorithm tqc --preset mjc --set 'gamma=0.9' --steps 7 --eval-every 3";
        assert_eq!(request.command("tqc", 5), format!("offnominal train {line} --seed 5"));
        let config = request.config().unwrap();
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
