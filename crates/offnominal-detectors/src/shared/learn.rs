//! From a recipe to a monitor: a built-in detector says what it learns and how that scores a step, and the rest is here.

use offnominal_core::prelude::*;

/// A recipe of which [`detector`] makes a [`Detector`].
pub(crate) trait Learn {
    /// What it learns.
    type Fitted: Scorer;

    /// As [`Detector::fit`].
    fn learn(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Self::Fitted, FitError>;

    /// As [`Detector::load`].
    fn load(&self, from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Self::Fitted, ArchiveError>;
}

/// A fitted detector: a [`Monitor`] whose forks are its clones.
pub(crate) trait Scorer: Clone + Send + Sync + 'static {
    /// As [`Monitor::reset`]; nothing, where nothing is remembered.
    fn reset(&mut self) {}

    /// As [`Monitor::score`].
    fn score(&mut self, seen: &Transition<'_>) -> f64;

    /// As [`Monitor::missing`].
    fn missing(&self) -> Missing {
        Missing::Held
    }

    /// As [`Monitor::fill`].
    fn fill(&mut self, _gaps: &mut Gaps<'_>) {}

    /// As [`Monitor::score_partial`].
    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        PartialScore { score: self.score(&step.seen), confidence: step.share_read() }
    }

    /// As [`Monitor::shares`].
    fn shares(&mut self, _shares: &mut [f64]) -> bool {
        false
    }

    /// As [`Monitor::score_episode`].
    fn score_episode(&mut self, seen: &Signals<'_>, scores: &mut Vec<f64>) {
        self.reset();
        scores.clear();
        scores.extend(seen.transitions().map(|step| self.score(&step)));
    }

    /// As [`Monitor::score_episodes`].
    fn score_episodes(&mut self, seen: &[Signals<'_>]) -> Vec<Vec<f64>> {
        let score = |episode: &Signals<'_>| {
            let mut scores = Vec::with_capacity(episode.len());
            self.score_episode(episode, &mut scores);
            scores
        };
        seen.iter().map(score).collect()
    }

    /// As [`Monitor::save`].
    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError>;
}

/// Makes a detector of a recipe that says how it learns, and its entry in the catalogue:
/// `detector!(Knn, "knn", "distance to the k-th nearest nominal observation");`
macro_rules! detector {
    ($recipe:ident, $id:literal, $summary:literal $(, exempt: $exempt:expr)? $(,)?) => {
        #[doc = concat!("The entry of [`", stringify!($recipe), "`].")]
        pub const ENTRY: Entry<dyn Detector> =
            entry!($recipe as dyn Detector, $id, $summary $(, exempt: $exempt)?);

        impl Detector for $recipe {
            fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Monitor>, FitError> {
                Ok($crate::shared::learn::monitor(self.learn(nominal, rng)?))
            }

            fn load(
                &self,
                from: &Reader<'_>,
                policy: Option<&dyn Policy>,
            ) -> Result<Box<dyn Monitor>, ArchiveError> {
                Ok($crate::shared::learn::monitor(Learn::load(self, from, policy)?))
            }
        }
    };
}
pub(crate) use detector;

/// A fitted detector as a monitor.
pub(crate) fn monitor(fitted: impl Scorer) -> Box<dyn Monitor> {
    Box::new(Watching(fitted))
}

struct Watching<S>(S);

impl<S: Scorer> Monitor for Watching<S> {
    fn reset(&mut self) {
        self.0.reset();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.0.score(seen)
    }

    fn missing(&self) -> Missing {
        self.0.missing()
    }

    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.0.fill(gaps);
    }

    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        self.0.score_partial(step)
    }

    fn shares(&mut self, shares: &mut [f64]) -> bool {
        self.0.shares(shares)
    }

    fn score_episode(&mut self, seen: &Signals<'_>, scores: &mut Vec<f64>) {
        self.0.score_episode(seen, scores);
    }

    fn score_episodes(&mut self, seen: &[Signals<'_>]) -> Vec<Vec<f64>> {
        self.0.score_episodes(seen)
    }

    fn fork(&self) -> Box<dyn Monitor> {
        monitor(self.0.clone())
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.0.save(to)
    }
}
