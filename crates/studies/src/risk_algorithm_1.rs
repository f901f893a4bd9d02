//! The failure probability by algorithm 1 of Uesato et al. (2018): draws that a predictor accepts, weighted.
//!
//! `cargo run --release -p studies -- risk-algorithm-1 --env ENV --policy POLICY --predictor FILE`
//!
//! X ~ P is accepted with the chance f(X)^α, and drawn again until one is; it weighs Z / f(X)^α, where Z = E\[f^α\] is a mean
//! over other draws, which cost no experiments. No weight has a bound, so that no interval holds whatever the predictor is
//! worth, and only the normal approximation is left. `offnominal risk estimate --method thinned` is what the program has in
//! its place.
//!
//! Reference: section 3.2 and proposition 3.3 there.

mod bernstein;

use crate::played::{Played, context, print};
use anyhow::{Result, ensure};
use bernstein::Bernstein;
use clap::Parser;
use offnominal_core::prelude::*;
use offnominal_risk::experimenter::Experimenter;
use offnominal_risk::guide::Guide;
use offnominal_stats::Level;
use offnominal_stats::risk::normal::normal;
use offnominal_stats::risk::{Diagnostics, Weighted};
use serde_json::json;
use std::path::PathBuf;

/// How often does a policy fail, by draws that a predictor accepts?
#[derive(Debug, Parser)]
#[command(name = "risk-algorithm-1", no_binary_name = true)]
struct Asked {
    #[command(flatten)]
    played: Played,
    /// The predictor that `risk learn` wrote
    #[arg(long)]
    predictor: PathBuf,
    /// How much the predictor is trusted [default: as learned]
    #[arg(long)]
    exponent: Option<f64>,
    /// Number of experiments
    #[arg(long, default_value_t = 1000)]
    episodes: usize,
    /// Draws from which the normalising constant is known
    #[arg(long, default_value_t = 20_000)]
    constant_draws: usize,
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Level of the interval of the normalising constant: its error takes a tenth of what the estimate may have.
const OF_CONSTANT: f64 = 0.995;

/// Failures without which there is no interval.
const FEWEST: usize = 5;

/// Runs the study.
///
/// # Errors
/// If environment, policy or predictor cannot be had, or a setting is out of its range.
pub fn run(args: &[String]) -> Result<()> {
    let asked = Asked::parse_from(args);
    let subject = asked.played.subject(&asked.played.policy)?;
    let by = Experimenter::new(&subject, asked.seed)?;
    let guide = Guide::open(&asked.predictor, &subject)?;
    let exponent = asked.exponent.unwrap_or(guide.exponent());
    let z = asked.constant(&by, &guide, exponent)?;
    let sample = context(asked.seed).map(asked.episodes, "experiments", |i| {
        let key = by.key("experiment", i as u64);
        let (x, chance) = accepted(&by, key, &guide, exponent)?;
        Ok(Weighted { weight: z.value / chance, failed: by.play(key, &x)?.failed })
    })?;
    let (n, failures) = (sample.len(), sample.iter().filter(|e| e.failed).count());
    let sum = sample.iter().map(Weighted::term).sum::<f64>();
    // The standard error that follows from that of Z.
    let extra = sum * (z.high - z.low) / z.value / (2.0 * n as f64 * Level::try_from(OF_CONSTANT)?.z());
    let approximation = normal(&sample, n, extra, Level::P95);
    let warnings =
        Diagnostics::of(&sample, n)?.warnings().iter().map(ToString::to_string).collect::<Vec<_>>();
    print(&json!({
        "env": subject.env.spec().id,
        "policy": subject.name,
        "exponent": exponent,
        "experiments": n,
        "failures": failures,
        "normal approximation": approximation.map_or_else(|why| json!({ "refused": why.to_string() }), |e| json!(e)),
        "self-normalised": self_normalised(&sample, failures, Level::P95),
        "warnings": warnings,
    }))
}

impl Asked {
    /// The mean chance to be accepted, from draws of a stream of their own.
    fn constant(&self, by: &Experimenter<'_>, guide: &Guide, exponent: f64) -> Result<Estimate> {
        let mut mean = Bernstein::new(Level::try_from(OF_CONSTANT)?);
        let predictions = guide.survey(by, "constant", self.constant_draws, &context(self.seed))?;
        predictions.iter().for_each(|f| mean.push(chance(*f, exponent)));
        let z = mean.estimate()?;
        ensure!(
            z.value > 0.0,
            "expected a prediction above 0, found 0 in all of {} draws",
            self.constant_draws
        );
        Ok(z)
    }
}

fn chance(predicted: f64, exponent: f64) -> f64 {
    predicted.powf(exponent).clamp(0.0, 1.0)
}

/// Draws until the predictor accepts.
fn accepted(by: &Experimenter<'_>, key: Seed, guide: &Guide, exponent: f64) -> Result<(Vec<f64>, f64)> {
    let (mut reader, mut rng) = (guide.reader(), key.child("proposal").rng());
    // An experiment that ignores the predictor would be chosen here; the published algorithm makes none.
    rng.uniform();
    loop {
        let x = by.subject.env.draw(&mut rng);
        let chance = chance(guide.predict(&mut reader, &x)?, exponent);
        if rng.uniform() < chance {
            return Ok((x, chance));
        }
    }
}

/// The mean Σ w C / Σ w with the interval of the delta method: biased, but independent of the constant; a cross-check.
fn self_normalised(sample: &[Weighted], failures: usize, level: Level) -> Option<Estimate> {
    let total: f64 = sample.iter().map(|e| e.weight).sum();
    let value = sample.iter().map(Weighted::term).sum::<f64>() / total;
    let residual = |e: &Weighted| (e.weight * (f64::from(u8::from(e.failed)) - value)).powi(2);
    let half = level.z() * sample.iter().map(residual).sum::<f64>().sqrt() / total;
    let ends = ((value - half).max(0.0), value + half);
    (failures >= FEWEST).then(|| level.estimate(value, ends, sample.len(), "self-normalised"))
}
