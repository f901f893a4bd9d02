//! Ranking at the same step, among the recordings that are still running then: what is left of a score once the time that
//! has passed explains nothing. A score that only counts steps has an area of one half.
//!
//! | comparison | cases at a step | controls at a step |
//! |---|---|---|
//! | landmark | running, and fail in the end | running, and succeed in the end |
//! | labelled | labelled at this step | not labelled at this step |
//! | incident | labelled for the first time at this step | not yet labelled |
//!
//! The incident comparison is the incident/dynamic AUC of Heagerty and Zheng (Biometrics 61, 2005), whose mean weights a
//! step by its pairs; of the others each step counts once. Recordings are compared within their group only, such as a task.

use crate::bootstrap::Range;
use crate::{Bootstrap, StatsError};
use offnominal_core::estimate::Estimate;
use serde::Serialize;
use std::collections::BTreeMap;

/// Steps at which recordings are compared, unless cases are there at few steps only.
const MOST_STEPS: usize = 100;

/// Who is a case, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// Those that will fail against those that will succeed.
    Landmark,
    /// Those that are labelled against those that are not.
    Labelled,
    /// Those whose label begins against those that have none yet.
    Incident,
}

/// One recording: a score for each step, and what is known of it.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Recordings of different groups are not compared.
    pub group: usize,
    /// The score of each step.
    pub scores: Vec<f64>,
    /// For each step whether it is a case or a control; neither, if `None`.
    pub cases: Vec<Option<bool>>,
}

/// The area under the ROC curve at one step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepArea {
    /// The step, counted from 0.
    pub step: usize,
    /// The share of pairs whose case has the larger score; ties count one half.
    pub auroc: f64,
    /// Number of pairs.
    pub pairs: f64,
}

/// Areas at all steps, and their mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SameStep {
    /// The mean over steps with its interval: recordings are drawn anew within their group and class.
    pub auroc: Estimate,
    /// Each step.
    pub steps: Vec<StepArea>,
}

impl Comparison {
    /// Which steps of a recording are cases, from its labels or from its outcome.
    pub fn cases(self, n_steps: usize, labels: Option<&[bool]>, success: Option<bool>) -> Vec<Option<bool>> {
        let first = labels.and_then(|labels| labels.iter().position(|&is| is)).unwrap_or(n_steps);
        let case = |step: usize| match self {
            Comparison::Landmark => success.map(|is| !is),
            Comparison::Labelled => labels.map(|labels| labels[step]),
            Comparison::Incident => labels.filter(|_| step <= first).map(|_| step == first),
        };
        (0..n_steps).map(case).collect()
    }
}

/// Compares recordings step by step.
///
/// # Errors
/// If no step has both a case and a control in one group.
pub fn same_step(
    recordings: &[Recording],
    comparison: Comparison,
    plan: &Bootstrap,
) -> Result<SameStep, StatsError> {
    let steps = grid(recordings, comparison);
    let sets: Vec<RiskSet> = steps.iter().map(|&step| RiskSet::at(step, recordings)).collect();
    let by_pairs = comparison == Comparison::Incident;
    let mean = |weights: &[u32]| mean(&sets, weights, by_pairs).map(|mean| [mean]);
    let strata: Vec<usize> = recordings.iter().map(|r| 2 * r.group + usize::from(r.is_case())).collect();
    let [auroc] = plan.estimates_within("area at the same step", &strata, [Range::Unit], mean)?;
    let once = vec![1; recordings.len()];
    let area = |(set, &step): (&RiskSet, &usize)| {
        let (concordant, pairs) = set.concordance(&once);
        (pairs > 0.0).then(|| StepArea { step, auroc: concordant / pairs, pairs })
    };
    Ok(SameStep { auroc, steps: sets.iter().zip(&steps).filter_map(area).collect() })
}

impl Recording {
    fn is_case(&self) -> bool {
        self.cases.contains(&Some(true))
    }
}

/// The steps that are compared: where labels begin, or some of all. The first step is left out: nothing has happened yet.
fn grid(recordings: &[Recording], comparison: Comparison) -> Vec<usize> {
    if comparison == Comparison::Incident {
        let begin = |r: &Recording| r.cases.iter().position(|&case| case == Some(true));
        let mut steps: Vec<usize> = recordings.iter().filter_map(begin).filter(|&step| step > 0).collect();
        steps.sort_unstable();
        steps.dedup();
        return steps;
    }
    let last = recordings.iter().map(|r| r.scores.len()).max().unwrap_or(0).saturating_sub(1);
    let n = last.min(MOST_STEPS);
    (1..=n).map(|i| i * last / n).collect()
}

/// The cases and controls of a step: of each group the entries in the order of their scores.
struct RiskSet(Vec<Vec<Entry>>);

struct Entry {
    score: f64,
    is_case: bool,
    recording: usize,
}

impl RiskSet {
    fn at(step: usize, recordings: &[Recording]) -> RiskSet {
        let mut groups: BTreeMap<usize, Vec<Entry>> = BTreeMap::new();
        for (recording, r) in recordings.iter().enumerate() {
            if let Some((is_case, score)) = r.cases.get(step).copied().flatten().zip(r.scores.get(step)) {
                groups.entry(r.group).or_default().push(Entry { score: *score, is_case, recording });
            }
        }
        let mut groups: Vec<Vec<Entry>> = groups.into_values().collect();
        groups.iter_mut().for_each(|entries| entries.sort_by(|a, b| a.score.total_cmp(&b.score)));
        RiskSet(groups)
    }

    /// Pairs whose case has the larger score, with one half for ties; and all pairs.
    fn concordance(&self, weights: &[u32]) -> (f64, f64) {
        let (mut concordant, mut pairs) = (0.0, 0.0);
        for entries in &self.0 {
            let (mut cases, mut controls) = (0.0, 0.0);
            for tied in entries.chunk_by(|a, b| a.score == b.score) {
                let count = |is_case: bool| -> f64 {
                    let of = tied.iter().filter(|entry| entry.is_case == is_case);
                    of.map(|entry| f64::from(weights[entry.recording])).sum()
                };
                let (tied_cases, tied_controls) = (count(true), count(false));
                concordant += tied_cases * (controls + tied_controls / 2.0);
                cases += tied_cases;
                controls += tied_controls;
            }
            pairs += cases * controls;
        }
        (concordant, pairs)
    }
}

/// The mean area over steps that have pairs: each step counts once, or by its pairs.
fn mean(sets: &[RiskSet], weights: &[u32], by_pairs: bool) -> Option<f64> {
    let (mut sum, mut total) = (0.0, 0.0);
    for set in sets {
        let (concordant, pairs) = set.concordance(weights);
        if pairs > 0.0 {
            let weight = if by_pairs { pairs } else { 1.0 };
            sum += weight * concordant / pairs;
            total += weight;
        }
    }
    (total > 0.0).then(|| sum / total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use offnominal_core::{Rng, Seed};

    fn plan() -> Bootstrap {
        Bootstrap::new(400, Level::P95, Seed(3))
    }

    /// A rollout that fails or succeeds, of a random length; failures run longer, as real ones do.
    fn rollout(rng: &mut Rng, fails: bool, score: impl Fn(usize, f64) -> f64) -> Recording {
        let n = if fails { 60 } else { 20 + rng.below(40) };
        let scores = (0..n).map(|step| score(step, rng.normal())).collect();
        let cases = Comparison::Landmark.cases(n, None, Some(!fails));
        Recording { group: 0, scores, cases }
    }

    fn rollouts(seed: u64, score: impl Fn(bool, usize, f64) -> f64) -> Vec<Recording> {
        let mut rng = Rng::new(seed);
        (0..60).map(|i| rollout(&mut rng, i % 3 == 0, |step, noise| score(i % 3 == 0, step, noise))).collect()
    }

    fn landmark(recordings: &[Recording]) -> Estimate {
        same_step(recordings, Comparison::Landmark, &plan()).unwrap().auroc
    }

    #[test]
    fn a_clock_is_one_half_and_a_score_that_knows_is_one() {
        assert_eq!(landmark(&rollouts(1, |_, step, _| step as f64)).value, 0.5);
        assert_eq!(
            landmark(&rollouts(1, |fails, step, _| step as f64 + f64::from(u8::from(fails)))).value,
            1.0
        );
    }

    #[test]
    fn a_shift_of_one_deviation_has_the_area_that_theory_gives() {
        // Φ(1/√2) = 0.760.
        let found = landmark(&rollouts(5, |fails, _, noise| noise + f64::from(u8::from(fails))));
        assert!((found.value - 0.760).abs() < 0.02 && found.low < 0.760 && 0.760 < found.high, "{found:?}");
    }

    #[test]
    fn recordings_of_different_tasks_are_not_compared() {
        let of = |group: usize, fails: bool, score: f64| Recording {
            group,
            scores: vec![score; 4],
            cases: Comparison::Landmark.cases(4, None, Some(!fails)),
        };
        // Within each task the case is below; across tasks it would be above in one of two pairs.
        let recordings = [of(0, true, 5.0), of(0, false, 6.0), of(1, true, 1.0), of(1, false, 2.0)];
        assert_eq!(landmark(&recordings).value, 0.0);
        assert!(same_step(&[of(0, true, 5.0), of(1, false, 6.0)], Comparison::Landmark, &plan()).is_err());
    }

    #[test]
    fn incident_cases_count_where_their_label_begins_and_never_after() {
        let labels = |onset: usize| (0..6).map(|step| step >= onset).collect::<Vec<bool>>();
        let of = |onset: usize, scores: [f64; 6]| Recording {
            group: 0,
            scores: scores.to_vec(),
            cases: Comparison::Incident.cases(6, Some(&labels(onset)), None),
        };
        let recordings =
            [of(2, [0.0, 0.0, 9.0, 0.0, 0.0, 0.0]), of(4, [0.0, 0.0, 1.0, 0.0, -1.0, 0.0]), of(9, [0.0; 6])];
        let found = same_step(&recordings, Comparison::Incident, &plan()).unwrap();
        // At step 2 the case is above both others; at step 4 the first is no longer compared, and the case is below.
        let steps: Vec<_> = found.steps.iter().map(|s| (s.step, s.auroc, s.pairs)).collect();
        assert_eq!(steps, [(2, 1.0, 2.0), (4, 0.0, 1.0)]);
        assert!((found.auroc.value - 2.0 / 3.0).abs() < 1e-12);
    }
}
