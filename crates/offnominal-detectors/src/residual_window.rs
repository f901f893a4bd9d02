//! What the residuals of the last steps look like together: their mean, their variance and their memory.
//!
//! score(t) = (s − s̄)ᵀ Σ⁻¹ (s − s̄) / 3d, with s = √n (mean_i w_i, mean_i w_i² − 1, mean_i w_i w_{i−1}) per channel.
//!
//! | symbol | meaning                                                                                    |
//! |--------|--------------------------------------------------------------------------------------------|
//! | w      | residual of `ensemble-dm` divided by its held-out deviation, held within ±30               |
//! | n      | steps looked at: the last W, or fewer where the episode is younger                         |
//! | s̄, Σ   | mean and covariance of s over held-out nominal steps, 5 % of Σ diagonal                    |
//! | d      | observation channels that vary                                                             |
//!
//! White noise that turns into a wave of the same variance changes no single residual and no windowed mean square, but
//! the products of neighbours. A nominal s has the same scale at every n, so young episodes do not stand out.
//!
//! Assumes: nominal residuals have the same mean, variance and memory throughout.
//! Blind to: faults much shorter than the window; single outliers, which `ensemble-dm` sees at once.
//! Cost: fit as `ensemble-dm`, score O(M · parameters + W d + d²).
//! Reference: this project's; the problem is that of DEXTER (Nasvytis et al., AAMAS 2024), who classify hundreds of
//! windowed features.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::Rng;
//! // Nominal: white noise. Anomalous: noise of the same variance that alternates.
//! let mut rng = Rng::new(1);
//! let noise: Vec<Vec<f32>> = (0..6).map(|_| (0..101).map(|_| rng.normal() as f32).collect()).collect();
//! let train: Vec<_> = noise.iter().map(|o| Signals::new(o, &[0.0; 100], 1, 1)).collect();
//! let params = serde_json::json!({"hidden": [8], "training": {"epochs": 5}});
//! let window = offnominal_detectors::catalogue().build("residual-window", &params).unwrap();
//! let mut monitor = window.fit(Nominal::new(&train, &[]), &mut rng).unwrap();
//! let wave: Vec<f32> = (0..101).map(|t| if t % 2 == 0 { 1.0 } else { -1.0 }).collect();
//! let mut last = |o: &[f32]| {
//!     let mut scores = Vec::new();
//!     monitor.score_episode(&Signals::new(o, &[0.0; 100], 1, 1), &mut scores);
//!     scores[99]
//! };
//! assert!(last(&wave) > 2.0 * last(&noise[0]));
//! ```

use crate::shared::gap_filter::GapFilter;
use crate::shared::marginal::Marginal;
use crate::shared::prelude::*;
use crate::shared::ranges::{Hidden, up_to};
use crate::shared::residual::Residual;
use crate::shared::saved;
use crate::shared::shares::share_out;
use crate::shared::training::Training;
use crate::shared::whiten::Whitener;
use crate::shared::window::{NominalWindow, Window};
use offnominal_core::limits::{MEMBERS, WINDOW};

recipe! {
    /// The recipe.
    pub struct ResidualWindow {
        /// Steps that are looked at, W.
        #[serde(deserialize_with = "up_to::<_, _, WINDOW>")]
        pub window: NonZeroUsize = count(16),
        /// Widths of the hidden layers.
        pub hidden: Hidden = Hidden::small(),
        /// Number of members, each fitted without its own share of the episodes.
        #[serde(deserialize_with = "up_to::<_, _, MEMBERS>")]
        pub members: NonZeroUsize = count(3),
        /// How the networks are trained.
        pub training: Training = Training::brief(),
    }
}

/// The entry of [`ResidualWindow`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    ResidualWindow as dyn Detector,
    "residual-window",
    "mean, variance and memory of an ensemble's residuals over the last steps"
);

impl Detector for ResidualWindow {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        let ResidualWindow { window, hidden, members, training } = self;
        let (residual, held_out) = Residual::fit(nominal, hidden, *members, training, rng)?;
        let d = residual.width();
        let residuals = Whitener::fit(held_out.iter().flat_map(|e| e.chunks_exact(d)), d);
        let mut window = Window::new(window.get(), residuals.deviations.clone());
        let statistics = NominalWindow::fit(&held_out, &mut window);
        let nominal = NominalMoments { residuals, statistics };
        Ok(Box::new(Fitted::new(residual, nominal, window)))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let residual = Residual::load(from, &self.hidden, self.members)?;
        let (d, size) = (residual.width(), saved::within(from, "window", self.window.get())?);
        let residuals = Whitener::load(&from.part("residuals"), d)?;
        let window = Window::new(size, residuals.deviations.clone());
        let statistics = NominalWindow::load(&from.part("statistics"), d)?;
        let nominal = NominalMoments { residuals, statistics };
        Ok(Box::new(Fitted::new(residual, nominal, window)))
    }
}

/// Moments on nominal data, of residuals and of the statistics.
struct NominalMoments {
    residuals: Whitener,
    statistics: NominalWindow,
}

#[derive(Clone)]
struct Fitted {
    residual: Residual,
    nominal: Arc<NominalMoments>,
    window: Window,
    gaps: GapFilter,
    marginal: Marginal,
    variances: Vec<f64>,
    z: Vec<f64>,
    s: Vec<f64>,
    score: f64,
    of_s: Vec<f64>,
    contributions: Vec<f64>,
}

impl Fitted {
    fn new(residual: Residual, nominal: NominalMoments, window: Window) -> Fitted {
        let d = residual.width();
        let [variances, z, contributions] = [(); 3].map(|()| vec![0.0; d]);
        let [s, of_s] = [(); 2].map(|()| vec![0.0; 3 * d]);
        let (gaps, marginal, nominal) = (GapFilter::new(&residual), Marginal::new(d), Arc::new(nominal));
        let score = 0.0;
        Fitted { residual, nominal, window, gaps, marginal, variances, z, s, score, of_s, contributions }
    }

    /// The score of what is in the window.
    fn of_window(&mut self) -> f64 {
        self.score = self.nominal.statistics.score(&self.window, &mut self.s);
        self.score
    }
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.window.reset();
        self.gaps.reset();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.residual.of(seen, &mut self.z);
        self.window.add(&self.z);
        self.of_window()
    }

    fn shares(&mut self, shares: &mut [f64]) -> bool {
        let Fitted { residual, nominal, window, s, score, of_s, contributions, .. } = self;
        nominal.statistics.contributions(window, s, of_s, contributions);
        share_out(*score, contributions, residual.channels(), shares);
        true
    }

    fn evidence(&mut self) -> Option<Evidence> {
        let Fitted { residual, nominal, window, s, of_s, contributions, .. } = self;
        nominal.statistics.contributions(window, s, of_s, contributions);
        Some(residual.evidence("windowed residuals", contributions))
    }

    fn missing(&self) -> Missing {
        Missing::LeftOut
    }

    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.gaps.fill(gaps, &mut self.residual, &self.nominal.residuals);
    }

    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        let Fitted { residual, nominal, window, marginal, variances, z, .. } = self;
        residual.of_partial(step, &nominal.residuals, marginal, z);
        marginal.variances(&nominal.residuals, variances);
        window.add_partial(z, variances);
        let confidence = marginal.share_left();
        PartialScore { score: self.of_window(), confidence }
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.residual.save(to);
        self.nominal.residuals.save(&mut to.part("residuals"));
        self.nominal.statistics.save(&mut to.part("statistics"));
        Ok(())
    }
}
