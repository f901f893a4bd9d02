//! `risk learn`: a predictor of failure from the history of a training run.

use crate::cli::Common;
use crate::cli::risk::Outcome;
use crate::cli::shifts::Below;
use anyhow::Result;
use clap::{Args, ValueEnum};
use offnominal_core::prelude::{Env, Rng, Seed};
use offnominal_engine::catalogues;
use offnominal_files::write;
use offnominal_risk::learning::{self, Foresight};
use offnominal_risk::{Form, Recipe};
use offnominal_stats::risk::exponent::EXPONENTS;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `risk learn`.
#[derive(Debug, Args)]
pub struct Learn {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    #[command(flatten)]
    below: Below,
    /// The history that `train --history` wrote; may be repeated, to learn from several runs
    #[arg(long, value_name = "FILE", required = true)]
    history: Vec<PathBuf>,
    /// A history of policies that fail about as rarely as the one under test; it chooses the exponent, and nothing is learned
    /// from it
    #[arg(long, value_name = "FILE")]
    near: Option<PathBuf>,
    /// How chances are represented [default: hazard where initial conditions lead past places, else mlp]
    #[arg(long, value_enum)]
    form: Option<Shape>,
    /// Share of the training that is left out at its beginning, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = Recipe::default().early_share)]
    early: f64,
    /// Share of the failures that the later part of the history has, which chooses the settings and, without --near, the exponent
    #[arg(long, value_name = "SHARE", default_value_t = Recipe::default().later_share)]
    later: f64,
    /// Most gradient steps
    #[arg(long, value_name = "N", default_value_t = Recipe::default().steps)]
    steps: usize,
    /// Networks whose chances are averaged; a dictionary is always one
    #[arg(long, value_name = "N", default_value_t = Recipe::default().members)]
    members: usize,
}

/// How chances are represented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// Dense networks
    Mlp,
    /// A vote of the nearest remembered episodes
    Dictionary,
    /// Hazards that add up along a way, read by convolutions
    Hazard,
}

impl Learn {
    /// Learns, writes the predictor, and prints how well it foresaw later episodes.
    ///
    /// # Errors
    /// If the history is none, of another world, or holds too few failures; if a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let env = catalogues::worlds().build(&self.env, &json!({}))?;
        let env = match self.below.change(env.spec())? {
            Some(change) => change.apply(env)?,
            None => env,
        };
        let read = |path: &PathBuf| learning::read(path, env.spec());
        let histories = self.history.iter().map(read).collect::<Result<Vec<_>>>()?;
        let near = self.near.as_ref().map(read).transpose()?;
        let recipe = self.recipe(env.as_ref());
        let seed = Seed(common.seed);
        let found =
            learning::foresee(&histories, near.as_ref(), env.as_ref(), &recipe, seed, &common.context())?;
        let path = common.out_or("risk").join("predictor.safetensors");
        write::atomically(&path, &found.predictor.to_bytes())?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{:#}", as_json(&found, &path))?;
        } else {
            print(&mut out, &found, &path)?;
        }
        Ok(Outcome::Done)
    }

    fn recipe(&self, env: &dyn Env) -> Recipe {
        let has_places = || env.failure_search().places(&env.draw(&mut Rng::new(0))).is_some();
        let form = match self.form {
            Some(Shape::Mlp) => Form::Mlp,
            Some(Shape::Dictionary) => Form::Dictionary,
            Some(Shape::Hazard) => Form::Hazard,
            None if has_places() => Form::Hazard,
            None => Form::Mlp,
        };
        let (early_share, later_share) = (self.early, self.later);
        Recipe { form, early_share, later_share, members: self.members, steps: self.steps }
    }
}

fn as_json(found: &Foresight, path: &Path) -> serde_json::Value {
    let costs = found.choice.as_ref().ok().map(|choice| &choice.relative_squares);
    json!({
        "file": path,
        "about": found.predictor.about,
        "cross_entropy": found.learned.tried.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        "cross_entropy_without_predictor": found.learned.baseline,
        "exponents": EXPONENTS,
        "relative_squares": costs,
        "exponent_refused": found.choice.as_ref().err().map(ToString::to_string),
    })
}

fn print(out: &mut impl Write, found: &Foresight, path: &Path) -> Result<()> {
    let (episodes, failures) = found.learned.kept;
    let later = found.learned.later.len();
    writeln!(out, "learned from {episodes} episodes, {failures} of which failed")?;
    writeln!(out, "mean cross-entropy of the {later} latest, which were not learned from at first:")?;
    for (setting, loss) in &found.learned.tried {
        writeln!(out, "  {setting:<24} {loss:.4}")?;
    }
    writeln!(out, "  {:<24} {:.4}", "their share of failures", found.learned.baseline)?;
    match &found.choice {
        Ok(choice) => {
            writeln!(out, "second moment of a weighted failure, relative to p², by exponent:")?;
            for (exponent, cost) in EXPONENTS.iter().zip(&choice.relative_squares) {
                let chosen = if *exponent == choice.exponent { "  chosen" } else { "" };
                writeln!(out, "  {exponent:<24} {cost:.2}{chosen}")?;
            }
        }
        Err(why) => writeln!(out, "exponent {}: {why}", found.predictor.about.exponent)?,
    }
    writeln!(out, "written to {}", path.display())?;
    Ok(())
}
