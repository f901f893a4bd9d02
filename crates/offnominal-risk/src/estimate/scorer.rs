//! How dangerous a draw looks by the experiments of its own run.
//!
//! Two networks score draws: each has learned from the experiments of one half, and says how dangerous those of the other
//! half looked, so that no experiment is judged by what it taught. Where they tell nothing yet, the predictor scores, if
//! there is one.

use crate::committor::network::{Buffers, Network};
use crate::committor::rows::Rows;
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::guide::reading;
use crate::predictors::learn::Form;
use crate::predictors::predictor::Reader;
use anyhow::{Context as _, Result};
use offnominal_core::prelude::*;
use offnominal_nets::Standardiser;
use offnominal_stats::risk::allocation::Scored;

/// Failures, and others, from which networks learn.
const FEWEST: usize = 6;
/// Gradient steps of a network at most.
const STEPS: usize = 1000;
/// Cross-entropy on balanced held-out experiments above which a network tells nothing; ln 2 is that of a coin.
const TELLS_NOTHING: f64 = 0.98 * std::f64::consts::LN_2;

/// What draws are scored with.
pub(super) struct Scorer<'c> {
    by: Experimenter<'c>,
    guide: Option<&'c Guide>,
    networks: Option<[Network; 2]>,
}

/// A scorer with the buffers of one thread.
pub(super) struct ScorerReader<'r> {
    scorer: &'r Scorer<'r>,
    networks: Option<[(&'r Network, Buffers); 2]>,
}

/// What is read of a draw: the features of its initial condition and, last, the log odds that the predictor sees.
pub(super) struct Features<'r> {
    by: Experimenter<'r>,
    guide: Option<(&'r Guide, Reader<'r>)>,
}

/// An experiment, and what is read of its draw.
#[derive(Clone)]
pub(super) struct Seen {
    pub row: Vec<f32>,
    pub chance: f64,
    pub failed: bool,
}

impl<'c> Scorer<'c> {
    /// Learns from experiments.
    ///
    /// # Errors
    /// If networks cannot be fitted.
    pub fn fit(
        by: Experimenter<'c>,
        guide: Option<&'c Guide>,
        seen: &[Seen],
        rng: &mut Rng,
    ) -> Result<Scorer<'c>> {
        Ok(Scorer { by, guide, networks: networks(seen, rng)? })
    }

    /// The scorer with buffers for one thread.
    pub fn reader(&self) -> ScorerReader<'_> {
        let networks = self.networks.as_ref().map(|pair| pair.each_ref().map(|n| (n, n.buffers())));
        ScorerReader { scorer: self, networks }
    }

    /// What it reads of a draw.
    pub fn features(&self) -> Features<'_> {
        Features::new(self.by, self.guide)
    }

    /// The experiments from which it has learned, each with the score of what has not learned from it.
    pub fn scored(&self, seen: &[Seen]) -> Vec<Scored> {
        let mut reader = self.reader();
        let one = |(side, s): (usize, &Seen)| {
            let score = match &mut reader.networks {
                Some(networks) => {
                    let (network, buffers) = &mut networks[1 - side];
                    network.value(&s.row, buffers)
                }
                None => self.without_networks(&s.row),
            };
            Scored { score, weight: 1.0 / s.chance, failed: s.failed }
        };
        sides(seen).zip(seen).map(one).collect()
    }

    /// The predictor's log odds stand last in a row; without a predictor all draws look alike.
    fn without_networks(&self, row: &[f32]) -> f64 {
        self.guide.and(row.last()).map_or(0.0, |&odds| f64::from(odds))
    }
}

impl ScorerReader<'_> {
    /// How dangerous a draw looks by what is read of it, as log odds but for a constant.
    pub fn score(&mut self, row: &[f32]) -> f64 {
        let Some(networks) = &mut self.networks else { return self.scorer.without_networks(row) };
        networks.iter_mut().map(|(network, buffers)| network.value(row, buffers)).sum::<f64>() / 2.0
    }
}

impl<'r> Features<'r> {
    /// Those that a predictor, if there is one, adds to.
    pub fn new(by: Experimenter<'r>, guide: Option<&'r Guide>) -> Features<'r> {
        Features { by, guide: guide.map(|guide| (guide, guide.reader())) }
    }

    /// The row of a draw.
    ///
    /// # Errors
    /// If the predictor says something that is no probability.
    pub fn of(&mut self, x: &[f64]) -> Result<Vec<f32>> {
        let env = self.by.subject.env.as_ref();
        let numbers = reading(env, Form::Mlp, x).context("features of an initial condition")?.numbers;
        let mut row: Vec<f32> = numbers.into_iter().map(|v| v as f32).collect();
        if let Some((guide, reader)) = &mut self.guide {
            let f = guide.predict(reader, x)?.clamp(1e-9, 1.0 - 1e-9);
            row.push((f / (1.0 - f)).ln() as f32);
        }
        Ok(row)
    }
}

/// A network of each half, the one of side 0 first; nothing where experiments are few or nothing was learned.
fn networks(seen: &[Seen], rng: &mut Rng) -> Result<Option<[Network; 2]>> {
    let failures = seen.iter().filter(|s| s.failed).count();
    if failures < FEWEST || seen.len() - failures < FEWEST {
        return Ok(None);
    }
    let mut halves = [(); 2].map(|()| Rows::new(seen[0].row.len()));
    sides(seen).zip(seen).for_each(|(side, s)| halves[side].push(&s.row, s.failed));
    let varies = |half: &Rows| Standardiser::fit(half.numbers(), half.width()).outputs() > 0;
    if !halves.iter().all(varies) {
        return Ok(None);
    }
    let [one, other] = &halves;
    let (first, loss) = Network::fit(one, other, STEPS, rng)?;
    let (second, other_loss) = Network::fit(other, one, STEPS, rng)?;
    Ok((0.5 * (loss + other_loss) < TELLS_NOTHING).then_some([first, second]))
}

/// Which half each experiment belongs to: failures and others take turns, each for themselves.
fn sides(seen: &[Seen]) -> impl Iterator<Item = usize> + '_ {
    let mut next = [0, 0];
    seen.iter().map(move |s| {
        let turn = &mut next[usize::from(s.failed)];
        *turn += 1;
        *turn % 2
    })
}
