//! Actions of a demonstrator, made worse on purpose, so that the learner also sees how it recovers.

use super::lane::Lane;
use crate::actor::Bounds;
use offnominal_core::Rng;
use offnominal_core::policy::Policy;

/// Deviation of the noise on demonstrated actions.
const DEMONSTRATION_NOISE: f64 = 0.2;

/// Share of demonstrated choices that chance makes instead.
const DEMONSTRATION_CHANCE: f64 = 0.2;

/// The demonstrator's action, blurred where actions are numbers, and now and then a random one where they are choices;
/// whether it is the demonstrator's.
pub(super) fn demonstrate(
    demonstrator: &mut dyn Policy,
    lane: &mut Lane,
    bounds: &Bounds,
    rng: &mut Rng,
) -> bool {
    if bounds.is_choice() && rng.uniform() < DEMONSTRATION_CHANCE {
        bounds.draw(&mut lane.action, rng);
        return false;
    }
    demonstrator.act(&lane.obs, &mut lane.action, rng);
    bounds.invert(&mut lane.action);
    if !bounds.is_choice() {
        let blurred =
            |a: f32, rng: &mut Rng| (a + (DEMONSTRATION_NOISE * rng.normal()) as f32).clamp(-1.0, 1.0);
        lane.action.iter_mut().for_each(|a| *a = blurred(*a, rng));
    }
    true
}
