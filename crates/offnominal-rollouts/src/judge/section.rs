//! All detectors on one split.

use super::Request;
use super::alarms;
use super::document::{DetectorResult, Difference, LandmarkAreas, ProtocolArea, SectionResult};
use crate::detector::{Detector, Lesson};
use crate::rollout::Rollouts;
use crate::split::Part;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_stats::bootstrap::Range;
use offnominal_stats::cutoff::{CUTOFFS, Ranked};
use offnominal_stats::early::Early;
use offnominal_stats::landmark::{Course, Landmark};
use offnominal_stats::outlook::Outlook;
use offnominal_stats::same_step::{Comparison, Recording, same_step};
use offnominal_stats::{Bootstrap, Level, StatsError};
use offnominal_work::context::Context;
use std::collections::BTreeMap;

/// What a section of the results is made from.
pub(super) struct Section<'a> {
    pub(super) request: &'a Request,
    pub(super) data: &'a Rollouts,
    pub(super) parts: &'a [Part],
    pub(super) instructions: &'a BTreeMap<String, Vec<f32>>,
    pub(super) context: &'a Context,
}

/// What a detector said of the judged rollouts of each part, and what is asked of it.
struct Scored {
    detector: String,
    is_probability: bool,
    /// Scores of each test rollout of each part.
    scores: Vec<Vec<Vec<f64>>>,
    /// Scores of each success that sets a threshold, of each part.
    calibration: Vec<Vec<Vec<f64>>>,
    landmarks: Vec<Landmark>,
}

impl Section<'_> {
    /// Judges detectors, each in turn.
    pub(super) fn judge(&self, split: &str, knows_tasks: bool, rows: &[Detector]) -> Result<SectionResult> {
        let judged = self.judged();
        let scored = self.context.map(rows.len(), &format!("{split}: detectors"), |k| {
            let detector = &rows[k];
            self.score(detector, &judged).with_context(|| format!("{split}, {detector}"))
        })?;
        let versus = self.request.versus.as_ref().map(Detector::to_string);
        let versus = scored.iter().find(|s| Some(&s.detector) == versus.as_ref());
        let results = self.context.map(scored.len(), &format!("{split}: intervals"), |k| {
            self.measure(&scored[k], versus, &judged)
        })?;
        Ok(SectionResult {
            split: split.into(),
            parts: self.parts.len(),
            rollouts: judged.len(),
            failures: judged.iter().filter(|&&i| self.data.rollouts[i].fails).count(),
            knows_tasks,
            cells: scored[0].landmarks.iter().map(Landmark::n_cells).sum(),
            detectors: results,
        })
    }

    /// The rollouts that are judged in any part, in ascending order; their places are their numbers for the statistics.
    fn judged(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.parts.iter().flat_map(|part| part.test.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Fits a detector on each part and lets it score.
    fn score(&self, detector: &Detector, judged: &[usize]) -> Result<Scored> {
        let mut scored = Scored {
            detector: detector.to_string(),
            is_probability: detector.is_probability(),
            scores: vec![],
            calibration: vec![],
            landmarks: vec![],
        };
        for (k, part) in self.parts.iter().enumerate() {
            self.context.check()?;
            let seed = Seed(self.context.seed).child("rollouts").child(k);
            let lesson = Lesson {
                data: self.data,
                part,
                instructions: self.instructions,
                seed,
                context: self.context,
            };
            let fitted = detector.fit(&lesson)?;
            let of = |i: &usize| fitted.scores(self.data, *i);
            scored.scores.push(part.test.iter().map(of).collect());
            scored.calibration.push(part.held_out_successes(self.data).map(|i| of(&i)).collect());
            let courses = self.courses(part, &scored.scores[k], judged);
            match Landmark::new(&courses, self.request.from_step) {
                Ok(landmark) => scored.landmarks.push(landmark),
                // A part of tasks that never fail says nothing; the mean is over the others.
                Err(StatsError::TooFew { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        let why = "expected a step at which a failure and a success of one task run, found none in any part";
        ensure!(!scored.landmarks.is_empty(), why);
        Ok(scored)
    }

    fn courses<'s>(&self, part: &Part, scores: &'s [Vec<f64>], judged: &[usize]) -> Vec<Course<'s>> {
        let course = |(&i, scores): (&usize, &'s Vec<f64>)| {
            let r = &self.data.rollouts[i];
            let rollout = judged.binary_search(&i).expect("every test rollout is judged");
            Course { rollout, task: r.task, fails: r.fails, scores }
        };
        part.test.iter().zip(scores).map(course).collect()
    }

    fn measure(&self, scored: &Scored, versus: Option<&Scored>, judged: &[usize]) -> Result<DetectorResult> {
        let strata: Vec<usize> = judged.iter().map(|&i| self.data.stratum(i)).collect();
        let plan = Bootstrap::new(self.request.replicates, Level::P95, Seed(self.context.seed));
        let (alpha, n) = (self.request.alpha, judged.len());
        let early: Vec<Early> = self.each_part(scored, judged, Early::new);
        let measured = plan.estimates_within("early detection", &strata, [Range::Real; 2], |weights| {
            means(early.iter().map(|e| e.measure(alpha, weights)))
        });
        let [detected, lead] = measured.map_or([None, None], |found| found.map(Some));
        let outlooks = self.each_part(scored, judged, Outlook::new);
        let measured = plan.estimates_within("probability to fail", &strata, [Range::Real; 2], |weights| {
            means(outlooks.iter().filter(|_| scored.is_probability).map(|o| o.measure(weights)))
        });
        let [brier, bias] = measured.map_or([None, None], |found| found.map(Some));
        let landmark = Landmark::estimates(&scored.landmarks, &strata, &plan)?;
        let new_tasks = Landmark::over_tasks(&scored.landmarks, n, &plan).ok().map(|[pairs, ..]| pairs);
        let difference = versus.filter(|other| other.detector != scored.detector).map(|other| {
            let both: [&[Landmark]; 2] = [&scored.landmarks, &other.landmarks];
            let found = Landmark::differences(both, &strata, &plan)?;
            let new_tasks = Landmark::differences_over_tasks(both, n, &plan).ok().map(|[pairs, ..]| pairs);
            let versus = other.detector.clone();
            anyhow::Ok(Difference { versus, landmark: LandmarkAreas::of(found), new_tasks })
        });
        Ok(DetectorResult {
            detector: scored.detector.clone(),
            landmark: LandmarkAreas::of(landmark),
            new_tasks,
            incident: self.incident(scored, n, &plan),
            protocols: self.protocols(scored, judged, &strata, &plan)?,
            detected,
            lead,
            brier,
            bias,
            by_step: by_step(&scored.landmarks[0], n),
            curve: early[0].curve(alpha, n),
            alarms: alarms::alarms(self.data, self.parts, alpha, [&scored.calibration, &scored.scores])?,
            difference: difference.transpose()?,
        })
    }

    /// The incident/dynamic area within tasks and parts, where each rollout is judged once and it is known when failures
    /// begin. A failure of which that is not known is compared at no step.
    fn incident(&self, scored: &Scored, n: usize, plan: &Bootstrap) -> Option<Estimate> {
        let is_once = self.parts.iter().map(|part| part.test.len()).sum::<usize>() == n;
        let mut recordings = Vec::new();
        for (k, (part, scores)) in self.parts.iter().zip(&scored.scores).enumerate() {
            for (&i, scores) in part.test.iter().zip(scores) {
                let r = &self.data.rollouts[i];
                let labels: Vec<bool> =
                    (0..scores.len()).map(|step| r.failure_step.is_some_and(|begin| step >= begin)).collect();
                let cases = match (r.fails, r.failure_step) {
                    (true, None) => vec![None; scores.len()],
                    _ => Comparison::Incident.cases(scores.len(), Some(&labels), None),
                };
                let group = k * self.data.tasks.len() + r.task;
                recordings.push(Recording { group, scores: scores.clone(), cases });
            }
        }
        is_once
            .then(|| same_step(&recordings, Comparison::Incident, plan).ok())
            .flatten()
            .map(|found| found.auroc)
    }

    fn each_part<T>(&self, scored: &Scored, judged: &[usize], make: impl Fn(&[Course<'_>]) -> T) -> Vec<T> {
        let parts = self.parts.iter().zip(&scored.scores);
        parts.map(|(part, scores)| make(&self.courses(part, scores, judged))).collect()
    }

    fn protocols(
        &self,
        scored: &Scored,
        judged: &[usize],
        strata: &[usize],
        plan: &Bootstrap,
    ) -> Result<Vec<ProtocolArea>> {
        let area = |cutoff: offnominal_stats::cutoff::Cutoff| {
            let ranked = self.each_part(scored, judged, |courses| {
                let lengths: Vec<(usize, usize)> = courses.iter().map(|c| (c.scores.len(), c.task)).collect();
                let rollouts: Vec<_> = courses.iter().map(|c| (c.rollout, c.fails, c.scores)).collect();
                Ranked::new(judged.len(), &rollouts, &cutoff.rows(&lengths))
            });
            let area = |weights: &[u32]| Ranked::mean_area(&ranked, weights).map(|area| [area]);
            let [auroc] = plan.estimates_within("area of whole rollouts", strata, [Range::Unit], area)?;
            Ok(ProtocolArea { protocol: cutoff.to_string(), auroc })
        };
        CUTOFFS.into_iter().map(area).collect()
    }
}

/// The means of two numbers over the parts that have them.
fn means(parts: impl Iterator<Item = Option<[f64; 2]>>) -> Option<[f64; 2]> {
    let found: Vec<[f64; 2]> = parts.flatten().collect();
    let mean = |k: usize| found.iter().map(|f| f[k]).sum::<f64>() / found.len() as f64;
    (!found.is_empty()).then(|| [mean(0), mean(1)])
}

/// The area of each step up to the last one that has a pair.
fn by_step(landmark: &Landmark, n: usize) -> Vec<f64> {
    let steps = landmark.by_step(n);
    let last = steps.last().map_or(0, |s| s.step + 1);
    let mut areas = vec![0.5; last];
    steps.iter().for_each(|s| areas[s.step] = s.auroc);
    areas
}
