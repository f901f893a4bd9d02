//! The models that score draws, and which of them is believed.

use super::TriedDraw;
use offnominal_nets::Standardiser;
use offnominal_stats::correlation::{savage_scores, spearman};
use offnominal_stats::risk::linear::{Linear, balanced_cross_entropy};
use std::borrow::Cow;

/// What scores a draw: linear in the numbers that are read of it, or in these and their squares and products.
pub(super) struct Model {
    reading: Reading,
    linear: Linear,
}

/// What of the numbers of a draw a score is linear in.
#[derive(Clone)]
enum Reading {
    Numbers,
    /// Standardised numbers, with the square of each and its products with the others.
    Products(Standardiser),
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
/// Experiments of a half from which margins are learned.
const FEWEST_MARGINS: usize = 20;
/// The most numbers that a score is linear in: their fit solves systems of this size.
pub const WIDEST: usize = 300;
/// Cross-entropy on balanced held-out experiments above which a model tells nothing; ln 2 is that of a coin.
const TELLS_NOTHING: f64 = 0.98 * std::f64::consts::LN_2;
/// Rank correlation with the margins of the other half below which a model of margins tells nothing.
const LEAST_CORRELATION: f64 = 0.15;

impl Model {
    pub fn score(&self, row: &[f32]) -> f64 {
        self.linear.score(&self.reading.of(row))
    }
}

impl Reading {
    /// Both, where there are not too many products. They are standardised by all draws, which says nothing of outcomes.
    fn all(halves: &[Half; 2]) -> Vec<Reading> {
        let (rows, width) = ([&halves[0].rows[..], &halves[1].rows].concat(), halves[0].width);
        let standardiser = Standardiser::fit(&rows, width);
        let d = standardiser.outputs();
        let products = (d * (d + 3) / 2 <= WIDEST).then_some(Reading::Products(standardiser));
        (width <= WIDEST).then_some(Reading::Numbers).into_iter().chain(products).collect()
    }

    /// What is read of rows.
    fn of<'r>(&self, rows: &'r [f32]) -> Cow<'r, [f32]> {
        let Reading::Products(standardiser) = self else { return Cow::Borrowed(rows) };
        let width = standardiser.outputs();
        let mut standard = vec![0.0; rows.len() / standardiser.inputs() * width];
        standardiser.apply(rows, &mut standard);
        Cow::Owned(standard.chunks_exact(width).flat_map(with_products).collect())
    }

    /// The experiments, read so.
    fn of_half(&self, half: &Half) -> Half {
        let rows = self.of(&half.rows).into_owned();
        let width = rows.len() / half.failed.len();
        Half { width, rows, failed: half.failed.clone(), margins: half.margins.clone() }
    }

    fn models(self, [first, second]: [Linear; 2]) -> [Model; 2] {
        let model = |reading, linear| Model { reading, linear };
        [model(self.clone(), first), model(self, second)]
    }
}

fn with_products(row: &[f32]) -> impl Iterator<Item = f32> + '_ {
    let of = move |i: usize| row[i..].iter().map(move |x| x * row[i]);
    row.iter().copied().chain((0..row.len()).flat_map(of))
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
pub(super) fn of_failures(halves: &[Half; 2]) -> Option<[Model; 2]> {
    let count = |failed: bool| halves.iter().flat_map(|h| &h.failed).filter(|f| **f == failed).count();
    if count(true).min(count(false)) < FEWEST || !halves.iter().all(Half::is_learnable) {
        return None;
    }
    let cost = |halves: &[Half; 2], [first, second]: &[Linear; 2]| {
        Some(0.5 * (halves[1].cost(first)? + halves[0].cost(second)?))
    };
    let told = best(halves, |halves| {
        let candidates = [by_outcomes(halves), by_margins(halves)].into_iter().flatten();
        candidates.filter_map(|models| Some((cost(halves, &models)?, models))).collect()
    });
    told.filter(|(cost, _)| *cost < TELLS_NOTHING).map(|(_, models)| models)
}

/// How near draws come to failing, the model of the first half first; nothing where the environment does not say it, or
/// no model tells it of the other half.
pub(super) fn of_margins(halves: &[Half; 2]) -> Option<[Model; 2]> {
    if !halves.iter().all(|half| half.failed.len() >= FEWEST_MARGINS && half.is_learnable()) {
        return None;
    }
    let told = |half: &Half, model: &Linear| {
        spearman(&half.scores(model), half.margins.as_ref()?, &vec![1.0; half.failed.len()]).ok()
    };
    // Who is nearer to failing has the smaller margin.
    let judged = |halves: &[Half; 2]| {
        let [first, second] = nearness(halves)?;
        Some((0.5 * (told(&halves[1], &first)? + told(&halves[0], &second)?), [first, second]))
    };
    let told = best(halves, |halves| judged(halves).into_iter().collect());
    told.filter(|(correlation, _)| -correlation > LEAST_CORRELATION).map(|(_, models)| models)
}

/// Linear scores, the one of the first half first, and what they cost on the other halves.
type Candidate = (f64, [Linear; 2]);

/// The models that cost least, whatever they read of draws.
fn best(halves: &[Half; 2], candidates: impl Fn(&[Half; 2]) -> Vec<Candidate>) -> Option<(f64, [Model; 2])> {
    let read = |reading: Reading| {
        let found = candidates(&halves.each_ref().map(|half| reading.of_half(half)));
        found.into_iter().map(move |(cost, linear)| (cost, reading.clone().models(linear)))
    };
    Reading::all(halves).into_iter().flat_map(read).min_by(|a, b| a.0.total_cmp(&b.0))
}

fn by_outcomes(halves: &[Half; 2]) -> Option<[Linear; 2]> {
    let of = |half: &Half| Linear::log_odds(&half.rows, &half.failed);
    Some([of(&halves[0])?, of(&halves[1])?])
}

/// Log odds that follow from the margin that is expected.
fn by_margins(halves: &[Half; 2]) -> Option<[Linear; 2]> {
    let [first, second] = nearness(halves)?;
    let odds = |half: &Half, model: &Linear| model.as_log_odds(&half.rows, &half.failed);
    Some([odds(&halves[0], &first)?, odds(&halves[1], &second)?])
}

/// How near draws come to failing by the margins of each half. Margins count by their order, the smallest most: their unit
/// says nothing, and large ones hardly anything.
fn nearness(halves: &[Half; 2]) -> Option<[Linear; 2]> {
    let of = |half: &Half| Some(Linear::mean(&half.rows, &savage_scores(half.margins.as_ref()?)));
    Some([of(&halves[0])?, of(&halves[1])?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::prelude::*;

    /// Sixty draws of which those outside of a ring fail, and how far inside the others are.
    fn ring(radius: f64) -> [Half; 2] {
        let mut rng = Rng::new(1);
        let mut halves = [Half::default(), Half::default()];
        for i in 0..60 {
            let (x, y) = (rng.normal(), rng.normal());
            let margin = radius - x.hypot(y);
            let row = vec![5.0 + x as f32, y as f32 / 100.0, 7.0];
            halves[i % 2].push(&TriedDraw { row, chance: 1.0, failed: margin <= 0.0, margin: Some(margin) });
        }
        halves
    }

    /// How the score of draws right and left of the ring stands against one in its middle.
    fn told(models: &[Model; 2]) -> bool {
        let at = |x: f32| models.iter().map(|m| m.score(&[5.0 + x, 0.0, 7.0])).sum::<f64>();
        at(3.0) > at(0.0) + 0.5 && at(-3.0) > at(0.0) + 0.5
    }

    #[test]
    fn failures_on_both_sides_are_told_from_the_first_few_and_from_margins_alone() {
        assert!(told(&of_failures(&ring(2.0)).unwrap()));
        let unharmed = ring(9.0);
        assert!(of_failures(&unharmed).is_none() && told(&of_margins(&unharmed).unwrap()));
    }

    #[test]
    fn a_plane_is_told_by_numbers_alone() {
        let mut halves = ring(2.0);
        for half in &mut halves {
            half.failed = half.rows.chunks_exact(3).map(|row| row[0] > 5.5).collect();
        }
        assert!(matches!(of_failures(&halves).unwrap()[0].reading, Reading::Numbers));
    }

    #[test]
    fn products_count_each_pair_once() {
        assert_eq!(with_products(&[2.0, 3.0]).collect::<Vec<_>>(), [2.0, 3.0, 4.0, 6.0, 9.0]);
    }
}
