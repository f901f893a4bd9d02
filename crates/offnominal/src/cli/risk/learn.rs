//! `risk learn`: a predictor of failure from the history of a training run, or from episodes of weaker policies.

use crate::cli::one_of::one_of;
use crate::cli::risk::print;
use crate::cli::scenario::ScenarioArgs;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::learning::{self, Request};
use offnominal_risk::predictors::learn::Form;
use std::path::PathBuf;

/// Arguments of `risk learn`.
#[derive(Debug, Args)]
pub struct Learn {
    /// Environment id (see `list envs`)
    #[arg(long)]
    env: String,
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// The history that `train --history` or an earlier `risk learn` wrote; may be repeated, to learn from several runs
    #[arg(long, value_name = "FILE", required_unless_present = "policy")]
    history: Vec<PathBuf>,
    /// A policy, as for `risk estimate`, or a folder of them such as `train --checkpoints` fills, whose episodes make a
    /// history first; may be repeated
    #[arg(long)]
    policy: Vec<String>,
    /// Episodes of each --policy at each level of noise
    #[arg(long, value_name = "N", default_value_t = learning::episodes())]
    episodes: usize,
    /// Standard deviation of the noise on their commands, as a share of half their range; may be repeated
    #[arg(long, value_name = "SHARE", default_values_t = learning::noises())]
    noise: Vec<f64>,
    /// End when the history of the policies is written
    #[arg(long, requires = "policy", conflicts_with = "history")]
    history_only: bool,
    /// A history of policies that fail about as rarely as the one under test; it chooses the exponent, and nothing is
    /// learned from it
    #[arg(long, value_name = "FILE")]
    near: Option<PathBuf>,
    /// How chances are represented [default: hazard where initial conditions lead past places, else mlp]
    #[arg(long, value_parser = one_of::<Form>())]
    form: Option<Form>,
    /// Learn hazards from the place of each failure too, where the history has it
    #[arg(long)]
    places: bool,
    /// Share of the training that is left out at its beginning, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = learning::early())]
    early: f64,
    /// Share of the failures that the later part of the history has, which chooses the settings and, without --near,
    /// the exponent
    #[arg(long, value_name = "SHARE", default_value_t = learning::later())]
    later: f64,
    /// Most gradient steps
    #[arg(long, value_name = "N", default_value_t = learning::steps())]
    steps: usize,
    /// Networks whose chances are averaged; a dictionary is always one
    #[arg(long, value_name = "N", default_value_t = learning::members())]
    members: usize,
}

impl Learn {
    /// Plays the policies, learns, writes history and predictor, and prints how often policies failed and how well the
    /// predictor foresaw later episodes.
    ///
    /// # Errors
    /// If a policy cannot be had or its training is unknown, a history is none, of another environment, or holds too few
    /// failures; if a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request {
            env: common.environment(&self.env)?,
            scenario: self.scenario.request(),
            histories: self.history.clone(),
            policies: self.policy.clone(),
            episodes: self.episodes,
            noises: self.noise.clone(),
            history_only: self.history_only,
            near: self.near.clone(),
            form: self.form,
            places: self.places,
            early: self.early,
            later: self.later,
            steps: self.steps,
            members: self.members,
            out: Some(common.out_or("risk")),
        };
        print(common, &learning::run(&request, &common.context())?)
    }
}
