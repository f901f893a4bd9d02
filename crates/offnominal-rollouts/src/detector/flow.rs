//! How far an embedding comes to lie from the middle when a flow carries it to normal noise (logpZO).
//!
//! With e an embedding of a success in deviations, n normal noise and t uniform on [0, 1], a network v learns n − e from
//! e + t (n − e) and t. The score takes one Euler step from t = 0: ‖e + v(e, 0)‖². It is no density, because the divergence
//! of the flow is left out.
//!
//! Deviates: v is an MLP, D + 1 → 128 → 128 → D, and not a convolutional U-net. Reference: Xu et al., arXiv 2503.08558
//! (FAIL-Detect), section on logpZO; Lipman et al., ICLR 2023 (flow matching).

use super::{Fitted, Lesson, embeddings};
use crate::rollout::Rollouts;
use anyhow::Result;
use offnominal_nets::{Activation, Init, Mlp};

/// Steps of successes without which nothing can be learned.
const FEWEST: usize = 20;

/// Trains the flow.
pub(super) fn fit(lesson: &Lesson<'_>) -> Result<Box<dyn Fitted>> {
    let (kept, scale) = embeddings::successes(lesson, "flow", FEWEST)?;
    let width = lesson.data.embedding;
    let net = Mlp::new(&[width + 1, 128, 128, width], Activation::Swish);
    let (mut rng, mut params) = (lesson.seed.child("flow").rng(), vec![0.0; net.n_params()]);
    net.init(&mut params, Init::Uniform, &mut rng);
    embeddings::train(&net, &mut params, lesson, &mut rng, |rng, x, wanted| {
        let row = &kept[rng.below(kept.len() / width) * width..][..width];
        let t = rng.uniform() as f32;
        for e in row {
            let n = rng.normal() as f32;
            x.push(e + t * (n - e));
            wanted.push(n - e);
        }
        x.push(t);
    })?;
    Ok(Box::new(move |data: &Rollouts, i: usize| {
        let mut work = net.workspace(1);
        let rows = data.rollouts[i].embeddings.chunks_exact(width);
        let score = |row: &[f32]| {
            let mut row = scale.apply(row);
            row.push(0.0);
            let v = net.forward(&params, &row, &mut work);
            row.iter().zip(v).map(|(e, v)| f64::from(e + v).powi(2)).sum::<f64>()
        };
        rows.map(score).collect()
    }))
}
