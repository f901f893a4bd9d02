//! `train`: makes a policy for an environment.

use crate::cli::scenario::ScenarioArgs;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;
use offnominal_agents::config::PRESETS;
use offnominal_engine::train::{Request, run};

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
    /// Policy that plays the demonstrations of the recipe [default: the environment's scripted one]
    #[arg(long, value_name = "POLICY", conflicts_with = "resume")]
    demonstrator: Option<String>,
    #[command(flatten)]
    scenario: ScenarioArgs,
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
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let request = Request {
            env: self.env,
            algorithm: self.algorithm,
            steps: self.steps,
            preset: self.preset,
            set: self.set,
            demonstrator: self.demonstrator,
            scenario: self.scenario.request(),
            eval_every: self.eval_every,
            history: self.history,
            checkpoints: self.checkpoints,
            resume: self.resume,
            out: common.out.clone(),
        };
        common.print_in_order(&run(&request, &common.context())?)
    }
}
