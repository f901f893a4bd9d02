//! The laws of ranking metrics, over random scores, and broken metrics that each law must reject.

use offnominal_core::Seed;
use offnominal_stats::{Bootstrap, Level, Mode, ScoredEpisode, detection, tally};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};

/// An AUROC-like metric of scores and labels.
type Metric = fn(&[f64], &[bool]) -> f64;

fn auroc(scores: &[f64], labels: &[bool]) -> f64 {
    tally(scores, labels).unwrap().auroc
}

fn average_precision(scores: &[f64], labels: &[bool]) -> f64 {
    tally(scores, labels).unwrap().average_precision
}

fn fpr95(scores: &[f64], labels: &[bool]) -> f64 {
    tally(scores, labels).unwrap().fpr95
}

/// Scores with many ties, and labels of both classes.
fn steps() -> impl Strategy<Value = Vec<(f64, bool)>> {
    let step = ((-6_i32..6).prop_map(|k| f64::from(k) / 4.0), any::<bool>());
    proptest::collection::vec(step, 2..40).prop_map(|mut steps| {
        (steps[0].1, steps[1].1) = (false, true);
        steps
    })
}

/// Looks for steps that break a law.
fn search(law: impl Fn(&[f64], &[bool]) -> bool) -> Result<(), TestError<Vec<(f64, bool)>>> {
    TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(300) }).run(&steps(), |steps| {
        let (scores, labels): (Vec<f64>, Vec<bool>) = steps.into_iter().unzip();
        prop_assert!(law(&scores, &labels));
        Ok(())
    })
}

/// A strictly increasing map of the scores changes nothing.
fn ignores_monotone_maps(metric: Metric) -> bool {
    search(|scores, labels| {
        let mapped: Vec<f64> = scores.iter().map(|s| (2.0 * s).exp() - 7.0).collect();
        metric(scores, labels) == metric(&mapped, labels)
    })
    .is_ok()
}

/// Negating the scores, or exchanging the classes, turns x into 1 − x.
fn is_symmetric(metric: Metric) -> bool {
    search(|scores, labels| {
        let negated: Vec<f64> = scores.iter().map(|s| -s).collect();
        let exchanged: Vec<bool> = labels.iter().map(|l| !l).collect();
        let complement = 1.0 - metric(scores, labels);
        (metric(&negated, labels) - complement).abs() < 1e-12
            && (metric(scores, &exchanged) - complement).abs() < 1e-12
    })
    .is_ok()
}

/// The order of the steps does not matter.
fn ignores_order(metric: Metric) -> bool {
    search(|scores, labels| {
        let (mut scores_back, mut labels_back) = (scores.to_vec(), labels.to_vec());
        scores_back.reverse();
        labels_back.reverse();
        metric(scores, labels) == metric(&scores_back, &labels_back)
    })
    .is_ok()
}

/// The AUROC by its definition: every pair is compared.
fn equals_the_definition(metric: Metric) -> bool {
    search(|scores, labels| (metric(scores, labels) - pairs_won(scores, labels, 0.5)).abs() < 1e-12).is_ok()
}

/// Share of pairs in which the anomalous step scores higher; a tie counts as `tie`.
fn pairs_won(scores: &[f64], labels: &[bool], tie: f64) -> f64 {
    let of = |class: bool| scores.iter().zip(labels).filter(move |&(_, &l)| l == class).map(|(&s, _)| s);
    let won = |(p, n): (f64, f64)| if p > n { 1.0 } else { f64::from(u8::from(p == n)) * tie };
    let pairs: Vec<f64> = of(true).flat_map(|p| of(false).map(move |n| won((p, n)))).collect();
    pairs.iter().sum::<f64>() / pairs.len() as f64
}

mod broken {
    //! Metrics that look right and are not.

    /// Ties count as won.
    pub fn generous(scores: &[f64], labels: &[bool]) -> f64 {
        super::pairs_won(scores, labels, 1.0)
    }

    /// Sorts without looking at ties, so that the order of the input decides.
    pub fn hasty(scores: &[f64], labels: &[bool]) -> f64 {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        let (mut below, mut won) = (0.0, 0.0);
        for i in order {
            if labels[i] { won += below } else { below += 1.0 }
        }
        won / (below * (labels.len() as f64 - below))
    }

    /// Compares means instead of ranks.
    pub fn means(scores: &[f64], labels: &[bool]) -> f64 {
        let sum = |class: bool| scores.iter().zip(labels).filter(|s| *s.1 == class).map(|s| s.0).sum::<f64>();
        0.5 + 0.5 * (sum(true) - sum(false)).tanh()
    }
}

#[test]
fn the_auroc_obeys_every_law() {
    assert!(ignores_monotone_maps(auroc) && is_symmetric(auroc));
    assert!(ignores_order(auroc) && equals_the_definition(auroc));
}

#[test]
fn the_other_metrics_depend_on_ranks_alone() {
    assert!(ignores_monotone_maps(average_precision) && ignores_order(average_precision));
    assert!(ignores_monotone_maps(fpr95) && ignores_order(fpr95));
}

#[test]
fn every_law_rejects_a_broken_metric() {
    assert!(!is_symmetric(broken::generous) && !equals_the_definition(broken::generous));
    assert!(!ignores_order(broken::hasty));
    assert!(!ignores_monotone_maps(broken::means));
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(60) })]

    #[test]
    fn the_order_of_episodes_is_irrelevant_in_every_mode(all in proptest::collection::vec(steps(), 2..6)) {
        let episode = |steps: &Vec<(f64, bool)>| {
            let (scores, labels): (Vec<f64>, Vec<bool>) = steps.iter().copied().unzip();
            let twin = Some(scores.iter().rev().copied().collect());
            ScoredEpisode { scores, labels, onset: None, twin, fails: false }
        };
        let mut episodes: Vec<ScoredEpisode> = all.iter().map(episode).collect();
        let plan = Bootstrap::new(20, Level::P95, Seed(1));
        let values = |episodes: &[ScoredEpisode], mode| {
            let found = detection(episodes, mode, &plan).unwrap();
            [found.auroc.value, found.aupr.value, found.fpr95.value]
        };
        let before = Mode::ALL.map(|mode| values(&episodes, mode));
        episodes.reverse();
        for (mode, before) in Mode::ALL.into_iter().zip(before) {
            let after = values(&episodes, mode);
            prop_assert!(before.iter().zip(after).all(|(b, a)| (b - a).abs() < 1e-12));
        }
    }

    #[test]
    fn a_score_that_sees_only_time_is_at_one_half_in_the_matched_mode(
        lengths in proptest::collection::vec((5_usize..30, 5_usize..30, 0_u32..5), 1..10),
        clock in proptest::collection::vec(-3.0..3.0_f64, 30),
    ) {
        let episode = |&(len, twin, onset): &(usize, usize, u32)| {
            ScoredEpisode::persistent(clock[..len].to_vec(), onset, Some(clock[..twin].to_vec()))
        };
        let episodes: Vec<ScoredEpisode> = lengths.iter().map(episode).filter(|e| e.onset < e.twin.as_ref().map(|t| t.len() as u32)).collect();
        prop_assume!(!episodes.is_empty());
        let found = detection(&episodes, Mode::Matched, &Bootstrap::new(20, Level::P95, Seed(2))).unwrap();
        prop_assert_eq!(found.auroc.value, 0.5);
    }
}
