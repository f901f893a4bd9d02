//! `train`: makes a policy for an environment.

use crate::cli::randomise::Below;
use crate::cli::{Common, Outcome};
use anyhow::{Context, Result, ensure};
use clap::Args;
use clap::builder::PossibleValuesParser;
use offnominal_agents::config::PRESETS;
use offnominal_agents::{Card, TrainConfig};
use offnominal_core::Seed;
use offnominal_engine::catalogues;
use offnominal_engine::train::{Folder, Keepsakes, Run};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `train`.
#[derive(Debug, Args)]
pub struct Train {
    /// Environment id (see `list envs`)
    #[arg(long)]
    env: String,
    /// Learning algorithm (see `list algorithms`) [default: the preset's]
    #[arg(long, conflicts_with = "resume")]
    algorithm: Option<String>,
    /// Steps in the environment [default: the preset's]
    #[arg(long)]
    steps: Option<u64>,
    /// Recipe to start from [default: that of the environment's family]
    #[arg(long, conflicts_with = "resume", value_parser = PossibleValuesParser::new(PRESETS))]
    preset: Option<String>,
    /// Change one option of the recipe, such as gamma=0.98 or hidden=[64,64]; may be repeated
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "resume")]
    set: Vec<String>,
    #[command(flatten)]
    below: Below,
    /// Steps between evaluations [default: the preset's]
    #[arg(long, value_name = "STEPS", conflicts_with = "resume")]
    eval_every: Option<u64>,
    /// Also write what became of each training episode: where it began, when, how noisily, and whether it failed
    #[arg(long, conflicts_with = "resume")]
    history: bool,
    /// Also keep the policy at so many evenly spaced steps, 1 to 1000
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = clap::value_parser!(u64).range(1..=1000))]
    checkpoints: Option<u64>,
    /// Continue the run in the output folder; checkpoints are written at each evaluation and every two minutes
    #[arg(long)]
    resume: bool,
}

impl Train {
    /// Trains, writes policy and card, and prints the card.
    ///
    /// # Errors
    /// If a name or an option is wrong, or a file cannot be read or written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let env = catalogues::environments().build(&self.env, &json!({}))?;
        let config = self.config()?;
        let default = || PathBuf::from("runs/train").join(format!("{}-{}", self.env, config.algorithm));
        let folder = Folder::new(common.out.clone().unwrap_or_else(default));
        let policy = folder.policy();
        ensure!(!(self.resume && self.below.is_given()), "--resume: a run that goes on knows what it draws");
        let change = if self.resume { folder.change()? } else { self.below.request().resolve(env.spec())? };
        let env = match &change {
            Some(change) => change.apply(env)?,
            None => env,
        };
        let run = if self.resume {
            Run::resume(env.as_ref(), folder, self.steps, Seed(common.seed))?
        } else {
            let command = self.command(&config.algorithm, common.seed);
            let keepsakes =
                Keepsakes { history: self.history, checkpoints: self.checkpoints.unwrap_or_default() };
            Run::begin(config, env.as_ref(), Seed(common.seed), folder, (command, change), keepsakes)?
        };
        let card = run.finish(env.as_ref(), &common.context())?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&card)?)?;
        } else {
            print(&mut out, &card)?;
            writeln!(out, "written to {}", policy.display())?;
        }
        Ok(Outcome::Done)
    }

    /// The recipe that the arguments describe.
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
                option.split_once('=').with_context(|| format!("--set {option}: expected NAME=VALUE"))?;
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
        words.extend(Some(self.below.words().trim_start().to_string()).filter(|w| !w.is_empty()));
        words.extend(self.steps.map(|n| format!("--steps {n}")));
        words.extend(self.eval_every.map(|n| format!("--eval-every {n}")));
        words.extend(self.history.then(|| "--history".to_string()));
        words.extend(self.checkpoints.map(|n| format!("--checkpoints {n}")));
        words.push(format!("--seed {seed}"));
        words.join(" ")
    }
}

fn print(out: &mut impl Write, card: &Card) -> std::io::Result<()> {
    writeln!(out, "{} after {} steps, {:.0} s", card.id, card.steps, card.seconds)?;
    writeln!(out, "  return         {:.2}", card.mean_return)?;
    if let Some(success) = &card.success_rate {
        writeln!(out, "  success        {success:.3}")?;
    }
    writeln!(out, "  random return  {:.2}", card.random_return)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        train: Train,
    }

    fn parsed(args: &str) -> Train {
        Line::parse_from(std::iter::once("train").chain(args.split_whitespace())).train
    }

    #[test]
    fn the_command_of_a_card_repeats_the_recipe() {
        let line = "--env sap-goal0 --algorithm tqc --preset mjc --set gamma=0.9 --steps 7 --eval-every 3";
        let train = parsed(line);
        assert_eq!(train.command("tqc", 5).replace('\'', ""), format!("offnominal train {line} --seed 5"));
        let config = train.config().unwrap();
        assert_eq!((config.gamma, config.steps, config.eval_every, config.batch), (0.9, 7, 3, 512));
    }

    #[test]
    fn wrong_options_are_named() {
        let refusal = |args: &str| parsed(args).config().unwrap_err().to_string();
        assert_eq!(parsed("--env cartpole").config().unwrap().algorithm, "dqn");
        assert!(refusal("--env x --set gamma").contains("--set gamma: expected NAME=VALUE"));
        assert!(refusal("--env x --set lr=fast").contains("training option lr: invalid type"));
        assert!(refusal("--env x --algorithm sacc").contains("did you mean \"sac\"?"));
        let foreign = refusal("--env x --algorithm td3 --set alpha=0.2");
        assert!(foreign.contains("alpha: td3 has no such option"), "{foreign}");
    }
}
