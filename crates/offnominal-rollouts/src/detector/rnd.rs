//! Random network distillation: how far a network that learned from successes is from a fixed random one.
//!
//! score = ‖p(e) − f(e)‖₂ of the embedding e in deviations, with f a random network D → 64 → 32 that stays as it is, and p a
//! deeper one, D → 64 → 64 → 32, that learned to give f on embeddings of successes.
//!
//! References: Burda et al., ICLR 2019; FIPER, arXiv 2510.09459, which scores embeddings in this way (and does not scale
//! them).

use super::{Fitted, Lesson, embeddings};
use crate::rollout::Rollouts;
use anyhow::Result;
use offnominal_nets::{Activation, Init, Mlp};

/// Steps of successes without which nothing can be learned.
const FEWEST: usize = 20;

/// Trains the network that learns.
pub(super) fn fit(lesson: &Lesson<'_>) -> Result<Box<dyn Fitted>> {
    let (kept, scale) = embeddings::successes(lesson, "rnd", FEWEST)?;
    let width = lesson.data.embedding;
    let [target, learned] =
        [&[width, 64, 32][..], &[width, 64, 64, 32]].map(|sizes| Mlp::new(sizes, Activation::Relu));
    let mut rng = lesson.seed.child("rnd").rng();
    let [fixed, mut params] = [&target, &learned].map(|net| {
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, &mut rng);
        params
    });
    let mut work = target.workspace(1);
    embeddings::train(&learned, &mut params, lesson, &mut rng, |rng, x, wanted| {
        let row = &kept[rng.below(kept.len() / width) * width..][..width];
        x.extend_from_slice(row);
        wanted.extend_from_slice(target.forward(&fixed, row, &mut work));
    })?;
    Ok(Box::new(move |data: &Rollouts, i: usize| {
        let (mut a, mut b) = (target.workspace(1), learned.workspace(1));
        let rows = data.rollouts[i].embeddings.chunks_exact(width);
        let score = |row: &[f32]| {
            let row = scale.apply(row);
            let (f, p) = (target.forward(&fixed, &row, &mut a), learned.forward(&params, &row, &mut b));
            f.iter().zip(p).map(|(f, p)| f64::from(f - p).powi(2)).sum::<f64>().sqrt()
        };
        rows.map(score).collect()
    }))
}
