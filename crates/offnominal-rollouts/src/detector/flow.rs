//! How far an embedding comes to lie from the middle when a flow carries it to normal noise (logpZO).
//!
//! With e an embedding of a success in deviations, n normal noise and t uniform on [0, 1], a network v learns n − e from
//! e + t (n − e) and t. The score takes one Euler step from t = 0: ‖e + v(e, 0)‖². It is no density, because the divergence
//! of the flow is left out.
//!
//! Deviates: v is an MLP, D + 1 → 128 → 128 → D, and not a convolutional U-net. Reference: Xu et al., arXiv 2503.08558
//! (FAIL-Detect), section on logpZO; Lipman et al., ICLR 2023 (flow matching).

use super::embeddings::{self, Scale};
use super::{Fitted, Lesson, Scorer, Seen, Start};
use anyhow::Result;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_nets::{Activation, Init, Mlp};
use std::sync::Arc;

/// Steps of successes without which nothing can be learned.
const FEWEST: usize = 20;

/// The network v with its parameters.
pub(super) struct Flow {
    width: usize,
    params: Arc<[f32]>,
    scale: Scale,
}

fn network(width: usize) -> Mlp {
    Mlp::new(&[width + 1, 128, 128, width], Activation::Swish)
}

impl Flow {
    /// Trains the flow.
    pub(super) fn fit(lesson: &Lesson<'_>) -> Result<Flow> {
        let (kept, scale) = embeddings::successes(lesson, "flow", FEWEST)?;
        let width = lesson.data.embedding;
        let net = network(width);
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
        Ok(Flow { width, params: params.into(), scale })
    }

    pub(super) fn load(from: &Reader<'_>, width: usize) -> Result<Flow, ArchiveError> {
        let params = from.exactly("params", network(width).n_params())?.into();
        Ok(Flow { width, params, scale: Scale::load(from, width)? })
    }
}

impl Fitted for Flow {
    fn begin(&self, _: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let net = network(self.width);
        let mut work = net.workspace(1);
        let (params, scale) = (Arc::clone(&self.params), self.scale.clone());
        Ok(Box::new(move |seen: Seen<'_>| {
            let mut row = scale.apply(seen.embedding);
            row.push(0.0);
            let v = net.forward(&params, &row, &mut work);
            row.iter().zip(v).map(|(e, v)| f64::from(e + v).powi(2)).sum::<f64>()
        }))
    }

    fn save(&self, to: &mut Writer<'_>) {
        to.put("params", &self.params);
        self.scale.save(to);
    }
}
