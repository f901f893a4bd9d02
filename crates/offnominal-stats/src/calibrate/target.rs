//! The search for one target: what to evaluate next, and when to settle.

use super::curve::{Crossing, Curve, Point};
use super::score::Score;
use super::verdict::Verdict;
use super::{Grid, Search};

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// Have at least `n` episodes at this distance from neutral.
    Evaluate { offset: f64, n: usize },
    /// Nothing more.
    Settle(Verdict),
}

/// One target score, with the sample size of its current stage.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub goal: f64,
    pub verdict: Option<Verdict>,
    n: usize,
    /// Evaluations between the ends of a bracket.
    tries: i32,
    /// Evaluations of guards, left and right.
    guards: [i32; 2],
}

/// Distances halve down to this share of the first look's, and fall by strides of 16 below; so little of it has no effect
/// where a number has one.
const HALVED: f64 = 1.0 / (1 << 14) as f64;
const STRIDE: f64 = 1.0 / 16.0;
const CLOSEST_LOOK: f64 = HALVED / (1_u64 << 40) as f64;
/// Where the ends of a bracket are farther apart than by this factor, its middle is that of logarithms.
const WIDE: f64 = 4.0;
/// A bracket this narrow, relative to its distance from neutral, is a jump of the curve.
const JUMP: f64 = 1e-3;
const MOST_TRIES: i32 = 40;
const MOST_GUARDS: i32 = 6;

impl Target {
    pub fn new(goal: f64, pilot: usize) -> Target {
        Target { goal, verdict: None, n: pilot, tries: 0, guards: [0; 2] }
    }

    /// The next evaluation, or the verdict.
    pub fn next(&mut self, search: &Search, curve: &Curve) -> Step {
        match curve.crossing(self.goal) {
            Crossing::NotBelow => self.outward(search, curve),
            Crossing::BeforeFirst => self.inward(search, curve),
            Crossing::Between { above, offset } if search.grid == Grid::Continuous => {
                self.narrow(search, curve, above, offset)
            }
            Crossing::Between { above, offset } => self.narrow_whole(search, curve, above, offset),
        }
    }

    /// Half-width of the score nearest to the crossing, relative to the tolerance.
    pub fn uncertainty(&self, search: &Search, curve: &Curve) -> f64 {
        let half = self.nearest(curve, 0).map(|p| p.score.half(search.level));
        half.map_or(f64::INFINITY, |half| half / self.tolerance(search))
    }

    fn tolerance(&self, search: &Search) -> f64 {
        search.tolerance * (1.0 - self.goal)
    }

    /// Every magnitude so far scores above the target.
    fn outward(&mut self, search: &Search, curve: &Curve) -> Step {
        let span = search.span();
        let Some(last) = curve.points.last() else {
            let first = if search.grid == Grid::Whole { 1.0 } else { search.first };
            return Step::Evaluate { offset: first, n: search.pilot };
        };
        if last.offset < span {
            return Step::Evaluate { offset: (2.0 * last.offset).min(span), n: search.pilot };
        }
        let idle = is_idle(curve, search);
        let decided = !idle && last.score.value - last.score.half(search.level) > self.goal;
        if !decided && self.enlarge(last.score.n, curve) {
            return Step::Evaluate { offset: span, n: self.n };
        }
        let score = last.score.estimate(search.level);
        Step::Settle(if idle { Verdict::NoOp { score } } else { Verdict::StaysAbove { score } })
    }

    /// Even the magnitude closest to neutral scores below the target.
    fn inward(&mut self, search: &Search, curve: &Curve) -> Step {
        let first = &curve.points[0];
        let is_whole = search.grid == Grid::Whole;
        let closest = if is_whole { 1.0 } else { search.first * CLOSEST_LOOK };
        if first.offset > closest {
            let half = 0.5 * first.offset;
            let far = first.offset > search.first * HALVED;
            let offset = if is_whole {
                half.floor()
            } else if far {
                half
            } else {
                STRIDE * first.offset
            };
            return Step::Evaluate { offset, n: search.pilot };
        }
        let decided = first.score.value + first.score.half(search.level) < self.goal;
        let nearer = (first.score.value - self.goal).abs() < 1.0 - self.goal;
        let precise = first.score.half(search.level) <= self.tolerance(search);
        if !(decided && (precise || !nearer)) && self.enlarge(first.score.n, curve) {
            return Step::Evaluate { offset: first.offset, n: self.n };
        }
        if search.grid == Grid::Whole && nearer {
            return Step::Settle(self.found(search, curve, first));
        }
        let neutral = Score { value: 1.0, error: 0.0, n: curve.nominal.len() }.estimate(search.level);
        let below = search.at(first.offset, first.score.estimate(search.level));
        Step::Settle(Verdict::JumpsOver { above: search.at(0.0, neutral), below })
    }

    /// The crossing lies between two magnitudes.
    fn narrow(&mut self, search: &Search, curve: &Curve, above: usize, crossing: f64) -> Step {
        if let Some(hit) = self.hit(search, curve) {
            return self.sharpen(search, curve, hit);
        }
        let (a, b) = (&curve.points[above], &curve.points[above + 1]);
        let width = b.offset - a.offset;
        if width < 50.0 * JUMP * b.offset
            && let Some(vague) = [a, b].into_iter().find(|p| p.score.n < self.n)
        {
            return Step::Evaluate { offset: vague.offset, n: self.n };
        }
        if width < JUMP * b.offset || self.tries >= MOST_TRIES {
            return self.jump(search, curve, above);
        }
        self.tries += 1;
        // Interpolation is fast on smooth curves; every third time the middle, so that a step cannot stall it.
        let inner = if self.tries % 3 == 0 { a.offset + 0.5 * width } else { crossing };
        let offset = if b.offset > WIDE * a.offset {
            (a.offset * b.offset).sqrt()
        } else {
            inner.clamp(a.offset + 0.05 * width, b.offset - 0.05 * width)
        };
        Step::Evaluate { offset, n: self.n }
    }

    /// A magnitude whose score cannot be told from the target with the present sample.
    fn hit<'c>(&self, search: &Search, curve: &'c Curve) -> Option<&'c Point> {
        let best = self.nearest(curve, self.n)?;
        let near = (0.5 * best.score.error).max(0.1 * self.tolerance(search));
        ((best.score.value - self.goal).abs() <= near).then_some(best)
    }

    /// Among the four magnitudes around the crossing, that with the nearest score and at least `n` episodes.
    fn nearest<'c>(&self, curve: &'c Curve, n: usize) -> Option<&'c Point> {
        let Crossing::Between { above, .. } = curve.crossing(self.goal) else { return None };
        let around = above.saturating_sub(1)..(above + 3).min(curve.points.len());
        let distance = |p: &&Point| (p.score.value - self.goal).abs();
        let sure = curve.points[around].iter().filter(|p| p.score.n >= n);
        sure.min_by(|p, q| distance(p).total_cmp(&distance(q)))
    }

    /// More episodes where the target is hit, then guards at both sides, then the verdict.
    fn sharpen(&mut self, search: &Search, curve: &Curve, hit: &Point) -> Step {
        self.n = self.n.max(hit.score.n);
        let (half, goal) = (hit.score.half(search.level), self.tolerance(search));
        if half > goal && self.n < curve.nominal.len() {
            let wanted = (self.n as f64 * (half / goal).powi(2)).ceil() as usize;
            self.n = wanted.clamp(self.n + self.n / 2, 4 * self.n).min(curve.nominal.len());
            return Step::Evaluate { offset: hit.offset, n: self.n };
        }
        let ends = curve.ends(self.goal, self.n, hit.offset, search.level);
        for (side, end) in ends.iter().enumerate() {
            if end.is_none()
                && self.guards[side] < MOST_GUARDS
                && let Some(offset) = self.guard(search, curve, hit, side)
            {
                self.guards[side] += 1;
                return Step::Evaluate { offset, n: self.n };
            }
        }
        Step::Settle(self.found(search, curve, hit))
    }

    /// A magnitude beside the hit at which the score's interval should exclude the target: where the fitted curve is
    /// some half-widths away from it, each attempt half as many again, and never nearer than what was tried without success.
    fn guard(&self, search: &Search, curve: &Curve, hit: &Point, side: usize) -> Option<f64> {
        let reach = 1.3 * 1.5_f64.powi(self.guards[side]) * hit.score.half(search.level);
        let tried = curve.farthest_unclear(self.goal, self.n, hit.offset, side, search.level);
        let farther = hit.offset + 1.5 * (tried.unwrap_or(hit.offset) - hit.offset);
        let guard = if side == 0 {
            // Nothing scores above 1: there the curve says no more where it is.
            let level = (self.goal + reach).min(1.0 - 0.2 * (1.0 - self.goal));
            let wanted = curve.first_below(level)?.min(farther);
            if wanted > 0.0 { wanted } else { 0.5 * tried? }
        } else {
            curve.first_below(self.goal - reach).unwrap_or(search.span()).max(farther).min(search.span())
        };
        // What is measured already, and the neutral value, need no evaluation.
        (guard > 0.0 && guard != hit.offset && curve.n_at(guard) < self.n).then_some(guard)
    }

    /// The bracket is too narrow to be narrowed.
    fn jump(&mut self, search: &Search, curve: &Curve, above: usize) -> Step {
        let (a, b) = (&curve.points[above], &curve.points[above + 1]);
        let clear = |p: &Point| (p.score.value - self.goal).abs() > p.score.half(search.level);
        if clear(a) && clear(b) && a.score.value > self.goal && b.score.value < self.goal {
            let at = |p: &Point| search.at(p.offset, p.score.estimate(search.level));
            return Step::Settle(Verdict::JumpsOver { above: at(a), below: at(b) });
        }
        let vague = if a.score.n <= b.score.n { a } else { b };
        if self.enlarge(vague.score.n, curve) {
            return Step::Evaluate { offset: vague.offset, n: self.n };
        }
        let nearest = self.nearest(curve, self.n).unwrap_or(vague);
        Step::Settle(self.found(search, curve, nearest))
    }

    /// As [`Target::narrow`], where only whole numbers exist.
    fn narrow_whole(&mut self, search: &Search, curve: &Curve, above: usize, crossing: f64) -> Step {
        let (a, b) = (&curve.points[above], &curve.points[above + 1]);
        if b.offset - a.offset > 1.0 {
            let offset = crossing.round().clamp(a.offset + 1.0, b.offset - 1.0);
            return Step::Evaluate { offset, n: self.n };
        }
        let distance = |p: &Point| (p.score.value - self.goal).abs();
        let (near, far) = if distance(a) <= distance(b) { (a, b) } else { (b, a) };
        let halves = near.score.half(search.level) + far.score.half(search.level);
        let decided = distance(far) - distance(near) > halves;
        let precise = near.score.half(search.level) <= self.tolerance(search);
        let vague = if near.score.n <= far.score.n { near } else { far };
        let open = if decided { near } else { vague };
        if !(decided && precise) && self.enlarge(open.score.n, curve) {
            return Step::Evaluate { offset: open.offset, n: self.n };
        }
        Step::Settle(self.found(search, curve, near))
    }

    /// Sets the sample size to twice `n`, if there are nominal episodes to compare with.
    fn enlarge(&mut self, n: usize, curve: &Curve) -> bool {
        self.n = self.n.max(2 * n).min(curve.nominal.len());
        self.n > n
    }

    fn found(&self, search: &Search, curve: &Curve, at: &Point) -> Verdict {
        let ends = curve.interval(self.goal, self.n.min(at.score.n), at.offset, search.level);
        let [left, right] = [ends[0].unwrap_or(0.0), ends[1].unwrap_or(search.span())];
        let (left, right) =
            if search.grid == Grid::Whole { (left.floor(), right.ceil()) } else { (left, right) };
        let [x, y] = [search.magnitude(left), search.magnitude(right)];
        let value = search.magnitude(at.offset);
        let magnitude =
            search.level.estimate(value, (x.min(y), x.max(y)), at.score.n, "retrospective-approximation");
        Verdict::Found { magnitude, score: at.score.estimate(search.level) }
    }

    /// What can be said without further episodes.
    pub fn best_effort(&self, search: &Search, curve: &Curve) -> Verdict {
        if let Some(near) = self.nearest(curve, 0)
            && (near.score.value - self.goal).abs() <= near.score.half(search.level)
        {
            return self.found(search, curve, near);
        }
        let (low, high) = match curve.crossing(self.goal) {
            Crossing::NotBelow => (curve.points.last().map_or(0.0, |p| p.offset), search.span()),
            Crossing::BeforeFirst => (0.0, curve.points[0].offset),
            Crossing::Between { above, .. } => (curve.points[above].offset, curve.points[above + 1].offset),
        };
        Verdict::OutOfBudget { between: (search.magnitude(low), search.magnitude(high)) }
    }
}

/// Whether no magnitude can be told from nominal: the ceiling at the level of the search, the others, of which there
/// are several, at twice the half-width.
fn is_idle(curve: &Curve, search: &Search) -> bool {
    let deviates = |p: &Point, halves: f64| (p.score.value - 1.0).abs() > halves * p.score.half(search.level);
    let ceiling = curve.points.last();
    !ceiling.is_some_and(|p| deviates(p, 1.0)) && !curve.points.iter().any(|p| deviates(p, 2.0))
}
