//! Whether the episode still gets to rest as nominal ones do: the decrease of a learned Lyapunov function of each channel.
//!
//! score(t) = Σ_j max(0, v_j)² / d with v ← (1 − r) v + r g(δ) in units of its nominal deviation, and
//! δ_j = (1 − γ) c_j + γ V_j(o′) − V_j(o).
//!
//! | symbol | meaning                                                                                           |
//! |--------|---------------------------------------------------------------------------------------------------|
//! | c_j    | how far channel j went in the step, in units of its nominal changes, at most 10                    |
//! | V_j(o) | mean of the c_j to come from o on under the policy, weighted by (1 − γ) γⁱ: a network's answer     |
//! | δ_j    | by how much V_j did not fall as it should; its nominal mean given o is zero                        |
//! | g      | normal scores of δ on nominal episodes that the network did not learn from                         |
//! | r, d   | weight of the newest step, 0.1; observation channels that vary                                     |
//!
//! The speed of a system that contracts falls along its way, and the sum of the speeds to come is a Lyapunov function: along a
//! nominal episode it decreases by what was just gone. A closed loop that lost its damping, or a sensor that makes the policy
//! correct what is not there, keeps moving while V said that it would settle. The policy is a part of what is learned here, and
//! the action is not looked at.
//!
//! Assumes: the policy acts on the observation alone; nominal episodes go where they went in training.
//! Blind to: faults that make the loop settle earlier, or stand still; what the observation does not show.
//! Cost: fit O(epochs · n · parameters), score O(parameters): 10 thousand for 26 channels.
//! Reference: this project's. Its parts are known: speed as a Lyapunov function (Krasovskii 1963; contraction analysis, Lohmiller
//! and Slotine, Automatica 1998), one for each part of a system (Bellman 1962), learned by temporal differences (Sutton 1988).
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::Rng;
//! // A loop that halves the distance to zero in each step, and one that takes it 0.95 times as far to the other side.
//! let mut rng = Rng::new(1);
//! let mut episode = |pole: f64| -> Vec<f32> {
//!     let mut x = if rng.uniform() < 0.5 { -4.0 } else { 4.0 };
//!     (0..31).map(|_| { let o = x as f32; x = pole * x + 0.05 * rng.normal(); o }).collect()
//! };
//! let episodes: Vec<_> = (0..24).map(|_| episode(0.5)).collect();
//! let train: Vec<_> = episodes.iter().map(|o| Signals::new(o, &[0.0; 30], 1, 1)).collect();
//! let params = serde_json::json!({"units": 16, "training": {"epochs": 20}});
//! let contraction = offnominal_detectors::catalogue().build("contraction", &params).unwrap();
//! let mut monitor = contraction.fit(Nominal::new(&train, &[]), &mut Rng::new(1)).unwrap();
//! let mut mean = |o: &[f32]| {
//!     let mut scores = Vec::new();
//!     monitor.score_episode(&Signals::new(o, &[0.0; 30], 1, 1), &mut scores);
//!     scores.iter().sum::<f64>() / 30.0
//! };
//! let (nominal, ringing) = (mean(&episode(0.5)), mean(&episode(-0.95)));
//! assert!(nominal < 2.0 && ringing > 5.0 * nominal, "{nominal} {ringing}");
//! ```

use crate::shared::inner::split;
use crate::shared::normal_scores::NormalScores;
use crate::shared::one_step::Units;
use crate::shared::prelude::*;
use crate::shared::ranges::{Fraction, Rate, up_to};
use crate::shared::scale::Constant;
use crate::shared::shares::share_out;
use crate::shared::training::Training;
use crate::shared::value::{Value, differences};
use offnominal_core::limits::UNITS;

recipe! {
    /// The recipe.
    pub struct Contraction {
        /// How much a step counts less than the one before it, γ.
        pub discount: Fraction = Fraction::new(0.9),
        /// Weight of the newest step in the mean of the violations, r.
        pub rate: Rate = Rate::new(0.1),
        /// Units in each of the two layers of the network.
        #[serde(deserialize_with = "up_to::<_, _, UNITS>")]
        pub units: NonZeroUsize = count(64),
        /// How the network is trained.
        pub training: Training = Training::brief(),
    }
}

detector!(Contraction, "contraction", "violated decrease of a learned Lyapunov function of the closed loop");

/// Smallest deviation of v, whose units are normal scores.
const LEAST: f64 = 1e-3;

impl Learn for Contraction {
    type Fitted = Fitted;

    fn learn(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Fitted, FitError> {
        let Contraction { discount, rate, units, training } = self;
        let validation = training.validation(nominal)?;
        let (seen, held_out) = split(nominal.train);
        let scale = Units::fit(nominal.train, Constant::Dropped);
        let mut value =
            Value::fit(scale, [&seen, validation], (*discount, *units), training, rng, nominal.progress)?;
        let d = value.width();
        let mut episodes: Vec<Vec<f64>> = held_out.iter().map(|e| differences(&mut value, e)).collect();
        let scores = NormalScores::fit(&episodes.concat(), d);
        let mut v = vec![0.0; d];
        let mut squares = vec![0.0; d];
        for episode in &mut episodes {
            v.fill(0.0);
            for g in episode.chunks_exact_mut(d) {
                scores.apply(g);
                advance(&mut v, g, rate.get());
                squares.iter_mut().zip(&v).for_each(|(sum, v)| *sum += v * v);
            }
        }
        let n = episodes.iter().map(|e| e.len() / d).sum::<usize>().max(1) as f64;
        let deviations = squares.iter().map(|sum| (sum / n).sqrt().max(LEAST)).collect();
        Ok(Fitted::new(value, Known { scores, deviations, rate: rate.get() }))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Fitted, ArchiveError> {
        let value = Value::load(from, self.discount, self.units)?;
        let d = value.width();
        let scores = NormalScores::load(&from.part("scores"), d)?;
        let deviations = from.exactly::<f64>("deviations", d)?;
        from.require(deviations.iter().all(|&v| v > 0.0), "deviations", "numbers above zero", "others")?;
        Ok(Fitted::new(value, Known { scores, deviations: deviations.to_vec(), rate: self.rate.get() }))
    }
}

/// Takes the mean of the violations one step further.
fn advance(v: &mut [f64], g: &[f64], rate: f64) {
    v.iter_mut().zip(g).for_each(|(v, g)| *v += rate * (g - *v));
}

/// What nominal violations are like.
struct Known {
    scores: NormalScores,
    /// Of v.
    deviations: Vec<f64>,
    rate: f64,
}

#[derive(Clone)]
pub(crate) struct Fitted {
    value: Value,
    known: Arc<Known>,
    g: Vec<f64>,
    v: Vec<f64>,
    /// max(0, v_j)² of the last step.
    squares: Vec<f64>,
}

impl Fitted {
    fn new(value: Value, known: Known) -> Fitted {
        let [g, v, squares] = [(); 3].map(|()| vec![0.0; value.width()]);
        Fitted { value, known: Arc::new(known), g, v, squares }
    }

    fn mean_square(&self) -> f64 {
        self.squares.iter().sum::<f64>() / self.squares.len() as f64
    }
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.v.fill(0.0);
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.value.difference(seen, &mut self.g);
        self.known.scores.apply(&mut self.g);
        advance(&mut self.v, &self.g, self.known.rate);
        for (square, (v, deviation)) in self.squares.iter_mut().zip(self.v.iter().zip(&self.known.deviations))
        {
            *square = (v / deviation).max(0.0).powi(2);
        }
        self.mean_square()
    }

    fn shares(&mut self, shares: &mut [f64]) -> bool {
        share_out(self.mean_square(), &self.squares, self.value.channels(), shares);
        true
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.value.save(to);
        self.known.scores.save(&mut to.part("scores"));
        to.put("deviations", &self.known.deviations);
        Ok(())
    }
}
