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
//! The released code of Anomaly-Gym differs, and two parameters do as it does, to measure what that costs. With
//! `scaling = "published"` the network learns from (z − min) / (max − min), with the extremes of what it learns from, and
//! scores z itself. With `sequence = "channels"` it learns from the first episode alone, and reads the channels of a step one
//! after another as if they were steps, each value spread over all inputs; what it scores are steps as ever.
//!
//! Assumes: what was observed so far tells what comes next; it does not read actions.
//! Blind to: changes of dynamics that are small against the spread it expects, which includes what the action decides.
//! Cost: fit O(epochs · n · parameters), score O(parameters + K · 64 (64 + d)).
//! Reference: RIQN of Danesh and Fern, 2021, with the figures of Anomaly-Gym, Table 11: GRU 64, embedding 128, 64
//! quantiles, one level per step, 1e-3, 250 epochs.  Deviates: scores and training share one scaling and one order of
//! reading, which the released code does not (see above); quantiles are evenly spaced instead of drawn, so a score is a
//! function of what was seen; own predictions come from a first pass over the same piece, so that steps can be computed
//! together.
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
use crate::shared::scale::{Constant, Scale, n_observations};
use crate::shared::sequences::SequenceTraining;
use offnominal_core::limits::STATE;
use offnominal_nets::{RecurrentWork, Workspace};

recipe! {
    /// The recipe.
    pub struct Riqn {
        /// Width of the state.
        #[serde(deserialize_with = "up_to::<_, _, STATE>")]
        pub hidden: NonZeroUsize = count(64),
        /// Cosines that a level is described by.
        #[serde(deserialize_with = "up_to::<_, _, STATE>")]
        pub cosines: NonZeroUsize = count(128),
        /// Quantiles in a score.
        #[serde(deserialize_with = "up_to::<_, _, STATE>")]
        pub quantiles: NonZeroUsize = count(64),
        /// How it is trained.
        pub training: SequenceTraining = SequenceTraining::default(),
        /// In which units it learns.
        pub scaling: Scaling = Scaling::Standard,
        /// What it reads one after another while it learns.
        pub sequence: Sequence = Sequence::Steps,
        /// Whether channels that are constant in training are kept, as the released code of Anomaly-Gym does: it magnifies what
        /// becomes of them a million times.
        pub keep_constant_channels: bool = false,
    }
}

/// The units in which the network learns; it always scores standardised values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Standardised values, as it scores.
    Standard,
    /// Standardised values brought to 0 … 1, as in the released code of Anomaly-Gym.
    Published,
}

/// What the network reads one after another while it learns; it always scores the steps of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sequence {
    /// The steps of each episode.
    Steps,
    /// The channels of each step of the first episode, as in the released code of Anomaly-Gym.
    Channels,
}

/// The entry of [`Riqn`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    Riqn as dyn Detector,
    "riqn",
    "recurrent implicit quantile network: distance from the quantiles of what comes next"
);

impl Detector for Riqn {
    fn fit(
        &self,
        Nominal { train, progress, .. }: Nominal<'_>,
        rng: &mut Rng,
    ) -> Result<Box<dyn Scorer>, FitError> {
        check(train, 1)?;
        let (scale, mut points) =
            Scale::of_observations(train, Constant::kept_if(self.keep_constant_channels));
        let width = scale.width().max(1);
        // Where nothing varies there is one channel of zeros.
        points.resize(n_observations(train) * width, 0.0);
        let train = if self.sequence == Sequence::Channels { &train[..1] } else { train };
        let points = &mut points[..n_observations(train) * width];
        if self.scaling == Scaling::Published {
            to_unit_range(points, width);
        }
        let mut rows = rows(train, points, width);
        if self.sequence == Sequence::Channels {
            rows = channel_by_channel(&rows, width);
        }
        let net = Net::new(width, self.hidden.get(), self.cosines.get());
        let mut params = net.first_params(rng);
        let (piece, batch) = (self.training.piece.get(), self.training.side_by_side(rows.episodes.len()));
        let mut model = InTraining::new(net.clone(), piece, batch);
        self.training.run(&mut model, &mut params, &rows, rng, progress)?;
        Ok(Box::new(self.fitted(scale, net, params)))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        for (name, n) in [("hidden", self.hidden), ("cosines", self.cosines), ("quantiles", self.quantiles)] {
            saved::within(from, name, n.get())?;
        }
        let scale = Scale::load(&from.part("obs"), from.obs_width)?;
        let net = Net::new(scale.width().max(1), self.hidden.get(), self.cosines.get());
        let params = from.exactly("params", net.n_params())?.to_vec();
        Ok(Box::new(self.fitted(scale, net, params)))
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

/// Brings each channel to 0 … 1; one that does not vary stays as it is.
fn to_unit_range(points: &mut [f32], width: usize) {
    for channel in 0..width {
        let values = || points.iter().skip(channel).step_by(width).copied();
        let (low, high) =
            (values().fold(f32::INFINITY, f32::min), values().fold(f32::NEG_INFINITY, f32::max));
        if low < high {
            points.iter_mut().skip(channel).step_by(width).for_each(|x| *x = (*x - low) / (high - low));
        }
    }
}

/// A sequence for each step, of which one channel follows another; each value is spread over the whole width.
fn channel_by_channel(rows: &Rows, width: usize) -> Rows {
    let spread = |values: &[f32]| values.iter().flat_map(|&x| std::iter::repeat_n(x, width)).collect();
    let n_steps = (rows.inputs.len() / width) as u32;
    let episodes = (0..n_steps).map(|step| step * width as u32..(step + 1) * width as u32).collect();
    Rows { inputs: spread(&rows.inputs), targets: spread(&rows.targets), episodes }
}

/// Each observation is an input, and the next one its target.
fn rows(train: &[Signals<'_>], points: &[f32], width: usize) -> Rows {
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
struct Fitted {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Channels 0 … 4 and its tenfold, rising step by step.
    const RISING: [f32; 10] = [0.0, 0.0, 1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0];

    #[test]
    fn the_published_scaling_ends_at_nought_and_one_and_leaves_constants_alone() {
        let mut points = [1.0, 5.0, 3.0, 5.0, 2.0, 5.0];
        to_unit_range(&mut points, 2);
        assert_eq!(points, [0.0, 5.0, 1.0, 5.0, 0.5, 5.0]);
    }

    #[test]
    fn channel_by_channel_has_a_sequence_for_each_step() {
        let train = [Signals::new(&RISING[..6], &[0.0; 2], 2, 1)];
        let found = channel_by_channel(&rows(&train, &RISING[..6], 2), 2);
        assert_eq!(found.episodes, [0..2, 2..4]);
        assert_eq!(found.inputs, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 10.0, 10.0]);
        assert_eq!(found.targets, [1.0, 1.0, 10.0, 10.0, 2.0, 2.0, 20.0, 20.0]);
    }

    /// The mean score of nominal noise of deviation one.
    fn mean_score(recipe: serde_json::Value) -> f64 {
        let mut rng = Rng::new(1);
        let mut noise = |n: usize| -> Vec<f32> { (0..n).map(|_| rng.normal() as f32).collect() };
        let (train, fresh) = (noise(2 * 401), noise(2 * 201));
        let riqn = crate::catalogue().build("riqn", &recipe).unwrap();
        let nominal = [Signals::new(&train, &[0.0; 400], 2, 1)];
        let mut monitor = riqn.fit(Nominal::new(&nominal, &[]), &mut Rng::new(1)).unwrap();
        let mut scores = Vec::new();
        monitor.score_episode(&Signals::new(&fresh, &[0.0; 200], 2, 1), &mut scores);
        scores.iter().sum::<f64>() / 200.0
    }

    #[test]
    fn what_learned_in_other_units_is_farther_from_what_it_scores() {
        let training = serde_json::json!({"epochs": 60, "piece": 8, "weight_decay": 0.01});
        let of = |scaling: &str| mean_score(serde_json::json!({"scaling": scaling, "training": training}));
        // Two normal draws are 2/√π = 1.13 apart on average. All quantiles of 0 … 1 are near ½, and E|z − ½| = 0.90, so the
        // score no longer has the spread of the noise in it.
        let (standard, published) = (of("standard"), of("published"));
        assert!(standard > 1.0 && (published - 0.90).abs() < 0.02, "{standard} {published}");
    }

    #[test]
    fn constant_channels_count_where_they_are_kept() {
        let scores = |keep: bool| {
            let recipe = serde_json::json!({"keep_constant_channels": keep, "training": {"epochs": 2}});
            let constant: Vec<f32> =
                RISING.iter().enumerate().map(|(i, &x)| if i % 2 == 0 { x } else { 5.0 }).collect();
            let nominal = [Signals::new(&constant, &[0.0; 4], 2, 1)];
            let riqn = crate::catalogue().build("riqn", &recipe).unwrap();
            let mut monitor = riqn.fit(Nominal::new(&nominal, &[]), &mut Rng::new(1)).unwrap();
            [5.0, 6.0].map(|second| {
                monitor.reset();
                monitor.score(&Transition { obs: &[0.0, 5.0], action: &[0.0], next_obs: &[1.0, second] })
            })
        };
        let ([before, after], [dropped_before, dropped_after]) = (scores(true), scores(false));
        assert!(dropped_before == dropped_after && after > 1e5 * before, "{before} {after} {dropped_before}");
    }
}
