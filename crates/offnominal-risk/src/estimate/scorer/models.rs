//! The models that score draws, and which of them is believed.

use super::TriedDraw;
use crate::balanced::rows::Rows;
use crate::balanced::{Buffers, Network};
use anyhow::Result;
use offnominal_core::prelude::*;
use offnominal_nets::Standardiser;
use offnominal_stats::correlation::{savage_scores, spearman};
use offnominal_stats::risk::linear::{Linear, balanced_cross_entropy};

/// What scores a draw.
pub(super) enum Model {
    Linear(Linear),
    Network(Box<Network>),
}

/// A model with the buffers of one thread.
pub(super) enum ModelReader<'m> {
    Linear(&'m Linear),
    Network(&'m Network, Box<Buffers>),
}

/// The experiments of one half.
#[derive(Default)]
pub(super) struct Half {
    width: usize,
    rows: Vec<f32>,
    failed: Vec<bool>,
    /// Nothing where the environment has no margins.
    margins: Option<Vec<f64>>,
}

/// Failures, and others, from which log odds are learned.
const FEWEST: usize = 4;
/// Those from which networks learn too.
const FEWEST_OF_NETWORKS: usize = 30;
/// Experiments of a half from which margins are learned.
const FEWEST_MARGINS: usize = 20;
/// Numbers of a draw up to which scores are linear: their fit solves systems of this size.
const WIDEST: usize = 300;
/// Gradient steps of a network at most.
const STEPS: usize = 1000;
/// Cross-entropy on balanced held-out experiments above which a model tells nothing; ln 2 is that of a coin.
const TELLS_NOTHING: f64 = 0.98 * std::f64::consts::LN_2;
/// Rank correlation with the margins of the other half below which a model of margins tells nothing.
const LEAST_CORRELATION: f64 = 0.15;

impl Model {
    pub fn reader(&self) -> ModelReader<'_> {
        match self {
            Model::Linear(linear) => ModelReader::Linear(linear),
            Model::Network(network) => ModelReader::Network(network, Box::new(network.buffers())),
        }
    }
}

impl ModelReader<'_> {
    pub fn score(&mut self, row: &[f32]) -> f64 {
        match self {
            ModelReader::Linear(linear) => linear.score(row),
            ModelReader::Network(network, buffers) => network.value(row, buffers),
        }
    }
}

impl Half {
    fn push(&mut self, seen: &TriedDraw) {
        if self.failed.is_empty() {
            (self.width, self.margins) = (seen.row.len(), Some(Vec::new()));
        }
        self.rows.extend(&seen.row);
        self.failed.push(seen.failed);
        match (&mut self.margins, seen.margin) {
            (Some(margins), Some(margin)) => margins.push(margin),
            (margins, _) => *margins = None,
        }
    }

    fn is_learnable(&self) -> bool {
        self.width > 0 && Standardiser::fit(&self.rows, self.width).outputs() > 0
    }

    fn scores(&self, linear: &Linear) -> Vec<f64> {
        self.rows.chunks_exact(self.width).map(|row| linear.score(row)).collect()
    }

    /// The cross-entropy of the log odds of what has not learned from it.
    fn cost(&self, linear: &Linear) -> Option<f64> {
        balanced_cross_entropy(&self.scores(linear), &self.failed)
    }
}

/// Experiments by their half.
pub(super) fn halves<'s>(sided: impl Iterator<Item = (usize, &'s TriedDraw)>) -> [Half; 2] {
    let mut halves = [Half::default(), Half::default()];
    sided.for_each(|(side, seen)| halves[side].push(seen));
    halves
}

/// Log odds of a failure, the model of the first half first; nothing where experiments are few or no model tells anything.
pub(super) fn of_failures(halves: &[Half; 2], rng: &mut Rng) -> Result<Option<[Model; 2]>> {
    let count = |failed: bool| halves.iter().flat_map(|h| &h.failed).filter(|f| **f == failed).count();
    let fewest = count(true).min(count(false));
    if fewest < FEWEST || !halves.iter().all(Half::is_learnable) {
        return Ok(None);
    }
    let mut candidates = vec![linear(halves), by_margins(halves)];
    if fewest >= FEWEST_OF_NETWORKS {
        candidates.push(Some(networks(halves, rng)?));
    }
    let told = candidates.into_iter().flatten().filter(|(cost, _)| *cost < TELLS_NOTHING);
    Ok(told.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, models)| models))
}

/// How near draws come to failing, the model of the first half first; nothing where the environment does not say it, or
/// no model tells it of the other half.
pub(super) fn of_margins(halves: &[Half; 2]) -> Option<[Model; 2]> {
    let is_enough = |h: &Half| h.failed.len() >= FEWEST_MARGINS && h.width <= WIDEST && h.is_learnable();
    if !halves.iter().all(is_enough) {
        return None;
    }
    let [first, second] = nearness(halves)?;
    let told = |half: &Half, model: &Linear| {
        spearman(&half.scores(model), half.margins.as_ref()?, &vec![1.0; half.failed.len()]).ok()
    };
    // Who is nearer to failing has the smaller margin.
    let mean = -0.5 * (told(&halves[1], &first)? + told(&halves[0], &second)?);
    (mean > LEAST_CORRELATION).then_some([first, second].map(Model::Linear))
}

type Candidate = (f64, [Model; 2]);

fn linear(halves: &[Half; 2]) -> Option<Candidate> {
    if halves[0].width > WIDEST {
        return None;
    }
    let [one, other] = halves;
    judged(halves, [Linear::log_odds(&one.rows, &one.failed)?, Linear::log_odds(&other.rows, &other.failed)?])
}

/// Log odds that follow from the margin that is expected.
fn by_margins(halves: &[Half; 2]) -> Option<Candidate> {
    if halves[0].width > WIDEST {
        return None;
    }
    let [first, second] = nearness(halves)?;
    let [one, other] = halves;
    let odds = |half: &Half, model: Linear| model.as_log_odds(&half.rows, &half.failed);
    judged(halves, [odds(one, first)?, odds(other, second)?])
}

fn judged(halves: &[Half; 2], [first, second]: [Linear; 2]) -> Option<Candidate> {
    let cost = 0.5 * (halves[1].cost(&first)? + halves[0].cost(&second)?);
    Some((cost, [first, second].map(Model::Linear)))
}

/// How near draws come to failing by the margins of each half. Margins count by their order, the smallest most: their unit
/// says nothing, and large ones hardly anything.
fn nearness(halves: &[Half; 2]) -> Option<[Linear; 2]> {
    let of = |half: &Half| Some(Linear::mean(&half.rows, &savage_scores(half.margins.as_ref()?)));
    Some([of(&halves[0])?, of(&halves[1])?])
}

fn networks(halves: &[Half; 2], rng: &mut Rng) -> Result<Candidate> {
    let [one, other] = halves.each_ref().map(|half| {
        let mut rows = Rows::new(half.width);
        half.rows.chunks_exact(half.width).zip(&half.failed).for_each(|(row, f)| rows.push(row, *f));
        rows
    });
    let (first, loss) = Network::fit(&one, &other, STEPS, rng)?;
    let (second, other_loss) = Network::fit(&other, &one, STEPS, rng)?;
    Ok((0.5 * (loss + other_loss), [first, second].map(|network| Model::Network(Box::new(network)))))
}
