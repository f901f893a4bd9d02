//! The project's own, for machines: charts and a model of the dynamics, each in units of its largest score in nominal episodes.
//!
//! score(t) = max_k (ln s_k(t) − m_k) / σ_k, over the members k.
//!
//! | symbol   | meaning                                                                                   |
//! |----------|-------------------------------------------------------------------------------------------|
//! | s_k(t)   | self-information −ln p of member k's score among those of held-out nominal steps          |
//! | m_k, σ_k | mean and deviation of the largest ln s_k of each held-out nominal episode                 |
//!
//! An alarm is decided by the largest score of an episode, so members are compared by that: one whose largest score varies
//! much between nominal episodes counts for less. The members are of different kinds: the slow mean of every channel alone and
//! of all together, against the nominal mean and against the episode's own beginning, and the residuals of a learned model. A
//! channel that drifts from one training episode to the next, as a temperature does, is told to all members as its difference
//! from the beginning of the episode. Whatever the members are, a threshold that ranks whole episodes keeps its promise.
//!
//! Assumes: each anomaly is seen by one of the members; nominal episodes are alike, but for offsets of their channels.
//! Blind to: what all members are blind to.
//! Cost: the sum of the costs of the members, each fitted twice: on three quarters of the episodes, for its scale, and on all.
//! Reference: this project's; the parts are known: Tippett's largest of several tests (The Methods of Statistics, 1931), charts
//! of exponentially weighted means (Lowry and others 1992), a reference that each unit is for itself (self-starting charts,
//! Hawkins 1987).
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::Rng;
//! // A step of one deviation is small against the noise, and large against the noise of a slow mean.
//! let mut rng = Rng::new(1);
//! let mut episode = |shift: f64| -> Vec<f32> {
//!     (0..201).map(|t| (rng.normal() + if t > 100 { shift } else { 0.0 }) as f32).collect()
//! };
//! let nominal: Vec<Vec<f32>> = (0..40).map(|_| episode(0.0)).collect();
//! let train: Vec<_> = nominal.iter().map(|o| Signals::new(o, &[], 1, 0)).collect();
//! let recipe = serde_json::json!({"inner": [{"id": "mewma", "rate": 0.05}, "knn"]});
//! let detector = offnominal_detectors::catalogue().build("panel", &recipe).unwrap();
//! let mut scorer = detector.fit(Nominal::new(&train, &[]), &mut Rng::new(1)).unwrap();
//! let mut largest = |observations: &[f32]| {
//!     let mut scores = Vec::new();
//!     scorer.score_episode(&Signals::new(observations, &[], 1, 0), &mut scores);
//!     scores.into_iter().fold(f64::NEG_INFINITY, f64::max)
//! };
//! assert!(largest(&episode(0.0)) < 4.0 && largest(&episode(1.0)) > 6.0);
//! ```

use crate::fusion::Several;
use crate::shared::beginning::{Beginning, Begun};
use crate::shared::inner::{Inner, Scaled};
use crate::shared::prelude::*;
use serde_json::json;

recipe! {
    /// The recipe.
    pub struct Panel {
        /// The members, one or more.
        pub inner: Several = members(),
    }
}

/// The members by default.
fn members() -> Several {
    let chart = |statistic: &str, reference: &str| json!({"id": "mewma", "rate": 0.05, "statistic": statistic, "reference": reference});
    let all = [
        chart("distance", "offsets"),
        chart("farthest", "offsets"),
        chart("distance", "beginning"),
        chart("farthest", "beginning"),
        json!("residual-views"),
    ];
    let inner = |value| Inner::try_from(value).expect("a member is a detector of the catalogue");
    Several::try_from(all.map(inner).to_vec()).expect("there are members")
}

/// The entry of [`Panel`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    Panel as dyn Detector,
    "panel",
    "control charts and residuals of a model, each in units of its largest score in nominal episodes",
    exempt: &[(Law::IgnoresConstantChannels, "a channel that never moved in training is news when it moves")]
);

/// Deviation that is supposed of the logarithm of an episode's largest self-information, and in how many episodes.
const PRIOR: (f64, f64) = (0.25, 4.0);
/// The least self-information: a step below all nominal ones has none.
const LEAST: f64 = 1e-3;

impl Detector for Panel {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        check(nominal.train, 1)?;
        let seed = Seed(rng.bits());
        let drift = Drift::fit(nominal.train);
        let rows: Vec<Vec<f32>> = nominal.train.iter().map(|episode| drift.without(episode)).collect();
        let train: Vec<Signals<'_>> = (nominal.train.iter().zip(&rows))
            .map(|(e, rows)| Signals::new(rows, e.actions(), e.obs_width(), e.act_width()))
            .collect();
        let nominal = Nominal { train: &train, ..nominal };
        let all = self.inner.all();
        let one = |(k, inner): (usize, &Inner)| {
            let progress = nominal.progress.part(k, all.len());
            let [first, second] = [0, 1].map(|half| nominal.with_progress(progress.part(half, 2)));
            let (scaled, largest) = inner.fit_with_largest(first, seed.child(k))?;
            let scaled = inner.refit(scaled, second, seed.child(k))?;
            Ok(Member { scaled, scale: Scale::fit(&largest) })
        };
        let members = all.iter().enumerate().map(one).collect::<Result<_, FitError>>()?;
        Ok(Box::new(Fitted { members, drift, loudest: 0, score: 0.0 }))
    }

    fn load(&self, from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let one = |(k, inner): (usize, &Inner)| {
            let part = from.part("inner");
            let part = part.part(k);
            Ok(Member { scaled: inner.load(&part, policy)?, scale: Scale::load(&part.part("scale"))? })
        };
        let members = self.inner.all().iter().enumerate().map(one).collect::<Result<_, ArchiveError>>()?;
        let drift = Drift::new(Beginning::load(&from.part("drift"), from.obs_width)?);
        Ok(Box::new(Fitted { members, drift, loudest: 0, score: 0.0 }))
    }
}

/// The largest score of a nominal episode, as a logarithm of self-information.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scale {
    mean: f64,
    deviation: f64,
}

impl Scale {
    /// Of the largest self-information of each held-out episode.
    fn fit(largest: &[f64]) -> Scale {
        let logs: Vec<f64> = largest.iter().map(|s| libm::log(s.max(LEAST))).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let squares = logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>();
        let (supposed, episodes) = PRIOR;
        let variance = (squares + episodes * supposed * supposed) / (n - 1.0 + episodes);
        Scale { mean, deviation: variance.sqrt() }
    }

    fn of(self, self_information: f64) -> f64 {
        (libm::log(self_information.max(LEAST)) - self.mean) / self.deviation
    }

    fn save(self, to: &mut Writer<'_>) {
        to.put("largest", &[self.mean, self.deviation]);
    }

    fn load(from: &Reader<'_>) -> Result<Scale, ArchiveError> {
        let found = from.exactly::<f64>("largest", 2)?;
        let (mean, deviation) = (found[0], found[1]);
        let is_sound = mean.is_finite() && deviation.is_finite() && deviation > 0.0;
        from.require(is_sound, "largest", "a mean and a deviation above zero", "others")?;
        Ok(Scale { mean, deviation })
    }
}

#[derive(Clone)]
struct Member {
    scaled: Scaled,
    scale: Scale,
}

/// Channels that drift from one episode to the next, as differences from the beginning of the episode.
#[derive(Clone)]
struct Drift {
    beginning: Arc<Beginning>,
    begun: Begun,
    row: Vec<f64>,
    obs: Vec<f32>,
    next_obs: Vec<f32>,
}

impl Drift {
    fn new(beginning: Beginning) -> Drift {
        let begun = beginning.begun();
        let d = begun.mean().len();
        let (beginning, row) = (Arc::new(beginning), vec![0.0; d]);
        Drift { beginning, begun, row, obs: vec![0.0; d], next_obs: vec![0.0; d] }
    }

    fn fit(train: &[Signals<'_>]) -> Drift {
        let d = train[0].obs_width();
        Drift::new(Beginning::of_drifts(train, d, |episode, tell| {
            let mut row = vec![0.0; d];
            episode.transitions().for_each(|seen| {
                row.iter_mut().zip(seen.next_obs).for_each(|(x, v)| *x = f64::from(*v));
                tell(&row);
            });
        }))
    }

    /// The observations of an episode, less its beginning.
    fn without(&self, episode: &Signals<'_>) -> Vec<f32> {
        let mut rows = episode.observations().to_vec();
        let (d, n) = (episode.obs_width(), episode.len().min(self.beginning.steps()).max(1));
        for j in self.beginning.own() {
            let seen = rows.iter().skip(j).step_by(d).skip(1).take(n);
            let mean = seen.map(|v| f64::from(*v)).sum::<f64>() / n as f64;
            rows.iter_mut().skip(j).step_by(d).for_each(|v| *v = (f64::from(*v) - mean) as f32);
        }
        rows
    }

    /// The step, less the beginning of its episode.
    fn apply<'a>(&'a mut self, seen: &Transition<'a>, missing: &[bool]) -> Transition<'a> {
        if !self.beginning.is_used() {
            return *seen;
        }
        self.row.iter_mut().zip(seen.next_obs).for_each(|(x, v)| *x = f64::from(*v));
        self.beginning.apply(&mut self.begun, &mut self.row, missing);
        self.next_obs.iter_mut().zip(&self.row).for_each(|(v, x)| *v = *x as f32);
        let before = seen.obs.iter().zip(self.begun.mean());
        self.obs.iter_mut().zip(before).for_each(|(v, (x, mean))| *v = (f64::from(*x) - mean) as f32);
        Transition { obs: &self.obs, action: seen.action, next_obs: &self.next_obs }
    }

    /// Adds a multiple of what is known of the beginning: −1 before members fill gaps, 1 after it.
    fn shift(&self, gaps: &mut Gaps<'_>, sign: f64) {
        for j in self.beginning.own() {
            for v in [&mut gaps.obs[j], &mut gaps.next_obs[j]] {
                *v = (f64::from(*v) + sign * self.begun.mean()[j]) as f32;
            }
        }
    }
}

#[derive(Clone)]
struct Fitted {
    members: Vec<Member>,
    drift: Drift,
    /// The member whose score was that of the last step.
    loudest: usize,
    score: f64,
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.drift.begun.reset();
        self.members.iter_mut().for_each(|m| m.scaled.reset());
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let seen = self.drift.apply(seen, &[]);
        let scores = self.members.iter_mut().map(|m| m.scale.of(m.scaled.score(&seen)));
        (self.loudest, self.score) = loudest(scores);
        self.score
    }

    /// The parts are those of the member that was the loudest.
    fn shares(&mut self, shares: &mut [f64]) -> bool {
        self.members[self.loudest].scaled.shares(self.score, shares)
    }

    /// What the least able of them does.
    fn missing(&self) -> Missing {
        self.members.iter().map(|m| m.scaled.missing()).max().unwrap_or(Missing::Held)
    }

    /// The last one that can has the last word.
    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.drift.shift(gaps, -1.0);
        self.members.iter_mut().for_each(|m| m.scaled.fill(gaps));
        self.drift.shift(gaps, 1.0);
    }

    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        let step = Partial { seen: self.drift.apply(&step.seen, step.missing_after), ..*step };
        let mut confidence = 1.0_f64;
        let scores = self.members.iter_mut().map(|m| {
            let found = m.scaled.score_partial(&step);
            confidence = confidence.min(found.confidence);
            m.scale.of(found.score)
        });
        (self.loudest, self.score) = loudest(scores);
        PartialScore { score: self.score, confidence }
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.drift.beginning.save(&mut to.part("drift"));
        self.members.iter().enumerate().try_for_each(|(k, Member { scaled, scale })| {
            let mut part = to.part("inner");
            let mut part = part.part(k);
            scale.save(&mut part.part("scale"));
            scaled.save(&mut part)
        })
    }
}

/// The largest of some scores, and whose it is.
fn loudest(scores: impl Iterator<Item = f64>) -> (usize, f64) {
    let largest = |one: (usize, f64), other: (usize, f64)| if other.1 > one.1 { other } else { one };
    scores.enumerate().fold((0, f64::NEG_INFINITY), largest)
}
