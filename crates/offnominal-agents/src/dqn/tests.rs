//! DQN against hand-computed targets and finite differences.

use super::*;
use crate::testing::{OBS, ROWS, batch, check_along};

const CHOICES: usize = 3;

fn config() -> TrainConfig {
    let recipe = TrainConfig::preset("cartpole").unwrap();
    TrainConfig { hidden: vec![16, 16], batch: ROWS, target_every: 3, tau: 0.5, ..recipe }
}

/// A learner whose network and target differ, so that a test can tell them apart.
fn learner(config: &TrainConfig) -> Dqn {
    let mut dqn = Dqn::new(config, None, OBS, CHOICES, &mut Rng::new(1));
    Rng::new(8).fill_normal(&mut dqn.values.target);
    dqn.values.target.iter_mut().for_each(|t| *t *= 0.5);
    dqn
}

/// The batch of all learners, with choices for actions.
fn choices() -> Batch {
    Batch { action: vec![0.0, 2.0, 1.0, 2.0], ..batch() }
}

fn values(dqn: &Dqn, params: &[f32], obs: &[f32]) -> Vec<f32> {
    let net = &dqn.values.net;
    net.forward(params, obs, &mut net.workspace(1)).to_vec()
}

fn check_targets(double: bool) -> bool {
    let (mut dqn, batch, mut differ) = (learner(&TrainConfig { double, ..config() }), choices(), false);
    dqn.set_targets(&batch);
    for i in 0..ROWS {
        let obs = &batch.next_obs[i * OBS..][..OBS];
        let (own, target) =
            (values(&dqn, &dqn.values.weights.params, obs), values(&dqn, &dqn.values.target, obs));
        let best = if double { largest(&own) } else { largest(&target) };
        differ |= largest(&own) != largest(&target);
        let want = batch.reward[i] + if i == 2 { 0.0 } else { 0.99 * target[best] };
        let found = dqn.buffers.targets[i];
        assert!((found - want).abs() < 1e-5, "double {double}, row {i}: expected {want}, found {found}");
    }
    differ
}

#[test]
fn targets_are_the_reward_and_the_discounted_value_of_the_best_choice() {
    assert!(check_targets(false), "network and target must disagree somewhere");
    check_targets(true);
}

#[test]
fn the_gradient_passes_a_check() {
    let (mut dqn, batch) = (learner(&config()), choices());
    dqn.set_targets(&batch);
    let (loss, _) = dqn.gradient(&batch, &mut Rng::new(3));
    let (params, grad) = (dqn.values.weights.params.clone(), dqn.values.weights.grad.clone());
    let targets = dqn.buffers.targets.clone();
    let value = |params: &[f32]| {
        let one = |i: usize| {
            let q = values(&dqn, params, &batch.obs[i * OBS..][..OBS])[batch.action[i] as usize];
            let e = f64::from(q - targets[i]).abs();
            if e <= 1.0 { 0.5 * e * e } else { e - 0.5 }
        };
        (0..ROWS).map(one).sum::<f64>() / ROWS as f64
    };
    assert!((value(&params) - loss).abs() < 1e-6, "{loss}");
    check_along(&params, &grad, value);
}

#[test]
fn the_gradient_with_a_large_margin_passes_a_check() {
    let recipe = TrainConfig { imitation: 0.7, demonstrations: 9, ..config() };
    let (mut dqn, told) = (learner(&recipe), vec![1.0, 1.0, 2.0, 0.0]);
    let batch = Batch { advice: told.clone(), advised: vec![1.0, 1.0, 0.0, 1.0], ..choices() };
    dqn.set_targets(&batch);
    let (loss, _) = dqn.gradient(&batch, &mut Rng::new(3));
    let (params, grad) = (dqn.values.weights.params.clone(), dqn.values.weights.grad.clone());
    let targets = dqn.buffers.targets.clone();
    let value = |params: &[f32]| {
        let one = |i: usize| {
            let q = values(&dqn, params, &batch.obs[i * OBS..][..OBS]);
            let (e, a) = (f64::from(q[batch.action[i] as usize] - targets[i]).abs(), told[i] as usize);
            let raised = (0..CHOICES).map(|c| q[c] + if c == a { 0.0 } else { large_margin::MARGIN });
            let short = f64::from(raised.fold(f32::MIN, f32::max) - q[a]);
            0.7 * f64::from(batch.advised[i]) * short + if e <= 1.0 { 0.5 * e * e } else { e - 0.5 }
        };
        (0..ROWS).map(one).sum::<f64>() / ROWS as f64
    };
    assert!((value(&params) - loss).abs() < 1e-6, "{loss}");
    check_along(&params, &grad, value);
}

#[test]
fn a_prior_stays_as_it_was_drawn_and_the_rest_learns() {
    let recipe = TrainConfig { prior: 3.0, ..config() };
    let mut dqn = Dqn::new(&recipe, None, OBS, CHOICES, &mut Rng::new(1));
    let (before, mut free) = (dqn.values.weights.params.clone(), vec![1.0; dqn.values.weights.params.len()]);
    dqn.values.prior.as_ref().unwrap().hold(&mut free);
    for _ in 0..5 {
        dqn.update(&choices(), 1e-2, &mut Rng::new(5));
    }
    for (at, free) in free.iter().enumerate() {
        let moved = dqn.values.weights.params[at] != before[at];
        assert!(*free == 1.0 || !moved && dqn.values.target[at] == before[at], "parameter {at}");
    }
    let moved = dqn.values.weights.params.iter().zip(&before).filter(|(a, b)| a != b).count();
    assert!(moved > free.iter().filter(|f| **f == 1.0).count() / 2, "{moved}");
}

#[test]
fn the_target_moves_every_third_step_by_its_share() {
    let (mut dqn, batch, mut rng) = (learner(&config()), choices(), Rng::new(5));
    for step in 1..=6 {
        let before = dqn.values.target[7];
        dqn.update(&batch, 1e-3, &mut rng);
        let want = if step % 3 == 0 { 0.5 * (before + dqn.values.weights.params[7]) } else { before };
        let found = dqn.values.target[7];
        assert!((found - want).abs() < 1e-6, "step {step}: expected {want}, found {found}");
    }
}

#[test]
fn exploration_falls_linearly_and_then_stays() {
    let mut dqn = learner(&TrainConfig { epsilon_end: 0.2, epsilon_steps: 100, ..config() });
    let found = [0, 50, 100, 1_000].map(|step| dqn.epsilon(step));
    assert!(found.iter().zip([1.0, 0.6, 0.2, 0.2]).all(|(f, w): (&f64, f64)| (f - w).abs() < 1e-12));
    let (obs, mut rng, mut seen) = ([0.3, -0.2, 0.1], Rng::new(7), [0_u32; CHOICES]);
    for _ in 0..20_000 {
        let mut action = [f32::NAN];
        dqn.explore(&obs, &mut action, 1_000, &mut rng);
        seen[action[0] as usize] += 1;
    }
    let best = largest(&values(&dqn, &dqn.values.weights.params, &obs));
    let share = |i: usize| f64::from(seen[i]) / 20_000.0;
    for i in 0..CHOICES {
        let want = 0.2 / 3.0 + if i == best { 0.8 } else { 0.0 };
        assert!((share(i) - want).abs() < 0.01, "choice {i}: expected {want}, found {}", share(i));
    }
}

#[test]
fn a_saved_learner_continues_with_the_same_bits() {
    let config = TrainConfig { dropout: 0.1, ..config() };
    let (mut dqn, batch, mut rng) = (learner(&config), choices(), Rng::new(5));
    for _ in 0..4 {
        dqn.update(&batch, 1e-3, &mut rng);
    }
    let mut saved = Tensors::default();
    dqn.save(&mut saved);
    let mut other = Dqn::new(&config, None, OBS, CHOICES, &mut Rng::new(99));
    other.load(&Tensors::from_bytes(&saved.to_bytes()).unwrap()).unwrap();
    for _ in 0..3 {
        let (a, b) =
            (dqn.update(&batch, 1e-3, &mut rng.clone()), other.update(&batch, 1e-3, &mut rng.clone()));
        assert_eq!(a, b);
    }
    assert_eq!((dqn.values.policy(), dqn.values.target), (other.values.policy(), other.values.target));
}
