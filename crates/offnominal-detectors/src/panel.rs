//! The project's own, for machines: charts and a model of the dynamics, each in units of its largest score in nominal episodes.
//!
//! score(t) = max_g (z_g(t) − m_g) / σ_g − h_g over groups g of members; z_g(t) = max_k (ln s_k(t) − m_k) / σ_k over the members k of g.
//!
//! | symbol   | meaning                                                                                   |
//! |----------|-------------------------------------------------------------------------------------------|
//! | s_k(t)   | self-information −ln p of member k's score among those of held-out nominal steps          |
//! | m_k, σ_k | mean and deviation of the largest ln s_k of each held-out nominal episode                 |
//! | m_g, σ_g | the same of the largest z_g                                                               |
//! | h_g      | `penalty` for all groups but the last if there are commands, otherwise 0                  |
//!
//! An alarm is decided by the largest score of an episode, so members are compared by that: one whose largest score varies
//! much between nominal episodes counts for less. Members that are alike make a group, or else they would have most of the
//! chances to be the largest. The members are of different kinds: the slow mean of every channel alone and
//! of all together, against the nominal mean and against the episode's own beginning, and the residuals of a learned model. A
//! channel that drifts from one training episode to the next, as a temperature does, is told to all members as its difference
//! from the beginning of the episode. Where commands are recorded, a model that knows them sees a change before the mean of a
//! channel can: the last group is the model, and all others have to be louder than it by a penalty. Whatever the members are, a
//! threshold that ranks whole episodes keeps its promise.
//!
//! Assumes: each anomaly is seen by one of the members; nominal episodes are alike, but for offsets of their channels.
//! Blind to: what all members are blind to.
//! Cost: the sum of the costs of the members, each fitted five times: four times on three quarters of the episodes, for its
//! scale, and on all; of more than 100,000 steps twice.
//! Reference: this project's; the parts are known: Tippett's largest of several tests (The Methods of Statistics, 1931), charts
//! of exponentially weighted means (Lowry and others 1992), a reference that each unit is for itself (self-starting charts,
//! Hawkins 1987). Of penalties of 0, 1 and 2 the last was chosen in urr-reach, mjc-half-cheetah and sap-goal2, and flatters
//! figures of these three; those of its part `residual-views` were chosen elsewhere, as its own entry says.
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
//! let (usual, shifted) = (largest(&episode(0.0)), largest(&episode(1.0)));
//! assert!(usual < 3.0 && shifted > 4.0, "{usual} {shifted}");
//! ```

use crate::shared::prelude::*;
use crate::shared::ranges::NonNegative;
use drift::Drift;
use group::{Group, Groups, largest};
use serde_json::json;

mod drift;
mod group;
mod scale;

recipe! {
    /// The recipe.
    pub struct Panel {
        /// The members, one or more; those that are in a list of their own are a group.
        pub inner: Groups = members(),
        /// What is subtracted from the scores of all groups but the last if there are commands, in deviations.
        pub penalty: NonNegative = NonNegative::new(2.0),
    }
}

/// Four charts, and a model of the dynamics.
fn members() -> Groups {
    let chart = |statistic: &str, reference: &str| json!({"id": "mewma", "rate": 0.05, "statistic": statistic, "reference": reference});
    let charts = json!([
        chart("distance", "offsets"),
        chart("farthest", "offsets"),
        chart("distance", "beginning"),
        chart("farthest", "beginning"),
    ]);
    Groups::try_from(vec![charts, json!("residual-views")]).expect("all are in the catalogue")
}

/// The entry of [`Panel`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    Panel as dyn Detector,
    "panel",
    "our default: control charts and residuals of a model, each in units of its largest score in nominal episodes",
    exempt: &[(Law::IgnoresConstantChannels, "a channel that never moved in training is news when it moves")]
);

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
        let penalty = if train[0].act_width() > 0 { self.penalty.get() } else { 0.0 };
        let one = |(g, group)| {
            let part = nominal.with_progress(nominal.progress.part(g, all.len()));
            let penalty = if g + 1 < all.len() { penalty } else { 0.0 };
            Group::fit(group, part, seed.child(g), penalty)
        };
        let groups = all.iter().enumerate().map(one).collect::<Result<_, _>>()?;
        Ok(Box::new(Fitted { groups, drift, loudest: 0, score: 0.0 }))
    }

    fn load(&self, from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let one = |(g, group)| Group::load(group, &from.part("group").part(g), policy);
        let groups = self.inner.all().iter().enumerate().map(one).collect::<Result<_, _>>()?;
        Ok(Box::new(Fitted { groups, drift: Drift::load(&from.part("drift"))?, loudest: 0, score: 0.0 }))
    }
}

#[derive(Clone)]
struct Fitted {
    groups: Vec<Group>,
    drift: Drift,
    /// The group whose score was that of the last step.
    loudest: usize,
    score: f64,
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.drift.reset();
        self.groups.iter_mut().for_each(Group::reset);
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let seen = self.drift.apply(seen, &[]);
        (self.loudest, self.score) = largest(self.groups.iter_mut().map(|g| g.score(&seen)));
        self.score
    }

    /// The parts are those of the member that was the loudest.
    fn shares(&mut self, shares: &mut [f64]) -> bool {
        self.groups[self.loudest].shares(self.score, shares)
    }

    /// That of the member that was the loudest, which knows nothing of what was subtracted before.
    fn evidence(&mut self) -> Option<Evidence> {
        let found = self.groups[self.loudest].evidence()?;
        Some(Evidence { against: self.drift.against(&found), ..found })
    }

    /// What the least able of them does.
    fn missing(&self) -> Missing {
        self.groups.iter().map(Group::missing).max().unwrap_or(Missing::Held)
    }

    /// The last one that can has the last word.
    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.drift.shift(gaps, -1.0);
        self.groups.iter_mut().for_each(|g| g.fill(gaps));
        self.drift.shift(gaps, 1.0);
    }

    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        let step = Partial { seen: self.drift.apply(&step.seen, step.missing_after), ..*step };
        let mut confidence = 1.0_f64;
        (self.loudest, self.score) = largest(self.groups.iter_mut().map(|g| {
            let found = g.score_partial(&step);
            confidence = confidence.min(found.confidence);
            found.score
        }));
        PartialScore { score: self.score, confidence }
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.drift.save(&mut to.part("drift"));
        self.groups.iter().enumerate().try_for_each(|(g, group)| group.save(&mut to.part("group").part(g)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Two channels of white noise about levels of their own, and a command; what is told is added.
    fn recording(seed: u64, level: f64, add: impl Fn(usize) -> [f64; 3]) -> (Vec<f32>, Vec<f32>) {
        let mut rng = Rng::new(seed);
        let mut noise = |x: f64| (x + 0.1 * rng.normal()) as f32;
        let rows: Vec<[f32; 3]> =
            (0..201).map(|t| [noise(add(t)[0]), noise(level + add(t)[1]), noise(add(t)[2])]).collect();
        (rows.iter().flat_map(|r| [r[0], r[1]]).collect(), rows[..200].iter().map(|r| r[2]).collect())
    }

    /// What a panel says at the end of a recording, fitted on others whose second channel is at so many levels.
    fn said(inner: &Value, levels: impl Fn(u64) -> f64, add: impl Fn(usize) -> [f64; 3]) -> Evidence {
        let nominal: Vec<_> = (0..24).map(|i| recording(i, levels(i), |_| [0.0; 3])).collect();
        let train: Vec<_> = nominal.iter().map(|(o, a)| Signals::new(o, a, 2, 1)).collect();
        let panel = crate::catalogue().build("panel", &json!({ "inner": inner })).unwrap();
        let mut fitted = panel.fit(Nominal::new(&train, &[]), &mut Rng::new(1)).unwrap();
        let mut archive = offnominal_core::archive::Archive::default();
        fitted.save(&mut archive.writer()).unwrap();
        let mut loaded = panel.load(&archive.reader(2, 1), None).unwrap();
        let (o, a) = recording(99, levels(24), add);
        let [found, again] = [&mut fitted, &mut loaded].map(|scorer| {
            Signals::new(&o, &a, 2, 1).transitions().for_each(|seen| {
                scorer.score(&seen);
            });
            scorer.evidence().unwrap()
        });
        assert_eq!(found, again, "a monitor that was read back says the same");
        found
    }

    fn chart(reference: &str) -> Value {
        json!([{"id": "mewma", "rate": 0.05, "statistic": "farthest", "reference": reference}])
    }

    #[test]
    fn the_loudest_member_says_which_channel_it_was_and_since_when() {
        let shift = |t: usize| [if t > 150 { 0.3 } else { 0.0 }, 0.0, 0.0];
        let found = said(&chart("nominal"), |_| 5.0, shift);
        assert_eq!((found.statistic, found.against), ("exponentially weighted mean", "the nominal mean"));
        assert_eq!(found.channel, Some(0));
        assert!((35..=50).contains(&found.steps.unwrap()), "{found:?}");
        let found = said(&chart("beginning"), |_| 5.0, shift);
        assert_eq!(found.against, "the beginning of the episode");
    }

    #[test]
    fn a_channel_that_drifts_between_recordings_is_compared_with_the_beginning_whatever_the_member_knows() {
        let shift = |t: usize| [0.0, if t > 150 { 0.3 } else { 0.0 }, 0.0];
        let found = said(&chart("nominal"), |i| 5.0 + i as f64, shift);
        assert_eq!((found.channel, found.against), (Some(1), "the beginning of the episode"));
        let model = json!([{"id": "residual-views", "hidden": [4], "training": {"epochs": 2}}]);
        let jump = |t: usize| [if t > 190 { 3.0 } else { 0.0 }, 0.0, 0.0];
        let found = said(&model, |i| 5.0 + i as f64, jump);
        assert_eq!((found.channel, found.against), (Some(0), "the dynamics model"));
    }

    #[test]
    fn a_command_is_counted_on_from_the_observation() {
        let found = said(&chart("nominal"), |_| 5.0, |t| [0.0, 0.0, if t > 150 { 0.3 } else { 0.0 }]);
        assert_eq!(found.channel, Some(2));
    }

    #[test]
    fn all_groups_but_the_last_pay_where_there_are_commands() {
        let shifted = recording(99, 5.0, |t| [if t > 150 { 0.3 } else { 0.0 }, 0.0, 0.0]);
        let nominal: Vec<_> = (0..24).map(|i| recording(i, 5.0, |_| [0.0; 3])).collect();
        let last = |penalty: f64, width: usize| {
            let train: Vec<_> =
                nominal.iter().map(|(o, a)| Signals::new(o, &a[..200 * width], 2, width)).collect();
            let recipe = json!({"inner": [chart("nominal"), "clock"], "penalty": penalty});
            let panel = crate::catalogue().build("panel", &recipe).unwrap();
            let mut fitted = panel.fit(Nominal::new(&train, &[]), &mut Rng::new(1)).unwrap();
            let mut scores = Vec::new();
            fitted.score_episode(&Signals::new(&shifted.0, &shifted.1[..200 * width], 2, width), &mut scores);
            scores[199]
        };
        assert!((last(0.0, 1) - last(2.0, 1) - 2.0).abs() < 1e-9);
        assert_eq!(last(0.0, 0), last(2.0, 0));
    }
}
