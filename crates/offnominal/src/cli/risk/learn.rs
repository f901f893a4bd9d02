//! `risk learn`: a predictor of failure from the history of a training run.

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
    /// The history that `train --history` wrote; may be repeated, to learn from several runs
    #[arg(long, value_name = "FILE", required = true)]
    history: Vec<PathBuf>,
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
    /// Learns, writes the predictor, and prints how well it foresaw later episodes.
    ///
    /// # Errors
    /// If the history is none, of another environment, or holds too few failures; if a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request {
            env: common.environment(&self.env)?,
            scenario: self.scenario.request(),
            histories: self.history.clone(),
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
