//! Several detectors as one: the mean of their surprises.
//!
//! score(t) = 1/K Σ_k −ln p_k(t).
//!
//! | symbol | meaning                                                                                    |
//! |--------|--------------------------------------------------------------------------------------------|
//! | p_k    | share of held-out nominal steps that detector k scores at least as high                    |
//! | K      | number of detectors                                                                        |
//!
//! The scores of different detectors have different units; how rare they are among nominal steps has none. Beyond the
//! nominal scores seen, p follows an exponential tail, so that a detector which is certain outvotes those that shrug.
//!
//! Assumes: each anomaly is seen by one of the detectors.
//! Blind to: what all of them are blind to. A detector that sees nothing dilutes the others by 1/K.
//! Cost: the sum of the costs of the detectors, each fitted on three quarters of the episodes.
//! Reference: Fisher's method (Statistical Methods for Research Workers, 1932) on conformal p-values.  Deviates: the
//! sum serves as a score only, since the p-values depend on one another.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::Rng;
//! let observations: Vec<f32> = (0..100).map(|i| (i as f32).sin()).collect();
//! let nominal = Signals::new(&observations, &[0.0; 99], 1, 1);
//! let detectors = offnominal_detectors::catalogue();
//! let scores = |inner: &[&str]| {
//!     let fusion = detectors.build("fusion", &serde_json::json!({"inner": inner})).unwrap();
//!     let mut scores = Vec::new();
//!     fusion.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap().score_episode(&nominal, &mut scores);
//!     scores
//! };
//! // Twice the same is the same.
//! assert_eq!(scores(&["knn", "knn"]), scores(&["knn"]));
//! ```

use crate::shared::inner::{Inner, Scaled};
use crate::shared::prelude::*;

recipe! {
    /// The recipe.
    pub struct Fusion {
        /// The detectors, one or more.
        pub inner: Several = Several(["ensemble-dm", "knn-transition", "residual-window"].map(Inner::named).into()),
    }
}

/// One detector or more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Inner>", into = "Vec<Inner>")]
pub struct Several(Vec<Inner>);

impl TryFrom<Vec<Inner>> for Several {
    type Error = &'static str;

    fn try_from(inner: Vec<Inner>) -> Result<Self, &'static str> {
        if inner.is_empty() { Err("expected one detector or more, found none") } else { Ok(Several(inner)) }
    }
}

impl From<Several> for Vec<Inner> {
    fn from(several: Several) -> Self {
        several.0
    }
}

detector!(Fusion, "fusion", "several detectors as one, by the mean of their surprises");

impl Learn for Fusion {
    type Fitted = Fitted;

    fn learn(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Fitted, FitError> {
        let seed = Seed(rng.bits());
        let progress = |k: usize| nominal.progress.part(k, self.inner.0.len());
        let one = |(k, inner): (usize, &Inner)| inner.fit(nominal.with_progress(progress(k)), seed.child(k));
        let inner = self.inner.0.iter().enumerate().map(one).collect::<Result<_, _>>()?;
        Ok(Fitted { inner })
    }

    fn load(&self, from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Fitted, ArchiveError> {
        let one = |(k, inner): (usize, &Inner)| inner.load(&from.part("inner").part(k), policy);
        let inner = self.inner.0.iter().enumerate().map(one).collect::<Result<_, _>>()?;
        Ok(Fitted { inner })
    }
}

#[derive(Clone)]
pub(crate) struct Fitted {
    inner: Vec<Scaled>,
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.inner.iter_mut().for_each(Scaled::reset);
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let sum: f64 = self.inner.iter_mut().map(|inner| inner.score(seen)).sum();
        sum / self.inner.len() as f64
    }

    /// What the least able of them does.
    fn missing(&self) -> Missing {
        self.inner.iter().map(Scaled::missing).max().unwrap_or(Missing::Held)
    }

    /// The last one that can has the last word.
    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.inner.iter_mut().for_each(|inner| inner.fill(gaps));
    }

    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        let (mut sum, mut confidence) = (0.0, 1.0_f64);
        for inner in &mut self.inner {
            let found = inner.score_partial(step);
            sum += found.score;
            confidence = confidence.min(found.confidence);
        }
        PartialScore { score: sum / self.inner.len() as f64, confidence }
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        let mut save = |(k, inner): (usize, &Scaled)| inner.save(&mut to.part("inner").part(k));
        self.inner.iter().enumerate().try_for_each(&mut save)
    }
}
