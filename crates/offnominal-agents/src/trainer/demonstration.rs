//! Actions of a demonstrator, made worse on purpose, so that the learner also sees how it recovers.

use super::lane::Lane;
use crate::actor::Bounds;
use offnominal_core::Rng;

/// Deviation of the noise on demonstrated actions.
const DEMONSTRATION_NOISE: f64 = 0.2;

/// Share of demonstrated choices that chance makes instead.
const DEMONSTRATION_CHANCE: f64 = 0.2;

/// The action that was advised, blurred where actions are numbers, and now and then a random one where they are choices.
/// Unless advice is kept, what is remembered as advised is what the demonstrator did.
pub(super) fn demonstrate(lane: &mut Lane, keeps_advice: bool, bounds: &Bounds, rng: &mut Rng) {
    if bounds.is_choice() && rng.uniform() < DEMONSTRATION_CHANCE {
        bounds.draw(&mut lane.action, rng);
        lane.is_advised = keeps_advice;
        return;
    }
    lane.action.copy_from_slice(&lane.advice);
    if !bounds.is_choice() {
        let blurred =
            |a: f32, rng: &mut Rng| (a + (DEMONSTRATION_NOISE * rng.normal()) as f32).clamp(-1.0, 1.0);
        lane.action.iter_mut().for_each(|a| *a = blurred(*a, rng));
    }
    if !keeps_advice {
        lane.advice.copy_from_slice(&lane.action);
    }
}
