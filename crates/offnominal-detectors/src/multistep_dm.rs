//! Error of predictions that were made several steps ago and never corrected.
//!
//! score(t) = 1/|H| Σ_{h ∈ H} e_hᵀ C_h⁻¹ e_h / d, with e_h = o_t − f^h(o_{t−h}; a_{t−h}, …, a_{t−1}), H = {2, 4, 8, 16}.
//!
//! | symbol | meaning                                                                                      |
//! |--------|----------------------------------------------------------------------------------------------|
//! | f^h    | h steps of a one-step model, each on its own prediction and the action that was given        |
//! | e_h    | what the open loop missed, in units of the nominal change of one step                        |
//! | C_h    | second moments of e_h on episodes that the model did not learn from, 5 % of it diagonal       |
//! | H      | ages of predictions that are scored: powers of two up to `longest`                            |
//! | d      | observation channels that vary                                                               |
//!
//! Where one step is off by less than its noise, sixteen steps are off by sixteen times as much, and the noise by four
//! times: what is slow, late or slightly biased adds up in the open loop. Every step begins a new prediction and takes
//! all living ones a step further, so the work per step is that of `longest` questions to the model, asked at once.
//! Until a prediction of age 2 exists, at the first step of an episode, the score is that of an average step, one.
//!
//! Assumes: the one-step model is good enough not to diverge within `longest` steps; actions are recorded.
//! Blind to: single outliers of a sensor, which are a small part of what the open loop misses anyway.
//! Cost: fit as `ensemble-dm`, score O(longest · parameters + |H| d²).
//! Reference: this project's; open-loop errors as monitors in Domberg and Schildbach, 2025 (arXiv 2503.02552).
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::Rng;
//! // A leaky sum of actions, with noise of 0.1 per step. An action that lacks 0.05 is below the noise of a step, but
//! // not below that of sixteen.
//! let mut rng = Rng::new(1);
//! let mut episode = |lack: f64| -> (Vec<f32>, Vec<f32>) {
//!     let (mut x, mut o, mut a) = (0.0, vec![0.0], vec![]);
//!     for _ in 0..300 {
//!         a.push(rng.range(-1.0, 1.0) as f32);
//!         x = 0.9 * x + f64::from(a[a.len() - 1]) - lack + 0.1 * rng.normal();
//!         o.push(x as f32);
//!     }
//!     (o, a)
//! };
//! let nominal: Vec<_> = (0..9).map(|_| episode(0.0)).collect();
//! let views: Vec<_> = nominal.iter().map(|(o, a)| Signals::new(o, a, 1, 1)).collect();
//! let recipe = serde_json::json!({"hidden": [8], "training": {"epochs": 10}});
//! let detector = offnominal_detectors::catalogue().build("multistep-dm", &recipe).unwrap();
//! let mut monitor = detector.fit(Nominal::new(&views[..8], &[]), &mut Rng::new(1)).unwrap();
//! let mut mean = |(o, a): &(Vec<f32>, Vec<f32>)| {
//!     let mut scores = Vec::new();
//!     monitor.score_episode(&Signals::new(o, a, 1, 1), &mut scores);
//!     scores.iter().sum::<f64>() / 300.0
//! };
//! let (as_ever, weaker) = (mean(&nominal[8]), mean(&episode(0.05)));
//! assert!((0.6..1.6).contains(&as_ever) && weaker > 1.2 * as_ever, "{as_ever} {weaker}");
//! ```

use crate::shared::open_loop::{Horizons, OpenLoop};
use crate::shared::prelude::*;
use crate::shared::ranges::{Hidden, up_to};
use crate::shared::residual::Residual;
use crate::shared::saved;
use crate::shared::training::Training;
use offnominal_core::limits::{MEMBERS, WINDOW};

recipe! {
    /// The recipe.
    pub struct MultistepDm {
        /// Age of the oldest prediction that is scored, in steps; the others are powers of two below it.
        #[serde(deserialize_with = "up_to::<_, _, WINDOW>")]
        pub longest: NonZeroUsize = count(16),
        /// Widths of the hidden layers.
        pub hidden: Hidden = Hidden::small(),
        /// Number of parts into which the episodes are cut; the model that scores learns from all but one of them.
        #[serde(deserialize_with = "up_to::<_, _, MEMBERS>")]
        pub parts: NonZeroUsize = count(3),
        /// How the networks are trained.
        pub training: Training = Training::brief(),
    }
}

/// The entry of [`MultistepDm`].
pub const ENTRY: Entry<dyn Detector> =
    entry!(MultistepDm as dyn Detector, "multistep-dm", "error of open-loop predictions over 2 to 16 steps");

impl Detector for MultistepDm {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        let MultistepDm { hidden, parts, training, .. } = self;
        let (first, last) = (nominal.progress.between(0.0, 0.7), nominal.progress.between(0.7, 1.0));
        let (residual, _) = Residual::fit(nominal.with_progress(first), hidden, *parts, training, rng)?;
        let mut open_loop = OpenLoop::new(residual, self.longest.get(), nominal.train[0].obs_width());
        let horizons = Arc::new(Horizons::fit(&mut open_loop, nominal.train, last)?);
        Ok(Box::new(Fitted { open_loop, horizons }))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let longest = saved::within(from, "longest", self.longest.get())?;
        let residual = Residual::load(from, &self.hidden, self.parts)?;
        let horizons = Horizons::load(&from.part("horizons"), longest, residual.width())?;
        let open_loop = OpenLoop::new(residual, longest, from.obs_width);
        Ok(Box::new(Fitted { open_loop, horizons: Arc::new(horizons) }))
    }
}

#[derive(Clone)]
struct Fitted {
    open_loop: OpenLoop,
    horizons: Arc<Horizons>,
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.open_loop.reset();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.open_loop.advance(seen, 0);
        self.horizons.score(&mut self.open_loop)
    }

    fn missing(&self) -> Missing {
        Missing::Predicted
    }

    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.open_loop.expect(gaps.obs, gaps.action, gaps.next_obs);
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.open_loop.model().save(to);
        self.horizons.save(&mut to.part("horizons"));
        Ok(())
    }
}
