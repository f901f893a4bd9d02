//! Where to set the alarm: seven rules that need nominal episodes only, one for [streams](crate::run_length), and `conformal`
//! for a [rate](crate::rate) in the place of a share.
//!
//! An alarm is a [`Statistic`] of the scores **above** the threshold's value.
//!
//! | rule         | statistic  | value                                                   | false alarms                 |
//! |--------------|------------|---------------------------------------------------------|------------------------------|
//! | `3sigma`     | score      | mean + 3 standard deviations of all steps               | no promise                   |
//! | `q95`        | score      | 95th percentile of all steps (linear interpolation)     | 5 % of *steps*: most long episodes |
//! | `max`        | score      | largest step                                            | ≤ 1 / (n + 1) of episodes on average |
//! | `conformal`  | score      | the k-th smallest episode maximum, k by the [`Promise`] | ≤ α of *episodes*            |
//! | `band`       | z by time: a threshold for each step | likewise, of the statistic    | likewise                     |
//! | `cusum`      | CUSUM of z | likewise                                                | likewise                     |
//! | `martingale` | log capital of bets on ranks of z | likewise                         | likewise                     |
//!
//! The promise of `conformal` (and of `max`, its extreme case k = n) holds for every score and every n, provided that
//! the calibration episodes and the one to come are exchangeable: same policy, environment and length rule, and none of
//! them was used to fit the detector. It is meant on average over calibration sets, or with confidence in the one at
//! hand ([`Promise`]). The false-alarm probability of one given set follows a Beta(n + 1 − k, k) law if maxima have no
//! ties (with ties, fewer alarms); [`Threshold::false_alarms`] is its mean and interval.
//!
//! The last three need to know what is nominal at each step before they can accumulate anything. The first episodes say
//! that, the others set the value, so that for those others and the one to come the statistic is one and the same
//! function of an episode: the promise is as exact as that of `conformal`. The first half is used, or as many as the
//! other part can spare, five at least.
//!
//! An alarm of probability ≤ α per episode comes after 1/α episodes or more, on average.
//!
//! References: the first three rules, Anomaly-Gym, appendix A.8; conformal, Vovk, Gammerman & Shafer, Algorithmic
//! Learning in a Random Environment, 2005, proposition 2.4; Vovk, ACML 2012, proposition 2a for the Beta law.

use crate::alarm::shape::Shape;
use crate::alarm::statistic::{Past, Statistic};
use crate::episode::finite;
use crate::mean::moments;
use crate::promise::{Promise, false_alarms};
use crate::rate::Rate;
use crate::rule::{AlarmRule, RULES, RUN_LENGTH};
use crate::run_length::RunLength;
use crate::{Level, ScoredEpisode, StatsError};
use offnominal_core::estimate::Estimate;
use std::borrow::Cow;
use std::mem::discriminant;

/// Episodes that a rule needs at least to learn what is nominal at each step.
const SHAPE_EPISODES: usize = 5;

/// How to choose a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Mean plus three standard deviations (divisor n) of all steps.
    ThreeSigma,
    /// The 95th percentile of all steps.
    Q95,
    /// The largest step.
    Max,
    /// At most a promised share of nominal episodes raises an alarm.
    Conformal(Promise),
    /// The same for scores standardised by time.
    Band(Promise),
    /// The same for a CUSUM of standardised scores.
    Cusum(Promise),
    /// The same for the capital of a betting martingale.
    Martingale(Promise),
    /// At most one alarm in a number of steps of a stream that has no episodes.
    RunLength(RunLength),
    /// `Conformal` for the share of episodes that keeps a rate of alarms an hour.
    Rate(Rate),
}

/// An alarm threshold and what is known of its false alarms.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// What is compared with the value.
    pub statistic: Statistic,
    /// Alarms are values of the statistic above this.
    pub value: f64,
    /// The share of nominal episodes with an alarm, as far as the rule promises anything.
    pub false_alarms: Option<Estimate>,
    /// The maxima of the statistic over the episodes among which the value was chosen by its rank, in their order; none if
    /// the rule promises no share.
    pub maxima: Vec<f64>,
}

impl Rule {
    /// The rules of the result tables, which are those for episodes, with the given promise for those that make one.
    pub fn all(promise: Promise) -> [Rule; 7] {
        [
            Rule::ThreeSigma,
            Rule::Q95,
            Rule::Max,
            Rule::Conformal(promise),
            Rule::Band(promise),
            Rule::Cusum(promise),
            Rule::Martingale(promise),
        ]
    }

    /// Name in results.
    pub fn id(&self) -> &'static str {
        self.about().id
    }

    /// What is known of the rule, whatever share it is asked for.
    pub fn about(&self) -> &'static AlarmRule {
        if let Rule::RunLength(_) = self {
            return &RUN_LENGTH;
        }
        // Which share it is does not matter here.
        let rule = if let Rule::Rate(_) = self { Rule::Conformal(Promise::on_average(0.5)) } else { *self };
        let is_same = |other: &Rule| discriminant(other) == discriminant(&rule);
        let place = Rule::all(Promise::on_average(0.5)).iter().position(is_same);
        &RULES[place.expect("every rule is one of all")]
    }

    /// The rule for calibration episodes of so many steps each: a rate becomes the share of episodes that keeps it.
    ///
    /// # Errors
    /// As [`Rate::promise`].
    pub fn of_lengths(self, steps: &[usize]) -> Result<Rule, StatsError> {
        match self {
            Rule::Rate(rate) => Ok(Rule::Conformal(rate.promise(steps)?)),
            other => Ok(other),
        }
    }

    /// The share that the rule promises, if it was asked for one.
    pub fn promise(&self) -> Option<Promise> {
        match *self {
            Rule::ThreeSigma | Rule::Q95 | Rule::Max | Rule::RunLength(_) | Rule::Rate(_) => None,
            Rule::Conformal(promise)
            | Rule::Band(promise)
            | Rule::Cusum(promise)
            | Rule::Martingale(promise) => Some(promise),
        }
    }

    /// The least number of nominal episodes that the rule can work with: those of its [promise](Promise::min_episodes),
    /// and five more for the rules that learn what is nominal at each step.
    pub fn min_episodes(&self) -> usize {
        let learned = if matches!(self, Rule::Conformal(_)) { 0 } else { SHAPE_EPISODES };
        self.promise().map_or(1, |promise| promise.min_episodes() + learned)
    }

    /// The threshold from the step scores of nominal episodes that the detector was not fitted on.
    ///
    /// # Errors
    /// If there are no steps, a score is not finite, a share is not between 0 and 1, or there are too few episodes for
    /// the promise; the message says how many are needed.
    pub fn threshold<E: AsRef<[f64]>>(&self, nominal: &[E], level: Level) -> Result<Threshold, StatsError> {
        nominal.iter().enumerate().try_for_each(|(i, e)| finite(e.as_ref(), i, false))?;
        let steps: Vec<f64> = nominal.iter().flat_map(|e| e.as_ref()).copied().collect();
        StatsError::require("threshold", 1, "nominal steps", steps.len())?;
        let plain =
            |value| Ok(Threshold { statistic: Statistic::Score, value, false_alarms: None, maxima: vec![] });
        match *self {
            Rule::ThreeSigma => plain(three_sigma(&steps)),
            Rule::Q95 => plain(percentile(steps, 0.95)),
            // It promises no share, so nothing is to be kept of how it came about.
            Rule::Max => {
                let largest = kth_maximum(Statistic::Score, nominal, usize::MAX, level);
                Ok(Threshold { maxima: vec![], ..largest })
            }
            Rule::Rate(_) => {
                let steps: Vec<usize> = nominal.iter().map(|e| e.as_ref().len()).collect();
                self.of_lengths(&steps)?.threshold(nominal, level)
            }
            Rule::Conformal(promise) => self.ranked(None, nominal, promise, level),
            Rule::Band(promise) => {
                self.ranked(Some(|e| Statistic::Band(Shape::of(e))), nominal, promise, level)
            }
            Rule::Cusum(promise) => {
                self.ranked(Some(|e| Statistic::Cusum(Shape::of(e))), nominal, promise, level)
            }
            Rule::Martingale(promise) => self.ranked(Some(Statistic::martingale), nominal, promise, level),
            Rule::RunLength(run_length) => {
                let blocks = run_length.blocks(nominal)?;
                let value = run_length.limit(&blocks);
                Ok(Threshold {
                    statistic: Statistic::Blocks(blocks),
                    value,
                    false_alarms: None,
                    maxima: vec![],
                })
            }
        }
    }

    /// The value is an order statistic over episodes. What of, if not of the score, is learned on the first episodes,
    /// and its value on the others.
    fn ranked<E: AsRef<[f64]>>(
        &self,
        learn: Option<fn(&[E]) -> Statistic>,
        nominal: &[E],
        promise: Promise,
        level: Level,
    ) -> Result<Threshold, StatsError> {
        promise.check()?;
        let (what, needed) = ("threshold for this share of false alarms", self.min_episodes());
        StatsError::require(what, needed, "nominal calibration episodes", nominal.len())?;
        let (mut statistic, mut others) = (Statistic::Score, nominal);
        if let Some(learn) = learn {
            let n_shape = (nominal.len() / 2).min(nominal.len() - promise.min_episodes());
            let first = &nominal[..n_shape];
            StatsError::require("what is nominal at each step", 1, "nominal steps", n_steps(first))?;
            (statistic, others) = (learn(first), &nominal[n_shape..]);
        }
        Ok(kth_maximum(statistic, others, promise.rank(others.len()), level))
    }
}

impl Threshold {
    /// Whether an episode with these scores raises an alarm.
    pub fn alarms(&self, scores: &[f64]) -> bool {
        let mut watch = Watch::new(self);
        scores.iter().any(|&score| watch.exceeds(score))
    }

    /// How many of the nominal episodes have the threshold itself as their largest value, if none has a larger one; episodes with the
    /// same scores count as one. More than one are a sign that the scores have a largest value, and that it is reached.
    pub fn tied<E: AsRef<[f64]>>(&self, nominal: &[E]) -> usize {
        let mut tied: Vec<&[f64]> = Vec::new();
        for scores in nominal.iter().map(AsRef::as_ref) {
            let largest = self.statistic.largest(scores);
            if largest > self.value {
                return 0;
            }
            if largest == self.value && !tied.contains(&scores) {
                tied.push(scores);
            }
        }
        tied.len()
    }

    /// The episodes with the statistic in the place of their scores, to be judged at [`Threshold::value`].
    pub fn watched<'e>(&self, episodes: &'e [ScoredEpisode]) -> Cow<'e, [ScoredEpisode]> {
        if self.statistic == Statistic::Score {
            return Cow::Borrowed(episodes);
        }
        let watched = |e: &ScoredEpisode| ScoredEpisode {
            scores: self.statistic.of(&e.scores),
            twin: e.twin.as_ref().map(|twin| self.statistic.of(twin)),
            ..e.clone()
        };
        episodes.iter().map(watched).collect()
    }
}

/// A threshold at work on one episode after the other. It does not allocate.
#[derive(Debug, Clone)]
pub struct Watch<'t> {
    threshold: &'t Threshold,
    past: Past,
}

impl<'t> Watch<'t> {
    /// Before the first step of an episode.
    pub fn new(threshold: &'t Threshold) -> Watch<'t> {
        Watch { threshold, past: Past::default() }
    }

    /// Another episode begins.
    pub fn reset(&mut self) {
        self.past = Past::default();
    }

    /// One score more; whether the statistic is above the value.
    pub fn exceeds(&mut self, score: f64) -> bool {
        self.past.advance(&self.threshold.statistic, score) > self.threshold.value
    }
}

fn n_steps<E: AsRef<[f64]>>(episodes: &[E]) -> usize {
    episodes.iter().map(|e| e.as_ref().len()).sum()
}

fn three_sigma(steps: &[f64]) -> f64 {
    let (mean, variance) = moments(steps);
    let n = steps.len() as f64;
    mean + 3.0 * (variance * (n - 1.0) / n).sqrt()
}

fn percentile(mut steps: Vec<f64>, share: f64) -> f64 {
    steps.sort_unstable_by(f64::total_cmp);
    let position = share * (steps.len() - 1) as f64;
    let (below, above) = (steps[position.floor() as usize], steps[position.ceil() as usize]);
    below + (above - below) * position.fract()
}

/// The k-th smallest of the maxima of a statistic over episodes, with the law of its false alarms. Episodes without
/// steps never alarm.
fn kth_maximum<E: AsRef<[f64]>>(statistic: Statistic, nominal: &[E], k: usize, level: Level) -> Threshold {
    let maxima: Vec<f64> = nominal.iter().map(|e| statistic.largest(e.as_ref())).collect();
    let mut sorted = maxima.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let k = k.min(maxima.len());
    let false_alarms = Some(false_alarms(k, maxima.len(), level));
    Threshold { statistic, value: sorted[k - 1], false_alarms, maxima }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::{Rng, Seed};

    fn value(rule: Rule, nominal: &[Vec<f64>]) -> f64 {
        rule.threshold(nominal, Level::P95).unwrap().value
    }

    fn refused(rule: Rule, nominal: &[Vec<f64>]) -> String {
        rule.threshold(nominal, Level::P95).unwrap_err().to_string()
    }

    #[test]
    fn rules_in_closed_form() {
        // Steps 0 … 100: mean 50, variance (101² − 1) / 12 = 850.
        let steps = [(0..=100).map(f64::from).collect::<Vec<f64>>()];
        assert!((value(Rule::ThreeSigma, &steps) - (50.0 + 3.0 * 850.0_f64.sqrt())).abs() < 1e-9);
        assert!((value(Rule::Q95, &steps) - 95.0).abs() < 1e-9);
        assert_eq!(value(Rule::Max, &steps), 100.0);
    }

    #[test]
    fn the_conformal_rank_is_exact() {
        // Nineteen episodes with maxima 1 … 19: α = 0.05 needs all of them, α = 0.1 leaves one out, and so on.
        let nominal: Vec<Vec<f64>> = (1..=19).map(|i| vec![0.0, f64::from(i)]).collect();
        for (alpha, want) in [(0.05, 19.0), (0.099, 19.0), (0.1, 18.0), (0.15, 17.0), (0.5, 10.0)] {
            assert_eq!(value(Rule::Conformal(Promise::on_average(alpha)), &nominal), want, "{alpha}");
        }
        assert_eq!(
            refused(Rule::Conformal(Promise::on_average(0.01)), &nominal),
            "threshold for this share of false alarms: expected at least 99 nominal calibration episodes, \
             found 19"
        );
        assert_eq!(
            refused(Rule::Band(Promise::on_average(0.05)), &nominal),
            "threshold for this share of false alarms: expected at least 24 nominal calibration episodes, \
             found 19"
        );
    }

    #[test]
    fn a_streamed_alarm_is_that_of_the_whole_episode() {
        let mut rng = Rng::new(4);
        let (nominal, fresh) = (nominal_episodes(60, &mut rng), nominal_episodes(40, &mut rng));
        for rule in Rule::all(Promise::on_average(0.3)) {
            let threshold = rule.threshold(&nominal, Level::P95).unwrap();
            let mut watch = Watch::new(&threshold);
            let alarmed = fresh.iter().filter(|e| {
                watch.reset();
                let streamed = e.iter().fold(false, |on, &s| on | watch.exceeds(s));
                let whole = threshold.statistic.of(e).iter().any(|&s| s > threshold.value);
                assert!(streamed == whole && whole == threshold.alarms(e), "{}", rule.id());
                whole
            });
            assert!(alarmed.count() > 0 || rule == Rule::Max, "{} never alarms", rule.id());
        }
    }

    #[test]
    fn watched_episodes_have_the_statistic_and_everything_else() {
        let mut rng = Rng::new(5);
        let nominal = nominal_episodes(60, &mut rng);
        let episodes = [ScoredEpisode::persistent(nominal[0].clone(), 7, Some(nominal[1].clone()))];
        let band = Rule::Band(Promise::on_average(0.2)).threshold(&nominal, Level::P95).unwrap();
        let watched = band.watched(&episodes);
        assert_eq!(watched[0].twin, Some(band.statistic.of(&nominal[1])));
        assert_eq!((&watched[0].labels, watched[0].onset), (&episodes[0].labels, Some(7)));
        assert!(matches!(value_of(&nominal).watched(&episodes), Cow::Borrowed(_)));
    }

    fn value_of(nominal: &[Vec<f64>]) -> Threshold {
        Rule::Max.threshold(nominal, Level::P95).unwrap()
    }

    #[test]
    fn bad_input_is_named() {
        assert_eq!(refused(Rule::Max, &[]), "threshold: expected at least 1 nominal steps, found 0");
        assert!(refused(Rule::Q95, &[vec![1.0], vec![f64::NAN]]).starts_with("episode 1, step 0"));
        assert!(refused(Rule::Conformal(Promise::on_average(5.0)), &[vec![1.0]]).contains("found 5"));
    }

    /// Nominal episodes of autocorrelated scores, with levels of their own: nothing is independent within one.
    fn nominal_episodes(n: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        let mut one = || {
            let offset = rng.normal();
            let mut x = 0.0;
            let mut step = || {
                x = 0.9 * x + rng.normal();
                x + offset
            };
            (0..40).map(|_| step()).collect::<Vec<f64>>()
        };
        (0..n).map(|_| one()).collect()
    }

    /// Share of fresh nominal episodes with an alarm, over many calibration sets.
    fn realised(rule: Rule, splits: u64) -> f64 {
        let fresh = 20;
        let alarms = (0..splits).map(|split| {
            let mut rng = Seed(split).child("split").rng();
            let threshold = value(rule, &nominal_episodes(29, &mut rng));
            let alarmed = |e: &&Vec<f64>| e.iter().any(|&s| s > threshold);
            nominal_episodes(fresh, &mut rng).iter().filter(alarmed).count()
        });
        alarms.sum::<usize>() as f64 / (splits as usize * fresh) as f64
    }

    #[test]
    fn conformal_keeps_its_promise_and_the_percentile_does_not() {
        let (alpha, splits) = (0.1, 400);
        let found = realised(Rule::Conformal(Promise::on_average(alpha)), splits);
        // The share of one split has variance below Beta(3, 27)'s plus the binomial's of twenty episodes.
        let noise = ((0.1 * 0.9 / 31.0 + 0.1 * 0.9 / 20.0) / splits as f64).sqrt();
        assert!(found <= alpha + 3.0 * noise && found >= alpha - 3.0 * noise, "{found}");
        assert!(realised(Rule::Q95, splits) > 3.0 * alpha);
    }

    #[test]
    fn the_beta_law_covers_the_realised_rate() {
        let covered = (0..300).filter(|&seed| {
            let mut rng = Seed(seed).child("beta").rng();
            let calibration: Vec<[f64; 1]> = (0..49).map(|_| [rng.uniform()]).collect();
            let found =
                Rule::Conformal(Promise::on_average(0.2)).threshold(&calibration, Level::P95).unwrap();
            found.false_alarms.unwrap().covers(1.0 - found.value)
        });
        let covered = covered.count();
        assert!((273..=297).contains(&covered), "{covered}");
    }

    /// In how many of 1,000 calibration sets of independent maxima the share of false alarms is at most α. It is known
    /// exactly: a uniform maximum is above v with probability 1 − v.
    fn sets_that_keep(promise: Promise) -> usize {
        let keeps = |seed: &u64| {
            let mut rng = Seed(*seed).child("sets").rng();
            let calibration: Vec<[f64; 1]> = (0..100).map(|_| [rng.uniform()]).collect();
            1.0 - Rule::Conformal(promise).threshold(&calibration, Level::P95).unwrap().value <= promise.alpha
        };
        (0..1_000).filter(keeps).count()
    }

    #[test]
    fn a_promise_with_confidence_holds_in_that_share_of_calibration_sets() {
        for alpha in [0.05, 0.1] {
            assert!(sets_that_keep(Promise::with_confidence(alpha, 0.95)) >= 950);
            let on_average = sets_that_keep(Promise::on_average(alpha));
            assert!((500..700).contains(&on_average), "{on_average}");
        }
    }

    #[test]
    fn rules_that_accumulate_promise_with_confidence_too() {
        let nominal = nominal_episodes(64, &mut Rng::new(6));
        let confident = Promise::with_confidence(0.05, 0.95);
        for rule in &Rule::all(confident)[4..] {
            let found = rule.threshold(&nominal, Level::P95).unwrap().false_alarms.unwrap();
            // Five episodes tell what is nominal, 59 are ranked, and their largest maximum is the value.
            assert!(found.n == 59 && (found.value - 1.0 / 60.0).abs() < 1e-12, "{}", rule.id());
        }
        let refused = refused(Rule::Cusum(confident), &nominal[1..]);
        assert!(refused.contains("expected at least 64 nominal calibration episodes, found 63"), "{refused}");
    }
}
