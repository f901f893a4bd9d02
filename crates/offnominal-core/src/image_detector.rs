//! What scores pictures: an image detector is fitted on films of nominal episodes and becomes a monitor that scores one
//! sight after another.
//!
//! As with [`crate::detector`], unfitted and fitted are different types, and neither reward nor label nor clock can be
//! reached: a monitor sees what the camera saw before and after a step, and the command in between.

use crate::Rng;
use crate::detector::FitError;

/// What a camera saw in one episode of T steps, with the commands.
#[derive(Debug, Clone, PartialEq)]
pub struct Film {
    /// Pixels per row.
    pub width: usize,
    /// Rows of a picture.
    pub height: usize,
    /// Red, green and blue, `[T + 1, height, width, 3]`.
    pub frames: Vec<u8>,
    /// The policy's commands, `[T, act_width]`.
    pub actions: Vec<f32>,
    /// Numbers per command.
    pub act_width: usize,
}

/// One step as an image monitor sees it; pictures are `[height, width, 3]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sight<'a> {
    /// What the camera saw before the step.
    pub frame: &'a [u8],
    /// The policy's command.
    pub action: &'a [f32],
    /// What it saw after the step.
    pub next_frame: &'a [u8],
}

/// Where in a picture a score comes from, on any coarse grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// Rows of the grid.
    pub rows: usize,
    /// Columns of the grid.
    pub columns: usize,
    /// One number per field, row by row; larger is more anomalous.
    pub values: Vec<f32>,
}

/// The recipe of an image detector: plain data that can be fitted.
pub trait ImageDetector: Send + Sync {
    /// Learns what is nominal.
    ///
    /// # Errors
    /// If there is no data, the films differ in size, or what the detector needs (weights, memory, a device) is missing.
    fn fit(
        &self,
        train: &[Film],
        validation: &[Film],
        rng: &mut Rng,
    ) -> Result<Box<dyn ImageMonitor>, FitError>;

    /// As [`ImageDetector::fit`], and tells on the way which part of the fit is done, from 0 to 1, if it takes long.
    ///
    /// # Errors
    /// As there.
    fn fit_telling(
        &self,
        train: &[Film],
        validation: &[Film],
        rng: &mut Rng,
        _tell: &dyn Fn(f64),
    ) -> Result<Box<dyn ImageMonitor>, FitError> {
        self.fit(train, validation, rng)
    }
}

/// A fitted image detector, watching one episode at a time.
///
/// The steps of an episode come in their order, so the frame of a step is the next frame of the step before; a monitor
/// may keep what it made of it.
pub trait ImageMonitor: Send + Sync {
    /// Forgets the episode before.
    fn reset(&mut self);

    /// How anomalous this step is: larger is more anomalous, and always finite.
    ///
    /// # Panics
    /// If the pictures do not have the size of those that the detector was fitted on.
    fn score(&mut self, sight: Sight<'_>) -> f64;

    /// Where in the last picture the score comes from, where the monitor knows.
    fn heat(&self) -> Option<Heat> {
        None
    }

    /// What the monitor expected to see in the last picture, `[height, width, 3]`, where it knows.
    fn expected(&self) -> Option<&[u8]> {
        None
    }

    /// An independent copy, for another thread; copies share what is large and never changes.
    fn fork(&self) -> Box<dyn ImageMonitor>;

    /// Scores a whole episode, from a reset.
    fn score_film(&mut self, film: &Film) -> Vec<f64> {
        self.reset();
        film.sights().map(|sight| self.score(sight)).collect()
    }
}

impl Film {
    /// The film of an episode.
    ///
    /// # Panics
    /// If the lengths do not fit together, or a size is zero.
    pub fn new(
        (width, height): (usize, usize),
        frames: Vec<u8>,
        actions: Vec<f32>,
        act_width: usize,
    ) -> Film {
        assert!(width > 0 && height > 0 && act_width > 0, "a film needs pixels and commands");
        let steps = actions.len() / act_width;
        assert_eq!(actions.len(), steps * act_width, "actions do not fill whole rows");
        assert_eq!(frames.len(), (steps + 1) * width * height * 3, "expected one more frame than actions");
        Film { width, height, frames, actions, act_width }
    }

    /// Number of steps T.
    pub fn len(&self) -> usize {
        self.actions.len() / self.act_width
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Numbers per picture.
    pub fn frame_len(&self) -> usize {
        self.width * self.height * 3
    }

    /// Picture `t`, of 0 to T.
    ///
    /// # Panics
    /// If there is none.
    pub fn frame(&self, t: usize) -> &[u8] {
        &self.frames[t * self.frame_len()..(t + 1) * self.frame_len()]
    }

    /// The command of step `t`.
    ///
    /// # Panics
    /// If there is none.
    pub fn action(&self, t: usize) -> &[f32] {
        &self.actions[t * self.act_width..(t + 1) * self.act_width]
    }

    /// Step `t`.
    ///
    /// # Panics
    /// If `t` is not below `len()`.
    pub fn sight(&self, t: usize) -> Sight<'_> {
        Sight { frame: self.frame(t), action: self.action(t), next_frame: self.frame(t + 1) }
    }

    /// The steps in order.
    pub fn sights(&self) -> impl ExactSizeIterator<Item = Sight<'_>> {
        (0..self.len()).map(|t| self.sight(t))
    }
}

impl Heat {
    /// A grid of numbers.
    ///
    /// # Panics
    /// If they do not fill it.
    pub fn new(rows: usize, columns: usize, values: Vec<f32>) -> Heat {
        assert_eq!(values.len(), rows * columns, "expected one number per field");
        Heat { rows, columns, values }
    }
}

/// Films to learn from, and films held out: every fourth, or none where there are too few. What is usual belongs found in
/// the latter, and not in the films of the validation, from which alarms get their thresholds.
pub fn hold_out(films: &[Film]) -> (Vec<&Film>, Vec<&Film>) {
    let (mut seen, mut held_out) = (Vec::new(), Vec::new());
    for (i, film) in films.iter().enumerate() {
        let is_out = i % 4 == 3 && films.len() >= 4;
        if is_out { held_out.push(film) } else { seen.push(film) }
    }
    (seen, held_out)
}

/// Checks what every image detector requires of its films: enough steps, one size, finite commands.
///
/// # Errors
/// The first violation found.
pub fn check_films(films: &[Film], needed: usize) -> Result<(), FitError> {
    let found = films.iter().map(Film::len).sum();
    if found < needed.max(1) {
        return Err(FitError::TooFewSteps { needed: needed.max(1), found });
    }
    let size = |f: &Film| format!("pictures of {} x {} and {} commands", f.width, f.height, f.act_width);
    for (episode, film) in films.iter().enumerate() {
        if size(film) != size(&films[0]) {
            return Err(FitError::Film { episode, expected: size(&films[0]), found: size(film) });
        }
        if let Some(at) = film.actions.iter().position(|a| !a.is_finite()) {
            let (step, found) = (at / film.act_width, film.actions[at]);
            return Err(FitError::NotFinite { episode, step, found });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn film(side: usize, actions: Vec<f32>) -> Film {
        let frames = (0..(actions.len() + 1) * side * side * 3).map(|i| i as u8).collect();
        Film::new((side, side), frames, actions, 1)
    }

    #[test]
    fn sights_overlap_by_one_frame() {
        let film = film(2, vec![7.0, 8.0]);
        let all: Vec<_> = film.sights().collect();
        assert_eq!((all.len(), all[0].next_frame), (2, all[1].frame));
        assert_eq!((all[1].action, all[1].next_frame[0]), (&[8.0][..], 24));
    }

    #[test]
    fn bad_films_are_named() {
        let found = |films: &[Film], needed| check_films(films, needed).unwrap_err().to_string();
        assert!(found(&[], 1).contains("at least 1 nominal steps"));
        let nan = [film(2, vec![0.0]), film(2, vec![0.0, f32::NAN])];
        assert!(found(&nan, 1).starts_with("episode 1: expected finite numbers, found NaN at step 1"));
        let sizes = [film(2, vec![0.0]), film(3, vec![0.0])];
        let want =
            "film 1: expected pictures of 2 x 2 and 1 commands, found pictures of 3 x 3 and 1 commands";
        assert_eq!(found(&sizes, 1), want);
    }
}
