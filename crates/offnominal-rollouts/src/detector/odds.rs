//! The mean of the log odds of several probabilities to fail, as a probability: what the detectors say together.
//!
//! score = σ(mean of logit p), with each p kept 1e-6 from 0 and 1.

use super::{Fitted, Scorer, Seen, Start};
use anyhow::Result;
use offnominal_core::archive::Writer;

/// The least distance of a probability from 0 and 1.
const LEAST: f64 = 1e-6;

/// Several of which each gives a probability.
pub(super) struct Odds(pub(super) Vec<Box<dyn Fitted>>);

impl Fitted for Odds {
    fn begin(&self, start: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let mut all: Vec<Box<dyn Scorer>> = self.0.iter().map(|of| of.begin(start)).collect::<Result<_>>()?;
        Ok(Box::new(move |seen: Seen<'_>| {
            let n = all.len() as f64;
            let sum: f64 = all.iter_mut().map(|of| logit(of.step(seen))).sum();
            1.0 / (1.0 + (-sum / n).exp())
        }))
    }

    fn save(&self, to: &mut Writer<'_>) {
        self.0.iter().enumerate().for_each(|(k, of)| of.save(&mut to.part(k)));
    }
}

fn logit(p: f64) -> f64 {
    let p = p.clamp(LEAST, 1.0 - LEAST);
    (p / (1.0 - p)).ln()
}
