//! Several detectors as one: the mean of their self-information, or the largest.
//!
//! score(t) = 1/K Σ_k −ln p_k(t), or max_k −ln p_k(t).
//!
//! | symbol | meaning                                                                                    |
//! |--------|--------------------------------------------------------------------------------------------|
//! | p_k    | share of held-out nominal steps that detector k scores at least as high                    |
//! | K      | number of detectors                                                                        |
//!
//! The scores of different detectors have different units; how rare they are among nominal steps has none. Beyond the
//! nominal scores seen, p follows an exponential tail, so that a detector which is certain outvotes those that shrug. The
//! largest asks for one that is certain, whatever the others say.
//!
//! Assumes: each anomaly is seen by one of the detectors.
//! Blind to: what all of them are blind to. A detector that sees nothing dilutes the mean by 1/K, and brings its own rare steps
//! into the largest.
//! Cost: the sum of the costs of the detectors, each fitted on three quarters of the episodes.
//! Reference: Fisher's method (Statistical Methods for Research Workers, 1932) on conformal p-values.  Deviates: the
//! sum serves as a score only, since the p-values depend on one another. The largest is Tippett's method (The Methods of
//! Statistics, 1931).
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
        /// What counts of their self-information: `mean` or `largest`.
        pub combine: Combine = Combine::Mean,
    }
}

/// What counts of several self-information.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// All alike.
    Mean,
    /// The largest only.
    Largest,
}

impl Combine {
    /// Of one self-information or more.
    fn of(self, self_information: impl ExactSizeIterator<Item = f64>) -> f64 {
        let n = self_information.len() as f64;
        match self {
            Combine::Mean => self_information.sum::<f64>() / n,
            Combine::Largest => self_information.fold(0.0, f64::max),
        }
    }
}

/// One detector or more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Inner>", into = "Vec<Inner>")]
pub struct Several(Vec<Inner>);

impl Several {
    /// In the order in which they were named.
    pub(crate) fn all(&self) -> &[Inner] {
        &self.0
    }
}

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

/// The entry of [`Fusion`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    Fusion as dyn Detector,
    "fusion",
    "several detectors as one, by the mean of their self-information or the largest"
);

impl Detector for Fusion {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        let seed = Seed(rng.bits());
        let progress = |k: usize| nominal.progress.part(k, self.inner.0.len());
        let one = |(k, inner): (usize, &Inner)| inner.fit(nominal.with_progress(progress(k)), seed.child(k));
        let inner = self.inner.0.iter().enumerate().map(one).collect::<Result<_, _>>()?;
        Ok(Box::new(Fitted { inner, combine: self.combine }))
    }

    fn load(&self, from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let one = |(k, inner): (usize, &Inner)| inner.load(&from.part("inner").part(k), policy);
        let inner = self.inner.0.iter().enumerate().map(one).collect::<Result<_, _>>()?;
        Ok(Box::new(Fitted { inner, combine: self.combine }))
    }
}

#[derive(Clone)]
struct Fitted {
    inner: Vec<Scaled>,
    combine: Combine,
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.inner.iter_mut().for_each(Scaled::reset);
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.combine.of(self.inner.iter_mut().map(|inner| inner.score(seen)))
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
        let mut confidence = 1.0_f64;
        let score = self.combine.of(self.inner.iter_mut().map(|inner| {
            let found = inner.score_partial(step);
            confidence = confidence.min(found.confidence);
            found.score
        }));
        PartialScore { score, confidence }
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        let mut save = |(k, inner): (usize, &Scaled)| inner.save(&mut to.part("inner").part(k));
        self.inner.iter().enumerate().try_for_each(&mut save)
    }
}
