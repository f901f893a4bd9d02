//! TQC against hand-computed targets and finite differences.

use super::*;
use offnominal_core::Rng;

const OBS: usize = 3;
const ACT: usize = 2;
const ROWS: usize = 4;

fn config() -> TrainConfig {
    TrainConfig {
        hidden: vec![16, 16],
        batch: ROWS,
        quantiles: 5,
        drop: 1,
        ..TrainConfig::for_env("sap-goal0")
    }
}

fn learner() -> Tqc {
    let mut tqc = Tqc::new(&config(), OBS, ACT, &mut Rng::new(1));
    // Targets must differ from the critics, or a test could not tell them apart.
    tqc.critics.members.iter_mut().for_each(|m| m.target.iter_mut().for_each(|t| *t *= 0.9));
    tqc.temperature = [-0.5];
    tqc
}

fn batch() -> Batch {
    let mut batch = Batch::new(ROWS, OBS, ACT);
    let mut rng = Rng::new(2);
    rng.fill_normal(&mut batch.obs);
    rng.fill_normal(&mut batch.next_obs);
    rng.fill_normal(&mut batch.reward);
    batch.action.iter_mut().for_each(|a| *a = rng.range(-1.0, 1.0) as f32);
    batch.terminal[2] = 1.0;
    batch
}

fn quantiles(tqc: &Tqc, params: &[f32], obs: &[f32], action: &[f32]) -> Vec<f32> {
    let input = [obs, action].concat();
    tqc.critics.net().forward(params, &input, &mut tqc.critics.net().workspace(1)).to_vec()
}

#[test]
fn targets_are_the_shifted_atoms_without_the_largest() {
    let (mut tqc, batch) = (learner(), batch());
    let head = tqc.actor.forward(&tqc.actor_params, &batch.next_obs, &mut tqc.buffers.next);
    tqc.buffers.next_sample.draw(head, &mut Rng::new(3));
    let (next, alpha) = (tqc.buffers.next_sample.clone(), 0.3);
    tqc.critics.set_targets(&batch, &next, 0.9, alpha);
    for i in 0..ROWS {
        let (obs, action) = (&batch.next_obs[i * OBS..][..OBS], &next.action[i * ACT..][..ACT]);
        let mut atoms: Vec<f32> =
            tqc.critics.members.iter().flat_map(|m| quantiles(&tqc, &m.target, obs, action)).collect();
        atoms.sort_by(f32::total_cmp);
        atoms.truncate(10 - 2);
        let discount = if i == 2 { 0.0 } else { 0.9 };
        let want = atoms.iter().map(|z| batch.reward[i] + discount * (z - alpha * next.log_prob[i]));
        let mut found = tqc.critics.targets()[i * 8..][..8].to_vec();
        found.sort_by(f32::total_cmp);
        assert!(want.zip(&found).all(|(w, f)| (w - f).abs() < 1e-5), "row {i}: {found:?}");
    }
}

/// A central difference along the gradient must equal its norm.
#[track_caller]
fn check_along(params: &[f32], grad: &[f32], loss: impl Fn(&[f32]) -> f64) {
    let norm = grad.iter().map(|g| g * g).sum::<f32>().sqrt();
    assert!(norm > 1e-4, "the gradient vanished");
    let moved = |shift: f32| params.iter().zip(grad).map(|(p, g)| p + shift * g / norm).collect::<Vec<_>>();
    let slope = (loss(&moved(1e-3)) - loss(&moved(-1e-3))) / 2e-3;
    assert!((slope / f64::from(norm) - 1.0).abs() < 5e-3, "expected {norm}, found {slope}");
}

#[test]
fn critic_gradient_passes_a_check() {
    let (mut tqc, batch) = (learner(), batch());
    tqc.improve_critics(&batch, 0.3, Adam { lr: 1e-12, ..Adam::default() }, &mut Rng::new(3));
    let (loss, grad) = tqc.critics.checked_gradient(&batch, 1);
    let (params, targets) = (tqc.critics.members[1].params.clone(), tqc.critics.targets().to_vec());
    let value = |params: &[f32]| {
        let predicted: Vec<f32> = (0..ROWS)
            .flat_map(|i| {
                quantiles(&tqc, params, &batch.obs[i * OBS..][..OBS], &batch.action[i * ACT..][..ACT])
            })
            .collect();
        offnominal_nets::loss::quantile_huber(&predicted, 5, &targets, 8, &mut [0.0; 5 * ROWS])
    };
    assert!((value(&params) - loss).abs() < 1e-6);
    check_along(&params, &grad, value);
}

#[test]
fn actor_gradient_passes_a_check() {
    let (mut tqc, batch, alpha) = (learner(), batch(), 0.3);
    let mean_log_prob = tqc.draw(&batch, &mut Rng::new(3));
    let (loss, _) = tqc.actor_gradient(&batch, alpha, mean_log_prob);
    let (params, grad) = (tqc.actor_params.clone(), tqc.buffers.grad.clone());
    let value = |params: &[f32]| {
        let mut sample = Sample::new(ROWS, ACT);
        let head = tqc.actor.forward(params, &batch.obs, &mut tqc.actor.workspace(ROWS)).to_vec();
        sample.draw(&head, &mut Rng::new(3));
        let one = |i: usize| {
            let (obs, action) = (&batch.obs[i * OBS..][..OBS], &sample.action[i * ACT..][..ACT]);
            let all = tqc.critics.members.iter().flat_map(|m| quantiles(&tqc, &m.params, obs, action));
            let q = all.map(f64::from).sum::<f64>() / 10.0;
            f64::from(alpha) * f64::from(sample.log_prob[i]) - q
        };
        (0..ROWS).map(one).sum::<f64>() / ROWS as f64
    };
    assert!((value(&params) - loss).abs() < 1e-5, "{loss}");
    check_along(&params, &grad, value);
}

#[test]
fn the_temperature_rises_when_the_policy_is_too_certain() {
    let mut tqc = learner();
    let before = tqc.temperature();
    // Entropy −5 is below the target −2.
    tqc.tune_temperature(5.0, Adam::default());
    let after = tqc.temperature();
    assert!((after / before - 1e-3_f32.exp()).abs() < 1e-5, "{before} {after}");
    tqc.tune_temperature(-9.0, Adam::default());
    assert!(tqc.temperature() < after);
}

#[test]
fn target_critics_follow_at_their_rate() {
    let mut tqc = learner();
    let (params, target) = (tqc.critics.members[0].params[7], tqc.critics.members[0].target[7]);
    tqc.critics.follow();
    let want = 0.005 * params + 0.995 * target;
    assert!((tqc.critics.members[0].target[7] - want).abs() < 1e-7);
}

#[test]
fn the_exported_actor_is_the_mean_of_the_head() {
    let (mut tqc, batch) = (learner(), batch());
    let (net, params) = tqc.actor();
    let means = net.forward(&params, &batch.obs, &mut net.workspace(ROWS)).to_vec();
    let head = tqc.actor.forward(&tqc.actor_params, &batch.obs, &mut tqc.buffers.here);
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
