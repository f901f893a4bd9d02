//! `risk split`: how often a policy fails in a world that says how far it is from failing.

use crate::cli::Common;
use crate::cli::risk::Outcome;
use anyhow::{Context, Result};
use clap::Args;
use offnominal_core::estimate::Estimate;
use offnominal_engine::subject::Cast;
use offnominal_files::write;
use offnominal_risk::Lab;
use offnominal_risk::page::probability;
use offnominal_risk::splitting::{self, Spec};
use offnominal_stats::Level;
use offnominal_stats::risk::splitting::Rounds;
use serde_json::json;
use std::io::Write;

/// Arguments of `risk split`.
#[derive(Debug, Args)]
pub struct Split {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    /// A policy, as for `risk estimate`
    #[arg(long)]
    policy: String,
    /// Number of swarms that do not know one another
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    swarms: u64,
    /// Particles per swarm
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    particles: u32,
    /// Moves of a replaced particle; enough to forget where it was copied from
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    moves: u32,
    /// Experiments after which a swarm gives up
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    budget: u32,
    /// Confidence level of the interval, between 0 and 1
    #[arg(long, default_value_t = 0.95)]
    level: f64,
}

impl Split {
    /// Runs the swarms, writes and prints the estimate.
    ///
    /// # Errors
    /// If the world has no margin or no neighbours, or margins tie; if a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let level = Level::try_from(self.level)?;
        let cast = Cast::new(&self.env, &self.policy)?;
        let lab = Lab::new(&cast, common.seed)?;
        let spec = Spec {
            env: self.env.clone(),
            policy: cast.name.clone(),
            seed: common.seed,
            particles: self.particles as usize,
            moves: self.moves as usize,
            budget: self.budget as usize,
        };
        let folder = common.out_or("risk-split");
        let swarms = splitting::run(&lab, &spec, self.swarms, &folder, &common.context())?;
        let risk = spec.plan().pooled(&swarms, level)?;
        let value = json!({ "run": spec, "risk": risk, "of_each": each(&spec, &swarms, level)? });
        write::atomically(&folder.join("split.json"), format!("{value:#}\n").as_bytes())?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{value:#}")?;
        } else {
            self.print(&mut out, &risk, &each(&spec, &swarms, level)?)?;
        }
        Ok(Outcome::Done)
    }

    fn print(&self, out: &mut impl Write, risk: &Estimate, each: &[Estimate]) -> Result<()> {
        let [value, low, high] = [risk.value, risk.low, risk.high].map(probability);
        writeln!(out, "{} in {}: {} experiments in {} swarms", self.policy, self.env, risk.n, each.len())?;
        writeln!(out, "  failure probability  {value} [{low}, {high}]  {}", risk.method)?;
        let values: Vec<String> = each.iter().map(|e| probability(e.value)).collect();
        writeln!(out, "  of each swarm        {}", values.join(" "))?;
        writeln!(out, "  assumes that {} moves forget; more of them must give the same", self.moves)?;
        Ok(())
    }
}

/// The estimate of each swarm alone, which tells how well they agree.
fn each(spec: &Spec, swarms: &[Rounds], level: Level) -> Result<Vec<Estimate>> {
    swarms.iter().map(|s| spec.plan().pooled(&[*s], level).context("one swarm")).collect()
}
