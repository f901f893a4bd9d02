//! The project's own, for alarms: six views of the residuals of `ensemble-dm` as normal scores, of which the largest counts.
//!
//! score(t) = max_v (ln q_v(t) − median_v) / (p90_v − median_v), over the views v of g(1), …, g(t).
//!
//! | symbol  | meaning                                                                                     |
//! |---------|---------------------------------------------------------------------------------------------|
//! | z       | residual of `ensemble-dm`, d channels                                                       |
//! | g       | normal scores: g_j = sign(z_j) G_j(abs z_j), standard normal where z_j is nominal            |
//! | C       | second moments of g on episodes that the member did not learn from, 5 % of it diagonal      |
//! | length  | q = ℓ = gᵀ C⁻¹ g / d                                                                        |
//! | channel | q = max_j g_j² / C_jj                                                                       |
//! | drift   | q = length of the exponentially weighted mean of g, rate 0.3, in its own nominal covariance  |
//! | sum     | q = S, S ← max(0, S − 1.5) + min(x, 20), x the self-information of z in `ensemble-dm`: as `cusum`   |
//! | windows | q = the score of `residual-window` of the last 8, and of the last 32, normal scores         |
//!
//! Median and 90th percentile are those of residuals that were held out when the ensemble was fitted. The residuals of
//! most environments have heavy tails (contacts, rare states): as they are, a few nominal steps rule every mean and every
//! square, and set the threshold of all. Normal scores give each channel the scale of its own tail, so that an alarm says
//! how rare a residual is, not how large. A window counts as soon as it is half full; all memory ends with the episode. Scores have
//! a largest value: windows hold a normal score within ±30 deviations. A threshold near it, as one calibration episode far from
//! all others sets it, leaves next to no room for an alarm, and a fit says so.
//!
//! Assumes: as `ensemble-dm`; nominal residuals look alike throughout an episode.
//! Blind to: anomalies that leave every prediction right, such as a constant offset of a sensor from the first step on;
//! what happens only where nominal residuals are large; weaker where they are nearly zero but for rare jumps, because normal
//! scores bring what lies between closer together (urm-pnp, a goal that moves in urr-reach).
//! Cost: fit O(M · epochs · n · parameters), score O(M · parameters + d²): 27 thousand parameters for 26 channels.
//! Reference: this project's; the parts are known: normal scores (van der Waerden 1952), CUSUM (Page 1954). Views, rates
//! and windows were chosen among about two hundred variants, by alarms and by time-matched AUROC in sap-goal0, sap-goal1
//! and mjc-cartpole-swingup, with exact and with noisy sensors, and how far normal scores keep a gap open in these and in
//! urm-pnp. This choice flatters figures of these four, and may flatter those of sap-goal2, urm-reach and urr-reach, which
//! have the same bodies. Of two variants that are equal there, the sum of self-information of residuals or of their
//! scores, the first was taken after a look at a cell of urr-reach.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // The state follows the action exactly. An action that has half its effect is seen at once.
//! let mut rng = Rng::new(1);
//! let mut episode = || {
//!     let actions: Vec<f32> = (0..60).map(|_| rng.range(-1.0, 1.0) as f32).collect();
//!     let mut x = 0.0;
//!     let observations = std::iter::once(0.0).chain(actions.iter().map(|a| { x += a; x })).collect::<Vec<f32>>();
//!     (observations, actions)
//! };
//! let episodes: Vec<_> = (0..6).map(|_| episode()).collect();
//! let train: Vec<_> = episodes.iter().map(|(o, a)| Signals::new(o, a, 1, 1)).collect();
//! let recipe = serde_json::json!({"hidden": [8], "training": {"epochs": 5}});
//! let detector = offnominal_detectors::catalogue().build("residual-views", &recipe).unwrap();
//! let mut monitor = detector.fit(Nominal::new(&train, &[]), &mut Rng::new(1)).unwrap();
//! let nominal = monitor.score(&Transition { obs: &[0.0], action: &[0.8], next_obs: &[0.8] });
//! monitor.reset();
//! let weak = monitor.score(&Transition { obs: &[0.0], action: &[0.8], next_obs: &[0.4] });
//! assert!(nominal < 1.0 && weak > 3.0, "{nominal} {weak}");
//! ```

use crate::shared::gap_filter::GapFilter;
use crate::shared::marginal::Marginal;
use crate::shared::prelude::*;
use crate::shared::ranges::{Hidden, up_to};
use crate::shared::residual::Residual;
use crate::shared::shares::share_out;
use crate::shared::training::Training;
use crate::shared::views::{Past, Views};
use offnominal_core::limits::MEMBERS;

recipe! {
    /// The recipe.
    pub struct ResidualViews {
        /// Widths of the hidden layers.
        pub hidden: Hidden = Hidden::small(),
        /// Number of members, each fitted without its own share of the episodes.
        #[serde(deserialize_with = "up_to::<_, _, MEMBERS>")]
        pub members: NonZeroUsize = count(3),
        /// How the networks are trained.
        pub training: Training = Training::brief(),
    }
}

/// The entry of [`ResidualViews`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    ResidualViews as dyn Detector,
    "residual-views",
    "six views of an ensemble's residuals as normal scores, on one scale"
);

impl Detector for ResidualViews {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        let ResidualViews { hidden, members, training } = self;
        let (residual, held_out) = Residual::fit(nominal, hidden, *members, training, rng)?;
        let d = residual.width();
        Ok(Box::new(Fitted::new(residual, Views::fit(&held_out, d))))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let residual = Residual::load(from, &self.hidden, self.members)?;
        let d = residual.width();
        Ok(Box::new(Fitted::new(residual, Views::load(&from.part("views"), d)?)))
    }
}

#[derive(Clone)]
struct Fitted {
    residual: Residual,
    views: Arc<Views>,
    past: Past,
    gaps: GapFilter,
    marginal: Marginal,
    z: Vec<f64>,
    contributions: Vec<f64>,
}

impl Fitted {
    fn new(residual: Residual, views: Views) -> Fitted {
        let d = residual.width();
        let (gaps, marginal, past) = (GapFilter::new(&residual), Marginal::new(d), views.past());
        let [z, contributions] = [(); 2].map(|()| vec![0.0; d]);
        Fitted { residual, views: Arc::new(views), past, gaps, marginal, z, contributions }
    }
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.past.reset();
        self.gaps.reset();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.residual.of(seen, &mut self.z);
        self.views.score(&mut self.z, &mut self.past)
    }

    fn shares(&mut self, shares: &mut [f64]) -> bool {
        let score = self.views.contributions(&self.z, &mut self.past, &mut self.contributions);
        share_out(score, &self.contributions, self.residual.channels(), shares);
        true
    }

    fn evidence(&mut self) -> Option<Evidence> {
        self.views.contributions(&self.z, &mut self.past, &mut self.contributions);
        Some(self.residual.evidence(Views::called(&self.past), &self.contributions))
    }

    fn missing(&self) -> Missing {
        Missing::LeftOut
    }

    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.gaps.fill(gaps, &mut self.residual, self.views.of_residuals());
    }

    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        let Fitted { residual, views, past, marginal, z, .. } = self;
        let (scores, whitener) = views.of_scores();
        residual.with_gaps(step, whitener, marginal, z, |z, direction| scores.bend(z, direction));
        PartialScore { score: views.score_partial(z, marginal, past), confidence: marginal.share_left() }
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.residual.save(to);
        self.views.save(&mut to.part("views"));
        Ok(())
    }
}
