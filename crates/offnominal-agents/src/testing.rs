//! What the tests of the learners share.

use crate::replay::Batch;
use offnominal_core::Rng;

/// Width of the observations.
pub(crate) const OBS: usize = 3;
/// Width of the actions.
pub(crate) const ACT: usize = 2;
/// Transitions in the batch.
pub(crate) const ROWS: usize = 4;

/// A batch whose third transition is the last of its episode.
pub(crate) fn batch() -> Batch {
    let mut batch = Batch::new(ROWS, OBS, ACT);
    let mut rng = Rng::new(2);
    rng.fill_normal(&mut batch.obs);
    rng.fill_normal(&mut batch.next_obs);
    rng.fill_normal(&mut batch.reward);
    batch.action.iter_mut().for_each(|a| *a = rng.range(-1.0, 1.0) as f32);
    batch.advice.iter_mut().for_each(|a| *a = rng.range(-1.0, 1.0) as f32);
    batch.terminal[2] = 1.0;
    batch
}

/// A central difference along the gradient must equal its norm.
#[track_caller]
pub(crate) fn check_along(params: &[f32], grad: &[f32], mut loss: impl FnMut(&[f32]) -> f64) {
    let norm = grad.iter().map(|g| g * g).sum::<f32>().sqrt();
    assert!(norm > 1e-4, "the gradient vanished");
    let moved = |shift: f32| params.iter().zip(grad).map(|(p, g)| p + shift * g / norm).collect::<Vec<_>>();
    let slope = (loss(&moved(1e-3)) - loss(&moved(-1e-3))) / 2e-3;
    assert!((slope / f64::from(norm) - 1.0).abs() < 5e-3, "expected {norm}, found {slope}");
}
