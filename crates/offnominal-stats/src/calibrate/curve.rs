//! The response curve as far as it was measured: points sorted by their distance from the neutral magnitude.

use super::score::Score;
use crate::Level;
use crate::isotonic::decreasing;

/// Scores measured at one distance from neutral.
#[derive(Debug, Clone)]
pub(super) struct Point {
    /// |magnitude − neutral|, positive.
    pub offset: f64,
    pub scores: Vec<f64>,
    pub score: Score,
}

/// All points, and the nominal scores that they are compared with.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    pub nominal: Vec<f64>,
    pub points: Vec<Point>,
}

/// Where the fitted curve crosses a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Crossing {
    /// The curve stays above the target, as far as it is known.
    NotBelow,
    /// Below the target at the first point already.
    BeforeFirst,
    /// Between the points `above` and `above + 1`, at `offset`.
    Between { above: usize, offset: f64 },
}

impl Curve {
    /// Adds scores of further episodes.
    pub fn add(&mut self, offset: f64, scores: &[f64]) {
        let at = self.points.partition_point(|p| p.offset < offset);
        if self.points.get(at).is_none_or(|p| p.offset != offset) {
            let empty = Score { value: f64::NAN, error: f64::NAN, n: 0 };
            self.points.insert(at, Point { offset, scores: Vec::new(), score: empty });
        }
        let point = &mut self.points[at];
        point.scores.extend_from_slice(scores);
        point.score = Score::new(&point.scores, &self.nominal);
    }

    /// Episodes measured at exactly this offset.
    pub fn n_at(&self, offset: f64) -> usize {
        self.points.iter().find(|p| p.offset == offset).map_or(0, |p| p.score.n)
    }

    /// Scores made monotone; each point weighs as much as it has episodes.
    pub fn fitted(&self) -> Vec<f64> {
        let values: Vec<f64> = self.points.iter().map(|p| p.score.value).collect();
        let weights: Vec<f64> = self.points.iter().map(|p| p.score.n as f64).collect();
        decreasing(&values, &weights)
    }

    /// Where the monotone curve first reaches the target.
    pub fn crossing(&self, target: f64) -> Crossing {
        let fitted = self.fitted();
        match fitted.iter().position(|&f| f <= target) {
            None => Crossing::NotBelow,
            Some(0) => Crossing::BeforeFirst,
            Some(below) => {
                let above = below - 1;
                let share = (fitted[above] - target) / (fitted[above] - fitted[below]);
                Crossing::Between { above, offset: self.between(above, share) }
            }
        }
    }

    fn between(&self, above: usize, share: f64) -> f64 {
        let (a, b) = (self.points[above].offset, self.points[above + 1].offset);
        a + share * (b - a)
    }

    /// The offsets between which the true crossing lies, read from points with at least `n` episodes: from where the
    /// lower ends of the scores' intervals pass the target to where the upper ends do. None for an end that no point
    /// on its side of `around` bounds.
    pub fn interval(&self, target: f64, n: usize, around: f64, level: Level) -> [Option<f64>; 2] {
        let sure: Vec<&Point> = self.points.iter().filter(|p| p.score.n >= n).collect();
        let excess = |p: &Point, sign: f64| (p.offset, p.score.value + sign * p.score.half(level) - target);
        let left = sure.iter().rposition(|p| p.offset <= around && excess(p, -1.0).1 >= 0.0);
        let right = sure.iter().position(|p| p.offset >= around && excess(p, 1.0).1 <= 0.0);
        let root = |a: usize, b: usize, sign: f64| zero(excess(sure[a], sign), excess(sure[b], sign));
        [
            left.map(|a| root(a, (a + 1).min(sure.len() - 1), -1.0)),
            right.map(|b| root(b.saturating_sub(1), b, 1.0)),
        ]
    }
}

/// Where the line through two points is zero; the nearer end if it is not between them.
fn zero((x, fx): (f64, f64), (y, fy): (f64, f64)) -> f64 {
    let share = if fx == fy { 0.0 } else { fx / (fx - fy) };
    x + share.clamp(0.0, 1.0) * (y - x)
}
