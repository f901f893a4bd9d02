//! Scripted policies that solve an environment: they show that it can be solved, and can give a learner its first
//! episodes.
//!
//! They are ordinary policies. They read what any policy reads and remember nothing, so they can be disturbed, recorded
//! and scored like trained ones.

use offnominal_core::prelude::*;

/// The name under which commands know these policies.
pub const NAME: &str = "scripted";

/// The environments that have one.
pub const ENVIRONMENTS: [&str; 5] = ["driving", "urm-reach", "urm-pnp", "urr-reach", "pong"];

/// The scripted policy of an environment, if it has one.
///
/// ```
/// use offnominal_core::prelude::*;
/// let environment = offnominal_worlds::env::catalogue().build("urm-pnp", &serde_json::json!({}))?;
/// let policy = offnominal_worlds::demonstrator::of("urm-pnp").unwrap();
/// let episode = Trial::new(environment.as_ref(), policy.as_ref()).nominal(Seed(1));
/// assert_eq!(episode.success(), Some(true));
/// # Ok::<(), BuildError>(())
/// ```
pub fn of(environment: &str) -> Option<Box<dyn Policy>> {
    let script: fn(&[f32], &mut [f32]) = match environment {
        "driving" => crate::env::driving::driver,
        "urm-reach" | "urr-reach" => reach,
        "urm-pnp" => pick_and_place,
        "pong" => crate::env::pong::player,
        _ => return None,
    };
    Some(Box::new(script))
}

/// Distance that is answered with a full action, in m: two steps' way, so that the tool, which lags, does not overshoot.
const RAMP_M: f32 = 0.02;

/// Straight to the goal.
fn reach(obs: &[f32], action: &mut [f32]) {
    towards(action, vector(obs, 0), vector(obs, 6));
}

/// Height of the tool from which it descends on the block, in m.
const ABOVE_M: f32 = 0.115;
/// How far the tool may be off the block's middle, to the side or in height, to grasp it, in m.
const CENTRED_M: f32 = 0.006;
/// Opening of the gripper below which the block is held; 1 is open. Its 60 mm are an opening of 0.41, and of up to 0.55
/// where it is held askew.
const HELD: f32 = 0.58;

/// Above the block, down, close, to the goal; what comes next follows from what is seen.
fn pick_and_place(obs: &[f32], action: &mut [f32]) {
    let [tool, goal, block] = [0, 6, 10].map(|at| vector(obs, at));
    let opening = obs[9];
    let beside = (tool[0] - block[0]).hypot(tool[1] - block[1]);
    let around = beside < 3.0 * CENTRED_M && (tool[2] - block[2]).abs() < 3.0 * CENTRED_M;
    action[3] = -1.0;
    if opening < HELD && around {
        action[3] = 1.0;
        // The block is to reach the goal, wherever between the fingers it is.
        towards(action, block, goal);
    } else if beside > CENTRED_M && !around {
        towards(action, tool, [block[0], block[1], ABOVE_M]);
    } else {
        let centred = beside < CENTRED_M && (tool[2] - block[2]).abs() < CENTRED_M;
        action[3] = if centred || (around && opening < 0.99) { 1.0 } else { -1.0 };
        towards(action, tool, block);
    }
}

/// Moves what is at one place to another one.
fn towards(action: &mut [f32], from: [f32; 3], to: [f32; 3]) {
    for i in 0..3 {
        action[i] = ((to[i] - from[i]) / RAMP_M).clamp(-1.0, 1.0);
    }
}

fn vector(obs: &[f32], at: usize) -> [f32; 3] {
    [obs[at], obs[at + 1], obs[at + 2]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::catalogue;
    use offnominal_core::run::Trial;

    /// Episodes of the scripted policy that succeed, of so many.
    fn successes(id: &str, episodes: u64) -> usize {
        let environment = catalogue().build(id, &serde_json::json!({})).unwrap();
        let policy = of(id).unwrap();
        let trial = Trial::new(environment.as_ref(), policy.as_ref());
        (0..episodes).filter(|&seed| trial.nominal(Seed(seed)).success() == Some(true)).count()
    }

    #[test]
    fn both_tasks_of_the_arm_can_be_solved() {
        assert_eq!(successes("urm-reach", 10), 10);
        assert_eq!(successes("urm-pnp", 20), 20);
    }

    #[test]
    fn scripts_obey_the_laws_of_policies() {
        for id in ENVIRONMENTS {
            let environment = catalogue().build(id, &serde_json::json!({})).unwrap();
            let policy = of(id).unwrap();
            offnominal_laws::assert_lawful(
                id,
                &offnominal_laws::policy(policy.as_ref(), environment.spec(), &[]),
            );
        }
    }

    #[test]
    fn the_driver_laps_the_tracks() {
        let found = successes("driving", 100);
        assert!(found >= 95, "{found} of 100");
    }

    #[test]
    fn pong_is_won_by_following_the_ball() {
        assert_eq!(successes("pong", 2), 2);
    }

    #[test]
    fn environments_without_a_script_have_none() {
        assert!(of("mjc-half-cheetah").is_none());
        assert!(ENVIRONMENTS.iter().all(|environment| of(environment).is_some()));
    }
}
