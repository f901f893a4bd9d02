//! Dynamic principal component analysis: how far the last steps lie along and off the nominal components.
//!
//! score(t) = max(T² / T²₉₉, SPE / SPE₉₉), with T² = Σ_i t_i² / λ_i, SPE = |v|² − Σ_i t_i², t_i = p_iᵀ v.
//!
//! | symbol      | meaning                                                                          | shape |
//! |-------------|----------------------------------------------------------------------------------|-------|
//! | x_t         | observation after step t and command, in nominal deviations, held within ±30     | d     |
//! | v           | (x_t, x_{t−1}, …, x_{t−l}); none in the first l steps                             | m     |
//! | l           | lags; m = d (l + 1)                                                              | 1     |
//! | p_i, λ_i    | eigenvectors and eigenvalues of the nominal second moments of v, the first a     | m, 1  |
//! | T²₉₉, SPE₉₉ | 0.99 quantiles over the training steps, at least their means                     | 1     |
//!
//! T² sees what is large in a way that is usual; SPE sees what breaks the relations of channels and of steps. A score
//! above one is beyond the limit of a statistic. A channel that is constant in training counts in units of a hundredth
//! of its magnitude (0.01 if it is zero), and SPE₉₉ is at least 10⁻⁴ m, so that rounding is no news.
//! The first l steps of an episode, for which there is no v, score 0.
//!
//! Assumes: nominal channels keep their means, and depend linearly on one another and on the last l steps.
//! Blind to: relations that are not linear or reach back farther; slow drift that is small against the noise of a step,
//! for which `mewma` is made.
//! Cost: fit O(n m² + m³), score O(m a).
//! Reference: Ku, Storer and Georgakis, Chemometrics and Intelligent Laboratory Systems 30, 1995.
//! Deviates: the number of lags is given; limits are quantiles, where the textbook has those of Gaussian data; the
//! components hold 0.999 of the variance, where 0.95 is usual. In a closed loop the left-out 5 % are the steps of the
//! set-point, which set SPE₉₉ and hide a sensor that contradicts the others. Eight choices were tried on five simulated
//! plants: the shares 0.95 to 0.9999, all variances above their mean, and left-out directions by their own variances.
//! With 0.999, 0.99 of the faults in a loop are found (0.11 with 0.95); of independent channels with memory, 0.28 (0.35).
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::Rng;
//! // A wave, and a sensor that freezes at a usual value.
//! let wave: Vec<f32> = (0..2001).map(|t| (0.3 * t as f32).sin()).collect();
//! let dpca = offnominal_detectors::catalogue().build("dpca", &serde_json::json!({})).unwrap();
//! let mut monitor = dpca.fit(Nominal::new(&[Signals::new(&wave, &[], 1, 0)], &[]), &mut Rng::new(0)).unwrap();
//! let mut last = |observations: &[f32]| {
//!     let mut scores = Vec::new();
//!     monitor.score_episode(&Signals::new(observations, &[], 1, 0), &mut scores);
//!     scores[99]
//! };
//! assert!(last(&wave[..101]) < 1.1 && last(&[0.5; 101]) > 3.0);
//! ```

use crate::shared::channels::Channels;
use crate::shared::moments::SecondMoments;
use crate::shared::one_step::FLOOR;
use crate::shared::prelude::*;
use crate::shared::principal::Principal;
use crate::shared::ranges::{Fraction, up_to};
use offnominal_core::limits::WINDOW;

/// The most numbers that are stacked: eigenvectors of more take minutes.
const STACKED: usize = 1_024;
/// Share of the training steps within a limit.
const WITHIN: f64 = 0.99;
/// Rows whose moments are added at once.
const BLOCK: usize = 64;

recipe! {
    /// The recipe.
    pub struct Dpca {
        /// Steps that are stacked below the newest one, l; 0 for the relations within a step.
        #[serde(deserialize_with = "up_to::<_, _, WINDOW>")]
        pub lags: usize = 5,
        /// Share of the variance that the components hold.
        pub variance: Fraction = Fraction::new(0.999),
        /// Whether commands are among the channels.
        pub commands: bool = true,
    }
}

/// The entry of [`Dpca`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    Dpca as dyn Detector,
    "dpca",
    "dynamic principal component analysis: the last steps along and off the nominal components",
    exempt: &[(Law::IgnoresConstantChannels, "a channel that never moved in training is news when it moves")]
);

impl Detector for Dpca {
    fn fit(
        &self,
        Nominal { train, progress, .. }: Nominal<'_>,
        _: &mut Rng,
    ) -> Result<Box<dyn Scorer>, FitError> {
        check(train, 2)?;
        let (channels, _) = Channels::fit(train, self.n_commands(train[0].act_width()));
        let m = self.stacked(channels.width());
        if m > STACKED {
            return Err(FitError::Missing(format!("dpca: expected {}", too_many(m))));
        }
        let mut steps = Steps::new(channels.width(), m);
        let mut moments = SecondMoments::new(m);
        let halves = [progress.part(0, 2), progress.part(1, 2)];
        for (i, episode) in train.iter().enumerate() {
            halves[0].at(i, train.len())?;
            let rows = steps.of_episode(&channels, episode);
            rows.chunks(BLOCK * m).for_each(|rows| moments.add(rows));
        }
        let lags = self.lags;
        if train.iter().map(|e| e.len().saturating_sub(lags)).sum::<usize>() < 2 {
            let found = train.iter().map(Signals::len).max().unwrap_or(0);
            return Err(FitError::TooFewSteps { needed: lags + 2, found });
        }
        let principal = Principal::of(moments.mean(), m, self.variance.get());
        let mut t = vec![0.0; principal.len()];
        let mut statistics = [vec![], vec![]];
        for (i, episode) in train.iter().enumerate() {
            halves[1].at(i, train.len())?;
            for v in steps.of_episode(&channels, episode).chunks_exact(m) {
                let found = principal.statistics(v, &mut t);
                statistics.iter_mut().zip(found).for_each(|(all, value)| all.push(value));
            }
        }
        let [within, off] = statistics.map(limit);
        let limits = [within.max(FLOOR), off.max(FLOOR * FLOOR * m as f64)];
        Ok(Box::new(Fitted::new(Nominals { channels, principal, limits }, m)))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let channels = Channels::load(&from.part("channels"), self.n_commands(from.act_width))?;
        let m = self.stacked(channels.width());
        from.require(m <= STACKED, "lags", format_args!("at most {STACKED} stacked numbers"), m)?;
        let principal = Principal::load(&from.part("components"), m)?;
        let limits = from.exactly::<f64>("limits", 2)?;
        let is_sound = limits.iter().all(|l| *l > 0.0 && l.is_finite());
        from.require(is_sound, "limits", "numbers above zero", "others")?;
        let limits = [limits[0], limits[1]];
        Ok(Box::new(Fitted::new(Nominals { channels, principal, limits }, m)))
    }
}

impl Dpca {
    fn n_commands(&self, act_width: usize) -> usize {
        if self.commands { act_width } else { 0 }
    }

    /// Numbers in a stack of rows of d.
    fn stacked(&self, d: usize) -> usize {
        d.saturating_mul(self.lags + 1)
    }
}

fn too_many(m: usize) -> String {
    format!("at most {STACKED} stacked numbers (channels times lags + 1), found {m}; take fewer lags")
}

/// The 0.99 quantile, or the mean where single steps stand out so much that it is larger.
fn limit(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (WITHIN * values.len() as f64).ceil() as usize;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values[rank - 1].max(mean)
}

/// The last rows of an episode, the newest first.
#[derive(Debug, Clone)]
struct Steps {
    d: usize,
    /// Rows of the episode so far.
    n: usize,
    /// `[m]`.
    v: Vec<f64>,
}

impl Steps {
    fn new(d: usize, m: usize) -> Steps {
        Steps { d, n: 0, v: vec![0.0; m] }
    }

    fn reset(&mut self) {
        self.n = 0;
    }

    /// The stack with one more row, once there are enough of them.
    fn add(&mut self, channels: &Channels, seen: &Transition<'_>) -> Option<&[f64]> {
        let kept = self.v.len() - self.d;
        self.v.copy_within(..kept, self.d);
        channels.apply(seen, &mut self.v[..self.d]);
        self.n += 1;
        (self.n * self.d >= self.v.len()).then_some(&self.v[..])
    }

    /// The stacks of an episode, `[T - l, m]`.
    fn of_episode(&mut self, channels: &Channels, episode: &Signals<'_>) -> Vec<f64> {
        self.reset();
        let mut rows = Vec::with_capacity(episode.len() * self.v.len());
        for seen in episode.transitions() {
            rows.extend_from_slice(self.add(channels, &seen).unwrap_or_default());
        }
        rows
    }
}

struct Nominals {
    channels: Channels,
    principal: Principal,
    limits: [f64; 2],
}

/// What was learned is shared by all forks.
#[derive(Clone)]
struct Fitted {
    nominal: Arc<Nominals>,
    steps: Steps,
    t: Vec<f64>,
}

impl Fitted {
    fn new(nominal: Nominals, m: usize) -> Fitted {
        let (steps, t) = (Steps::new(nominal.channels.width(), m), vec![0.0; nominal.principal.len()]);
        Fitted { nominal: Arc::new(nominal), steps, t }
    }
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.steps.reset();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let Nominals { channels, principal, limits } = &*self.nominal;
        let Some(v) = self.steps.add(channels, seen) else { return 0.0 };
        let [within, off] = principal.statistics(v, &mut self.t);
        (within / limits[0]).max(off / limits[1])
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.nominal.channels.save(&mut to.part("channels"));
        self.nominal.principal.save(&mut to.part("components"));
        to.put("limits", &self.nominal.limits);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(params: serde_json::Value) -> Dpca {
        serde_json::from_value(params).unwrap()
    }

    fn scores(recipe: &Dpca, train: &[f32], probe: &[f32], width: usize) -> Vec<f64> {
        let nominal = Signals::new(train, &[], width, 0);
        let mut monitor = recipe.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(1)).unwrap();
        let mut scores = Vec::new();
        monitor.score_episode(&Signals::new(probe, &[], width, 0), &mut scores);
        scores
    }

    /// T² and SPE of each pair (x_t, x_{t−1}) with one component, by the formula for matrices of two rows.
    fn by_hand(x: &[f64]) -> Vec<[f64; 2]> {
        let pairs: Vec<[f64; 2]> = (1..x.len()).map(|t| [x[t], x[t - 1]]).collect();
        let moment = |i: usize, j: usize| pairs.iter().map(|v| v[i] * v[j]).sum::<f64>() / pairs.len() as f64;
        let (a, b, c) = (moment(0, 0), moment(0, 1), moment(1, 1));
        let value = 0.5 * (a + c) + (0.25 * (a - c).powi(2) + b * b).sqrt();
        let length = b.hypot(value - a);
        let split = |[v, w]: &[f64; 2]| {
            let square = ((b * v + (value - a) * w) / length).powi(2);
            [square / value, v * v + w * w - square]
        };
        pairs.iter().map(split).collect()
    }

    #[test]
    fn scores_are_those_of_the_definition() {
        let (mut rng, mut last) = (Rng::new(5), 0.0);
        let values: Vec<f32> = (0..200)
            .map(|_| {
                last = 0.8 * last + rng.normal();
                last as f32
            })
            .collect();
        let observations = [&[0.0], &values[..]].concat();
        let one = recipe(serde_json::json!({"lags": 1, "variance": 0.5}));
        let found = scores(&one, &observations, &observations, 1);

        let of = |f: &dyn Fn(f64) -> f64| values.iter().map(|&v| f(f64::from(v))).sum::<f64>() / 200.0;
        let mean = of(&|v| v);
        let deviation = of(&|v| (v - mean).powi(2)).sqrt();
        let x: Vec<f64> = values.iter().map(|&v| (f64::from(v) - mean) / deviation).collect();
        let want = by_hand(&x);
        // Of 199 numbers the 198th in order.
        let limit = |i: usize| {
            let mut all: Vec<f64> = want.iter().map(|s| s[i]).collect();
            all.sort_by(f64::total_cmp);
            all[197]
        };
        assert_eq!(found[0], 0.0, "there is no row before the first");
        for (found, [within, off]) in found[1..].iter().zip(&want) {
            let want = (within / limit(0)).max(off / limit(1));
            assert!((found - want).abs() < 1e-9, "expected {want}, found {found}");
        }
    }

    #[test]
    fn one_step_in_a_hundred_is_beyond_a_limit_of_each_statistic() {
        let mut rng = Rng::new(2);
        let train: Vec<f32> = (0..4004).map(|_| rng.normal() as f32).collect();
        let beyond = scores(&Dpca::default(), &train, &train, 4).iter().filter(|s| **s > 1.0).count();
        assert!((9..=20).contains(&beyond), "{beyond} of 1000");
    }

    #[test]
    fn commands_that_no_longer_act_break_a_relation() {
        let mut rng = Rng::new(7);
        let actions: Vec<f32> = (0..500).map(|_| rng.normal() as f32).collect();
        let mut noise = |x: f32| x + 0.1 * rng.normal() as f32;
        // The observation is the command before the last one.
        let follows: Vec<f32> = (0..501).map(|t| noise(if t < 2 { 0.0 } else { actions[t - 2] })).collect();
        let ignores: Vec<f32> = (0..501).map(|t| noise(actions[(t + 77) % 500])).collect();
        let [nominal, broken] = [&follows, &ignores].map(|o| Signals::new(o, &actions, 1, 1));
        let share = |recipe: Dpca| {
            let mut monitor = recipe.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(1)).unwrap();
            let mut scores = Vec::new();
            monitor.score_episode(&broken, &mut scores);
            scores.iter().filter(|s| **s > 1.0).count() as f64 / 500.0
        };
        let with = share(recipe(serde_json::json!({"lags": 2})));
        let without = share(recipe(serde_json::json!({"lags": 2, "commands": false})));
        assert!(with > 0.5 && without < 0.1, "{with} {without}");
    }

    /// A plant of second order that a PI controller holds at set-points within ±1, with so much noise; the first of its five
    /// channels has a bias in the second half.
    fn loop_with(noise: f64, bias: f32, seed: u64) -> Vec<f32> {
        let (mut rng, mut rows) = (Rng::new(seed), Vec::new());
        let [mut y, mut v, mut sum, mut wanted] = [0.0_f64; 4];
        for t in 0..151 {
            let mut noisy = |x: f64, scale: f64| x + scale * noise * rng.normal();
            let seen = [noisy(y, 1.0), noisy(v, 1.0), noisy(y + 0.5 * v, 2.0)];
            let push = noisy(0.0, 0.5);
            if t % 40 == 0 {
                wanted = rng.range(-1.0, 1.0);
            }
            let error = wanted - seen[0];
            sum += 0.05 * error;
            let u = (2.0 * error + sum - v).clamp(-3.0, 3.0);
            rows.extend([seen[0], seen[1], seen[2], wanted, u].map(|x| x as f32));
            rows[5 * t] += if t < 75 { 0.0 } else { bias };
            v += 0.1 * (u - 0.5 * v - 0.2 * y) + push;
            y += 0.1 * v;
        }
        rows
    }

    #[test]
    fn a_sensor_that_contradicts_a_loop_is_found_at_any_noise_and_without_lags() {
        for (noise, lags) in [(0.003, 5), (0.01, 5), (0.03, 5), (0.01, 0)] {
            let runs = |seeds: std::ops::Range<u64>, bias| -> Vec<Vec<f32>> {
                seeds.map(|seed| loop_with(noise, bias, seed)).collect()
            };
            let (train, nominal, biased) = (runs(0..20, 0.0), runs(100..119, 0.0), runs(200..220, 0.5));
            let train: Vec<Signals<'_>> = train.iter().map(|run| Signals::new(run, &[], 5, 0)).collect();
            let dpca = recipe(serde_json::json!({"lags": lags}));
            let mut monitor = dpca.fit(Nominal::new(&train, &[]), &mut Rng::new(1)).unwrap();
            let mut largest = |run: &Vec<f32>| {
                let mut scores = Vec::new();
                monitor.score_episode(&Signals::new(run, &[], 5, 0), &mut scores);
                scores.into_iter().fold(0.0, f64::max)
            };
            let threshold = nominal.iter().map(&mut largest).fold(0.0, f64::max);
            let found = biased.iter().map(&mut largest).filter(|score| *score > threshold).count();
            assert!(found >= 16, "{found} of 20 with noise {noise} and {lags} lags");
        }
    }

    #[test]
    fn too_many_stacked_numbers_are_refused() {
        let far = recipe(serde_json::json!({"lags": 4000}));
        let nominal = Signals::new(&[0.0, 1.0, 2.0], &[], 1, 0);
        let error = far.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(1)).err().unwrap().to_string();
        let want = "dpca: expected at most 1024 stacked numbers (channels times lags + 1), found 4001; take fewer lags";
        assert_eq!(error, want);
    }

    #[test]
    fn a_channel_that_never_moved_is_news_when_it_moves() {
        let mut rng = Rng::new(1);
        let noise: Vec<f32> = (0..301).map(|_| rng.normal() as f32).collect();
        let beside = |value: f32| noise.iter().flat_map(|&v| [v, value]).collect::<Vec<_>>();
        let largest =
            |value| scores(&Dpca::default(), &beside(5.0), &beside(value), 2).into_iter().fold(0.0, f64::max);
        let (nominal, moved) = (largest(5.0), largest(5.5));
        assert!(moved > 10.0 * nominal, "{nominal} {moved}");
    }
}
