//! How far several predictions of the policy for the same observation lie apart.
//!
//! score(o′) = 1/A Σ_a √(1/(M−1) Σ_m (q_m(o′, a) − q̄(o′, a))²), or another measure of the same predictions.
//!
//! | symbol | meaning                                                                                      |
//! |--------|----------------------------------------------------------------------------------------------|
//! | o′     | observation after the step, for which the policy is about to act                             |
//! | q_m    | the m-th prediction: values of the A choices, or a command of A channels in its own units    |
//! | M      | passes with dropout or dropconnect, or members of an ensemble                                |
//!
//! | measure              | what it is                                                                       |
//! |----------------------|----------------------------------------------------------------------------------|
//! | `mean-sd`            | the above                                                                        |
//! | `max-sd`             | the largest of the A standard deviations                                         |
//! | `greedy-sd`          | that of the choice with the largest mean value                                   |
//! | `vote-entropy`       | entropy of the shares of predictions that prefer each choice, in nats            |
//! | `mutual-information` | H(mean of p_m) − mean of H(p_m), with p_m = softmax(q_m), in nats                |
//! | `raw-sd`             | as `mean-sd`, of real commands before tanh                                       |
//!
//! The measures of choices are refused for real commands, and the other way round. A prediction that is not a number
//! counts as the largest disagreement there can be.
//!
//! Assumes: the policy has dropout, dropconnect or members, and they agree where it was trained.
//! Blind to: what the policy does not read; and, where commands are saturated by tanh, to most of what it does read,
//! unless the measure is `raw-sd`.
//! Cost: fit nothing, score M passes of the policy.
//! Reference: Mohammed and Valdenegro-Toro, "Benchmark for Out-of-Distribution Detection in Deep Reinforcement Learning"
//! (2021), sections 4 and 5; Gal and Ghahramani, ICML 2016; Lakshminarayanan et al., NeurIPS 2017.  Deviates: the
//! publication does not say how the deviations of several actions become one score; the mean is ours.
//!
//! ```
//! use offnominal_core::conformance::Chorus;
//! use offnominal_core::detector::Signals;
//! use offnominal_core::Rng;
//! // Five members, whose values of two choices are ((m + 1) o′, 0): for o′ = 2 the first deviates by √10.
//! let nominal = Signals::new(&[1.0, 2.0], &[0.0], 1, 1);
//! let detector = offnominal_detectors::catalogue().build("disagreement", &serde_json::json!({})).unwrap();
//! let monitor = detector.fit_with(&Chorus::members(1), &[nominal], &[], &mut Rng::new(0));
//! assert!((monitor.unwrap().score(&nominal.transition(0)) - 10.0_f64.sqrt() / 2.0).abs() < 1e-12);
//! ```

use crate::shared::gaze::Gaze;
use crate::shared::spread::{Table, mutual_information, vote_entropy};
use offnominal_core::insight::Shape;
use offnominal_core::prelude::*;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// The entry of [`Disagreement`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    Disagreement as dyn Detector,
    "disagreement",
    "how far several predictions of the policy lie apart",
    exempt: &[(
        offnominal_core::conformance::Law::IgnoresConstantChannels,
        "the policy reads every channel, and may well disagree about one that never moved in training"
    )]
);

/// The score of a prediction that is not a number.
const UNDEFINED: f64 = f32::MAX as f64;

/// The recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Disagreement {
    /// What is measured.
    pub measure: Measure,
    /// Number of passes; as many as the policy acts on, if not given. An ensemble has its members and no other number.
    pub predictions: Option<NonZeroUsize>,
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
    /// Entropy of the votes for the choices.
    VoteEntropy,
    /// Mutual information of choice and prediction.
    MutualInformation,
    /// Mean standard deviation of commands before tanh.
    RawSd,
}

impl Default for Disagreement {
    fn default() -> Self {
        Disagreement { measure: Measure::MeanSd, predictions: None }
    }
}

impl Measure {
    /// Refuses a policy whose predictions are all the same, or of the other kind.
    fn fits(self, shape: &Shape) -> Result<(), InsightError> {
        shape.disagrees()?;
        let of_choices = match self {
            Measure::MeanSd | Measure::MaxSd => return Ok(()),
            Measure::GreedySd | Measure::VoteEntropy | Measure::MutualInformation => true,
            Measure::RawSd => false,
        };
        let kind = |is_choice| if is_choice { "that chooses" } else { "with real commands" };
        let name = serde_json::to_string(&self).unwrap_or_default();
        let expected = format!("{}, which the measure {name} is for", kind(of_choices));
        let error = || InsightError::Unfit { expected, found: kind(shape.is_choice).into() };
        (of_choices == shape.is_choice).then_some(()).ok_or_else(error)
    }
}

impl Detector for Disagreement {
    fn fit(&self, _: &[Signals<'_>], _: &[Signals<'_>], _: &mut Rng) -> Result<Box<dyn Monitor>, FitError> {
        Err(FitError::NoPolicy)
    }

    fn fit_with(
        &self,
        policy: &dyn Policy,
        train: &[Signals<'_>],
        _: &[Signals<'_>],
        rng: &mut Rng,
    ) -> Result<Box<dyn Monitor>, FitError> {
        let gaze = Gaze::open(policy, self.predictions, train, rng)?;
        self.measure.fits(&gaze.shape())?;
        Ok(Box::new(Fitted::new(gaze, self.measure)))
    }

    fn load(&self, from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Box<dyn Monitor>, ArchiveError> {
        let gaze = Gaze::load(from, policy, self.predictions)?;
        self.measure.fits(&gaze.shape())?;
        Ok(Box::new(Fitted::new(gaze, self.measure)))
    }
}

#[derive(Clone)]
struct Fitted {
    gaze: Gaze,
    measure: Measure,
    /// Mean probability of each choice.
    mean: Vec<f64>,
}

impl Fitted {
    fn new(gaze: Gaze, measure: Measure) -> Fitted {
        Fitted { mean: vec![0.0; gaze.shape().heads], gaze, measure }
    }
}

impl Monitor for Fitted {
    fn reset(&mut self) {}

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let shape = self.gaze.shape();
        let told = self.gaze.look(seen.next_obs);
        if !told.heads.iter().all(|v| v.is_finite()) {
            return UNDEFINED;
        }
        let heads = Table { values: told.heads, width: shape.heads };
        let acts =
            if shape.is_choice { heads } else { Table { values: told.commands, width: shape.commands } };
        match self.measure {
            Measure::MeanSd => acts.mean_sd(),
            Measure::MaxSd => (0..acts.width).map(|a| acts.sd(a)).fold(0.0, f64::max),
            Measure::GreedySd => heads.sd(heads.preferred()),
            Measure::VoteEntropy => vote_entropy(told.commands, shape.heads),
            Measure::MutualInformation => mutual_information(heads, &mut self.mean),
            Measure::RawSd => heads.mean_sd(),
        }
    }

    fn fork(&self) -> Box<dyn Monitor> {
        Box::new(self.clone())
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.gaze.save(to);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::spread::surprisal;
    use offnominal_core::conformance::{Chorus, Law, assert_lawful, detector_with};

    fn near(found: f64, want: f64) {
        assert!((found - want).abs() < 1e-12, "expected {want}, found {found}");
    }

    fn score(policy: &Chorus, measure: Measure, obs: &[f32]) -> Result<f64, FitError> {
        let recipe = Disagreement { measure, predictions: None };
        let rows = [obs, obs].concat();
        let nominal = Signals::new(&rows, &[0.0], obs.len(), 1);
        let mut monitor = recipe.fit_with(policy, &[nominal], &[], &mut Rng::new(0))?;
        Ok(monitor.score(&nominal.transition(0)))
    }

    #[test]
    fn every_measure_of_a_chorus() {
        // The first values are 3, −2, 9, −4 and 15, with a mean of 4.2; the second is zero.
        let of = |measure| score(&Chorus::members(2), measure, &[1.0, 2.0]).unwrap();
        let sd = 61.7_f64.sqrt();
        near(of(Measure::MeanSd), sd / 2.0);
        near(of(Measure::MaxSd), sd);
        near(of(Measure::GreedySd), sd);
        near(of(Measure::VoteEntropy), surprisal(0.4) + surprisal(0.6));
        assert!((0.3..0.7).contains(&of(Measure::MutualInformation)));
        near(score(&Chorus::members(2).with_real_command(), Measure::RawSd, &[1.0, 2.0]).unwrap(), sd);
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let refuses = |policy: &Chorus, measure, want: &str| {
            let error = score(policy, measure, &[1.0, 2.0]).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        };
        refuses(&Chorus::plain(2), Measure::MeanSd, "without stochastic layers");
        refuses(
            &Chorus::members(2),
            Measure::RawSd,
            "with real commands, which the measure \"raw-sd\" is for",
        );
        refuses(&Chorus::members(2).with_real_command(), Measure::VoteEntropy, "that chooses");
        let alone = Disagreement::default().fit(&[], &[], &mut Rng::new(0));
        assert_eq!(alone.err(), Some(FitError::NoPolicy));
    }

    #[test]
    fn every_measure_obeys_the_laws() {
        let measures = [Measure::MaxSd, Measure::GreedySd, Measure::VoteEntropy, Measure::MutualInformation];
        let scale_free = (Law::SeesGrossFaults, "votes do not know how large a value is");
        for measure in measures {
            let votes = matches!(measure, Measure::VoteEntropy | Measure::MutualInformation);
            let exempt = [ENTRY.exempt, &[scale_free][..usize::from(votes)]].concat();
            let recipe = Disagreement { measure, predictions: None };
            assert_lawful("choices", &detector_with(&recipe, &|w| Box::new(Chorus::passes(w)), &exempt));
        }
        for measure in [Measure::MeanSd, Measure::RawSd] {
            let recipe = Disagreement { measure, predictions: NonZeroUsize::new(5) };
            let policy = |w| Box::new(Chorus::passes(w).with_real_command()) as Box<dyn Policy>;
            assert_lawful("real commands", &detector_with(&recipe, &policy, ENTRY.exempt));
        }
    }
}
