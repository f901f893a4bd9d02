//! The failure probability by algorithm 1 of Uesato et al. (2018): draws that a predictor accepts, weighted.
//!
//! `cargo run --release -p studies -- risk-algorithm-1 --env ENV --policy POLICY --predictor FILE [--plain-share 0.1]`
//!
//! A draw is accepted with the chance f(x)^α and weighs Z / f(x)^α, where Z is the mean of that chance over other draws. As
//! published there are no plain draws among the experiments; then no interval holds whatever the predictor is worth, and
//! only the normal approximation is left. With a plain share (a defensive mixture) weights are bounded, and the interval
//! by betting holds. `offnominal risk estimate --method thinned` is what the program has in its place.

use crate::played::{Played, context, print};
use anyhow::{Context as _, Result};
use clap::Parser;
use offnominal_core::prelude::*;
use offnominal_risk::experimenter::Experimenter;
use offnominal_risk::guide::Guide;
use offnominal_stats::Level;
use offnominal_stats::risk::{Pool, Proposal, Refusal};
use serde_json::{Value, json};
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
    /// Share of the experiments that ignores the predictor; none as published
    #[arg(long, default_value_t = 0.0)]
    plain_share: f64,
    /// Number of experiments
    #[arg(long, default_value_t = 1000)]
    episodes: usize,
    /// Draws from which the normalising constant is known
    #[arg(long, default_value_t = 20_000)]
    constant_draws: usize,
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

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
    let proposal = Proposal { plain_share: asked.plain_share, exponent };
    let mut pool = asked.pool(proposal, &by, &guide)?;
    let found = context(asked.seed).map(asked.episodes, "experiments", |i| {
        let key = by.key("experiment", i as u64);
        let (x, chance) = accepted(&by, key, &guide, proposal)?;
        Ok((chance, by.play(key, &x)?.failed))
    })?;
    found.iter().for_each(|(chance, failed)| pool.record(&[1.0, *chance], *failed));
    let warnings =
        pool.diagnostics().map(|d| d.warnings().iter().map(ToString::to_string).collect::<Vec<_>>());
    print(&json!({
        "env": subject.env.spec().id,
        "policy": subject.name,
        "exponent": exponent,
        "plain_share": asked.plain_share,
        "experiments": found.len(),
        "failures": found.iter().filter(|(_, failed)| *failed).count(),
        "valid whatever the predictor is worth": answer(pool.estimate(Level::P95)),
        "normal approximation": answer(pool.normal(Level::P95)),
        "self-normalised": answer(pool.self_normalised(Level::P95)),
        "warnings": warnings.unwrap_or_default(),
    }))
}

impl Asked {
    /// The pool that weighs experiments; its constant comes from draws of a stream of their own.
    fn pool(&self, proposal: Proposal, by: &Experimenter<'_>, guide: &Guide) -> Result<Pool> {
        let predictions = guide.survey(by, "constant", self.constant_draws, &context(self.seed))?;
        let (mut at, mut unused) = (predictions.iter(), Rng::new(0));
        let next = |_: &mut Rng| *at.next().expect("as many predictions as draws");
        let pool = proposal.pool(self.constant_draws, Level::P95, next, |f: &f64| *f, &mut unused);
        pool.context("the normalising constant")
    }
}

/// Draws until the predictor accepts; a draw without a prediction is accepted, so that its error comes back.
fn accepted(by: &Experimenter<'_>, key: Seed, guide: &Guide, proposal: Proposal) -> Result<(Vec<f64>, f64)> {
    let reader = std::cell::RefCell::new(guide.reader());
    let draw = |rng: &mut Rng| {
        let x = by.subject.env.draw(rng);
        let predicted = guide.predict(&mut reader.borrow_mut(), &x);
        (x, predicted)
    };
    let chance = |(_, predicted): &(Vec<f64>, Result<f64>)| *predicted.as_ref().unwrap_or(&1.0);
    let ((x, predicted), chance) = proposal.next(draw, chance, &mut key.child("proposal").rng());
    predicted.map(|_| (x, chance))
}

fn answer(found: Result<Estimate, Refusal>) -> Value {
    found.map_or_else(|why| json!({ "refused": why.to_string() }), |estimate| json!(estimate))
}
