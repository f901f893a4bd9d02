//! Distance of the next observation from the quantiles that a network with memory expects.
//!
//! score(o′) = 1/d Σ_j 1/K Σ_k |q_j(τ_k; h_t) − z_j(o′)|, τ_k = (2k − 1) / 2K.
//!
//! | symbol | meaning                                                                                  |
//! |--------|------------------------------------------------------------------------------------------|
//! | z      | standardised observation, constant channels dropped; the same in training and scoring    |
//! | h_t    | state of a GRU of 64 that has read z(o) of all steps so far, zero when an episode begins  |
//! | q(τ)   | quantile at level τ: 64 rectified units on h ∘ e(τ), then linear                         |
//! | e(τ)   | rectified linear function of cos(π i τ), i = 0, …, 127, as wide as h                     |
//! | K      | 64 quantiles                                                                             |
//! | d      | observation channels that vary                                                           |
//!
//! Trained by the quantile Huber loss at one random level per step. An input is replaced by the model's own median
//! prediction with a probability that rises from 0 to 0.5, so that it learns to live with its errors.
//!
//! Assumes: what was observed so far tells what comes next; it does not read actions.
//! Blind to: changes of dynamics that are small against the spread it expects, which includes what the action decides.
//! Cost: fit O(epochs · n · parameters), score O(parameters + K · 64 (64 + d)).
//! Reference: RIQN of Danesh and Fern, 2021, with the figures of Anomaly-Gym, Table 11: GRU 64, embedding 128, 64
//! quantiles, one level per step, 1e-3, 250 epochs.  Deviates: scores and training share one scaling, which the released
//! code does not; quantiles are evenly spaced instead of drawn, so a score is a function of what was seen; own
//! predictions
//! come from a first pass over the same piece, so that steps can be computed together.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // Uniform noise on (−√3, √3), which has deviation one: no memory helps, the quantiles are those of the noise, and
//! // the mean distance between two draws is 2/√3.
//! let mut rng = Rng::new(1);
//! let mut noise = |n: usize| -> Vec<f32> { (0..n).map(|_| (3.0_f64.sqrt() * rng.range(-1.0, 1.0)) as f32).collect() };
//! let (train, fresh) = (noise(1201), noise(401));
//! let nominal = Signals::new(&train, &[0.0; 1200], 1, 1);
//! let recipe = serde_json::json!({"training": {"epochs": 40, "weight_decay": 0.01}});
//! let riqn = offnominal_detectors::catalogue().build("riqn", &recipe).unwrap();
//! let mut monitor = riqn.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(1)).unwrap();
//! let mut scores = Vec::new();
//! monitor.score_episode(&Signals::new(&fresh, &[0.0; 400], 1, 1), &mut scores);
//! let mean = scores.iter().sum::<f64>() / 400.0;
//! assert!((mean - 2.0 / 3.0_f64.sqrt()).abs() < 0.15, "{mean}");
//! let far = monitor.score(&Transition { obs: &[0.0], action: &[0.0], next_obs: &[9.0] });
//! assert!((far - 9.0).abs() < 0.8, "{far}");
//! ```

use crate::shared::one_step::Rows;
use crate::shared::prelude::*;
use crate::shared::quantiles::{InTraining, Net, embedding};
use crate::shared::ranges::up_to;
use crate::shared::saved;
use crate::shared::scale::{Scale, n_observations};
use crate::shared::sequences::SequenceTraining;
use offnominal_core::limits::STATE;
use offnominal_nets::{RecurrentWork, Workspace};

recipe! {
    /// The recipe.
    pub struct Riqn {
        /// Width of the state.
        #[serde(deserialize_with = "up_to::<_, STATE>")]
        pub hidden: NonZeroUsize = count(64),
        /// Cosines that a level is described by.
        #[serde(deserialize_with = "up_to::<_, STATE>")]
        pub cosines: NonZeroUsize = count(128),
        /// Quantiles in a score.
        #[serde(deserialize_with = "up_to::<_, STATE>")]
        pub quantiles: NonZeroUsize = count(64),
        /// How it is trained.
        pub training: SequenceTraining = SequenceTraining::default(),
    }
}

detector!(
    Riqn,
    "riqn",
    "recurrent implicit quantile network: distance from the quantiles of what comes next"
);

impl Learn for Riqn {
    type Fitted = Fitted;

    fn learn(&self, Nominal { train, progress, .. }: Nominal<'_>, rng: &mut Rng) -> Result<Fitted, FitError> {
        check(train, 1)?;
        let (scale, points) = Scale::of_observations(train);
        let width = scale.width().max(1);
        let rows = rows(train, &points, width);
        let net = Net::new(width, self.hidden.get(), self.cosines.get());
        let mut params = net.first_params(rng);
        let (piece, batch) = (self.training.piece.get(), self.training.side_by_side(train.len()));
        let mut model = InTraining::new(net.clone(), piece, batch);
        self.training.run(&mut model, &mut params, &rows, rng, progress)?;
        Ok(self.fitted(scale, net, params))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Fitted, ArchiveError> {
        for (name, n) in [("hidden", self.hidden), ("cosines", self.cosines), ("quantiles", self.quantiles)] {
            saved::within(from, name, n.get())?;
        }
        let scale = Scale::load(&from.part("obs"), from.obs_width)?;
        let net = Net::new(scale.width().max(1), self.hidden.get(), self.cosines.get());
        let params = from.exactly("params", net.n_params())?.to_vec();
        Ok(self.fitted(scale, net, params))
    }
}

impl Riqn {
    fn fitted(&self, scale: Scale, net: Net, params: Vec<f32>) -> Fitted {
        let (k, width) = (self.quantiles.get(), net.head.outputs());
        let levels: Vec<f32> = (0..k).map(|i| (2 * i + 1) as f32 / (2 * k) as f32).collect();
        let levels = embedding(&net, &params, &levels);
        Fitted::new(Model { scale, net, params, levels }, width, k)
    }
}

/// Each observation is an input, and the next one its target. Where nothing varies there is one channel of zeros.
fn rows(train: &[Signals<'_>], points: &[f32], width: usize) -> Rows {
    let zeros = vec![0.0; n_observations(train)];
    let points = if points.is_empty() { &zeros } else { points };
    let mut rows = Rows { inputs: vec![], targets: vec![], episodes: vec![] };
    let (mut first, mut end) = (0, 0);
    for episode in train {
        let of = |from: usize| &points[from * width..(from + episode.len()) * width];
        rows.inputs.extend_from_slice(of(first));
        rows.targets.extend_from_slice(of(first + 1));
        first += episode.len() + 1;
        rows.episodes.push(end..end + episode.len() as u32);
        end += episode.len() as u32;
    }
    rows
}

struct Model {
    scale: Scale,
    net: Net,
    params: Vec<f32>,
    /// e(τ_k), `[K, hidden]`.
    levels: Vec<f32>,
}

/// The network is shared by all forks; each has its own state.
#[derive(Clone)]
pub(crate) struct Fitted {
    model: Arc<Model>,
    state: RecurrentWork,
    head: Workspace,
    before: Vec<f32>,
    after: Vec<f32>,
    /// h ∘ e(τ_k), `[K, hidden]`.
    products: Vec<f32>,
}

impl Fitted {
    fn new(model: Model, width: usize, k: usize) -> Fitted {
        Fitted {
            state: model.net.gru.workspace(1, 1),
            head: model.net.head.workspace(k),
            before: vec![0.0; width],
            after: vec![0.0; width],
            products: model.levels.clone(),
            model: Arc::new(model),
        }
    }
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.state.reset();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let Model { scale, net, params, levels } = &*self.model;
        let width = scale.width();
        scale.apply(seen.obs, &mut self.before[..width]);
        scale.apply(seen.next_obs, &mut self.after[..width]);
        let (of_gru, _, of_head) = net.parts(params);
        let hidden = net.gru.forward(of_gru, &self.before, &mut self.state);
        let rows = self.products.chunks_exact_mut(hidden.len()).zip(levels.chunks_exact(hidden.len()));
        for (product, level) in rows {
            product.iter_mut().zip(hidden.iter().zip(level)).for_each(|(p, (h, e))| *p = h * e);
        }
        let quantiles = net.head.forward(of_head, &self.products, &mut self.head);
        let rows = quantiles.chunks_exact(self.after.len());
        let distances =
            rows.flat_map(|row| row.iter().zip(&self.after)).map(|(q, z)| f64::from((q - z).abs()));
        distances.sum::<f64>() / quantiles.len() as f64
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.model.scale.save(&mut to.part("obs"));
        to.put("params", &self.model.params);
        Ok(())
    }
}
