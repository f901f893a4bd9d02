//! Which draws become experiments, with the buffers of one thread.

use super::block::Method;
use super::refit::{Rule, RuleReader};
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::predictors::predictor::Reader;
use anyhow::{Context as _, Result};
use offnominal_core::prelude::*;
use offnominal_stats::risk::{Proposal, Thinning};

/// How the initial condition of the next experiment is chosen.
pub(super) enum Chooser<'r> {
    /// Each draw is one.
    Plain,
    /// A draw is one with a chance that its prediction says.
    Thinned(&'r Guide, Reader<'r>, Thinning),
    /// A draw is one with a chance that all experiments before say.
    Adaptive(Box<RuleReader<'r>>),
    /// It is drawn until the predictor accepts.
    Accepted(&'r Guide, Reader<'r>, Proposal),
}

impl<'r> Chooser<'r> {
    /// That of a method, with what it follows.
    ///
    /// # Errors
    /// If a setting is out of its range, or what the method follows is missing.
    pub(super) fn new(
        method: &Method,
        guide: Option<&'r Guide>,
        rule: Option<&'r Rule>,
    ) -> Result<Chooser<'r>> {
        let guide = || guide.context("expected a predictor, found none");
        Ok(match method {
            Method::Plain => Chooser::Plain,
            Method::Thinned { .. } => {
                let rule = method.thinning()?.context("only thinned experiments have a rule")?;
                Chooser::Thinned(guide()?, guide()?.reader(), rule)
            }
            Method::Adaptive { .. } => {
                Chooser::Adaptive(Box::new(rule.context("adaptive experiments follow a rule")?.reader()))
            }
            Method::Accepted { exponent, plain_share, .. } => {
                let proposal = Proposal { plain_share: *plain_share, exponent: *exponent };
                Chooser::Accepted(guide()?, guide()?.reader(), proposal)
            }
        })
    }

    /// The initial condition that belongs to a key, and the chance that it had; nothing if it is not tried.
    pub(super) fn choose(&mut self, by: &Experimenter<'_>, key: Seed) -> Result<Option<(Vec<f64>, f64)>> {
        let (x, chance) = match self {
            Chooser::Plain => return Ok(Some((by.draw(key), 1.0))),
            Chooser::Accepted(guide, reader, proposal) => {
                return accept(by, key, guide, reader, *proposal).map(Some);
            }
            Chooser::Thinned(guide, reader, rule) => {
                let x = by.draw(key);
                let chance = rule.chance(guide.predict(reader, &x)?);
                (x, chance)
            }
            Chooser::Adaptive(rule) => {
                let x = by.draw(key);
                let chance = rule.chance(&x)?;
                (x, chance)
            }
        };
        Ok((key.child("thinning").rng().uniform() < chance).then_some((x, chance)))
    }
}

/// Draws until the predictor accepts.
fn accept(
    by: &Experimenter<'_>,
    key: Seed,
    guide: &Guide,
    reader: &mut Reader<'_>,
    proposal: Proposal,
) -> Result<(Vec<f64>, f64)> {
    let draw = |rng: &mut Rng| {
        let x = by.subject.env.draw(rng);
        let predicted = guide.predict(reader, &x);
        (x, predicted)
    };
    // A draw without a prediction is accepted, so that its error comes back.
    let chance = |(_, predicted): &(Vec<f64>, Result<f64>)| *predicted.as_ref().unwrap_or(&1.0);
    let ((x, predicted), chance) = proposal.next(draw, chance, &mut key.child("proposal").rng());
    predicted.map(|_| (x, chance))
}
