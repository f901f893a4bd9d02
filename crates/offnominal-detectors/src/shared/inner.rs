//! A detector inside a detector: how it is named, fitted on a part of the episodes, and put on a common scale.

use super::prelude::*;
use super::self_information::SelfInformation;
use serde_json::{Map, Value, json};

/// One episode in so many is held out from the fit.
const HELD_OUT: usize = 4;
/// Of more steps than these a single fold is measured: a quarter of them says enough, and each fit takes long.
const MANY_STEPS: usize = 100_000;

/// A detector of the catalogue with its parameters: `"knn"` or `{ id = "knn", k = 3 }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Inner {
    id: String,
    params: Map<String, Value>,
}

impl Inner {
    /// A detector with its default parameters.
    pub(crate) fn named(id: &str) -> Inner {
        Inner { id: id.into(), params: Map::new() }
    }

    fn build(&self) -> Result<Box<dyn Detector>, String> {
        let params = Value::Object(self.params.clone());
        crate::catalogue().build(&self.id, &params).map_err(|e| e.to_string())
    }

    /// Fits on three episodes of four, and measures the scores of the others. The policy is for a detector that looks
    /// inside it.
    ///
    /// With fewer than [`HELD_OUT`] episodes all serve both purposes, and scores pass for more usual than they are.
    pub(crate) fn fit(&self, nominal: Nominal<'_>, seed: Seed) -> Result<Scaled, FitError> {
        check(nominal.train, 1)?;
        let fold = Fold::last(nominal.train);
        let (scorer, held_out) = self.measure(&fold, nominal, seed)?;
        Ok(Scaled::new(scorer, SelfInformation::of_nominal(held_out.concat())))
    }

    /// Fits on all episodes; measures each with a fit that did not see it, and tells its largest self-information.
    ///
    /// A single episode serves both purposes. Of more than [`MANY_STEPS`] steps one episode in four is measured.
    pub(crate) fn cross_fit(&self, nominal: Nominal<'_>, seed: Seed) -> Result<(Scaled, Vec<f64>), FitError> {
        let folds = Fold::all(nominal.train);
        let progress = |i: usize| nominal.progress.part(i, folds.len() + 1);
        let mut held_out = Vec::new();
        for (i, fold) in folds.iter().enumerate() {
            held_out.extend(self.measure(fold, nominal.with_progress(progress(i)), seed)?.1);
        }
        let scorer = self.built().fit(nominal.with_progress(progress(folds.len())), &mut seed.rng())?;
        let self_information = SelfInformation::of_nominal(held_out.concat());
        let highest = |scores: &Vec<f64>| scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let largest = held_out.iter().map(|scores| self_information.of(highest(scores))).collect();
        Ok((Scaled::new(scorer, self_information), largest))
    }

    /// Fits on the seen episodes of a fold, and gives the scores of each other one that has steps.
    fn measure(&self, fold: &Fold<'_>, nominal: Nominal<'_>, seed: Seed) -> Result<Measured, FitError> {
        let (first, last) = (nominal.progress.between(0.0, 0.9), nominal.progress.between(0.9, 1.0));
        let seen = Nominal { train: &fold.seen, progress: first, ..nominal };
        let mut scorer = self.built().fit(seen, &mut seed.rng())?;
        let mut all = Vec::with_capacity(fold.held_out.len());
        for (i, episode) in fold.held_out.iter().enumerate().filter(|(_, episode)| !episode.is_empty()) {
            last.at(i, fold.held_out.len())?;
            let mut scores = Vec::new();
            scorer.score_episode(episode, &mut scores);
            all.push(scores);
        }
        scorer.reset();
        Ok((scorer, all))
    }

    /// As [`Inner::build`], of what was read.
    fn built(&self) -> Box<dyn Detector> {
        self.build().expect("it was checked when it was read")
    }

    /// Reads what it became when it was fitted.
    pub(crate) fn load(
        &self,
        from: &Reader<'_>,
        policy: Option<&dyn Policy>,
    ) -> Result<Scaled, ArchiveError> {
        let scorer = self.built().load(from, policy)?;
        Ok(Scaled::new(scorer, SelfInformation::load(&from.part("surprise"))?))
    }
}

/// What was fitted, and the scores of each episode that was held out.
type Measured = (Box<dyn Scorer>, Vec<Vec<f64>>);

/// Episodes to fit on, and others to measure.
pub(crate) struct Fold<'a> {
    pub seen: Vec<Signals<'a>>,
    pub held_out: Vec<Signals<'a>>,
}

impl<'a> Fold<'a> {
    /// Holds out each episode whose number has that remainder; with too few, all serve both purposes.
    fn of(train: &[Signals<'a>], count: usize, remainder: usize) -> Fold<'a> {
        let part = |held_out: bool| -> Vec<Signals<'a>> {
            let chosen = train.iter().enumerate().filter(|(i, _)| (i % count == remainder) == held_out);
            chosen.map(|(_, e)| *e).collect()
        };
        let (seen, held_out) = (part(false), part(true));
        let empty = |part: &[Signals<'_>]| part.iter().all(Signals::is_empty);
        if empty(&seen) || empty(&held_out) {
            Fold { seen: train.to_vec(), held_out: train.to_vec() }
        } else {
            Fold { seen, held_out }
        }
    }

    /// The last episode of every [`HELD_OUT`] is held out.
    pub fn last(train: &[Signals<'a>]) -> Fold<'a> {
        Fold::of(train, HELD_OUT, HELD_OUT - 1)
    }

    /// Each episode that has steps is held out of one of them; with more than [`MANY_STEPS`] there is only the last fold.
    fn all(train: &[Signals<'a>]) -> Vec<Fold<'a>> {
        let whole: Vec<Signals<'a>> = train.iter().filter(|e| !e.is_empty()).copied().collect();
        if whole.iter().map(Signals::len).sum::<usize>() > MANY_STEPS {
            return vec![Fold::last(&whole)];
        }
        let count = whole.len().clamp(1, HELD_OUT);
        (0..count).map(|remainder| Fold::of(&whole, count, remainder)).collect()
    }
}

impl TryFrom<Value> for Inner {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let inner = match value {
            Value::String(id) => Inner::named(&id),
            Value::Object(mut params) => match params.remove("id") {
                Some(Value::String(id)) => Inner { id, params },
                other => return Err(format!("expected a detector's id, found {}", json!(other))),
            },
            other => return Err(format!("expected a detector's id or a table with one, found {other}")),
        };
        inner.build().map(|_| inner)
    }
}

impl From<Inner> for Value {
    fn from(inner: Inner) -> Value {
        if inner.params.is_empty() {
            return Value::String(inner.id);
        }
        let mut table = inner.params;
        table.insert("id".into(), Value::String(inner.id));
        Value::Object(table)
    }
}

/// Self-information of the highest tenth of nominal steps.
const HIGH: f64 = std::f64::consts::LN_10;

/// A scorer whose scores are self-information.
#[derive(Clone)]
pub(crate) struct Scaled {
    scorer: Box<dyn Scorer>,
    self_information: SelfInformation,
    /// Steps in a row, the last one among them, whose score is among the highest tenth of nominal ones.
    high: u64,
}

impl Scaled {
    fn new(scorer: Box<dyn Scorer>, self_information: SelfInformation) -> Scaled {
        Scaled { scorer, self_information, high: 0 }
    }

    pub fn reset(&mut self) {
        self.scorer.reset();
        self.high = 0;
    }

    /// −ln p of the score of the next step.
    fn of(&mut self, score: f64) -> f64 {
        let self_information = self.self_information.of(score);
        self.high = if self_information > HIGH { self.high + 1 } else { 0 };
        self_information
    }

    /// Writes the scorer and its nominal scores.
    pub fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.self_information.save(&mut to.part("surprise"));
        self.scorer.save(to)
    }

    /// −ln p of the step.
    pub fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let score = self.scorer.score(seen);
        self.of(score)
    }

    /// As [`Scorer::shares`], of a score that follows from that of the scorer.
    pub fn shares(&mut self, score: f64, shares: &mut [f64]) -> bool {
        let is_told = self.scorer.shares(shares);
        let total: f64 = shares.iter().sum();
        let even = score / shares.len() as f64;
        let is_sound = total != 0.0 && total.is_finite();
        shares.iter_mut().for_each(|share| *share = if is_sound { *share / total * score } else { even });
        is_told
    }

    /// As [`Scorer::evidence`], with the steps since which it speaks.
    pub fn evidence(&mut self) -> Option<Evidence> {
        self.scorer.evidence().map(|evidence| Evidence { steps: Some(self.high), ..evidence })
    }

    /// As [`Scorer::missing`].
    pub fn missing(&self) -> Missing {
        self.scorer.missing()
    }

    /// As [`Scorer::fill`].
    pub fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.scorer.fill(gaps);
    }

    /// −ln p of a step with gaps.
    pub fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        let PartialScore { score, confidence } = self.scorer.score_partial(step);
        PartialScore { score: self.of(score), confidence }
    }
}

/// A recipe of a statistic that adds up the self-information of another detector.
pub(crate) trait Accumulate: Clone + Send + Sync + 'static {
    /// The other detector.
    fn inner(&self) -> &Inner;

    /// The statistic before the first self-information.
    fn start(&self) -> f64 {
        0.0
    }

    /// The statistic after one more self-information.
    fn add(&self, sum: f64, self_information: f64) -> f64;
}

/// The statistic of an episode.
#[derive(Clone)]
pub(crate) struct Accumulated<A> {
    recipe: A,
    inner: Scaled,
    sum: f64,
}

impl<A: Accumulate> Accumulated<A> {
    /// As [`Detector::fit`] of the recipe.
    pub fn fit(recipe: &A, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        Ok(Accumulated::boxed(recipe, recipe.inner().fit(nominal, Seed(rng.bits()))?))
    }

    /// As [`Detector::load`] of the recipe.
    pub fn load(
        recipe: &A,
        from: &Reader<'_>,
        policy: Option<&dyn Policy>,
    ) -> Result<Box<dyn Scorer>, ArchiveError> {
        Ok(Accumulated::boxed(recipe, recipe.inner().load(&from.part("inner"), policy)?))
    }

    fn boxed(recipe: &A, inner: Scaled) -> Box<dyn Scorer> {
        Box::new(Accumulated { recipe: recipe.clone(), inner, sum: recipe.start() })
    }
}

impl<A: Accumulate> Scorer for Accumulated<A> {
    fn reset(&mut self) {
        self.inner.reset();
        self.sum = self.recipe.start();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.sum = self.recipe.add(self.sum, self.inner.score(seen));
        self.sum
    }

    fn missing(&self) -> Missing {
        self.inner.missing()
    }

    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.inner.fill(gaps);
    }

    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        let PartialScore { score, confidence } = self.inner.score_partial(step);
        self.sum = self.recipe.add(self.sum, score);
        PartialScore { score: self.sum, confidence }
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.inner.save(&mut to.part("inner"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_inner_detector_is_refused_where_it_is_read() {
        let refused = |json: &str, want: &str| {
            let found = serde_json::from_str::<Inner>(json).unwrap_err().to_string();
            assert!(found.contains(want), "{found}");
        };
        refused("\"knm\"", "did you mean \"knn\"");
        refused("3", "expected a detector's id or a table with one, found 3");
        refused("{\"k\": 3}", "expected a detector's id, found null");
        refused("{\"id\": \"knn\", \"kk\": 3}", "kk");
    }

    #[test]
    fn one_episode_in_four_is_held_out_and_none_if_there_are_too_few() {
        let obs = [0.0; 4];
        let episode = Signals::new(&obs, &[0.0; 3], 1, 1);
        let of = |n: usize| Fold::last(&vec![episode; n]);
        assert_eq!((of(9).seen.len(), of(9).held_out.len()), (7, 2));
        assert_eq!((of(3).seen.len(), of(3).held_out.len()), (3, 3));
    }

    #[test]
    fn each_episode_is_held_out_once() {
        let obs: Vec<Vec<f32>> = (0..9_u8).map(|i| vec![f32::from(i); 4]).collect();
        let episodes: Vec<_> = obs.iter().map(|o| Signals::new(o, &[0.0; 3], 1, 1)).collect();
        for n in 2..=9 {
            let folds = Fold::all(&episodes[..n]);
            let mut held_out: Vec<_> =
                folds.iter().flat_map(|f| &f.held_out).map(|e| e.observations()[0]).collect();
            held_out.sort_unstable_by(f32::total_cmp);
            assert_eq!(held_out, obs[..n].iter().map(|o| o[0]).collect::<Vec<_>>());
            assert!(folds.iter().all(|f| f.seen.len() + f.held_out.len() == n));
        }
        assert_eq!(Fold::all(&episodes[..1])[0].seen.len(), 1);
        let long = vec![0.0; MANY_STEPS + 2];
        assert_eq!(Fold::all(&[Signals::new(&long, &long[1..], 1, 1), episodes[1]]).len(), 1);
    }
}
