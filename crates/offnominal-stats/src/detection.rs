//! How well scores separate anomalous steps from nominal ones, in three protocols.
//!
//! | mode      | anomalous steps                | nominal steps                          | combined by             |
//! |-----------|--------------------------------|----------------------------------------|-------------------------|
//! | `local`   | of one episode                 | of the same episode                    | mean over episodes      |
//! | `global`  | of all episodes                | of all episodes                        | pooling                 |
//! | `matched` | of all episodes, if the twin   | the twins' steps at the same times     | pooling                 |
//! |           | still runs at that time        |                                        |                         |
//!
//! `local` leaves out episodes without both classes. It and `global` confuse an anomaly with the passing of time: with
//! an anomaly that stays, the score "time since the start" has a local AUROC of 1. In `matched` it has exactly 0.5,
//! because anomalous and nominal steps have the same times.
//!
//! Intervals resample whole episodes, each with its twin.
//! Reference for `local` and `global`: section 6.2 of the Anomaly-Gym paper; `matched` is this project's.

use crate::bootstrap::{Bootstrap, Range};
use crate::mean::weighted;
use crate::ranking::{Ranking, Tally};
use crate::{ScoredEpisode, StatsError};
use offnominal_core::estimate::Estimate;

/// Which steps are compared with which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Within each episode, then averaged.
    Local,
    /// All steps pooled.
    Global,
    /// Anomalous steps against the nominal twins' steps at the same times, pooled.
    Matched,
}

impl Mode {
    /// All modes, in the order in which reports list them.
    pub const ALL: [Mode; 3] = [Mode::Local, Mode::Global, Mode::Matched];

    /// Names of AUROC, average precision and FPR95 in results.
    pub fn metric_ids(self) -> [&'static str; 3] {
        match self {
            Mode::Local => ["auroc_local", "aupr_local", "fpr95_local"],
            Mode::Global => ["auroc_global", "aupr_global", "fpr95_global"],
            Mode::Matched => ["auroc_matched", "aupr_matched", "fpr95_matched"],
        }
    }
}

/// The ranking metrics of a detector in one mode.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// Which steps were compared.
    pub mode: Mode,
    /// Area under the ROC curve.
    pub auroc: Estimate,
    /// Average precision.
    pub aupr: Estimate,
    /// False positive rate where 95 % of the anomalous steps are found.
    pub fpr95: Estimate,
}

impl Detection {
    /// Name in results and estimate of each metric.
    pub fn rows(&self) -> [(&'static str, &Estimate); 3] {
        let [auroc, aupr, fpr95] = self.mode.metric_ids();
        [(auroc, &self.auroc), (aupr, &self.aupr), (fpr95, &self.fpr95)]
    }
}

/// Judges scored episodes in one mode.
///
/// # Errors
/// If an episode is invalid, or the mode finds no anomalous or no nominal step to compare.
pub fn detection(episodes: &[ScoredEpisode], mode: Mode, plan: &Bootstrap) -> Result<Detection, StatsError> {
    episodes.iter().enumerate().try_for_each(|(i, e)| e.check(i))?;
    let [auroc, aupr, fpr95] = match mode {
        Mode::Local => local(episodes, plan),
        Mode::Global => pooled(Ranking::new(episodes.len(), all_steps(episodes)), plan),
        Mode::Matched => matched(episodes, plan),
    }?;
    Ok(Detection { mode, auroc, aupr, fpr95 })
}

fn local(episodes: &[ScoredEpisode], plan: &Bootstrap) -> Result<[Estimate; 3], StatsError> {
    let metrics: Vec<[f64; 3]> = episodes.iter().filter_map(|e| within(e).map(array)).collect();
    let columns: [Vec<f64>; 3] = std::array::from_fn(|k| metrics.iter().map(|row| row[k]).collect());
    plan.estimates("local metrics", metrics.len(), [Range::Unit; 3], |weights| {
        Some([
            weighted(&columns[0], weights)?,
            weighted(&columns[1], weights)?,
            weighted(&columns[2], weights)?,
        ])
    })
}

/// The metrics within one episode; none unless it has both classes.
fn within(episode: &ScoredEpisode) -> Option<Tally> {
    Ranking::new(1, all_steps(std::slice::from_ref(episode))).tally(&[1])
}

fn array(tally: Tally) -> [f64; 3] {
    [tally.auroc, tally.average_precision, tally.fpr95]
}

fn all_steps(episodes: &[ScoredEpisode]) -> impl Iterator<Item = (f64, bool, usize)> {
    episodes
        .iter()
        .enumerate()
        .flat_map(|(i, e)| e.scores.iter().zip(&e.labels).map(move |(&score, &label)| (score, label, i)))
}

fn matched(episodes: &[ScoredEpisode], plan: &Bootstrap) -> Result<[Estimate; 3], StatsError> {
    let twins = episodes.iter().filter(|e| e.twin.is_some()).count();
    StatsError::require("matched metrics", 1, "episodes with a nominal twin", twins)?;
    let pairs: Vec<Vec<(f64, f64)>> = episodes.iter().map(pairs).filter(|p| !p.is_empty()).collect();
    StatsError::require("matched metrics", 1, "anomalous steps that the twin reaches too", pairs.len())?;
    let steps = pairs.iter().enumerate().flat_map(|(i, steps)| {
        steps.iter().flat_map(move |&(anomalous, nominal)| [(anomalous, true, i), (nominal, false, i)])
    });
    pooled(Ranking::new(pairs.len(), steps), plan)
}

/// Scores of the anomalous steps, each with the twin's score at the same time.
fn pairs(episode: &ScoredEpisode) -> Vec<(f64, f64)> {
    let twin = episode.twin.iter().flatten();
    let steps = episode.scores.iter().zip(twin).zip(&episode.labels);
    steps.filter(|&(_, &anomalous)| anomalous).map(|((&score, &twin), _)| (score, twin)).collect()
}

fn pooled(ranking: Ranking, plan: &Bootstrap) -> Result<[Estimate; 3], StatsError> {
    let n = ranking.n_clusters();
    if ranking.tally(&vec![1; n]).is_none() {
        return Err(ranking.one_class());
    }
    plan.estimates("pooled metrics", n, [Range::Unit; 3], |weights| ranking.tally(weights).map(array))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::level::normal_cdf;
    use offnominal_core::{Rng, Seed};

    fn plan(seed: u64) -> Bootstrap {
        Bootstrap::new(400, Level::P95, Seed(seed))
    }

    /// Episodes with random lengths and onsets, scored by `score(step, anomalous, rng)`; twins have lengths of their own.
    fn episodes(n: usize, mut score: impl FnMut(usize, bool, &mut Rng) -> f64) -> Vec<ScoredEpisode> {
        let mut rng = Rng::new(11);
        (0..n)
            .map(|_| {
                let (len, twin_len) = (20 + rng.below(30), 20 + rng.below(30));
                let onset = 2 + rng.below(18);
                let scores = (0..len).map(|t| score(t, t >= onset, &mut rng)).collect();
                let twin = (0..twin_len).map(|t| score(t, false, &mut rng)).collect();
                ScoredEpisode::persistent(scores, onset as u32, Some(twin))
            })
            .collect()
    }

    #[test]
    fn a_clock_fools_the_published_modes_but_not_the_matched_one() {
        let clock = episodes(50, |t, _, _| t as f64);
        let judged = |mode| detection(&clock, mode, &plan(0)).unwrap().auroc;
        assert_eq!(judged(Mode::Local).value, 1.0);
        assert!(judged(Mode::Global).value > 0.8);
        let matched = judged(Mode::Matched);
        assert_eq!(matched.value, 0.5);
        // All fifty episodes have the same area, which says little of what others have.
        assert!((matched.high - matched.low - (1.0 - 0.025_f64.powf(0.02))).abs() < 1e-9, "{matched}");
    }

    #[test]
    fn two_gaussians_give_the_closed_form_in_every_mode() {
        let d = 1.0;
        let found = episodes(300, |_, anomalous, rng| rng.normal() + if anomalous { d } else { 0.0 });
        let truth = normal_cdf(d / 2.0_f64.sqrt());
        for mode in Mode::ALL {
            let auroc = detection(&found, mode, &plan(1)).unwrap().auroc;
            assert!((auroc.value - truth).abs() < 0.015, "{mode:?} {auroc}");
            assert!(auroc.high - auroc.low < 0.05 && auroc.n == 300, "{mode:?} {auroc}");
        }
    }

    #[test]
    fn the_local_mode_is_the_mean_over_episodes_with_both_classes() {
        let perfect = ScoredEpisode::persistent(vec![0.0, 1.0], 1, None);
        let reversed = ScoredEpisode::persistent(vec![1.0, 0.0], 1, None);
        let one_class = ScoredEpisode::nominal(vec![5.0, 6.0]);
        let found = detection(&[perfect, reversed, one_class], Mode::Local, &plan(0)).unwrap();
        assert_eq!((found.auroc.value, found.auroc.n), (0.5, 2));
    }

    #[test]
    fn missing_data_is_said_and_not_zero() {
        let nominal = [ScoredEpisode::nominal(vec![1.0, 2.0])];
        let error = |mode| detection(&nominal, mode, &plan(0)).unwrap_err().to_string();
        assert_eq!(error(Mode::Local), "local metrics: expected at least 1 independent values, found 0");
        assert_eq!(error(Mode::Global), "expected anomalous and nominal steps, found only nominal ones (2)");
        assert_eq!(
            error(Mode::Matched),
            "matched metrics: expected at least 1 episodes with a nominal twin, found 0"
        );
    }

    /// Share of repetitions whose interval covers the AUROC of two Gaussians at distance 1.
    fn covered(repetitions: u64, mode: Mode) -> u64 {
        let truth = normal_cdf(0.5_f64.sqrt());
        let covers = |seed: u64| {
            let mut rng = Seed(seed).child("coverage").rng();
            let mut draw = |shift: f64| (0..6).map(|_| rng.normal() + shift).collect::<Vec<f64>>();
            let episode = |_| {
                let scores = [draw(0.0), draw(1.0)].concat();
                ScoredEpisode::persistent(scores, 6, Some(draw(0.0).repeat(2)))
            };
            let episodes: Vec<_> = (0..60).map(episode).collect();
            detection(&episodes, mode, &plan(seed)).unwrap().auroc.covers(truth)
        };
        (0..repetitions).filter(|&seed| covers(seed)).count() as u64
    }

    #[test]
    fn intervals_cover_the_truth() {
        let repetitions = if std::env::var_os("RUN_SLOW_TESTS").is_some() { 2000 } else { 200 };
        for mode in Mode::ALL {
            let share = covered(repetitions, mode) as f64 / repetitions as f64;
            println!("{mode:?}: {share} of {repetitions} intervals cover");
            let noise = (0.95 * 0.05 / repetitions as f64).sqrt();
            assert!((share - 0.95).abs() < 3.0 * noise, "{mode:?}: {share} of {repetitions}");
        }
    }
}
