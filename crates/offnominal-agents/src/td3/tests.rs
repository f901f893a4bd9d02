//! TD3 against hand-computed targets and finite differences.

use super::*;
use crate::testing::{ACT, OBS, ROWS, batch, check_along};

fn config() -> TrainConfig {
    let sap = TrainConfig::for_env("sap-goal0").with_algorithm("td3").unwrap();
    TrainConfig { hidden: vec![16, 16], batch: ROWS, noise_clip: 0.25, ..sap }
}

fn learner() -> Td3 {
    let mut td3 = Td3::new(&config(), OBS, ACT, &mut Rng::new(1));
    // Targets must differ from the networks, or a test could not tell them apart.
    td3.critics.members.iter_mut().for_each(|m| m.target.iter_mut().for_each(|t| *t *= 0.9));
    td3.actor.target.iter_mut().for_each(|t| *t *= 1.5);
    td3
}

/// Actions of the actor for one row, before any noise.
fn actions(td3: &Td3, params: &[f32], obs: &[f32]) -> Vec<f32> {
    let net = &td3.actor.net;
    let head = net.forward(params, obs, &mut net.workspace(1)).to_vec();
    let linear = td3.config.output_activation == OutputActivation::Linear;
    head.iter().map(|&z| if linear { z } else { z.tanh() }).collect()
}

#[test]
fn targets_are_reward_and_the_discounted_smaller_value_of_a_blurred_action() {
    let (mut td3, batch) = (learner(), batch());
    td3.set_targets(&batch, &mut Rng::new(3));
    let mut noise = [0.0; ROWS * ACT];
    Rng::new(3).fill_normal(&mut noise);
    assert!(noise.iter().any(|e| (0.2 * e).abs() > 0.25), "nothing is cut: {noise:?}");
    for i in 0..ROWS {
        let obs = &batch.next_obs[i * OBS..][..OBS];
        let mut action = actions(&td3, &td3.actor.target, obs);
        for (a, e) in action.iter_mut().zip(&noise[i * ACT..]) {
            *a = (*a + (0.2 * e).clamp(-0.25, 0.25)).clamp(-1.0, 1.0);
        }
        let values = td3.critics.members.iter().map(|m| td3.critics.outputs(&m.target, obs, &action)[0]);
        let lowest = values.fold(f32::INFINITY, f32::min);
        let want = batch.reward[i] + if i == 2 { 0.0 } else { 0.99 * lowest };
        let found = td3.buffers.targets[i];
        assert!((found - want).abs() < 1e-5, "row {i}: expected {want}, found {found}");
    }
}

#[test]
fn actor_gradient_passes_a_check() {
    check_actor_gradient(learner());
}

#[test]
fn a_linear_output_passes_the_same_check_and_reaches_beyond_the_bounds() {
    let config = TrainConfig { output_activation: OutputActivation::Linear, ..config() };
    check_actor_gradient(Td3::new(&config, OBS, ACT, &mut Rng::new(1)));
    let config = TrainConfig { exploration_noise: 20.0, ..config };
    let (mut td3, mut action) = (Td3::new(&config, OBS, ACT, &mut Rng::new(1)), [0.0; ACT]);
    let mut explore = || {
        td3.explore(&[0.3, -0.2, 0.1], &mut action, 0, &mut Rng::new(7));
        action
    };
    assert!(explore().iter().any(|a| a.abs() > 1.0), "{:?}", explore());
}

fn check_actor_gradient(mut td3: Td3) {
    let batch = batch();
    let value = td3.actor_gradient(&batch, &mut Rng::new(4));
    let (params, grad) = (td3.actor.weights.params.clone(), td3.actor.weights.grad.clone());
    let loss = |params: &[f32]| {
        let one = |i: usize| {
            let obs = &batch.obs[i * OBS..][..OBS];
            let action = actions(&td3, params, obs);
            -f64::from(td3.critics.outputs(&td3.critics.members[0].weights.params, obs, &action)[0])
        };
        (0..ROWS).map(one).sum::<f64>() / ROWS as f64
    };
    assert!((loss(&params) + value).abs() < 1e-5, "{value}");
    check_along(&params, &grad, loss);
}

#[test]
fn actor_and_targets_move_at_every_second_step_only() {
    let (mut td3, batch, mut rng) = (learner(), batch(), Rng::new(5));
    let mut moved = vec![];
    for _ in 0..4 {
        let before = (td3.actor.policy().1, td3.actor.target.clone(), td3.critics.members[1].target.clone());
        let critic = td3.critics.members[1].weights.params.clone();
        td3.update(&batch, 1e-3, &mut rng);
        assert_ne!(critic, td3.critics.members[1].weights.params);
        let after = (&td3.actor.weights.params, &td3.actor.target, &td3.critics.members[1].target);
        assert_eq!(
            (before.0 != *after.0, before.0 != *after.0),
            (before.1 != *after.1, before.2 != *after.2)
        );
        moved.push(before.0 != *after.0);
    }
    assert_eq!(moved, [false, true, false, true]);
}

#[test]
fn the_target_actor_follows_at_its_rate() {
    let (mut td3, batch) = (learner(), batch());
    let before = td3.actor.target[7];
    td3.improve_actor(&batch, Adam::default(), &mut Rng::new(4));
    let (want, found) = (0.995 * before + 0.005 * td3.actor.weights.params[7], td3.actor.target[7]);
    assert!((found - want).abs() < 1e-6, "expected {want}, found {found}");
}

#[test]
fn exploring_adds_noise_of_the_given_deviation_within_the_bounds() {
    let (mut td3, obs, mut rng) = (learner(), [0.3, -0.2, 0.1], Rng::new(7));
    let mean = actions(&td3, &td3.actor.weights.params, &obs);
    let (mut squares, mut action, n) = (0.0, [0.0; ACT], 20_000);
    for _ in 0..n {
        td3.explore(&obs, &mut action, 0, &mut rng);
        assert!(action.iter().all(|a| a.abs() <= 1.0));
        squares += action.iter().zip(&mean).map(|(a, m)| f64::from(a - m).powi(2)).sum::<f64>();
    }
    let deviation = (squares / (n * ACT) as f64).sqrt();
    assert!((deviation - 0.1).abs() < 2e-3, "{deviation}");
}

#[test]
fn a_saved_learner_continues_with_the_same_bits() {
    let (mut td3, batch, mut rng) = (learner(), batch(), Rng::new(5));
    for _ in 0..3 {
        td3.update(&batch, 1e-3, &mut rng);
    }
    let mut saved = Tensors::default();
    td3.save(&mut saved);
    let mut other = Td3::new(&config(), OBS, ACT, &mut Rng::new(99));
    other.load(&Tensors::from_bytes(&saved.to_bytes()).unwrap()).unwrap();
    for _ in 0..2 {
        td3.update(&batch, 1e-3, &mut rng.clone());
        other.update(&batch, 1e-3, &mut rng.clone());
    }
    assert_eq!(td3.actor(), other.actor());
    assert_eq!(
        (td3.actor.target, &td3.critics.members[1].target),
        (other.actor.target, &other.critics.members[1].target)
    );
}

#[test]
fn ddpg_has_one_critic_and_a_target_without_blur() {
    let ddpg = config().with_algorithm("ddpg").unwrap();
    let (mut ddpg, batch, mut rng) = (Td3::ddpg(&ddpg, OBS, ACT, &mut Rng::new(1)), batch(), Rng::new(3));
    ddpg.actor.target.iter_mut().for_each(|t| *t *= 1.5);
    assert_eq!(ddpg.critics.members.len(), 1);
    ddpg.set_targets(&batch, &mut rng);
    for i in 0..ROWS {
        let obs = &batch.next_obs[i * OBS..][..OBS];
        let action = actions(&ddpg, &ddpg.actor.target, obs);
        let value = ddpg.critics.outputs(&ddpg.critics.members[0].target, obs, &action)[0];
        let want = batch.reward[i] + if i == 2 { 0.0 } else { 0.99 * value };
        let found = ddpg.buffers.targets[i];
        assert!((found - want).abs() < 1e-5, "row {i}: expected {want}, found {found}");
    }
    let before = ddpg.actor.policy();
    ddpg.update(&batch, 1e-3, &mut rng);
    assert_ne!(before, ddpg.actor.policy());
}
