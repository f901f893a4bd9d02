//! Which draws become experiments, with the buffers of one thread.

use super::block::Method;
use super::guided::BlockRule;
use super::refit::{self, RuleReader};
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::predictors::predictor::Reader;
use anyhow::{Context as _, Result, bail};
use offnominal_core::prelude::*;
use offnominal_stats::risk::Thinning;

/// How the draws of a block are chosen, where they follow what failed before.
pub(super) enum Rule<'c> {
    /// By scores.
    Adaptive(Box<refit::Rule<'c>>),
    /// From a fitted density.
    Importance(Box<BlockRule<'c>>),
}

/// How the initial condition of the next experiment is chosen.
pub(super) enum Chooser<'r> {
    /// Each draw is one.
    Plain,
    /// A draw is one with a chance that its prediction says.
    Thinned(&'r Guide, Box<Reader<'r>>, Thinning),
    /// A draw is one with a chance that all experiments before say.
    Adaptive(Box<RuleReader<'r>>),
    /// Each draw is one; some are drawn where failures were.
    Importance(&'r BlockRule<'r>),
}

impl<'r> Chooser<'r> {
    /// That of a method, with what it follows.
    ///
    /// # Errors
    /// If a setting is out of its range, or what the method follows is missing.
    pub(super) fn new(
        method: &Method,
        guide: Option<&'r Guide>,
        rule: Option<&'r Rule<'r>>,
    ) -> Result<Chooser<'r>> {
        let guide = || guide.context("expected a predictor, found none");
        Ok(match (method, rule) {
            (_, Some(Rule::Adaptive(rule))) => Chooser::Adaptive(Box::new(rule.reader())),
            (_, Some(Rule::Importance(rule))) => Chooser::Importance(rule),
            (Method::Thinned { .. }, None) => {
                let rule = method.thinning()?.context("only thinned experiments have a rule")?;
                Chooser::Thinned(guide()?, Box::new(guide()?.reader()), rule)
            }
            (Method::Plain, None) => Chooser::Plain,
            (_, None) => bail!("experiments that follow what failed have a rule"),
        })
    }

    /// The initial condition of a draw with its key, and the chance that it had; nothing if it is not tried.
    pub(super) fn choose(
        &mut self,
        by: &Experimenter<'_>,
        key: Seed,
        index: u64,
    ) -> Result<Option<(Vec<f64>, f64)>> {
        let (x, chance) = match self {
            Chooser::Plain => return Ok(Some((by.draw(key), 1.0))),
            Chooser::Importance(rule) => return rule.choose(key, index),
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
