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

    /// The first offset at which the monotone curve, which begins with 1 at the neutral value, is down at a level;
    /// none if it stays above.
    pub fn first_below(&self, level: f64) -> Option<f64> {
        let (mut before, mut from) = (0.0, 1.0_f64);
        for (point, value) in self.points.iter().zip(self.fitted()) {
            if value <= level {
                return Some(zero((before, from.max(level) - level), (point.offset, value - level)));
            }
            (before, from) = (point.offset, value);
        }
        None
    }

    /// The point farthest from `around` on one side (0: left, 1: right) that has at least `n` episodes and whose
    /// interval does not exclude the target.
    pub fn farthest_unclear(
        &self,
        target: f64,
        n: usize,
        around: f64,
        side: usize,
        level: Level,
    ) -> Option<f64> {
        let unclear = |p: &&Point| match side {
            0 => p.offset < around && p.score.value - p.score.half(level) < target,
            _ => p.offset > around && p.score.value + p.score.half(level) > target,
        };
        let mut sure = self.points.iter().filter(|p| p.score.n >= n).filter(unclear).map(|p| p.offset);
        if side == 0 { sure.next() } else { sure.next_back() }
    }

    /// The offsets between which the true crossing lies: from where the lower ends of the scores' intervals pass the
    /// target to where the upper ends do. They are read from points with at least `n` episodes; a side that these do
    /// not bound is read from all points. None for an end that no point bounds.
    pub fn interval(&self, target: f64, n: usize, around: f64, level: Level) -> [Option<f64>; 2] {
        let [left, right] = self.ends(target, n, around, level);
        let [rough_left, rough_right] = self.rough_ends(target, around, level);
        [left.or(rough_left), right.or(rough_right)]
    }

    /// The ends from points with at least `n` episodes: beyond them no score's interval holds the target. That a point
    /// nearer to `around` excludes it does not count while one farther away does not: of many, some do so by luck.
    pub fn ends(&self, target: f64, n: usize, around: f64, level: Level) -> [Option<f64>; 2] {
        let sure: Vec<&Point> = self.points.iter().filter(|p| p.score.n >= n).collect();
        let excess = |p: &Point, sign: f64| (p.offset, p.score.value + sign * p.score.half(level) - target);
        let left = sure.iter().position(|p| p.offset > around || excess(p, -1.0).1 < 0.0);
        let right = sure.iter().rposition(|p| p.offset < around || excess(p, 1.0).1 > 0.0);
        let root = |a: usize, b: usize, sign: f64| {
            Some(zero(excess(sure.get(a)?, sign), excess(sure.get(b)?, sign)))
        };
        [left.and_then(|b| root(b.checked_sub(1)?, b, -1.0)), right.and_then(|a| root(a, a + 1, 1.0))]
    }

    /// The nearest points on both sides of `around` that exclude the target by two half-widths.
    fn rough_ends(&self, target: f64, around: f64, level: Level) -> [Option<f64>; 2] {
        let excess = |p: &Point, sign: f64| p.score.value + sign * 2.0 * p.score.half(level) - target;
        let left = self.points.iter().rfind(|p| p.offset < around && excess(p, -1.0) >= 0.0);
        let right = self.points.iter().find(|p| p.offset > around && excess(p, 1.0) <= 0.0);
        [left, right].map(|end| end.map(|p| p.offset))
    }
}

/// Where the line through two points is zero; the nearer end if it is not between them.
fn zero((x, fx): (f64, f64), (y, fy): (f64, f64)) -> f64 {
    let share = if fx == fy { 0.0 } else { fx / (fx - fy) };
    x + share.clamp(0.0, 1.0) * (y - x)
}
