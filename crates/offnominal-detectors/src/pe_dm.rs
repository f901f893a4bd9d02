//! Error of an ensemble of networks that predict a distribution of the next observation.
//!
//! score(o, a, o′) = min_{b,s} 1/d Σ_j (μ_bj + σ_bj ε_bsj − t_j)², or 1/B Σ_b 1/d Σ_j ((μ_bj − t_j)² + σ_bj²).
//!
//! Each of B members answers N(μ_b, σ_b²) per channel for the change t of the observation (units as in `mlp-dm`). The
//! first score, `sampled-min`, is the least squared error of S draws from each member. The second, `analytic`, is
//! 1/B Σ_b E‖f_b − t‖² / d: the mean over members of the expected squared error of a draw.
//!
//! | symbol | meaning                                                                                         |
//! |--------|-------------------------------------------------------------------------------------------------|
//! | μ, σ   | answers of a member: 512-256-128 leaky rectified units, trained by Gaussian likelihood           |
//! | ε      | normal numbers, drawn once when fitted and used for each step: a score is a function of its step |
//! | d      | observation channels that vary                                                                  |
//!
//! The minimum asks how near the likely outcomes come to what happened, so noise that the model expects does not count;
//! but it depends on S and d, and forgives what a single bad member would allow. The mean needs no draws, but its σ²
//! makes states in which the model is unsure score high when nothing is wrong. The minimum is the default, because it
//! separates weak faults better (see the test `readings`); the mean is how Table 11 of the benchmark writes the score.
//!
//! Assumes: nominal dynamics are a function of observation and action, with noise that is normal per channel.
//! Blind to: as `mlp-dm`; anomalous noise where the model expects as much.
//! Cost: fit O(B · epochs · n · parameters), score O(B · parameters), and O(B · S · d) more for `sampled-min`.
//! Reference: PE-DM of Anomaly-Gym, Table 11 (mean), and its released code (minimum); Haider et al., AAMAS 2023; Chua et
//! al., NeurIPS 2018.  Deviates: units of the change as in `mlp-dm`; batches of 256 shuffled transitions.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // A walk whose steps are ±1 at random: no model does better than mean 0 and variance 1, so the expected score of a
//! // nominal step is 1 + 1, and that of a step of 5 is 25 + 1.
//! let mut rng = Rng::new(1);
//! let mut x = 0.0;
//! let observations: Vec<f32> =
//!     (0..2001).map(|_| { x += if rng.uniform() < 0.5 { -1.0 } else { 1.0 }; 0.1 * x }).collect();
//! let nominal = Signals::new(&observations, &[0.0; 2000], 1, 1);
//! let training = serde_json::json!({"epochs": 20, "lr": 0.01});
//! let recipe = serde_json::json!({"hidden": [8], "members": 2, "score": "analytic", "training": training});
//! let pe = offnominal_detectors::catalogue().build("pe-dm", &recipe).unwrap();
//! let mut monitor = pe.fit(Nominal::new(&[nominal], &[]), &mut rng).unwrap();
//! let middle = observations[1000];
//! let step = |by: f32| [middle + 0.1 * by];
//! let mut score = |by| monitor.score(&Transition { obs: &[middle], action: &[0.0], next_obs: &step(by) });
//! assert!((score(1.0) - 2.0).abs() < 0.4);
//! assert!((score(5.0) - 26.0).abs() < 4.0);
//! ```

use crate::shared::dynamics::{Answer, Data, Ensemble};
use crate::shared::gaussian::{Gaussian, hold};
use crate::shared::one_step::Units;
use crate::shared::prelude::*;
use crate::shared::ranges::{Hidden, up_to};
use crate::shared::saved;
use crate::shared::scale::Constant;
use crate::shared::training::Training;
use offnominal_core::limits::{DRAWS, MEMBERS};
use offnominal_nets::simd;

recipe! {
    /// The recipe.
    pub struct PeDm {
        /// Widths of the hidden layers.
        pub hidden: Hidden = Hidden::default(),
        /// Number of networks, each trained on episodes drawn with replacement.
        #[serde(deserialize_with = "up_to::<_, _, MEMBERS>")]
        pub members: NonZeroUsize = count(5),
        /// Which score is computed.
        pub score: Score = Score::SampledMin,
        /// Draws per member, for [`Score::SampledMin`].
        #[serde(deserialize_with = "up_to::<_, _, DRAWS>")]
        pub samples: NonZeroUsize = count(1000),
        /// How the networks are trained.
        pub training: Training = Training::default(),
        /// Whether channels that are constant in training are kept, as the released code of Anomaly-Gym does: it magnifies what
        /// becomes of them a million times.
        pub keep_constant_channels: bool = false,
    }
}

/// The two readings of the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// Least squared error of many draws.
    SampledMin,
    /// Mean over members of the expected squared error.
    Analytic,
}

/// The entry of [`PeDm`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    PeDm as dyn Detector,
    "pe-dm",
    "error of an ensemble that predicts a distribution of the next observation"
);

impl Detector for PeDm {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        let data = Data::new(nominal, &self.training, Constant::kept_if(self.keep_constant_channels))?;
        let (seed, d) = (Seed(rng.bits()), data.units.n_targets());
        let sizes = self.hidden.sizes(self.members.get(), data.units.n_inputs(), 2 * d)?;
        let mut model = Gaussian::new(&sizes, self.training.batch.get());
        let (mut members, mut bounds) = (Vec::new(), Vec::new());
        for member in 0..self.members.get() {
            let mut rng = seed.child("member").child(member).rng();
            let start = (model.first_params(&mut rng), data.bootstrap(&mut rng));
            let progress = nominal.progress.part(member, self.members.get());
            let mut params = data.train(&self.training, &mut model, start, &mut rng, progress)?;
            bounds.push(params.split_off(model.net().n_params()));
            members.push(params);
        }
        let ensemble = Ensemble::new(data.units, model.net().clone(), members);
        let reading = Reading::new(self, bounds, d, seed.child("draws"));
        Ok(Box::new(Fitted { ensemble, reading }))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let mut d = 0;
        let shape = |units: &Units| {
            d = units.n_targets();
            let sizes = self.hidden.sizes(self.members.get(), units.n_inputs(), 2 * d);
            Ok(Gaussian::shape(&saved::widths(from, sizes)?))
        };
        let ensemble = Ensemble::load(from, self.members.get(), shape)?;
        saved::within(from, "samples", self.samples.get())?;
        let bounds = |m| Ok(from.part("member").part(m).exactly("bounds", 2 * d)?.to_vec());
        let bounds = (0..self.members.get()).map(bounds).collect::<Result<_, ArchiveError>>()?;
        let reading = Reading::new(self, bounds, d, Seed(from.one("draws")?));
        Ok(Box::new(Fitted { ensemble, reading }))
    }
}

fn draws(n: usize, seed: Seed) -> Vec<f32> {
    let mut noise = vec![0.0; n];
    seed.rng().fill_normal(&mut noise);
    noise
}

#[derive(Clone)]
struct Fitted {
    ensemble: Ensemble,
    reading: Reading,
}

/// What turns the answers of the members into a score.
#[derive(Clone)]
struct Reading {
    /// Bounds of the logarithm of the variance of each member: d upper, then d lower ones.
    bounds: Arc<[Vec<f32>]>,
    /// Normal draws `[member, d, sample]`; empty for the analytic score.
    noise: Arc<[f32]>,
    /// Seed of the draws.
    draws: Seed,
    /// Squared error of each draw.
    squares: Vec<f32>,
}

impl Reading {
    fn new(recipe: &PeDm, bounds: Vec<Vec<f32>>, d: usize, seed: Seed) -> Reading {
        let samples = match recipe.score {
            Score::Analytic => 0,
            Score::SampledMin => recipe.samples.get(),
        };
        let noise = draws(bounds.len() * d * samples, seed).into();
        Reading { bounds: bounds.into(), noise, draws: seed, squares: vec![0.0; samples] }
    }

    /// Adds the answer of a member to the score of its step. Members come in order.
    fn add(&mut self, score: &mut f64, answer: &Answer<'_>) {
        if self.squares.is_empty() {
            *score += self.expected_square(answer) / self.bounds.len() as f64;
        } else {
            let least = self.least_square(answer);
            *score = if answer.member == 0 { least } else { score.min(least) };
        }
    }

    /// 1/d Σ_j ((μ_j − t_j)² + σ_j²).
    fn expected_square(&self, answer: &Answer<'_>) -> f64 {
        let d = answer.target.len();
        let square = |j: usize| (f64::from(answer.output[j]) - f64::from(answer.target[j])).powi(2);
        let variance = |j: usize| libm::exp(self.log_variance(answer, j).into());
        (0..d).map(|j| square(j) + variance(j)).sum::<f64>() / d as f64
    }

    /// min_s 1/d Σ_j (μ_j + σ_j ε_sj − t_j)².
    fn least_square(&mut self, answer: &Answer<'_>) -> f64 {
        let (d, n) = (answer.target.len(), self.squares.len());
        self.squares.fill(0.0);
        for j in 0..d {
            let error = answer.output[j] - answer.target[j];
            let deviation = libm::expf(0.5 * self.log_variance(answer, j));
            let noise = &self.noise[(answer.member * d + j) * n..(answer.member * d + j + 1) * n];
            let squares = self.squares.iter_mut().zip(noise);
            simd(
                #[inline(always)]
                || {
                    for (square, draw) in squares {
                        let off = error + deviation * draw;
                        *square += off * off;
                    }
                },
            );
        }
        f64::from(self.squares.iter().copied().fold(f32::INFINITY, f32::min)) / d as f64
    }

    fn log_variance(&self, answer: &Answer<'_>, j: usize) -> f32 {
        let (bounds, d) = (&self.bounds[answer.member], answer.target.len());
        hold(answer.output[d + j], bounds[j], bounds[d + j])
    }
}

impl Scorer for Fitted {
    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let (mut score, reading) = (0.0, &mut self.reading);
        self.ensemble.ask(seen, &mut |answer| reading.add(&mut score, &answer));
        score
    }

    fn missing(&self) -> Missing {
        Missing::Predicted
    }

    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.ensemble.expect(gaps.obs, gaps.action, gaps.next_obs);
    }

    fn score_episode(&mut self, seen: &Signals<'_>, scores: &mut Vec<f64>) {
        scores.clear();
        scores.resize(seen.len(), 0.0);
        let reading = &mut self.reading;
        self.ensemble.ask_episode(seen, &mut |answer| reading.add(&mut scores[answer.step], &answer));
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.ensemble.save(to);
        to.put("draws", &[self.reading.draws.0]);
        for (m, bounds) in self.reading.bounds.iter().enumerate() {
            to.part("member").part(m).put("bounds", bounds);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two members with two channels; the answers are given by hand.
    fn reading(n_samples: usize) -> Reading {
        Reading {
            bounds: vec![vec![5.0, 5.0, -9.0, -9.0]; 2].into(),
            noise: draws(2 * 2 * n_samples, Seed(3)).into(),
            draws: Seed(3),
            squares: vec![0.0; n_samples],
        }
    }

    static OUTPUTS: [[f32; 4]; 2] = [[0.3, -1.0, -1.0, 0.4], [0.1, 0.2, 0.0, -3.0]];
    static TARGET: [f32; 2] = [0.5, 0.5];

    fn answer(member: usize) -> Answer<'static> {
        Answer { step: 0, member, output: &OUTPUTS[member], target: &TARGET }
    }

    fn score(reading: &mut Reading) -> f64 {
        let mut score = 0.0;
        for member in 0..2 {
            reading.add(&mut score, &answer(member));
        }
        score
    }

    #[test]
    fn the_analytic_score_is_the_mean_of_many_draws() {
        let n = 200_000;
        let mut sampled = reading(n);
        let mut sum = 0.0;
        for member in 0..2 {
            sampled.least_square(&answer(member));
            sum += sampled.squares.iter().map(|&s| f64::from(s) / 2.0).sum::<f64>();
        }
        let analytic = score(&mut Reading { squares: Vec::new(), ..reading(0) });
        assert!((sum / (2 * n) as f64 / analytic - 1.0).abs() < 0.01, "{} {analytic}", sum / (2 * n) as f64);
    }

    #[test]
    fn the_least_square_shrinks_with_more_draws() {
        let (few, many) = (score(&mut reading(10)), score(&mut reading(10_000)));
        assert!(many < few && many >= 0.0, "{few} {many}");
        assert!(many < 1e-3, "with two channels and much noise some draw comes near: {many}");
    }
}
