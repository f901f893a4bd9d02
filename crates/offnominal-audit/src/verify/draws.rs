//! Draws of a risk, once more.

use super::located;
use crate::evidence::bundle::Bundle;
use crate::evidence::inputs::{option, words};
use anyhow::{Context as _, Result};
use offnominal_core::Rng;
use offnominal_engine::context::Context;
use offnominal_risk::recompute::{self, Inputs, Recomputed};
use serde_json::Value;
use std::path::Path;

/// Plays `n` parts once more.
///
/// # Errors
/// If something that they need is neither in the bundle nor on this machine.
pub fn again(
    bundle: &Bundle,
    n: usize,
    (inputs, results): (&Path, &Path),
    rng: &mut Rng,
    context: &Context,
) -> Result<Recomputed> {
    let command = words(&bundle.manifest.made.command)?;
    let file = |name: &str| option(&command, name).and_then(|word| located(inputs, word));
    let moved = Inputs {
        env: Some(moved(&played_in(bundle)?, bundle, inputs)),
        policy: file("--policy").map(|path| path.display().to_string()),
        predictor: file("--predictor"),
    };
    recompute::estimate(results, &moved, n, rng, context)
}

/// The environment as the result names it, with everything that the command stated of it.
fn played_in(bundle: &Bundle) -> Result<String> {
    let name = format!("results/{}", bundle.manifest.kind.result());
    let result = bundle.files.get(&name).with_context(|| format!("expected {name}, found none"))?;
    let result: Value = serde_json::from_slice(result)?;
    let env = result.pointer("/run/env").and_then(Value::as_str);
    Ok(env.with_context(|| format!("{name}: expected run.env, found none"))?.into())
}

/// An environment whose files are among the inputs.
fn moved(env: &str, bundle: &Bundle, inputs: &Path) -> String {
    let words = bundle.files.keys().filter_map(|name| name.strip_prefix("inputs/"));
    words.fold(env.to_string(), |env, word| {
        let place = format!("={}", inputs.join(word).display());
        env.replace(&format!("=./{word}"), &place).replace(&format!("={word}"), &place)
    })
}
