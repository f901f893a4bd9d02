//! SAC against hand-computed targets and finite differences.

use super::*;
use crate::Learner;
use crate::config::Alpha;
use crate::testing::{ACT, OBS, ROWS, batch, check_along};
use offnominal_core::Rng;
use offnominal_nets::Tensors;

fn config() -> TrainConfig {
    let sap = TrainConfig::for_env("sap-goal0").with_algorithm("sac").unwrap();
    TrainConfig { hidden: vec![16, 16], batch: ROWS, ..sap }
}

fn learner() -> Sac {
    let mut sac = Sac::new(&config(), OBS, ACT, &mut Rng::new(1));
    // Targets must differ from the critics, or a test could not tell them apart.
    sac.critics.members.iter_mut().for_each(|m| m.target.iter_mut().for_each(|t| *t *= 0.9));
    sac
}

/// The smallest value of one row, by the critics or by their targets.
fn lowest(critics: &Critics, target: bool, obs: &[f32], action: &[f32]) -> f32 {
    let of = |m: &crate::critics::Member| {
        critics.outputs(if target { &m.target } else { &m.weights.params }, obs, action)[0]
    };
    critics.members.iter().map(of).fold(f32::INFINITY, f32::min)
}

#[test]
fn targets_are_reward_and_the_discounted_smaller_value_with_entropy() {
    let (mut sac, batch, alpha) = (learner(), batch(), 0.3);
    let next = sac.actor.draw_next(&batch.next_obs, &mut Rng::new(3)).clone();
    sac.critics.read(&batch.next_obs, &next.action);
    sac.rule.set_targets(&mut sac.critics, &batch, &next, 0.9, alpha);
    for i in 0..ROWS {
        let (obs, action) = (&batch.next_obs[i * OBS..][..OBS], &next.action[i * ACT..][..ACT]);
        let value = lowest(&sac.critics, true, obs, action) - alpha * next.log_prob[i];
        let want = batch.reward[i] + if i == 2 { 0.0 } else { 0.9 * value };
        assert!((sac.rule.targets[i] - want).abs() < 1e-5, "row {i}: {}", sac.rule.targets[i]);
    }
}

#[test]
fn critic_gradient_passes_a_check() {
    let (mut sac, batch) = (learner(), batch());
    let targets = batch.reward.clone();
    let critics = &mut sac.critics;
    critics.read(&batch.obs, &batch.action);
    let (loss, grad) = critics.checked_gradient(1, |q, d| mse(q, &targets, d));
    let params = critics.members[1].weights.params.clone();
    let value = |params: &[f32]| {
        let row = |i| critics.outputs(params, &batch.obs[i * OBS..][..OBS], &batch.action[i * ACT..][..ACT]);
        let errors = (0..ROWS).map(|i| f64::from(row(i)[0] - targets[i]).powi(2));
        errors.sum::<f64>() / ROWS as f64
    };
    assert!((value(&params) - loss).abs() < 1e-6);
    check_along(&params, &grad, value);
}

/// Lifts the first critic so that both are the smaller one in some row: their values have the same mean.
fn balance(sac: &mut Sac, batch: &Batch) {
    let action = sac.actor.draw(&batch.obs, &mut Rng::new(3)).action.clone();
    let critics = &mut sac.critics;
    critics.read(&batch.obs, &action);
    let sums = [0, 1].map(|n| critics.forward(n).iter().sum::<f32>());
    *critics.members[0].weights.params.last_mut().unwrap() += (sums[1] - sums[0]) / ROWS as f32;
}

#[test]
fn actor_gradient_passes_a_check() {
    let (mut sac, mut batch, alpha) = (learner(), batch(), 0.3);
    (batch.advised[1], sac.imitation) = (1.0, 0.7);
    balance(&mut sac, &batch);
    let mean_log_prob = sac.draw(&batch, &mut Rng::new(3));
    let (loss, _) = sac.actor_gradient(&batch, alpha, mean_log_prob);
    let owners: Vec<usize> = sac.rule.lowest.iter().map(|&(_, owner)| owner).collect();
    assert!(owners.contains(&0) && owners.contains(&1), "both critics must be tried: {owners:?}");
    let (params, grad) = (sac.actor.weights.params.clone(), sac.actor.weights.grad.clone());
    let value = |params: &[f32]| {
        let mut sample = Sample::new(ROWS, ACT);
        let net = &sac.actor.net;
        let head = net.forward(params, &batch.obs, &mut net.workspace(ROWS)).to_vec();
        sample.draw(&head, &mut Rng::new(3));
        let one = |i: usize| {
            let (obs, action) = (&batch.obs[i * OBS..][..OBS], &sample.action[i * ACT..][..ACT]);
            let q = lowest(&sac.critics, false, obs, action);
            let gap = action.iter().zip(&batch.advice[i * ACT..]).map(|(a, b)| f64::from(a - b).powi(2));
            let pull = 0.7 * f64::from(batch.advised[i]) * gap.sum::<f64>();
            f64::from(alpha) * f64::from(sample.log_prob[i]) - f64::from(q) + pull
        };
        (0..ROWS).map(one).sum::<f64>() / ROWS as f64
    };
    assert!((value(&params) - loss).abs() < 1e-5, "{loss}");
    check_along(&params, &grad, value);
}

#[test]
fn a_saved_learner_continues_with_the_same_bits() {
    for alpha in [Alpha::Auto, Alpha::Fixed(0.2)] {
        let config = TrainConfig { alpha, ..config() };
        let (batch, mut rng) = (batch(), Rng::new(5));
        let mut sac = Sac::new(&config, OBS, ACT, &mut Rng::new(1));
        for _ in 0..3 {
            sac.update(&batch, 1e-3, &mut rng);
        }
        let mut saved = Tensors::default();
        sac.save(&mut saved);
        let mut other = Sac::new(&config, OBS, ACT, &mut Rng::new(99));
        other.load(&Tensors::from_bytes(&saved.to_bytes()).unwrap()).unwrap();
        assert_eq!(sac.update(&batch, 1e-3, &mut rng.clone()), other.update(&batch, 1e-3, &mut rng));
        assert_eq!(sac.actor(), other.actor());
        assert_eq!(sac.temperature() == 0.2, alpha == Alpha::Fixed(0.2));
    }
}
