//! Charts of exponentially weighted moving averages: distance of the recent mean of all channels from nominal, or of the farthest.
//!
//! score(t) = z_tᵀ C⁻¹ z_t, or max_j z_tj² / C_jj, with z_t = r y_t + (1 − r) z_{t−1}, z_0 = 0.
//!
//! | symbol | meaning                                                                           | shape |
//! |--------|-----------------------------------------------------------------------------------|-------|
//! | x_t    | observation after step t and command, in nominal deviations, held within ±30      | d     |
//! | y_t    | x_t, where a channel is compared with its beginning minus its mean over the first steps of the episode | d |
//! | r      | weight of the newest step                                                         | 1     |
//! | z_t    | weighted mean of y_1, …, y_t                                                      | d     |
//! | C      | second moments of z over the training steps, 5 % min(1, d / n)³ of them diagonal  | d × d |
//! | n      | training steps, times r / (2 − r): those whose means are nearly independent       | 1     |
//!
//! A shift that is small against the noise of a step adds up over about 2/r steps. An episode begins at the nominal
//! mean, so scores are small in its first steps. A channel that is constant in training counts in units of a hundredth of
//! its magnitude (0.01 if it is zero). A command stands beside the observation that follows it; where a log has both at
//! the same moment, name the command as an observation.
//!
//! Assumes: nominal channels keep their mean; the covariance of their weighted mean is that of the training steps.
//! Blind to: changes that leave the means and their correlations, such as other dynamics or more noise; faults much
//! shorter than 1/r steps.
//! Cost: fit O(n d² + d³), score O(d²).
//! Reference: Lowry, Woodall, Champ and Rigdon, Technometrics 34, 1992.
//! Deviates: C is measured on the means z, not derived from the covariance of x, since the steps of a recording depend
//! on one another; and it is the same for all t: the paper's factor for young means makes the first steps of dependent
//! data the largest ones.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // Recordings without commands: mean 0, deviation 1. With r = 1 the score is that of a Hotelling chart, x².
//! let nominal = Signals::new(&[0.0, 1.0, -1.0, 1.0, -1.0], &[], 1, 0);
//! let mewma = offnominal_detectors::catalogue().build("mewma", &serde_json::json!({"rate": 1.0})).unwrap();
//! let mut monitor = mewma.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap();
//! assert_eq!(monitor.score(&Transition { obs: &[0.0], action: &[], next_obs: &[3.0] }), 9.0);
//! ```

use crate::shared::beginning::{Beginning, Begun, Reference};
use crate::shared::channels::Channels;
use crate::shared::moments::SecondMoments;
use crate::shared::prelude::*;
use crate::shared::ranges::Rate;
use crate::shared::shares::{foremost, share_out};
use crate::shared::whiten::Whitener;

/// Deviation of a weighted mean, in units of what white noise of deviation one would have, below which a channel is still.
const FLOOR: f64 = 1e-4;

recipe! {
    /// The recipe.
    pub struct Mewma {
        /// Weight of the newest step, r: from 0.001 (long memory) to 1 (none).
        pub rate: Rate = Rate::new(0.1),
        /// Whether commands are among the channels.
        pub commands: bool = true,
        /// What counts: the `distance` of all channels together, or the `farthest` channel alone.
        pub statistic: Statistic = Statistic::Distance,
        /// What channels are compared with: `nominal`, their nominal mean; `beginning`, that of the episode; or `offsets`, the
        /// beginning for those that differ more between recordings than within one.
        pub reference: Reference = Reference::Nominal,
    }
}

/// What counts of the weighted means of several channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The distance in units of their covariance.
    Distance,
    /// The largest square in units of its own variance.
    Farthest,
}

/// The entry of [`Mewma`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    Mewma as dyn Detector,
    "mewma",
    "multivariate EWMA chart: distance of the recent mean of all channels from nominal",
    exempt: &[(Law::IgnoresConstantChannels, "a channel that never moved in training is news when it moves")]
);

impl Detector for Mewma {
    fn fit(
        &self,
        Nominal { train, progress, .. }: Nominal<'_>,
        _: &mut Rng,
    ) -> Result<Box<dyn Scorer>, FitError> {
        check(train, 2)?;
        let (channels, constant) = Channels::fit(train, self.n_commands(train[0].act_width()));
        let d = channels.width();
        let beginning = Beginning::fit(self.reference, train, d, |episode, tell| {
            let mut row = vec![0.0; d];
            episode.transitions().for_each(|seen| {
                channels.apply(&seen, &mut row);
                tell(&row);
            });
        });
        let (mut chart, mut moments) = (Chart::new(self.rate, &beginning, d), SecondMoments::new(d));
        for (i, episode) in train.iter().enumerate() {
            progress.at(i, train.len())?;
            chart.reset();
            for seen in episode.transitions() {
                chart.add(&channels, &beginning, &seen, &[]);
                moments.add(&chart.z);
            }
        }
        let mut covariance = moments.mean();
        // What white noise of deviation one would have.
        let least = self.rate.get() / (2.0 - self.rate.get());
        // A goal that each episode has for itself never moves against its beginning.
        let still = |j: &usize| covariance[j * d + j] < FLOOR * FLOOR * least;
        let still: Vec<usize> = (0..d).filter(still).collect();
        constant.iter().chain(&still).for_each(|j| covariance[j * d + j] = least);
        // Weighted means of neighbouring steps are nearly the same: so many of them are independent.
        let n = least * train.iter().map(Signals::len).sum::<usize>() as f64;
        let whitener = Whitener::of_many(covariance, d, n);
        Ok(self.fitted(Nominals { channels, beginning, whitener }, train[0].obs_width()))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let channels = Channels::load(&from.part("channels"), self.n_commands(from.act_width))?;
        let d = channels.width();
        let beginning = Beginning::load(&from.part("beginning"), d)?;
        let whitener = Whitener::load(&from.part("nominal"), d)?;
        Ok(self.fitted(Nominals { channels, beginning, whitener }, from.obs_width))
    }
}

impl Mewma {
    fn n_commands(&self, act_width: usize) -> usize {
        if self.commands { act_width } else { 0 }
    }

    fn fitted(&self, nominal: Nominals, obs_width: usize) -> Box<dyn Scorer> {
        let chart = Chart::new(self.rate, &nominal.beginning, nominal.channels.width());
        let (nominal, observed) = (Arc::new(nominal), (0..obs_width).collect());
        Box::new(Fitted { nominal, statistic: self.statistic, chart, observed })
    }
}

/// What was learned; all forks share it.
struct Nominals {
    channels: Channels,
    beginning: Beginning,
    whitener: Whitener,
}

/// The weighted mean of an episode so far.
#[derive(Debug, Clone)]
struct Chart {
    rate: f64,
    begun: Begun,
    z: Vec<f64>,
    /// The channels of the step, then what becomes of the mean in a score.
    work: Vec<f64>,
}

impl Chart {
    fn new(rate: Rate, beginning: &Beginning, d: usize) -> Chart {
        Chart { rate: rate.get(), begun: beginning.begun(), z: vec![0.0; d], work: vec![0.0; d] }
    }

    fn reset(&mut self) {
        self.begun.reset();
        self.z.fill(0.0);
    }

    fn add(&mut self, channels: &Channels, beginning: &Beginning, seen: &Transition<'_>, missing: &[bool]) {
        channels.apply(seen, &mut self.work);
        beginning.apply(&mut self.begun, &mut self.work, missing);
        self.z.iter_mut().zip(&self.work).for_each(|(z, x)| *z += self.rate * (x - *z));
    }
}

#[derive(Clone)]
struct Fitted {
    nominal: Arc<Nominals>,
    statistic: Statistic,
    chart: Chart,
    /// The numbers of the observation, which come before the commands.
    observed: Vec<usize>,
}

impl Fitted {
    /// The score of a step, of whose observation some numbers were filled.
    fn score_with(&mut self, seen: &Transition<'_>, missing: &[bool]) -> f64 {
        let Nominals { channels, beginning, whitener } = &*self.nominal;
        self.chart.add(channels, beginning, seen, missing);
        match self.statistic {
            Statistic::Distance => {
                self.chart.work.copy_from_slice(&self.chart.z);
                whitener.mean_square(&mut self.chart.work) * channels.width() as f64
            }
            Statistic::Farthest => {
                self.squares();
                self.chart.work.iter().copied().fold(0.0, f64::max)
            }
        }
    }

    /// What each channel, commands among them, contributes to the score of the last step, which is returned.
    fn contributions(&mut self) -> f64 {
        match self.statistic {
            Statistic::Distance => {
                self.chart.work.copy_from_slice(&self.chart.z);
                let score =
                    self.nominal.whitener.mean_square(&mut self.chart.work) * self.chart.z.len() as f64;
                self.nominal.whitener.contributions(&self.chart.z, &mut self.chart.work);
                score
            }
            Statistic::Farthest => {
                self.squares();
                let score = self.chart.work.iter().copied().fold(0.0, f64::max);
                self.chart
                    .work
                    .iter_mut()
                    .for_each(|square| *square = if *square == score { score } else { 0.0 });
                score
            }
        }
    }

    /// The square of each channel in units of its variance.
    fn squares(&mut self) {
        let deviations = &self.nominal.whitener.deviations;
        let squares = self.chart.z.iter().zip(deviations).map(|(z, deviation)| (z / deviation).powi(2));
        self.chart.work.iter_mut().zip(squares).for_each(|(work, square)| *work = square);
    }
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.chart.reset();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.score_with(seen, &[])
    }

    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        let score = self.score_with(&step.seen, step.missing_after);
        PartialScore { score, confidence: step.share_read() }
    }

    fn shares(&mut self, shares: &mut [f64]) -> bool {
        let score = self.contributions();
        share_out(score, &self.chart.work, &self.observed, shares);
        true
    }

    fn evidence(&mut self) -> Option<Evidence> {
        self.contributions();
        let channel = foremost(&self.chart.work);
        let against = self.nominal.beginning.against(channel);
        Some(Evidence { statistic: "exponentially weighted mean", against, channel, steps: None })
    }

    fn missing(&self) -> Missing {
        Missing::Predicted
    }

    /// What leaves the weighted mean where it is.
    fn fill(&mut self, gaps: &mut Gaps<'_>) {
        let Chart { begun, z, .. } = &self.chart;
        for (j, _) in gaps.missing_after.iter().enumerate().filter(|(_, missing)| **missing) {
            gaps.next_obs[j] = self.nominal.channels.value(j, begun.mean()[j] + z[j]) as f32;
        }
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.nominal.channels.save(&mut to.part("channels"));
        self.nominal.beginning.save(&mut to.part("beginning"));
        self.nominal.whitener.save(&mut to.part("nominal"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Knn;

    fn fitted(recipe: &dyn Detector, train: &[Vec<f32>], width: usize) -> Box<dyn Scorer> {
        let views: Vec<_> = train.iter().map(|o| Signals::new(o, &[], width, 0)).collect();
        recipe.fit(Nominal::new(&views, &[]), &mut Rng::new(1)).unwrap()
    }

    fn scores(monitor: &mut dyn Scorer, observations: &[f32], width: usize) -> Vec<f64> {
        let mut scores = Vec::new();
        monitor.score_episode(&Signals::new(observations, &[], width, 0), &mut scores);
        scores
    }

    /// y of an episode of two channels without commands, from its definition.
    fn means(rows: &[[f64; 2]], mean: [f64; 2], deviation: [f64; 2], r: f64) -> Vec<[f64; 2]> {
        let at = |t: usize, j: usize| {
            let weight = |s: usize| r * (1.0 - r).powi((t - s) as i32);
            (0..=t).map(|s| weight(s) * (rows[s][j] - mean[j]) / deviation[j]).sum::<f64>()
        };
        (0..rows.len()).map(|t| [at(t, 0), at(t, 1)]).collect()
    }

    #[test]
    fn scores_are_those_of_the_definition() {
        let mut rng = Rng::new(3);
        let rows: Vec<[f64; 2]> = (0..50)
            .map(|_| {
                let (a, b) = (rng.normal() as f32, rng.normal() as f32);
                [f64::from(3.0 + a), f64::from(a + 0.5 * b)]
            })
            .collect();
        let observations: Vec<f32> =
            [0.0, 0.0].into_iter().chain(rows.iter().flatten().map(|&v| v as f32)).collect();
        let recipe = Mewma { rate: Rate::new(0.3), ..Mewma::default() };
        let found =
            scores(fitted(&recipe, std::slice::from_ref(&observations), 2).as_mut(), &observations, 2);

        let of = |j: usize, f: &dyn Fn(f64) -> f64| rows.iter().map(|row| f(row[j])).sum::<f64>() / 50.0;
        let mean = [of(0, &|v| v), of(1, &|v| v)];
        let deviation = [0, 1].map(|j| of(j, &|v| (v - mean[j]).powi(2)).sqrt());
        let y = means(&rows, mean, deviation, 0.3);
        let moment = |i: usize, j: usize| y.iter().map(|y| y[i] * y[j]).sum::<f64>() / 50.0;
        let together = 1.0 - 0.05 * (2.0_f64 / (50.0 * 0.3 / 1.7)).powi(3);
        let (a, b, c) = (moment(0, 0), together * moment(0, 1), moment(1, 1));
        for (found, [p, q]) in found.iter().zip(&y) {
            let want = (c * p * p - 2.0 * b * p * q + a * q * q) / (a * c - b * b);
            assert!((found - want).abs() < 1e-9 * want.max(1.0), "expected {want}, found {found}");
        }
    }

    /// Ten channels that share a common cause; the fourth is shifted by one deviation from a step on.
    fn plant(seed: u64, shifted_from: usize) -> Vec<f32> {
        let mut rng = Rng::new(seed);
        let mut row = |t: usize| -> Vec<f32> {
            let common = rng.normal();
            let value =
                |j| 0.8 * common + 0.6 * rng.normal() + f64::from(u8::from(j == 3 && t >= shifted_from));
            (0..10).map(value).map(|v| v as f32).collect()
        };
        (0..401).flat_map(&mut row).collect()
    }

    /// Steps from the shift to the first score above all of nominal episodes, on average; at most 200.
    fn delay(recipe: &dyn Detector) -> f64 {
        let train: Vec<_> = (0..20).map(|i| plant(i, 401)).collect();
        let mut monitor = fitted(recipe, &train, 10);
        let mut run = |seed, from| scores(monitor.as_mut(), &plant(seed, from), 10);
        let threshold = (100..110).flat_map(|seed| run(seed, 401)).fold(0.0, f64::max);
        let delays = (200..220).map(|seed| {
            run(seed, 201).iter().skip(200).position(|&score| score > threshold).unwrap_or(200) as f64
        });
        delays.sum::<f64>() / 20.0
    }

    #[test]
    fn a_shift_of_one_deviation_in_one_of_ten_channels_is_found_at_once() {
        let (mewma, knn) = (delay(&Mewma::default()), delay(&Knn::default()));
        assert!(mewma < 20.0 && knn > 5.0 * mewma, "mewma {mewma} steps, knn {knn} steps");
    }

    #[test]
    fn the_first_steps_score_low_and_later_ones_do_not_tell_the_time() {
        let train: Vec<_> = (0..50).map(|i| plant(i, 401)).collect();
        let mut monitor = fitted(&Mewma::default(), &train, 10);
        let runs: Vec<_> = (1000..1400).map(|seed| scores(monitor.as_mut(), &plant(seed, 401), 10)).collect();
        let mean = |t: usize| runs.iter().map(|run| run[t]).sum::<f64>() / runs.len() as f64;
        assert!([40, 200, 300].into_iter().all(|t| (mean(t) - mean(100)).abs() < 1.5), "{}", mean(40));
        assert!(mean(0) < 0.3 * mean(100), "{}", mean(0));
    }

    #[test]
    fn a_channel_that_never_moved_adds_nothing_until_it_moves() {
        let mut rng = Rng::new(1);
        let noise: Vec<f32> = (0..101).map(|_| rng.normal() as f32).collect();
        let beside = |value: f32| noise.iter().flat_map(|&v| [v, value]).collect::<Vec<_>>();
        let alone = scores(fitted(&Mewma::default(), std::slice::from_ref(&noise), 1).as_mut(), &noise, 1);
        let mut monitor = fitted(&Mewma::default(), &[beside(5.0)], 2);
        let mut last = |value: f32| scores(monitor.as_mut(), &beside(value), 2)[99];
        assert!((last(5.0) - alone[99]).abs() < 1e-9);
        assert!(last(5.001) < alone[99] + 0.1 && last(5.25) > alone[99] + 100.0);
    }
}
