//! Residuals over the last 1, 2, 4, … steps: whether one of these windows is rarer than chance allows among all that are tried.
//!
//! score(t) = max_s (x_s − b_s), over the statistics s of the windows that are full: x_s = −ln p_s, b_s = mean_e max_t x_s.
//!
//! | symbol  | meaning                                                                                         |
//! |---------|-------------------------------------------------------------------------------------------------|
//! | g, C    | normal scores of the residuals of `ensemble-dm`, and their nominal second moments; C = L Lᵀ     |
//! | energy  | s = Σ_i |L⁻¹ g_i|² / nd over the last n steps                                                   |
//! | shift   | s = |L⁻¹ Σ_i g_i|² / nd                                                                         |
//! | channel | s = max_j (Σ_i g_ij)² / n C_jj                                                                  |
//! | p_s     | share of held-out nominal steps with at least this s, continued by an exponential tail          |
//! | b_s     | mean over held-out nominal episodes e of the largest x_s in them                                |
//!
//! Were residuals white and normal, energy and shift would be χ² with nd and d degrees of freedom; p is measured since they are
//! neither. A fault that lasts k steps is seen best by the window of about k, but to look at many windows finds more by chance.
//! The largest of N independent surprises is about ln N + 0.58, so b_s tells how many independent looks a window takes at an
//! episode, and e^−score is about the chance that a nominal episode ever gets so far by this statistic.
//!
//! Assumes: nominal residuals look alike throughout an episode.
//! Blind to: as `ensemble-dm`; residuals that become smaller.
//! Cost: fit as `ensemble-dm`, score O(M · parameters + W d + d² log W).
//! Reference: Glaz, Naus and Wallenstein, Scan Statistics, 2001; the penalty for many scales, Dümbgen and Spokoiny, Annals of
//! Statistics 2001.  Deviates: penalties are measured, not the asymptotic ones.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::Rng;
//! // White noise, and the same with a bias of 0.8 that no single step shows.
//! let mut rng = Rng::new(1);
//! let mut noise = |bias: f64| (0..201).map(|_| (bias + rng.normal()) as f32).collect::<Vec<f32>>();
//! let episodes: Vec<_> = (0..8).map(|_| noise(0.0)).collect();
//! let train: Vec<_> = episodes.iter().map(|o| Signals::new(o, &[0.0; 200], 1, 1)).collect();
//! let params = serde_json::json!({"hidden": [8], "training": {"epochs": 5}});
//! let scan = offnominal_detectors::catalogue().build("scan", &params).unwrap();
//! let mut monitor = scan.fit(Nominal::new(&train, &[]), &mut Rng::new(1)).unwrap();
//! let mut largest = |o: &[f32]| {
//!     let mut scores = Vec::new();
//!     monitor.score_episode(&Signals::new(o, &[0.0; 200], 1, 1), &mut scores);
//!     scores.into_iter().fold(f64::MIN, f64::max)
//! };
//! let (nominal, biased) = (largest(&noise(0.0)), largest(&noise(0.8)));
//! assert!(nominal < 4.0 && biased > 8.0, "{nominal} {biased}");
//! ```

use crate::shared::prelude::*;
use crate::shared::ranges::{Hidden, up_to};
use crate::shared::saved;
use crate::shared::scored::Scored;
use crate::shared::shares::share_out;
use crate::shared::surprise::{Surprise, thinned};
use crate::shared::training::Training;
use offnominal_core::limits::{MEMBERS, WINDOW};

recipe! {
    /// The recipe.
    pub struct Scan {
        /// Steps of the longest window; the others are the powers of two below it.
        #[serde(deserialize_with = "up_to::<_, _, WINDOW>")]
        pub longest: NonZeroUsize = count(64),
        /// Widths of the hidden layers.
        pub hidden: Hidden = Hidden::small(),
        /// Number of members, each fitted without its own share of the episodes.
        #[serde(deserialize_with = "up_to::<_, _, MEMBERS>")]
        pub members: NonZeroUsize = count(3),
        /// How the networks are trained.
        pub training: Training = Training::brief(),
    }
}

detector!(
    Scan,
    "scan",
    "rarest of windows of 1 to 64 residuals, each on the scale of its looks at an episode"
);

/// Statistics of a window.
const N: usize = 3;

impl Learn for Scan {
    type Fitted = Fitted;

    fn learn(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Fitted, FitError> {
        let Scan { longest, hidden, members, training } = self;
        let (scored, held_out) = Scored::fit(nominal, hidden, *members, training, rng)?;
        let mut past = Past::new(longest.get(), scored.width());
        let known = Known::fit(&held_out, &mut past, &scored);
        Ok(Fitted::new(scored, past, known))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Fitted, ArchiveError> {
        let longest = saved::within(from, "longest", self.longest.get())?;
        let scored = Scored::load(from, &self.hidden, self.members)?;
        let past = Past::new(longest, scored.width());
        let known = Known::load(&from.part("windows"), past.sizes.len())?;
        Ok(Fitted::new(scored, past, known))
    }
}

/// The last scores of an episode.
#[derive(Clone)]
struct Past {
    /// Windows, ascending.
    sizes: Vec<usize>,
    d: usize,
    /// g of the last steps, `[longest, d]`, and |L⁻¹ g|², overwritten in turn.
    ring: Vec<f64>,
    squares: Vec<f64>,
    n: usize,
    /// Σ g of a window, and L⁻¹ of it.
    sum: Vec<f64>,
    whitened: Vec<f64>,
    /// `[windows, N]`; −∞ where a window is not full.
    statistics: Vec<f64>,
}

impl Past {
    fn new(longest: usize, d: usize) -> Past {
        let powers = std::iter::successors(Some(1), |size| Some(2 * size));
        let sizes: Vec<usize> = powers.take_while(|&size| size <= longest).collect();
        let [sum, whitened] = [(); 2].map(|()| vec![0.0; d]);
        let room = sizes.last().copied().unwrap_or(1);
        let (ring, squares) = (vec![0.0; room * d], vec![0.0; room]);
        let statistics = vec![f64::NEG_INFINITY; N * sizes.len()];
        Past { sizes, d, ring, squares, n: 0, sum, whitened, statistics }
    }

    fn reset(&mut self) {
        self.n = 0;
    }

    /// Adds the scores of a step of which so many degrees of freedom were left out, and writes the statistics.
    fn add(&mut self, g: &[f64], left_out: usize, scored: &Scored) {
        let Past { sizes, d, ring, squares, n, sum, whitened, statistics } = self;
        let (room, d) = (squares.len(), *d);
        ring[*n % room * d..][..d].copy_from_slice(g);
        squares[*n % room] = square_of(g, whitened, scored) + left_out as f64;
        *n += 1;
        sum.fill(0.0);
        let (mut energy, mut age) = (0.0, 0);
        for (&size, out) in sizes.iter().zip(statistics.chunks_exact_mut(N)) {
            if size > *n {
                out.fill(f64::NEG_INFINITY);
                continue;
            }
            while age < size {
                age += 1;
                let at = (*n - age) % room;
                energy += squares[at];
                sum.iter_mut().zip(&ring[at * d..][..d]).for_each(|(sum, g)| *sum += g);
            }
            let scale = 1.0 / size as f64;
            let channels = sum.iter().zip(scored.deviations()).map(|(sum, sd)| (sum / sd).powi(2));
            let channel = channels.fold(0.0, f64::max) * scale;
            let shift = square_of(sum, whitened, scored) * scale / d as f64;
            out.copy_from_slice(&[energy * scale / d as f64, shift, channel]);
        }
    }
}

impl Past {
    /// Writes what each channel contributes to a statistic.
    fn contributions(&mut self, at: usize, scored: &Scored, out: &mut [f64]) {
        let Past { sizes, d, ring, squares, n, sum, whitened, .. } = self;
        let (room, d) = (squares.len(), *d);
        sum.fill(0.0);
        out.fill(0.0);
        for age in 1..=sizes[at / N].min(*n) {
            let g = &ring[(*n - age) % room * d..][..d];
            sum.iter_mut().zip(g).for_each(|(sum, g)| *sum += g);
            scored.contributions(g, whitened);
            out.iter_mut().zip(&*whitened).for_each(|(out, part)| *out += part);
        }
        let size = |j: usize| (sum[j] / scored.deviations()[j]).abs();
        match at % N {
            0 => {}
            1 => scored.contributions(sum, out),
            _ => {
                let largest = (0..d).fold(0, |most, j| if size(j) > size(most) { j } else { most });
                out.fill(0.0);
                out[largest] = 1.0;
            }
        }
    }
}

/// |L⁻¹ g|².
fn square_of(g: &[f64], whitened: &mut [f64], scored: &Scored) -> f64 {
    whitened.copy_from_slice(g);
    scored.whiten(whitened);
    whitened.iter().map(|w| w * w).sum()
}

/// What nominal windows are like.
struct Known {
    /// Of each statistic of each window.
    surprises: Vec<Surprise>,
    /// b_s.
    looks: Vec<f64>,
}

impl Known {
    /// Measures the scores of held-out residuals, each episode `[T, d]`.
    fn fit(episodes: &[Vec<f64>], past: &mut Past, scored: &Scored) -> Known {
        let of_episode = |episode: &Vec<f64>| {
            past.reset();
            let step = |g: &[f64]| {
                past.add(g, 0, scored);
                past.statistics.clone()
            };
            episode.chunks_exact(scored.width()).map(step).collect::<Vec<_>>()
        };
        let all: Vec<Vec<Vec<f64>>> = episodes.iter().map(of_episode).collect();
        past.reset();
        let of = |s: usize| {
            let full = |e: &Vec<Vec<f64>>| e.iter().map(|row| row[s]).filter(|v| v.is_finite()).collect();
            let episodes: Vec<Vec<f64>> = all.iter().map(full).filter(|e: &Vec<f64>| !e.is_empty()).collect();
            // A window that no nominal episode fills is not known, and nothing is news in it.
            let sample = if episodes.is_empty() { vec![f64::MAX] } else { thinned(episodes.concat()) };
            let surprise = Surprise::of_nominal(sample);
            let largest = |e: &Vec<f64>| e.iter().map(|&v| surprise.of(v)).fold(0.0, f64::max);
            let looks = episodes.iter().map(largest).sum::<f64>() / episodes.len().max(1) as f64;
            (surprise, looks)
        };
        let (surprises, looks) = (0..N * past.sizes.len()).map(of).unzip();
        Known { surprises, looks }
    }

    fn save(&self, to: &mut Writer<'_>) {
        to.put("looks", &self.looks);
        for (s, surprise) in self.surprises.iter().enumerate() {
            surprise.save(&mut to.part("surprise").part(s));
        }
    }

    fn load(from: &Reader<'_>, windows: usize) -> Result<Known, ArchiveError> {
        let surprise = |s| Surprise::load(&from.part("surprise").part(s));
        let surprises = (0..N * windows).map(surprise).collect::<Result<_, _>>()?;
        Ok(Known { surprises, looks: from.exactly("looks", N * windows)?.to_vec() })
    }

    /// The largest of x_s − b_s, and which it is.
    fn score(&self, statistics: &[f64]) -> (f64, usize) {
        let known = self.surprises.iter().zip(&self.looks);
        let all = statistics.iter().zip(known).enumerate();
        let full = all.filter(|(_, (s, _))| **s > f64::NEG_INFINITY);
        let scores = full.map(|(at, (&s, (surprise, looks)))| (surprise.of(s) - looks, at));
        scores.fold((f64::NEG_INFINITY, 0), |most, found| if found.0 > most.0 { found } else { most })
    }
}

#[derive(Clone)]
pub(crate) struct Fitted {
    scored: Scored,
    past: Past,
    known: Arc<Known>,
    g: Vec<f64>,
    /// The last score, and which statistic it is of.
    last: (f64, usize),
    contributions: Vec<f64>,
}

impl Fitted {
    fn new(scored: Scored, past: Past, known: Known) -> Fitted {
        let [g, contributions] = [(); 2].map(|()| vec![0.0; scored.width()]);
        Fitted { g, scored, past, known: Arc::new(known), last: (0.0, 0), contributions }
    }
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.past.reset();
        self.scored.reset();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.g.copy_from_slice(self.scored.of(seen));
        self.past.add(&self.g, 0, &self.scored);
        self.last = self.known.score(&self.past.statistics);
        self.last.0
    }

    fn shares(&mut self, shares: &mut [f64]) -> bool {
        let (score, at) = self.last;
        self.past.contributions(at, &self.scored, &mut self.contributions);
        share_out(score, &self.contributions, self.scored.channels(), shares);
        true
    }

    fn missing(&self) -> Missing {
        Missing::LeftOut
    }

    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.scored.fill(gaps);
    }

    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        self.g.copy_from_slice(self.scored.of_partial(step));
        let (left, share) = (self.scored.marginal().n_left(), self.scored.marginal().share_left());
        self.past.add(&self.g, self.g.len() - left, &self.scored);
        self.last = self.known.score(&self.past.statistics);
        PartialScore { score: self.last.0, confidence: share }
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.scored.save(to);
        self.known.save(&mut to.part("windows"));
        Ok(())
    }
}
