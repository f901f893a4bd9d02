//! Steps sorted once by score, from which ranking metrics are read for any weighting of the episodes.
//!
//! With n⁺ anomalous and n⁻ nominal steps, thresholds θ in descending order, and TP, FP the counts of scores ≥ θ:
//!
//! | metric            | definition                                                  | ties                              |
//! |-------------------|-------------------------------------------------------------|-----------------------------------|
//! | AUROC             | P(s⁺ > s⁻) + ½ P(s⁺ = s⁻)                                   | count one half                    |
//! | average precision | Σ (Rₖ − Rₖ₋₁) Pₖ, R = TP / n⁺, P = TP / (TP + FP)           | equal scores are one threshold    |
//! | FPR95             | FP / n⁻ at the largest θ with TP / n⁺ ≥ 0.95                | equal scores are one threshold    |
//!
//! The same numbers as scikit-learn's `roc_auc_score` and `average_precision_score`, and as the first point of
//! `roc_curve(…, drop_intermediate=False)` that reaches 0.95. The AUROC is a ratio of integers, hence exact.
//!
//! Cost: O(n log n) once, then O(n) for each weighting, which is what makes the bootstrap cheap.
//! Reference: Fawcett, Pattern Recognition Letters 27, 2006, algorithms 1 and 2.
//!
//! ```
//! let found = offnominal_stats::tally(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]).unwrap();
//! assert_eq!((found.auroc, found.fpr95), (0.75, 0.5));
//! ```

use crate::StatsError;
use crate::episode::finite;

/// The ranking metrics of one set of steps. Exact statistics of that set; as estimates of a detector's quality they
/// are given by [`detection`](crate::detection()), with intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tally {
    /// Area under the ROC curve.
    pub auroc: f64,
    /// Average precision, the area under the precision-recall steps.
    pub average_precision: f64,
    /// False positive rate at the first threshold whose true positive rate reaches 95 %.
    pub fpr95: f64,
}

/// The ranking metrics of steps with the given scores and labels (true: anomalous).
///
/// # Errors
/// If the lengths differ, a score is not finite, or only one class is present.
pub fn tally(scores: &[f64], labels: &[bool]) -> Result<Tally, StatsError> {
    StatsError::same_length("labels", scores.len(), labels.len())?;
    finite(scores, 0, false)?;
    let ranking = Ranking::new(1, scores.iter().zip(labels).map(|(&s, &l)| (s, l, 0)));
    ranking.tally(&[1]).ok_or_else(|| ranking.one_class())
}

/// Steps in descending order of score. Each is packed into 32 bits: its cluster, its label, and whether it is the
/// last one of its score.
#[derive(Debug, Clone)]
pub struct Ranking {
    steps: Vec<u32>,
    /// Anomalous and nominal steps of each cluster.
    counts: Vec<[u64; 2]>,
}

const LAST_OF_TIE: u32 = 1;
const ANOMALOUS: u32 = 2;

impl Ranking {
    /// Sorts steps, given as (finite score, label, cluster); clusters are numbered from 0.
    ///
    /// # Panics
    /// If a cluster is not below `n_clusters`, or there are more than 2³⁰ clusters.
    pub fn new(n_clusters: usize, steps: impl Iterator<Item = (f64, bool, usize)>) -> Ranking {
        assert!(n_clusters <= 1 << 30, "expected at most 2^30 clusters, found {n_clusters}");
        let mut counts = vec![[0_u64; 2]; n_clusters];
        let mut keyed: Vec<(u64, u32)> = steps
            .map(|(score, label, cluster)| {
                counts[cluster][usize::from(!label)] += 1;
                (descending(score), ((cluster as u32) << 2) | (u32::from(label) * ANOMALOUS))
            })
            .collect();
        keyed.sort_unstable_by_key(|&(key, _)| key);
        Ranking { steps: pack(&keyed), counts }
    }

    /// Number of clusters, usually episodes.
    pub fn n_clusters(&self) -> usize {
        self.counts.len()
    }

    /// The metrics if each cluster counted as often as its weight says; none if only one class has weight.
    pub fn tally(&self, weights: &[u32]) -> Option<Tally> {
        let [positives, negatives] = self.totals(weights);
        if positives == 0 || negatives == 0 {
            return None;
        }
        Some(Sweep::new(positives, negatives).run(&self.steps, weights))
    }

    /// The error that says which class is the only one.
    pub(crate) fn one_class(&self) -> StatsError {
        let [positives, _] = self.totals(&vec![1; self.n_clusters()]);
        StatsError::OneClass {
            only: if positives > 0 { "anomalous" } else { "nominal" },
            n: self.steps.len(),
        }
    }

    fn totals(&self, weights: &[u32]) -> [u64; 2] {
        let sum = |class: usize| self.counts.iter().zip(weights).map(|(c, &w)| c[class] * u64::from(w)).sum();
        [sum(0), sum(1)]
    }
}

/// A key that is larger for smaller scores. Adding zero turns −0 into 0, which compares equal.
fn descending(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    let sign = 1 << 63;
    if bits & sign == 0 { !(bits | sign) } else { bits }
}

fn pack(sorted: &[(u64, u32)]) -> Vec<u32> {
    let next = sorted.iter().skip(1).map(|&(key, _)| Some(key)).chain([None]);
    sorted
        .iter()
        .zip(next)
        .map(|(&(key, tag), next)| tag | (u32::from(next != Some(key)) * LAST_OF_TIE))
        .collect()
}

/// The walk from the highest threshold to the lowest.
struct Sweep {
    positives: f64,
    negatives: f64,
    /// True positives at which the true positive rate reaches 95 %.
    needed: u64,
    twice_area: u64,
    precision_sum: f64,
    fpr95: Option<f64>,
}

impl Sweep {
    fn new(positives: u64, negatives: u64) -> Sweep {
        let needed = reaching(0.95, positives);
        let (positives, negatives) = (positives as f64, negatives as f64);
        Sweep { positives, negatives, needed, twice_area: 0, precision_sum: 0.0, fpr95: None }
    }

    fn run(mut self, steps: &[u32], weights: &[u32]) -> Tally {
        let (mut tp, mut fp, mut tp_before, mut fp_before) = (0, 0, 0, 0);
        for &step in steps {
            let weight = u64::from(weights[(step >> 2) as usize]);
            let anomalous = u64::from((step & ANOMALOUS) / ANOMALOUS);
            tp += weight * anomalous;
            fp += weight * (1 - anomalous);
            if step & LAST_OF_TIE != 0 {
                self.threshold([tp_before, fp_before], [tp, fp]);
                (tp_before, fp_before) = (tp, fp);
            }
        }
        Tally {
            auroc: self.twice_area as f64 / (2.0 * self.positives * self.negatives),
            average_precision: self.precision_sum / self.positives,
            fpr95: self.fpr95.expect("the last threshold reaches every true positive"),
        }
    }

    #[inline]
    fn threshold(&mut self, [tp_before, fp_before]: [u64; 2], [tp, fp]: [u64; 2]) {
        self.twice_area += (fp - fp_before) * (tp_before + tp);
        self.precision_sum += ((tp - tp_before) * tp) as f64 / (tp + fp).max(1) as f64;
        if tp >= self.needed && self.fpr95.is_none() {
            self.fpr95 = Some(fp as f64 / self.negatives);
        }
    }
}

/// The smallest k with k / n ≥ share, rounded as the division rounds.
fn reaching(share: f64, n: u64) -> u64 {
    let mut k = (share * n as f64) as u64;
    k = k.saturating_sub(1);
    while (k as f64 / n as f64) < share {
        k += 1;
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::normal_cdf;
    use offnominal_core::Rng;

    #[derive(Debug)]
    struct Case {
        scores: Vec<f64>,
        labels: Vec<bool>,
        want: [f64; 3],
    }

    fn floats(value: &serde_json::Value) -> Vec<f64> {
        value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    }

    /// Cases made with scikit-learn; the file names the version and `make_reference.py` beside it made them.
    fn reference() -> Vec<Case> {
        let file: serde_json::Value =
            serde_json::from_str(include_str!("../tests/data/scikit_learn.json")).unwrap();
        let case = |c: &serde_json::Value| Case {
            scores: floats(&c["scores"]),
            labels: c["labels"].as_array().unwrap().iter().map(|l| l == 1).collect(),
            want: floats(&c["want"]).try_into().unwrap(),
        };
        file["cases"].as_array().unwrap().iter().map(case).collect()
    }

    #[test]
    fn agrees_with_scikit_learn() {
        let cases = reference();
        assert!(cases.len() >= 20);
        for case in cases {
            let found = tally(&case.scores, &case.labels).unwrap();
            let found = [found.auroc, found.average_precision, found.fpr95];
            let far = found.iter().zip(&case.want).any(|(f, w)| (f - w).abs() > 1e-9);
            assert!(!far, "found {found:?} in {case:?}");
        }
    }

    #[test]
    fn two_gaussians_give_the_closed_form() {
        let (mut rng, d, n) = (Rng::new(4), 1.0, 200_000);
        let labels: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
        let scores: Vec<f64> = labels.iter().map(|&l| rng.normal() + if l { d } else { 0.0 }).collect();
        let found = tally(&scores, &labels).unwrap().auroc;
        // The standard error is about √(1/12 · 2/10⁵) ≈ 0.0011 at most.
        assert!((found - normal_cdf(d / 2.0_f64.sqrt())).abs() < 4.0 * 0.0011, "{found}");
    }

    #[test]
    fn weights_count_like_copies() {
        let steps = [(0.9, true, 0), (0.3, false, 0), (0.3, true, 1), (0.1, false, 2), (0.95, false, 2)];
        let weights = [2_u32, 3, 1];
        let copies = steps.iter().flat_map(|&s| std::iter::repeat_n(s, weights[s.2] as usize));
        let (scores, labels): (Vec<f64>, Vec<bool>) = copies.map(|(s, l, _)| (s, l)).unzip();
        let found = Ranking::new(3, steps.into_iter()).tally(&weights);
        assert_eq!(found, Some(tally(&scores, &labels).unwrap()));
    }

    #[test]
    fn one_class_and_bad_scores_are_refused() {
        let error = |scores: &[f64], labels: &[bool]| tally(scores, labels).unwrap_err().to_string();
        assert_eq!(
            error(&[1.0, 2.0], &[true, true]),
            "expected anomalous and nominal steps, found only anomalous ones (2)"
        );
        assert!(error(&[], &[]).contains("found only nominal ones (0)"));
        assert!(error(&[1.0, f64::NAN], &[true, false]).contains("step 1"));
        assert!(error(&[1.0], &[true, false]).contains("expected 1 values, found 2"));
    }
}
