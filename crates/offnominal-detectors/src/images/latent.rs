//! A few coordinates of whole pictures, and the detector `offnominal` on them as if they were sensors.
//!
//! o(t) = (y(t), y(t) − y(t−1)), where y are the coordinates of a picture's patches along the directions in which nominal
//! pictures vary most. What is seen of the world as a whole then has the same model as a vector of sensors.

use super::gaze::Filmed;
use super::pca::Pca;
use crate::Offnominal;
use offnominal_core::prelude::*;
use offnominal_nets::Standardiser;

/// Directions that are kept.
const DIRECTIONS: usize = 24;
/// Pictures from which they are found.
const SAMPLED: usize = 500;

/// The coordinates of pictures, in nominal units.
#[derive(Debug, Clone)]
pub(super) struct Coordinates {
    pca: Pca,
    scale: Standardiser,
}

impl Coordinates {
    pub fn fit(films: &[Filmed], rng: &mut Rng) -> Coordinates {
        let all: Vec<&[f32]> = films.iter().flat_map(|f| f.patches.iter().map(Vec::as_slice)).collect();
        let stride = all.len().div_ceil(SAMPLED);
        let sampled: Vec<&[f32]> = all.into_iter().step_by(stride).collect();
        let pca = Pca::fit(&sampled, DIRECTIONS, rng);
        let rows: Vec<f32> = sampled.iter().flat_map(|row| pca.of(row)).collect();
        let scale = Standardiser::fit(&rows, rows.len() / sampled.len());
        Coordinates { pca, scale }
    }

    fn of(&self, patches: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.scale.outputs()];
        self.scale.apply(&self.pca.of(patches), &mut out);
        out
    }

    /// Where the world is and how it moves.
    pub fn state(&self, before: &[f32], now: &[f32]) -> Vec<f32> {
        let (old, mut new) = (self.of(before), self.of(now));
        let moved: Vec<f32> = new.iter().zip(&old).map(|(n, o)| n - o).collect();
        new.extend(moved);
        new
    }
}

/// A vector detector on the coordinates.
pub(super) struct Latent {
    coordinates: Coordinates,
    monitor: Box<dyn Monitor>,
    state: Vec<f32>,
}

impl Latent {
    pub fn fit(coordinates: &Coordinates, films: &[Filmed], rng: &mut Rng) -> Result<Latent, FitError> {
        let states: Vec<Vec<f32>> = films.iter().map(|f| states(coordinates, f)).collect();
        let width = states[0].len() / (films[0].len() + 1);
        let signals = films.iter().zip(&states);
        let signals: Vec<Signals<'_>> =
            signals.map(|(f, s)| Signals::new(s, &f.actions, width, f.act_width)).collect();
        let monitor = Offnominal::default().fit(&signals, &[], rng)?;
        Ok(Latent { coordinates: coordinates.clone(), monitor, state: Vec::new() })
    }

    pub fn reset(&mut self) {
        self.monitor.reset();
        self.state.clear();
    }

    /// The score of a step.
    pub fn score(&mut self, [before, now, next]: [&[f32]; 3], action: &[f32]) -> f64 {
        if self.state.is_empty() {
            self.state = self.coordinates.state(before, now);
        }
        let next = self.coordinates.state(now, next);
        let score = self.monitor.score(&Transition { obs: &self.state, action, next_obs: &next });
        self.state = next;
        score
    }
}

/// The states of all pictures of a film.
pub(super) fn states(coordinates: &Coordinates, film: &Filmed) -> Vec<f32> {
    let at = |t: usize| coordinates.state(&film.patches[t.saturating_sub(1)], &film.patches[t]);
    (0..=film.len()).flat_map(at).collect()
}
