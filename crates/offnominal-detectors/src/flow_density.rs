//! How improbable the residual of a step is, given what was seen and done: its density by conditional flow matching.
//!
//! score(o, a, o′) = −(2 ln p(w | o, a) + d ln 2π) / d, which is |w|²/d where residuals are normal and know nothing of (o, a).
//!
//! | symbol | meaning                                                                                            |
//! |--------|----------------------------------------------------------------------------------------------------|
//! | w      | residual of `ensemble-dm` as normal scores, whitened by their covariance on held-out nominal steps |
//! | p      | density that a flow of two layers of tanh units learned of nominal w, given o and a, standardised  |
//! | d      | observation channels that vary                                                                     |
//!
//! It is a real density of w: the flow is followed from w to the noise, with the exact divergence, which for this network
//! costs no more than a forward pass. `ensemble-dm` is the same with the normal density in its place. What can be gained is what
//! a covariance does not tell: residuals that lie on two branches, and those whose shape depends on the state. The shares of the
//! channels are those of |w|².
//!
//! Assumes: as `ensemble-dm`, with enough nominal steps to learn the shape of d residuals.
//! Blind to: as `ensemble-dm`; a fault whose residuals are as probable as nominal ones.
//! Cost: fit as `ensemble-dm` and O(epochs · n · parameters) more, score O(M · parameters + 16 h (h + 2d)), h units a layer.
//! Reference: Lipman et al., ICLR 2023; logpZO of Xu et al., FAIL-Detect, 2025 (arXiv 2503.08558).  Deviates: logpZO takes
//! |z|² after one step of the flow at its beginning, of the observation alone; here is the density itself, of the residual.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // A walk in the plane with steps of length one: not to move is as near to the mean as can be, and never happens.
//! let mut rng = Rng::new(1);
//! let mut walk = || {
//!     let mut at = [0.0_f64; 2];
//!     let mut step = || {
//!         let (y, x) = rng.range(0.0, 6.2832).sin_cos();
//!         at = [at[0] + x, at[1] + y];
//!         at.map(|x| x as f32)
//!     };
//!     (0..301).flat_map(|_| step()).collect::<Vec<f32>>()
//! };
//! let walks: Vec<_> = (0..6).map(|_| walk()).collect();
//! let train: Vec<_> = walks.iter().map(|w| Signals::new(w, &[0.0; 300], 2, 1)).collect();
//! let recipe = serde_json::json!({"hidden": [8], "training": {"epochs": 5}, "units": 32});
//! let flow = offnominal_detectors::catalogue().build("flow-density", &recipe).unwrap();
//! let mut monitor = flow.fit(Nominal::new(&train, &[]), &mut rng).unwrap();
//! let mut score = |to: [f32; 2]| monitor.score(&Transition { obs: &[0.0; 2], action: &[0.0], next_obs: &to });
//! let [still, one, other] = [[0.0, 0.0], [0.7, 0.7], [-0.7, 0.7]].map(score);
//! assert!(still > one + 0.1 && still > other + 0.1, "{still} {one} {other}");
//! ```

use crate::shared::flow::Flow;
use crate::shared::one_step::Rows;
use crate::shared::prelude::*;
use crate::shared::ranges::{Hidden, up_to};
use crate::shared::scored::Scored;
use crate::shared::shares::share_out;
use crate::shared::training::Training;
use offnominal_core::limits::{MEMBERS, UNITS};

recipe! {
    /// The recipe.
    pub struct FlowDensity {
        /// Units in each of the two layers of the flow.
        #[serde(deserialize_with = "up_to::<_, _, UNITS>")]
        pub units: NonZeroUsize = count(64),
        /// How the flow is trained.
        pub flow_training: Training = Training::brief(),
        /// Widths of the hidden layers of the ensemble.
        pub hidden: Hidden = Hidden::small(),
        /// Number of members, each fitted without its own share of the episodes.
        #[serde(deserialize_with = "up_to::<_, _, MEMBERS>")]
        pub members: NonZeroUsize = count(3),
        /// How the ensemble is trained.
        pub training: Training = Training::brief(),
    }
}

/// The entry of [`FlowDensity`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    FlowDensity as dyn Detector,
    "flow-density",
    "density of the residual given observation and action, by flow matching"
);

impl Detector for FlowDensity {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        let FlowDensity { units, flow_training, hidden, members, training } = self;
        let validation = flow_training.validation(nominal)?;
        let (first, last) = (nominal.progress.between(0.0, 0.6), nominal.progress.between(0.6, 1.0));
        let (mut scored, held_out) =
            Scored::fit(nominal.with_progress(first), hidden, *members, training, rng)?;
        let rows = [rows(&mut scored, nominal.train, held_out), scores_of(&mut scored, validation)];
        let sizes = (scored.inputs().len(), scored.width());
        let flow = Flow::fit(&rows, sizes, *units, flow_training, rng, last)?;
        Ok(Box::new(Fitted::new(scored, flow)))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let scored = Scored::load(from, &self.hidden, self.members)?;
        let sizes = (scored.inputs().len(), scored.width());
        let flow = Flow::load(&from.part("flow"), sizes, self.units)?;
        Ok(Box::new(Fitted::new(scored, flow)))
    }
}

/// Whitened scores of held-out residuals, given what the ensemble read.
fn rows(scored: &mut Scored, train: &[Signals<'_>], mut held_out: Vec<Vec<f64>>) -> Rows {
    let d = scored.width();
    held_out.iter_mut().flat_map(|e| e.chunks_exact_mut(d)).for_each(|g| scored.whiten(g));
    let (mut inputs, mut end) = (Vec::new(), 0);
    for seen in train.iter().flat_map(|e| e.transitions()) {
        scored.read_inputs(&seen);
        inputs.extend_from_slice(scored.inputs());
    }
    let targets = held_out.concat().into_iter().map(|w| w as f32).collect();
    let episodes = train.iter().map(|e| {
        let start = end;
        end += e.len() as u32;
        start..end
    });
    Rows { inputs, targets, episodes: episodes.collect() }
}

/// The same of residuals of episodes that no member learned from.
fn scores_of(scored: &mut Scored, episodes: &[Signals<'_>]) -> Rows {
    let of = |e: &Signals<'_>| e.transitions().flat_map(|seen| scored.of(&seen).to_vec()).collect();
    let scores = episodes.iter().map(of).collect();
    rows(scored, episodes, scores)
}

#[derive(Clone)]
struct Fitted {
    scored: Scored,
    flow: Flow,
    w: Vec<f64>,
    score: f64,
}

impl Fitted {
    fn new(scored: Scored, flow: Flow) -> Fitted {
        Fitted { w: vec![0.0; scored.width()], scored, flow, score: 0.0 }
    }

    /// The score of whitened scores.
    fn of_whitened(&mut self) -> f64 {
        self.flow.self_information(&self.w, self.scored.inputs()) / self.w.len() as f64
    }
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.scored.reset();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.w.copy_from_slice(self.scored.of(seen));
        self.scored.whiten(&mut self.w);
        self.score = self.of_whitened();
        self.score
    }

    fn shares(&mut self, shares: &mut [f64]) -> bool {
        self.scored.contributions(self.scored.last(), &mut self.w);
        share_out(self.score, &self.w, self.scored.channels(), shares);
        true
    }

    fn evidence(&mut self) -> Option<Evidence> {
        self.scored.contributions(self.scored.last(), &mut self.w);
        Some(self.scored.evidence(&self.w))
    }

    fn missing(&self) -> Missing {
        Missing::LeftOut
    }

    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.scored.fill(gaps);
    }

    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        self.w.copy_from_slice(self.scored.of_partial(step));
        self.scored.whiten(&mut self.w);
        let score = self.of_whitened();
        let marginal = self.scored.marginal();
        self.score = marginal.rescaled(score);
        PartialScore { score: self.score, confidence: marginal.share_left() }
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.scored.save(to);
        self.flow.save(&mut to.part("flow"));
        Ok(())
    }
}
