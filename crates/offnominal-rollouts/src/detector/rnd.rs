//! Random network distillation: how far a network that learned from successes is from a fixed random one.
//!
//! score = ‖p(e) − f(e)‖₂ of the embedding e in deviations, with f a random network D → 64 → 32 that stays as it is, and p a
//! deeper one, D → 64 → 64 → 32, that learned to give f on embeddings of successes.
//!
//! References: Burda et al., ICLR 2019; FIPER, arXiv 2510.09459, which scores embeddings in this way (and does not scale
//! them).

use super::embeddings::{self, Scale};
use super::{Fitted, Lesson, Scorer, Seen, Start};
use anyhow::Result;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_nets::{Activation, Init, Mlp};
use std::sync::Arc;

/// Steps of successes without which nothing can be learned.
const FEWEST: usize = 20;

/// Both networks with their parameters.
pub(super) struct Rnd {
    width: usize,
    fixed: Arc<[f32]>,
    learned: Arc<[f32]>,
    scale: Scale,
}

/// The shapes of the random network and of the one that learns.
fn networks(width: usize) -> [Mlp; 2] {
    [&[width, 64, 32][..], &[width, 64, 64, 32]].map(|sizes| Mlp::new(sizes, Activation::Relu))
}

impl Rnd {
    /// Trains the network that learns.
    pub(super) fn fit(lesson: &Lesson<'_>) -> Result<Rnd> {
        let (kept, scale) = embeddings::successes(lesson, "rnd", FEWEST)?;
        let width = lesson.data.embedding;
        let nets = networks(width);
        let mut rng = lesson.seed.child("rnd").rng();
        let [fixed, mut params] = nets.each_ref().map(|net| {
            let mut params = vec![0.0; net.n_params()];
            net.init(&mut params, Init::Uniform, &mut rng);
            params
        });
        let [target, learned] = &nets;
        let mut work = target.workspace(1);
        embeddings::train(learned, &mut params, lesson, &mut rng, |rng, x, wanted| {
            let row = &kept[rng.below(kept.len() / width) * width..][..width];
            x.extend_from_slice(row);
            wanted.extend_from_slice(target.forward(&fixed, row, &mut work));
        })?;
        Ok(Rnd { width, fixed: fixed.into(), learned: params.into(), scale })
    }

    pub(super) fn load(from: &Reader<'_>, width: usize) -> Result<Rnd, ArchiveError> {
        let [target, learned] = networks(width);
        Ok(Rnd {
            width,
            fixed: from.exactly("fixed", target.n_params())?.into(),
            learned: from.exactly("learned", learned.n_params())?.into(),
            scale: Scale::load(from, width)?,
        })
    }
}

impl Fitted for Rnd {
    fn begin(&self, _: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let [target, learned] = networks(self.width);
        let (mut a, mut b) = (target.workspace(1), learned.workspace(1));
        let (fixed, params, scale) = (Arc::clone(&self.fixed), Arc::clone(&self.learned), self.scale.clone());
        Ok(Box::new(move |seen: Seen<'_>| {
            let row = scale.apply(seen.embedding);
            let (f, p) = (target.forward(&fixed, &row, &mut a), learned.forward(&params, &row, &mut b));
            f.iter().zip(p).map(|(f, p)| f64::from(f - p).powi(2)).sum::<f64>().sqrt()
        }))
    }

    fn save(&self, to: &mut Writer<'_>) {
        to.put("fixed", &self.fixed);
        to.put("learned", &self.learned);
        self.scale.save(to);
    }
}
