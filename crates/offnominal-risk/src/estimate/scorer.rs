//! How dangerous a draw looks by the experiments of its own run.
//!
//! A score is linear in what is read of a draw, or in its squares and products too: whichever tells more of failures that it
//! has not learned from. Two of a kind score draws: each has learned from the experiments of one half, and says how dangerous those of
//! the other half looked, so that no experiment is judged by what it taught. Where failures are too few, margins are what a
//! score learns from. Where nothing tells anything yet, the predictor scores, if there is one.

mod models;

use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::guide::reading;
use crate::predictors::learn::Form;
use crate::predictors::predictor::Reader;
use anyhow::{Context as _, Result, ensure};
use models::Model;
use offnominal_stats::risk::allocation::Scored;

/// What draws are scored with.
pub(super) struct Scorer<'c> {
    by: Experimenter<'c>,
    guide: Option<&'c Guide>,
    told: Told,
}

/// What experiments have told.
enum Told {
    /// Nothing yet.
    Nothing,
    /// How near to failing draws come; how likely they fail does not follow from it.
    Margins([Model; 2]),
    /// The log odds of a failure, but for a constant.
    Failures([Model; 2]),
}

/// What is read of a draw: the features of its initial condition and, last, the log odds that the predictor sees.
pub(super) struct Features<'r> {
    by: Experimenter<'r>,
    guide: Option<(&'r Guide, Reader<'r>)>,
}

/// An experiment, and what is read of its draw.
#[derive(Clone)]
pub(super) struct TriedDraw {
    pub row: Vec<f32>,
    pub chance: f64,
    pub failed: bool,
    pub margin: Option<f64>,
}

impl<'c> Scorer<'c> {
    /// Learns from experiments.
    pub fn fit(by: Experimenter<'c>, guide: Option<&'c Guide>, seen: &[TriedDraw]) -> Scorer<'c> {
        let halves = models::halves(sides(seen).zip(seen));
        let told = match models::of_failures(&halves) {
            Some(models) => Told::Failures(models),
            // A predictor knows more than margins do.
            None => {
                models::of_margins(&halves).filter(|_| guide.is_none()).map_or(Told::Nothing, Told::Margins)
            }
        };
        Scorer { by, guide, told }
    }

    /// Whether scores tell the order of draws alone, by their margins.
    pub fn is_of_margins(&self) -> bool {
        matches!(self.told, Told::Margins(_))
    }

    /// How dangerous a draw looks by what is read of it.
    pub fn score(&self, row: &[f32]) -> f64 {
        let Some(models) = self.models() else { return self.without_models(row) };
        models.iter().map(|model| model.score(row)).sum::<f64>() / 2.0
    }

    fn models(&self) -> Option<&[Model; 2]> {
        match &self.told {
            Told::Nothing => None,
            Told::Margins(models) | Told::Failures(models) => Some(models),
        }
    }

    /// What it reads of a draw.
    pub fn features(&self) -> Features<'_> {
        Features::new(self.by, self.guide)
    }

    /// The experiments from which it has learned, each with the score of what has not learned from it.
    pub fn scored(&self, seen: &[TriedDraw]) -> Vec<Scored> {
        let one = |(side, s): (usize, &TriedDraw)| {
            let score = match self.models() {
                Some(models) => models[1 - side].score(&s.row),
                None => self.without_models(&s.row),
            };
            Scored { score, weight: 1.0 / s.chance, failed: s.failed }
        };
        sides(seen).zip(seen).map(one).collect()
    }

    /// The predictor's log odds stand last in a row; without a predictor all draws look alike.
    fn without_models(&self, row: &[f32]) -> f64 {
        self.guide.and(row.last()).map_or(0.0, |&odds| f64::from(odds))
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

/// Insists on numbers from which an adaptive run can learn.
///
/// # Errors
/// If an initial condition has none, or more than a score is fitted to.
pub(super) fn check(by: Experimenter<'_>, guide: Option<&Guide>) -> Result<()> {
    let x = by.draw(by.key("features", 0));
    let (n, most) = (Features::new(by, guide).of(&x)?.len(), models::WIDEST);
    ensure!(
        (1..=most).contains(&n),
        "method adaptive: expected an initial condition of 1 to {most} numbers to learn from, found {n}, so it would only \
         count, with wider intervals; use --method plain"
    );
    Ok(())
}

/// Which half each experiment belongs to: failures and others take turns, each for themselves.
fn sides(seen: &[TriedDraw]) -> impl Iterator<Item = usize> + '_ {
    let mut next = [0, 0];
    seen.iter().map(move |s| {
        let turn = &mut next[usize::from(s.failed)];
        *turn += 1;
        *turn % 2
    })
}
