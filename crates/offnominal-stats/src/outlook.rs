//! Probabilities of failure at each running step against outcomes: are they sharp, and are they as large as shares?
//!
//! With p the probability that a running rollout fails from a step on and y its outcome, over all steps of all rollouts:
//!
//! | number  | definition       | best    |
//! |---------|------------------|---------|
//! | `brier` | mean of (p − y)² | 0       |
//! | `bias`  | mean of p − y    | 0       |
//!
//! Every running step counts once, so long rollouts weigh more. The Brier score is proper: no other probabilities than the
//! true ones make it smaller on average.
//!
//! Reference: Gerds and Schumacher, Biometrical Journal 48(6), 2006 (the score at landmarks).
//!
//! ```
//! use offnominal_stats::{landmark::Course, outlook::Outlook};
//! let course = |rollout, fails, scores| Course { rollout, task: 0, fails, scores };
//! let found = Outlook::new(&[course(0, true, &[0.5, 1.0][..]), course(1, false, &[0.5, 0.0][..])]);
//! assert_eq!(found.measure(&[1, 1]), Some([0.125, 0.0]));
//! ```

use crate::landmark::Course;

/// What each rollout adds to the sums.
#[derive(Debug, Clone)]
pub struct Outlook(Vec<Sums>);

#[derive(Debug, Clone, Copy)]
struct Sums {
    rollout: usize,
    steps: f64,
    squares: f64,
    differences: f64,
}

impl Outlook {
    /// Sums over the steps of rollouts, whose scores are probabilities.
    pub fn new(courses: &[Course<'_>]) -> Outlook {
        let sums = |course: &Course<'_>| {
            let y = f64::from(u8::from(course.fails));
            Sums {
                rollout: course.rollout,
                steps: course.scores.len() as f64,
                squares: course.scores.iter().map(|p| (p - y).powi(2)).sum(),
                differences: course.scores.iter().map(|p| p - y).sum(),
            }
        };
        Outlook(courses.iter().map(sums).collect())
    }

    /// Brier score and bias if each rollout counted as often as its weight says; none if there is no step.
    pub fn measure(&self, weights: &[u32]) -> Option<[f64; 2]> {
        let sum = |of: fn(&Sums) -> f64| -> f64 {
            self.0.iter().map(|sums| f64::from(weights[sums.rollout]) * of(sums)).sum()
        };
        let steps = sum(|sums| sums.steps);
        (steps > 0.0).then(|| [sum(|sums| sums.squares) / steps, sum(|sums| sums.differences) / steps])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn true_probabilities_have_no_bias_and_the_least_score() {
        let mut rng = Rng::new(3);
        let drawn: Vec<(f64, bool)> = (0..20_000)
            .map(|_| {
                let p = rng.uniform();
                (p, rng.uniform() < p)
            })
            .collect();
        let measured = |change: fn(f64) -> f64| {
            let scores: Vec<[f64; 1]> = drawn.iter().map(|(p, _)| [change(*p)]).collect();
            let courses: Vec<Course<'_>> = scores
                .iter()
                .zip(&drawn)
                .map(|(scores, (_, fails))| Course { rollout: 0, task: 0, fails: *fails, scores })
                .collect();
            Outlook::new(&courses).measure(&[1]).unwrap()
        };
        // E p(1 − p) = 1/6 for uniform p.
        let [brier, bias] = measured(|p| p);
        assert!((brier - 1.0 / 6.0).abs() < 0.005 && bias.abs() < 0.01, "{brier} {bias}");
        assert!(measured(|p| 0.9 * p)[0] > brier && measured(|_| 0.5)[0] > brier);
        assert!((measured(|p| 0.9 * p)[1] + 0.05).abs() < 0.01);
    }

    #[test]
    fn weights_count_like_copies() {
        let course = |rollout, fails, scores| Course { rollout, task: 0, fails, scores };
        let (a, b) = (course(0, true, &[0.25][..]), course(1, false, &[0.5, 0.5][..]));
        assert_eq!(Outlook::new(&[a, b]).measure(&[2, 1]), Outlook::new(&[a, a, b]).measure(&[1, 1]));
        assert_eq!(Outlook::new(&[a, b]).measure(&[0, 0]), None);
    }
}
