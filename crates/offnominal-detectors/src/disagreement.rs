//! How far several predictions of the policy for the same observation lie apart.
//!
//! score(o′) = 1/A Σ_a √(1/(M−1) Σ_m (q_m(o′, a) − q̄(o′, a))²), or another measure of the same predictions.
//!
//! | symbol | meaning                                                                                      |
//! |--------|----------------------------------------------------------------------------------------------|
//! | o′     | observation after the step, for which the policy is about to act                             |
//! | q_m    | the m-th prediction: values of the A choices, or an action of A channels in its own units    |
//! | M      | passes with dropout or dropconnect, or members of an ensemble                                |
//!
//! | measure              | what it is                                                                       |
//! |----------------------|----------------------------------------------------------------------------------|
//! | `mean-sd`            | the above                                                                        |
//! | `max-sd`             | the largest of the A standard deviations                                         |
//! | `greedy-sd`          | that of the choice with the largest mean value                                   |
//! | `best-sd`            | standard deviation of the largest value, max_a q_m                               |
//! | `centred-sd`         | as `mean-sd`, of the values less their mean over the choices of a prediction     |
//! | `relative-sd`        | mean over actions of the deviation divided by abs(q̄) + 10⁻⁶                      |
//! | `vote-entropy`       | entropy of the shares of predictions that prefer each choice, in nats            |
//! | `entropy`            | H(mean of p_m), with p_m = softmax(q_m), in nats                                 |
//! | `mutual-information` | H(mean of p_m) − mean of H(p_m)                                                  |
//! | `raw-sd`             | as `mean-sd`, of real actions before tanh, or before they are cut to the bounds  |
//!
//! Without a measure it is `raw-sd` for real actions, which tanh cannot hide, and the published `mean-sd` for choices.
//! `centred-sd` does without the level of the values, in which members of an ensemble differ and which decides nothing.
//! The measures of choices are refused for real actions, and the other way round. A prediction that is not a number
//! counts as the largest disagreement there can be.
//!
//! Assumes: the policy has dropout, dropconnect or members, with priors or without, and they agree where it was trained.
//! Blind to: what the policy does not read; and, where actions are saturated by tanh, to most of what it does read,
//! unless the measure is `raw-sd`.
//! Cost: fit nothing, score M passes of the policy.
//! Reference: Mohammed and Valdenegro-Toro, "Benchmark for Out-of-Distribution Detection in Deep Reinforcement Learning"
//! (2021), sections 4 and 5; Gal and Ghahramani, ICML 2016; Lakshminarayanan et al., NeurIPS 2017; Osband et al., NeurIPS
//! 2018.  Deviates: the publication does not say how the deviations of several actions become one score; the mean is
//! ours.
//!
//! ```
//! use offnominal_laws::MockEnsemble;
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::Rng;
//! // Five members, whose values of two choices are ((m + 1) o′, 0): for o′ = 2 the first deviates by √10.
//! let nominal = Signals::new(&[1.0, 2.0], &[0.0], 1, 1);
//! let detector = offnominal_detectors::catalogue().build("disagreement", &serde_json::json!({})).unwrap();
//! let monitor = detector.fit(Nominal::new(&[nominal], &[]).with_policy(&MockEnsemble::members(1)), &mut Rng::new(0));
//! assert!((monitor.unwrap().score(&nominal.transition(0)) - 10.0_f64.sqrt() / 2.0).abs() < 1e-12);
//! ```

use crate::shared::prelude::*;
use crate::shared::ranges::none_or_up_to;
use crate::shared::samples::SeededSamples;
use crate::shared::spread::{Table, information, vote_entropy};
use offnominal_core::limits::DRAWS;
use offnominal_core::samples::Shape;

/// The score of a prediction that is not a number.
const UNDEFINED: f64 = f32::MAX as f64;

recipe! {
    /// The recipe.
    pub struct Disagreement {
        /// What is measured; raw-sd of real actions and mean-sd of choices, if not given.
        pub measure: Option<Measure> = None,
        /// Number of passes; as many as the policy acts on, if not given. An ensemble has its members and no other number.
        #[serde(deserialize_with = "none_or_up_to::<_, DRAWS>")]
        pub predictions: Option<NonZeroUsize> = None,
    }
}

/// A measure of how far predictions lie apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Mean over actions of the standard deviation.
    MeanSd,
    /// The largest standard deviation.
    MaxSd,
    /// Standard deviation of the value of the preferred choice.
    GreedySd,
    /// Standard deviation of the largest value.
    BestSd,
    /// Mean standard deviation of values less their mean over choices.
    CentredSd,
    /// Mean standard deviation in units of the mean.
    RelativeSd,
    /// Entropy of the votes for the choices.
    VoteEntropy,
    /// Entropy of the mean probabilities of the choices.
    Entropy,
    /// Mutual information of choice and prediction.
    MutualInformation,
    /// Mean standard deviation of actions before tanh, or before they are cut to the bounds.
    RawSd,
}

/// The measures that a policy allows, all taken of the same predictions: for the price of one.
#[derive(Clone)]
pub struct Measurements {
    samples: SeededSamples,
    measures: Vec<Measure>,
    mean: Vec<f64>,
}

impl Measure {
    /// Every measure.
    pub const ALL: [Measure; 10] = [
        Measure::MeanSd,
        Measure::MaxSd,
        Measure::GreedySd,
        Measure::BestSd,
        Measure::CentredSd,
        Measure::RelativeSd,
        Measure::VoteEntropy,
        Measure::Entropy,
        Measure::MutualInformation,
        Measure::RawSd,
    ];

    /// Its name in recipes.
    pub fn id(self) -> &'static str {
        match self {
            Measure::MeanSd => "mean-sd",
            Measure::MaxSd => "max-sd",
            Measure::GreedySd => "greedy-sd",
            Measure::BestSd => "best-sd",
            Measure::CentredSd => "centred-sd",
            Measure::RelativeSd => "relative-sd",
            Measure::VoteEntropy => "vote-entropy",
            Measure::Entropy => "entropy",
            Measure::MutualInformation => "mutual-information",
            Measure::RawSd => "raw-sd",
        }
    }

    /// What is measured of predictions of that kind, unless a recipe says it.
    fn usual(shape: &Shape) -> Measure {
        if shape.is_choice { Measure::MeanSd } else { Measure::RawSd }
    }

    /// Refuses a policy whose predictions are all the same, or of the other kind.
    fn fits(self, shape: &Shape) -> Result<(), SamplesError> {
        shape.disagrees()?;
        let of_choices = match self {
            Measure::MeanSd | Measure::MaxSd | Measure::RelativeSd => return Ok(()),
            Measure::GreedySd | Measure::BestSd | Measure::CentredSd => true,
            Measure::VoteEntropy | Measure::Entropy | Measure::MutualInformation => true,
            Measure::RawSd => false,
        };
        let kind = |is_choice| if is_choice { "that chooses" } else { "with real actions" };
        let expected = format!("{}, which the measure {:?} is for", kind(of_choices), self.id());
        let error = || SamplesError::Unfit { expected, found: kind(shape.is_choice).into() };
        (of_choices == shape.is_choice).then_some(()).ok_or_else(error)
    }

    /// The measure of predictions; `mean` is scratch for a number per head.
    fn of(self, predictions: &Predictions<'_>, shape: &Shape, mean: &mut [f64]) -> f64 {
        if !predictions.heads.iter().all(|v| v.is_finite()) {
            return UNDEFINED;
        }
        let heads = Table { values: predictions.heads, width: shape.heads };
        let acts =
            if shape.is_choice { heads } else { Table { values: predictions.actions, width: shape.actions } };
        match self {
            Measure::MeanSd => acts.mean_sd(),
            Measure::MaxSd => (0..acts.width).map(|a| acts.sd(a)).fold(0.0, f64::max),
            Measure::GreedySd => heads.sd(heads.preferred()),
            Measure::BestSd => heads.best_sd(),
            Measure::CentredSd => heads.centred_sd(),
            Measure::RelativeSd => acts.relative_sd(),
            Measure::VoteEntropy => vote_entropy(predictions.actions, shape.heads),
            Measure::Entropy => information(heads, mean).0,
            Measure::MutualInformation => information(heads, mean).1,
            Measure::RawSd => heads.mean_sd(),
        }
    }
}

impl Measurements {
    /// Opens the policy that acted in the episodes.
    ///
    /// # Errors
    /// As fitting a [`Disagreement`].
    pub fn open(policy: &dyn Policy, seen: &[Signals<'_>], rng: &mut Rng) -> Result<Measurements, FitError> {
        let samples = SeededSamples::open(policy, None, seen, rng)?;
        let shape = samples.shape();
        shape.disagrees()?;
        let measures = Measure::ALL.into_iter().filter(|m| m.fits(&shape).is_ok()).collect();
        Ok(Measurements { samples, measures, mean: vec![0.0; shape.heads] })
    }

    /// The measures, in the order of the scores.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// The scores of an episode by every measure: `[measures][T]`.
    pub fn score_episode(&mut self, seen: &Signals<'_>) -> Vec<Vec<f64>> {
        let (shape, Measurements { samples, measures, mean }) = (self.samples.shape(), self);
        let mut scores = vec![Vec::with_capacity(seen.len()); measures.len()];
        for step in seen.transitions() {
            let predictions = samples.predict(step.next_obs);
            measures.iter().zip(&mut scores).for_each(|(m, of)| of.push(m.of(&predictions, &shape, mean)));
        }
        scores
    }
}

/// The entry of [`Disagreement`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    Disagreement as dyn Detector,
    "disagreement",
    "how far several predictions of the policy lie apart",
    exempt: &[(
        Law::IgnoresConstantChannels,
        "the policy reads every channel, and may well disagree about one that never moved in training"
    )]
);

impl Detector for Disagreement {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        let samples = SeededSamples::open(nominal.policy()?, self.predictions, nominal.train, rng)?;
        let measure = self.measure_of(&samples.shape());
        measure.fits(&samples.shape())?;
        Ok(Box::new(Fitted::new(samples, measure)))
    }

    fn load(&self, from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let samples = SeededSamples::load(from, policy, self.predictions)?;
        let measure = self.measure_of(&samples.shape());
        measure.fits(&samples.shape())?;
        Ok(Box::new(Fitted::new(samples, measure)))
    }
}

impl Disagreement {
    fn measure_of(&self, shape: &Shape) -> Measure {
        self.measure.unwrap_or_else(|| Measure::usual(shape))
    }
}

#[derive(Clone)]
struct Fitted {
    samples: SeededSamples,
    measure: Measure,
    /// Mean probability of each choice.
    mean: Vec<f64>,
}

impl Fitted {
    fn new(samples: SeededSamples, measure: Measure) -> Fitted {
        Fitted { mean: vec![0.0; samples.shape().heads], samples, measure }
    }
}

impl Scorer for Fitted {
    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let shape = self.samples.shape();
        self.measure.of(&self.samples.predict(seen.next_obs), &shape, &mut self.mean)
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.samples.save(to);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::spread::surprisal;
    use offnominal_laws::{MockEnsemble, assert_lawful, detector_with};

    fn near(found: f64, want: f64) {
        assert!((found - want).abs() < 1e-12, "expected {want}, found {found}");
    }

    fn score(policy: &MockEnsemble, measure: Measure, obs: &[f32]) -> Result<f64, FitError> {
        let recipe = Disagreement { measure: Some(measure), predictions: None };
        let rows = [obs, obs].concat();
        let nominal = Signals::new(&rows, &[0.0], obs.len(), 1);
        let mut monitor = recipe.fit(Nominal::new(&[nominal], &[]).with_policy(policy), &mut Rng::new(0))?;
        Ok(monitor.score(&nominal.transition(0)))
    }

    #[test]
    fn every_measure_of_an_ensemble() {
        // The first values are 3, −2, 9, −4 and 15, with a mean of 4.2; the second is zero.
        let of = |measure| score(&MockEnsemble::members(2), measure, &[1.0, 2.0]).unwrap();
        let sd = 61.7_f64.sqrt();
        near(of(Measure::MeanSd), sd / 2.0);
        near(of(Measure::MaxSd), sd);
        near(of(Measure::GreedySd), sd);
        near(of(Measure::VoteEntropy), surprisal(0.4) + surprisal(0.6));
        // max(q, 0): 3, 0, 9, 0 and 15, with a mean of 5.4.
        near(of(Measure::BestSd), 42.3_f64.sqrt());
        near(of(Measure::RelativeSd), sd / (4.2 + 1e-6) / 2.0);
        // Of two choices, of which one is zero, half of the other is left of each.
        near(of(Measure::CentredSd), sd / 2.0);
        assert!(
            of(Measure::MutualInformation) < of(Measure::Entropy) && of(Measure::Entropy) <= 2.0_f64.ln()
        );
        assert!((0.3..0.7).contains(&of(Measure::MutualInformation)));
        near(score(&MockEnsemble::members(2).with_real_command(), Measure::RawSd, &[1.0, 2.0]).unwrap(), sd);
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let refuses = |policy: &MockEnsemble, measure, want: &str| {
            let error = score(policy, measure, &[1.0, 2.0]).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        };
        refuses(&MockEnsemble::plain(2), Measure::MeanSd, "without stochastic layers");
        refuses(
            &MockEnsemble::members(2),
            Measure::RawSd,
            "with real actions, which the measure \"raw-sd\" is for",
        );
        refuses(&MockEnsemble::members(2).with_real_command(), Measure::VoteEntropy, "that chooses");
        let alone = Disagreement::default().fit(Nominal::new(&[], &[]), &mut Rng::new(0));
        assert_eq!(alone.err(), Some(FitError::NoPolicy));
    }

    #[test]
    fn every_measure_obeys_the_laws() {
        let scale_free = (Law::SeesGrossFaults, "votes do not know how large a value is");
        for measure in Measure::ALL.into_iter().filter(|m| *m != Measure::RawSd) {
            let votes = matches!(
                measure,
                Measure::VoteEntropy | Measure::Entropy | Measure::MutualInformation | Measure::RelativeSd
            );
            let exempt = [ENTRY.exempt, &[scale_free][..usize::from(votes)]].concat();
            let recipe = Disagreement { measure: Some(measure), predictions: None };
            assert_lawful(
                "choices",
                &detector_with(&recipe, &|w| Box::new(MockEnsemble::passes(w)), &exempt),
            );
        }
        for measure in [Measure::MeanSd, Measure::RawSd] {
            let recipe = Disagreement { measure: Some(measure), predictions: NonZeroUsize::new(5) };
            let policy = |w| Box::new(MockEnsemble::passes(w).with_real_command()) as Box<dyn Policy>;
            assert_lawful("real actions", &detector_with(&recipe, &policy, ENTRY.exempt));
        }
    }

    #[test]
    fn a_panel_has_the_scores_of_its_measures() {
        let (policy, obs) = (MockEnsemble::passes(2), [0.1, 0.2, 0.4, -0.3, 1.5, 0.0]);
        let nominal = Signals::new(&obs, &[0.0, 1.0], 2, 1);
        let mut panel = Measurements::open(&policy, &[nominal], &mut Rng::new(7)).unwrap();
        let scores = panel.score_episode(&nominal);
        assert_eq!(panel.measures().len(), 9, "all but that of real actions");
        for (&measure, found) in panel.measures().to_vec().iter().zip(scores) {
            let recipe = Disagreement { measure: Some(measure), predictions: None };
            let mut monitor =
                recipe.fit(Nominal::new(&[nominal], &[]).with_policy(&policy), &mut Rng::new(7)).unwrap();
            let mut want = vec![];
            monitor.score_episode(&nominal, &mut want);
            assert_eq!(found, want, "{}", measure.id());
            assert_eq!(serde_json::to_value(measure).unwrap(), measure.id());
        }
    }
}
