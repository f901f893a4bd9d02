//! TQC against hand-computed targets and finite differences.

use super::*;
use crate::Learner;
use crate::testing::{ACT, OBS, ROWS, batch, check_along};
use offnominal_core::Rng;
use offnominal_nets::{Adam, Tensors};

fn config() -> TrainConfig {
    TrainConfig {
        hidden: vec![16, 16],
        batch: ROWS,
        quantiles: 5,
        top_quantiles_to_drop: 1,
        ..TrainConfig::for_env("sap-goal0")
    }
}

fn learner() -> Tqc {
    let mut tqc = Tqc::new(&config(), OBS, ACT, &mut Rng::new(1));
    // Targets must differ from the critics, or a test could not tell them apart.
    tqc.critics.members.iter_mut().for_each(|m| m.target.iter_mut().for_each(|t| *t *= 0.9));
    tqc
}

#[test]
fn targets_are_the_shifted_atoms_without_the_largest() {
    let (mut tqc, batch) = (learner(), batch());
    let (next, alpha) = (tqc.actor.draw_next(&batch.next_obs, &mut Rng::new(3)).clone(), 0.3);
    tqc.critics.read(&batch.next_obs, &next.action);
    tqc.rule.set_targets(&mut tqc.critics, &batch, &next, 0.9, alpha);
    for i in 0..ROWS {
        let (obs, action) = (&batch.next_obs[i * OBS..][..OBS], &next.action[i * ACT..][..ACT]);
        let critics = &tqc.critics;
        let mut atoms: Vec<f32> =
            critics.members.iter().flat_map(|m| critics.outputs(&m.target, obs, action)).collect();
        atoms.sort_by(f32::total_cmp);
        atoms.truncate(10 - 2);
        let discount = if i == 2 { 0.0 } else { 0.9 };
        let want = atoms.iter().map(|z| batch.reward[i] + discount * (z - alpha * next.log_prob[i]));
        let mut found = tqc.rule.targets[i * 8..][..8].to_vec();
        found.sort_by(f32::total_cmp);
        assert!(want.zip(&found).all(|(w, f)| (w - f).abs() < 1e-5), "row {i}: {found:?}");
    }
}

#[test]
fn critic_gradient_passes_a_check() {
    let (mut tqc, batch) = (learner(), batch());
    tqc.improve_critics(&batch, 0.3, Adam { lr: 1e-12, ..Adam::default() }, &mut Rng::new(3));
    let targets = tqc.rule.targets.clone();
    let huber = |z: &[f32], d: &mut [f32]| quantile_huber(z, 5, &targets, 8, d);
    let critics = &mut tqc.critics;
    critics.read(&batch.obs, &batch.action);
    let (loss, grad) = critics.checked_gradient(1, huber);
    let params = critics.members[1].weights.params.clone();
    let value = |params: &[f32]| {
        let row = |i| critics.outputs(params, &batch.obs[i * OBS..][..OBS], &batch.action[i * ACT..][..ACT]);
        let predicted: Vec<f32> = (0..ROWS).flat_map(row).collect();
        huber(&predicted, &mut [0.0; 5 * ROWS])
    };
    assert!((value(&params) - loss).abs() < 1e-6);
    check_along(&params, &grad, value);
}

#[test]
fn actor_gradient_passes_a_check() {
    let (mut tqc, batch, alpha) = (learner(), batch(), 0.3);
    let mean_log_prob = tqc.draw(&batch, &mut Rng::new(3));
    let (loss, _) = tqc.actor_gradient(&batch, alpha, mean_log_prob);
    let (params, grad) = (tqc.actor.weights.params.clone(), tqc.actor.weights.grad.clone());
    let value = |params: &[f32]| {
        let mut sample = Sample::new(ROWS, ACT);
        let head = tqc.actor.net.forward(params, &batch.obs, &mut tqc.actor.net.workspace(ROWS)).to_vec();
        sample.draw(&head, &mut Rng::new(3));
        let one = |i: usize| {
            let (obs, action) = (&batch.obs[i * OBS..][..OBS], &sample.action[i * ACT..][..ACT]);
            let critics = &tqc.critics;
            let all = critics.members.iter().flat_map(|m| critics.outputs(&m.weights.params, obs, action));
            let q = all.map(f64::from).sum::<f64>() / 10.0;
            f64::from(alpha) * f64::from(sample.log_prob[i]) - q
        };
        (0..ROWS).map(one).sum::<f64>() / ROWS as f64
    };
    assert!((value(&params) - loss).abs() < 1e-5, "{loss}");
    check_along(&params, &grad, value);
}

#[test]
fn target_critics_follow_at_their_rate() {
    let mut critics = learner().critics;
    let (params, target) = (critics.members[0].weights.params[7], critics.members[0].target[7]);
    critics.follow();
    let want = 0.005 * params + 0.995 * target;
    assert!((critics.members[0].target[7] - want).abs() < 1e-7);
}

#[test]
fn the_exported_actor_is_the_mean_of_the_head() {
    let (tqc, batch) = (learner(), batch());
    let (net, params) = tqc.actor();
    let means = net.forward(&params, &batch.obs, &mut net.workspace(ROWS)).to_vec();
    let whole = &tqc.actor.net;
    let head = whole.forward(&tqc.actor.weights.params, &batch.obs, &mut whole.workspace(ROWS)).to_vec();
    for (head, mean) in head.chunks_exact(2 * ACT).zip(means.chunks_exact(ACT)) {
        assert_eq!(head[..ACT], *mean);
    }
}

#[test]
fn a_saved_learner_continues_with_the_same_bits() {
    let (mut tqc, batch, mut rng) = (learner(), batch(), Rng::new(5));
    for _ in 0..3 {
        tqc.update(&batch, 1e-3, &mut rng);
    }
    let mut saved = Tensors::default();
    tqc.save(&mut saved);
    let mut other = Tqc::new(&config(), OBS, ACT, &mut Rng::new(99));
    other.load(&Tensors::from_bytes(&saved.to_bytes()).unwrap()).unwrap();
    assert_eq!(tqc.update(&batch, 1e-3, &mut rng.clone()), other.update(&batch, 1e-3, &mut rng));
    assert_eq!(tqc.actor(), other.actor());
}

#[test]
fn another_shape_is_refused() {
    let mut saved = Tensors::default();
    learner().save(&mut saved);
    let wider = TrainConfig { hidden: vec![8], ..config() };
    let found = Tqc::new(&wider, OBS, ACT, &mut Rng::new(1)).load(&saved).unwrap_err().to_string();
    assert_eq!(found, "tensor \"actor\": expected shape [68], found [404]");
}
