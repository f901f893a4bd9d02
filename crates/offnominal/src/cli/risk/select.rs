//! `risk select`: the policy that fails least among several.

use super::{Common, Outcome};
use crate::cast::Cast;
use crate::risk::block::Method;
use crate::risk::page::probability;
use crate::risk::select::heats::Spec;
use crate::risk::select::{Contender, Rules, race};
use crate::risk::{Guide, Lab};
use crate::write;
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_stats::Level;
use offnominal_stats::risk::selection::Standing;
use offnominal_stats::risk::{PLAIN_SHARE, Proposal};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `risk select`.
#[derive(Debug, Args)]
pub struct Select {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    /// A policy, as for `risk estimate`, or a folder of them such as `train --checkpoints` fills; may be repeated
    #[arg(long, required = true)]
    policy: Vec<String>,
    /// The predictor that `risk learn` wrote; without one all draws are tried
    #[arg(long, value_name = "FILE")]
    predictor: Option<PathBuf>,
    /// Experiments of each policy after which the race ends
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..))]
    budget: u64,
    /// Experiments of each policy per round, about
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    round: u64,
    /// How much the predictor is trusted [default: as learned]
    #[arg(long, value_name = "A")]
    exponent: Option<f64>,
    /// Experiments per draw, with a predictor, above 0, at most 1
    #[arg(long, value_name = "R", default_value_t = 0.05)]
    rate: f64,
    /// Probability with which the best policy is never thrown out, between 0 and 1
    #[arg(long, default_value_t = 0.95)]
    level: f64,
}

/// Draws from which the mean of the predictions is known; it only sets the rate.
const PILOT: usize = 4000;

impl Select {
    /// Runs the race, writes and prints where everyone ended.
    ///
    /// # Errors
    /// If a policy or the predictor cannot be had, or a setting is out of its range.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let names = self.names()?;
        let casts = names.iter().map(|name| Cast::new(&self.env, name)).collect::<Result<Vec<_>>>()?;
        let guide = self.predictor.as_deref().map(|path| Guide::open(path, &casts[0])).transpose()?;
        let method = guide.as_ref().map(|g| self.thinned(g, &casts[0], common)).transpose()?;
        let rate = if guide.is_some() { self.rate } else { 1.0 };
        let spec = Spec {
            env: self.env.clone(),
            policies: casts.iter().map(|cast| cast.name.clone()).collect(),
            seed: common.seed,
            method: method.unwrap_or(Method::Plain),
            round: (self.round as f64 / rate).ceil() as u64,
        };
        let level = Level::try_from(self.level)?;
        let rules = Rules { spec, guide: guide.as_ref(), budget: self.budget, level };
        let folder = common.out_or("risk-select");
        let (standing, contenders) = race(&casts, &rules, &folder, common)?;
        let value = self.as_json(&names, &standing, &contenders);
        write::atomically(&folder.join("select.json"), format!("{value:#}\n").as_bytes())?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{value:#}")?;
        } else {
            print(&mut out, &names, &standing, &contenders)?;
        }
        Ok(Outcome::Done)
    }

    /// All policies, those of folders in alphabetical order.
    fn names(&self) -> Result<Vec<String>> {
        let names = super::policies(&self.policy)?;
        ensure!(names.len() > 1, "expected at least 2 policies, found {}", names.len());
        Ok(names)
    }

    fn thinned(&self, guide: &Guide, cast: &Cast, common: &Common) -> Result<Method> {
        let exponent = self.exponent.unwrap_or(guide.exponent());
        ensure!(exponent > 0.0, "--exponent: expected a number above 0, found {exponent}");
        let proposal = Proposal { plain_share: PLAIN_SHARE, exponent };
        let predictions = guide.survey(&Lab::new(cast, common.seed)?, "pilot", PILOT, common.jobs)?;
        let mean_power = predictions.iter().map(|&f| proposal.chance(f)).sum::<f64>() / PILOT as f64;
        let (predictor, plain_share, rate) = (guide.digest.clone(), PLAIN_SHARE, self.rate);
        Ok(Method::Thinned { predictor, exponent, plain_share, rate, mean_power })
    }

    fn as_json(&self, names: &[String], standing: &Standing, contenders: &[Contender]) -> Value {
        let one = |(name, contender): (&String, &Contender)| {
            json!({
                "policy": name,
                "risk": contender.risk,
                "experiments": contender.experiments,
                "failures": contender.failures,
                "may_be_best": contender.is_in,
            })
        };
        let best = match standing {
            Standing::Resolved { best } => Some(&names[*best]),
            Standing::Unresolved { .. } => None,
        };
        let policies: Vec<Value> = names.iter().zip(contenders).map(one).collect();
        json!({ "env": self.env, "method": if self.predictor.is_some() { "thinned" } else { "plain" },
            "best": best, "policies": policies })
    }
}

fn print(
    out: &mut impl Write,
    names: &[String],
    standing: &Standing,
    contenders: &[Contender],
) -> Result<()> {
    for (name, contender) in names.iter().zip(contenders) {
        let mark = if contender.is_in { "may be best" } else { "" };
        let risk = contender.risk.as_ref().map_or("–".into(), |e| {
            format!("{} [{}, {}]", probability(e.value), probability(e.low), probability(e.high))
        });
        writeln!(out, "  {name:<44} {risk:<32} {:>7} experiments  {mark}", contender.experiments)?;
    }
    match standing {
        Standing::Resolved { best } => writeln!(out, "fails least: {}", names[*best])?,
        Standing::Unresolved { left } => {
            writeln!(out, "unresolved: {} of {} policies may be the best", left.len(), names.len())?;
        }
    }
    Ok(())
}
