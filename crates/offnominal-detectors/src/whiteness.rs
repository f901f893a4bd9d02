//! Whether the residuals of the last steps are white: their autocorrelation at several lags, channel by channel.
//!
//! score(t) = mean_j x_j(Q_j), with Q_j = mean_k ((s_jk − m_jk) / σ_jk)² and s_jk = √(n (n + 2) / (n − k)) ρ_jk.
//!
//! | symbol | meaning                                                                                         |
//! |--------|-------------------------------------------------------------------------------------------------|
//! | ρ_jk   | autocorrelation at lag k of channel j: normal scores of the residuals of `ensemble-dm`          |
//! | n      | steps looked at: the last W, or fewer where the episode is younger; s_jk = 0 while n ≤ k        |
//! | k      | lags 1, 2, 4, … up to W/4                                                                       |
//! | m, σ   | mean and deviation of s over held-out nominal steps                                             |
//! | x_j    | surprise −ln p of Q_j among those of nominal steps                                              |
//!
//! A fault that leaves residuals as small as ever may still make one tell the next: a model that is a little wrong errs to the
//! same side for many steps. The autocorrelation does not know how large residuals are, so this sees the order of residuals and
//! nothing else. Nominal residuals need not be white: they are measured, channel by channel and lag by lag.
//!
//! Assumes: nominal residuals have the same memory throughout.
//! Blind to: anything that keeps the order of residuals, such as white noise of a sensor, however large, seen in an exact
//! model; faults much shorter than the window; the first steps of an episode.
//! Cost: fit as `ensemble-dm`, score O(M · parameters + W d log W).
//! Reference: Ljung and Box, Biometrika 1978; as a test of the innovations of a filter, Mehra and Peschon, Automatica 1971.
//! Deviates: mean and deviation of each term, and the tail of their sum, are those of nominal episodes, not of white noise.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::Rng;
//! // Nominal: white noise. Anomalous: noise as large that keeps its sign for five steps.
//! let mut rng = Rng::new(1);
//! let mut noise = |hold: usize| -> Vec<f32> {
//!     let mut sign = 1.0;
//!     let mut draw = |t: usize| {
//!         if t % hold == 0 { sign = if rng.uniform() < 0.5 { -1.0 } else { 1.0 }; }
//!         sign * rng.normal().abs() as f32
//!     };
//!     (0..201).map(&mut draw).collect()
//! };
//! let episodes: Vec<_> = (0..8).map(|_| noise(1)).collect();
//! let train: Vec<_> = episodes.iter().map(|o| Signals::new(o, &[0.0; 200], 1, 1)).collect();
//! let params = serde_json::json!({"hidden": [8], "training": {"epochs": 5}});
//! let whiteness = offnominal_detectors::catalogue().build("whiteness", &params).unwrap();
//! let mut monitor = whiteness.fit(Nominal::new(&train, &[]), &mut Rng::new(1)).unwrap();
//! let mut mean = |o: &[f32]| {
//!     let mut scores = Vec::new();
//!     monitor.score_episode(&Signals::new(o, &[0.0; 200], 1, 1), &mut scores);
//!     scores.iter().sum::<f64>() / 200.0
//! };
//! let (white, held) = (mean(&noise(1)), mean(&noise(5)));
//! assert!(held > 1.5 * white, "{white} {held}");
//! ```

use crate::shared::prelude::*;
use crate::shared::ranges::{Hidden, up_to};
use crate::shared::saved;
use crate::shared::scored::Scored;
use crate::shared::shares::share_out;
use crate::shared::surprise::{Surprise, thinned};
use crate::shared::training::Training;
use crate::shared::window::Window;
use offnominal_core::limits::{MEMBERS, WINDOW};

recipe! {
    /// The recipe.
    pub struct Whiteness {
        /// Steps that are looked at, W.
        #[serde(deserialize_with = "up_to::<_, _, WINDOW>")]
        pub window: NonZeroUsize = count(32),
        /// Widths of the hidden layers.
        pub hidden: Hidden = Hidden::small(),
        /// Number of members, each fitted without its own share of the episodes.
        #[serde(deserialize_with = "up_to::<_, _, MEMBERS>")]
        pub members: NonZeroUsize = count(3),
        /// How the networks are trained.
        pub training: Training = Training::brief(),
    }
}

detector!(Whiteness, "whiteness", "whether the residuals of the last steps are white, at several lags");

/// Smallest deviation of a term of white noise, whose deviation is one.
const LEAST: f64 = 0.1;

/// 1, 2, 4, … up to a quarter of a window; at least one.
fn lags(window: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |lag| Some(2 * lag));
    powers.take_while(|&lag| lag == 1 || 4 * lag <= window).collect()
}

impl Learn for Whiteness {
    type Fitted = Fitted;

    fn learn(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Fitted, FitError> {
        let Whiteness { window, hidden, members, training } = self;
        let (scored, held_out) = Scored::fit(nominal, hidden, *members, training, rng)?;
        let mut window = Window::new(window.get(), scored.deviations().to_vec());
        let known = Known::fit(&held_out, &mut window, &lags(self.window.get()));
        Ok(Fitted::new(scored, window, known))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Fitted, ArchiveError> {
        let size = saved::within(from, "window", self.window.get())?;
        let scored = Scored::load(from, &self.hidden, self.members)?;
        let known = Known::load(&from.part("lags"), &lags(size), scored.width())?;
        let window = Window::new(size, scored.deviations().to_vec());
        Ok(Fitted::new(scored, window, known))
    }
}

/// What nominal autocorrelations are like.
struct Known {
    lags: Vec<usize>,
    /// `[lags, d]`.
    means: Vec<f64>,
    deviations: Vec<f64>,
    /// Of Q_j.
    surprises: Vec<Surprise>,
}

impl Known {
    /// Measures the scores of held-out residuals, each episode `[T, d]`.
    fn fit(episodes: &[Vec<f64>], window: &mut Window, lags: &[usize]) -> Known {
        let d = window.width();
        let rows = rows_of(episodes, window, lags);
        let width = lags.len() * d;
        let n = (rows.len() / width).max(1) as f64;
        let mean = |j: usize, of: &dyn Fn(f64) -> f64| {
            rows.iter().skip(j).step_by(width).map(|&s| of(s)).sum::<f64>() / n
        };
        let means: Vec<f64> = (0..width).map(|j| mean(j, &|s| s)).collect();
        let deviation = |j: usize| mean(j, &|s| (s - means[j]).powi(2)).sqrt().max(LEAST);
        let deviations = (0..width).map(deviation).collect();
        let mut known = Known { lags: lags.to_vec(), means, deviations, surprises: vec![] };
        let nominal = |j: usize| {
            let sums = rows.chunks_exact(width).map(|row| known.sum(row, j)).collect::<Vec<f64>>();
            Surprise::of_nominal(thinned(sums))
        };
        known.surprises = (0..d).map(nominal).collect();
        known
    }

    fn save(&self, to: &mut Writer<'_>) {
        to.put("means", &self.means);
        to.put("deviations", &self.deviations);
        for (j, surprise) in self.surprises.iter().enumerate() {
            surprise.save(&mut to.part("surprise").part(j));
        }
    }

    fn load(from: &Reader<'_>, lags: &[usize], d: usize) -> Result<Known, ArchiveError> {
        let [means, deviations] =
            [from.exactly::<f64>("means", lags.len() * d)?, from.exactly("deviations", lags.len() * d)?];
        from.require(deviations.iter().all(|&v| v > 0.0), "deviations", "numbers above zero", "others")?;
        let surprise = |j| Surprise::load(&from.part("surprise").part(j));
        let surprises = (0..d).map(surprise).collect::<Result<_, _>>()?;
        Ok(Known { lags: lags.to_vec(), means: means.to_vec(), deviations: deviations.to_vec(), surprises })
    }

    /// Q_j.
    fn sum(&self, s: &[f64], j: usize) -> f64 {
        let d = s.len() / self.lags.len();
        let terms = s.iter().zip(self.means.iter().zip(&self.deviations)).skip(j).step_by(d);
        terms.map(|(s, (mean, deviation))| ((s - mean) / deviation).powi(2)).sum::<f64>()
            / self.lags.len() as f64
    }

    /// x_j(Q_j).
    fn surprise(&self, s: &[f64], j: usize) -> f64 {
        self.surprises[j].of(self.sum(s, j))
    }
}

/// The terms after each step of each episode, rows of `[lags, d]`.
fn rows_of(episodes: &[Vec<f64>], window: &mut Window, lags: &[usize]) -> Vec<f64> {
    let d = window.width();
    let (mut rows, mut s) = (Vec::new(), vec![0.0; lags.len() * d]);
    for episode in episodes {
        window.reset();
        for g in episode.chunks_exact(d) {
            window.add(g);
            window.correlations(lags, &mut s);
            rows.extend_from_slice(&s);
        }
    }
    window.reset();
    rows
}

#[derive(Clone)]
pub(crate) struct Fitted {
    scored: Scored,
    window: Window,
    known: Arc<Known>,
    s: Vec<f64>,
    variances: Vec<f64>,
    /// x_j of the last step.
    surprises: Vec<f64>,
}

impl Fitted {
    fn new(scored: Scored, window: Window, known: Known) -> Fitted {
        let d = scored.width();
        let s = vec![0.0; known.lags.len() * d];
        let [variances, surprises] = [(); 2].map(|()| vec![0.0; d]);
        Fitted { scored, window, known: Arc::new(known), s, variances, surprises }
    }

    /// The score of what is in the window.
    fn of_window(&mut self) -> f64 {
        self.window.correlations(&self.known.lags, &mut self.s);
        for (j, x) in self.surprises.iter_mut().enumerate() {
            *x = self.known.surprise(&self.s, j);
        }
        self.surprises.iter().sum::<f64>() / self.surprises.len() as f64
    }
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.window.reset();
        self.scored.reset();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.window.add(self.scored.of(seen));
        self.of_window()
    }

    fn shares(&mut self, shares: &mut [f64]) -> bool {
        let score = self.surprises.iter().sum::<f64>() / self.surprises.len() as f64;
        share_out(score, &self.surprises, self.scored.channels(), shares);
        true
    }

    fn missing(&self) -> Missing {
        Missing::LeftOut
    }

    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.scored.fill(gaps);
    }

    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        self.scored.of_partial(step);
        self.scored.left_out(&mut self.variances);
        self.window.add_partial(self.scored.last(), &self.variances);
        PartialScore { score: self.of_window(), confidence: self.scored.marginal().share_left() }
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.scored.save(to);
        self.known.save(&mut to.part("lags"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lags_are_powers_of_two_within_a_quarter_of_the_window() {
        assert_eq!(
            [1, 4, 8, 32, 33].map(lags),
            [vec![1], vec![1], vec![1, 2], vec![1, 2, 4, 8], vec![1, 2, 4, 8]]
        );
    }

    #[test]
    fn white_noise_of_any_size_scores_as_nominal_and_a_wave_does_not() {
        let mut rng = Rng::new(2);
        let mut noise = |n: usize| (0..n).map(|_| rng.normal()).collect::<Vec<f64>>();
        let episodes: Vec<_> = (0..40).map(|_| noise(200)).collect();
        let mut window = Window::new(32, vec![1.0]);
        let known = Known::fit(&episodes, &mut window, &lags(32));
        let mut mean = |episode: Vec<f64>| {
            let rows = rows_of(&[episode], &mut window, &known.lags);
            rows.chunks_exact(4).map(|row| known.surprise(row, 0)).sum::<f64>() / (rows.len() / 4) as f64
        };
        let fresh = noise(4000);
        let (white, loud) = (mean(fresh.clone()), mean(fresh.iter().map(|g| 5.0 * g).collect()));
        assert!((white - 1.0).abs() < 0.2 && (loud - white).abs() < 0.1, "{white} {loud}");
        let wave = mean((0..4000).map(|t| (0.4 * f64::from(t)).sin()).collect());
        assert!(wave > 4.0, "{wave}");
    }
}
