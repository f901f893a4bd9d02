//! How far a step lies from what an ensemble expects, in units of the errors that it makes on nominal data.
//!
//! score(o, a, o′) = zᵀ C⁻¹ z / d, with z_j = mean_m e_mj / √(mean_m σ_mj² + var_m e_mj).
//!
//! | symbol | meaning                                                                                       |
//! |--------|-----------------------------------------------------------------------------------------------|
//! | e_m    | change of the observation minus what member m predicts, in units of its held-out deviation    |
//! | σ_m    | deviation that member m predicts for its own error, here and now                              |
//! | C      | second moments of z on episodes that the member did not learn from, 5 % of it diagonal        |
//! | d      | observation channels that vary                                                                |
//!
//! A member is a linear regression, which gets the arithmetic of a step exactly right from few episodes, and a
//! network that predicts mean and variance of the rest. Each of three members learns from two thirds of the episodes,
//! so that each episode is news to one of them and C is honest. Where members disagree the state is new to them and z
//! is damped; where σ is large the environment is noisy and z is damped. `pe-dm` knows both too, but sums squares
//! over channels as if their errors had one size and no correlation.
//!
//! Assumes: nominal dynamics are a function of observation and action, with noise that is normal given both.
//! Blind to: anomalies that keep the dynamics, such as a constant offset of a sensor once it is there; what lies
//! where the members disagree, until it is far larger than their disagreement.
//! Cost: fit O(M · epochs · n · parameters), score O(M · parameters + d²): 27 thousand parameters for 26 channels.
//! Reference: this project's. The parts are known: predicted variances and their spread over an ensemble
//! (Lakshminarayanan, Pritzel and Blundell, NeurIPS 2017), held-out residuals (cross-conformal prediction, Vovk 2015).
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // A walk with steps ±0.1 at random. Nothing can be predicted, so a nominal step scores about 1, and one five times
//! // as long scores about 25.
//! let mut rng = Rng::new(1);
//! let mut walk = || {
//!     let mut x = 0.0;
//!     (0..301).map(|_| { x += if rng.uniform() < 0.5 { -0.1 } else { 0.1 }; x }).collect::<Vec<f32>>()
//! };
//! let walks: Vec<_> = (0..6).map(|_| walk()).collect();
//! let train: Vec<_> = walks.iter().map(|w| Signals::new(w, &[0.0; 300], 1, 1)).collect();
//! let recipe = serde_json::json!({"hidden": [8], "training": {"epochs": 10, "weight_decay": 0.1}});
//! let ensemble = offnominal_detectors::catalogue().build("ensemble-dm", &recipe).unwrap();
//! let mut monitor = ensemble.fit(Nominal::new(&train, &[]), &mut rng).unwrap();
//! let from = train[0].transition(150);
//! let mut score = |by: f32| monitor.score(&Transition { next_obs: &[from.obs[0] + by], ..from });
//! let ratio = score(0.5) / score(0.1);
//! assert!((15.0..40.0).contains(&ratio), "{ratio}");
//! ```

use crate::shared::gap_filter::GapFilter;
use crate::shared::marginal::Marginal;
use crate::shared::prelude::*;
use crate::shared::ranges::{Hidden, up_to};
use crate::shared::residual::Residual;
use crate::shared::shares::share_out;
use crate::shared::training::Training;
use crate::shared::whiten::Whitener;
use offnominal_core::limits::MEMBERS;

recipe! {
    /// The recipe.
    pub struct EnsembleDm {
        /// Widths of the hidden layers.
        pub hidden: Hidden = Hidden::small(),
        /// Number of members, each fitted without its own share of the episodes.
        #[serde(deserialize_with = "up_to::<_, _, MEMBERS>")]
        pub members: NonZeroUsize = count(3),
        /// How the networks are trained.
        pub training: Training = Training::brief(),
    }
}

/// The entry of [`EnsembleDm`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    EnsembleDm as dyn Detector,
    "ensemble-dm",
    "error of an ensemble's prediction, in units of its errors on held-out nominal data"
);

impl Detector for EnsembleDm {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        let EnsembleDm { hidden, members, training } = self;
        let (residual, held_out) = Residual::fit(nominal, hidden, *members, training, rng)?;
        let d = residual.width();
        let whitener = Whitener::fit(held_out.iter().flat_map(|e| e.chunks_exact(d)), d);
        Ok(Box::new(Fitted::new(residual, whitener)))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let residual = Residual::load(from, &self.hidden, self.members)?;
        let d = residual.width();
        let whitener = Whitener::load(&from.part("nominal"), d)?;
        Ok(Box::new(Fitted::new(residual, whitener)))
    }
}

#[derive(Clone)]
struct Fitted {
    residual: Residual,
    whitener: Arc<Whitener>,
    gaps: GapFilter,
    marginal: Marginal,
    z: Vec<f64>,
    /// The residual of the last step, its score, and what channels contribute to it.
    last: (Vec<f64>, f64),
    contributions: Vec<f64>,
}

impl Fitted {
    fn new(residual: Residual, whitener: Whitener) -> Fitted {
        let d = residual.width();
        let (gaps, marginal) = (GapFilter::new(&residual), Marginal::new(d));
        let [z, last, contributions] = [(); 3].map(|()| vec![0.0; d]);
        let whitener = Arc::new(whitener);
        Fitted { residual, whitener, gaps, marginal, z, last: (last, 0.0), contributions }
    }

    /// |z|² of the last residual, which is kept.
    fn mean_square(&mut self) -> f64 {
        self.last.0.copy_from_slice(&self.z);
        self.whitener.mean_square(&mut self.z)
    }
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.gaps.reset();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.residual.of(seen, &mut self.z);
        self.last.1 = self.mean_square();
        self.last.1
    }

    fn shares(&mut self, shares: &mut [f64]) -> bool {
        self.whitener.contributions(&self.last.0, &mut self.contributions);
        share_out(self.last.1, &self.contributions, self.residual.channels(), shares);
        true
    }

    fn evidence(&mut self) -> Option<Evidence> {
        self.whitener.contributions(&self.last.0, &mut self.contributions);
        Some(self.residual.evidence("residual", &self.contributions))
    }

    fn missing(&self) -> Missing {
        Missing::LeftOut
    }

    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.gaps.fill(gaps, &mut self.residual, &self.whitener);
    }

    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        let Fitted { residual, whitener, marginal, z, .. } = self;
        residual.of_partial(step, whitener, marginal, z);
        let mean_square = self.mean_square();
        self.last.1 = self.marginal.rescaled(mean_square);
        PartialScore { score: self.last.1, confidence: self.marginal.share_left() }
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.residual.save(to);
        self.whitener.save(&mut to.part("nominal"));
        Ok(())
    }
}
