//! The course of a road, as engineers lay it out: arcs of constant bend, joined without a kink.
//!
//! Seen from above it says how far to the right the road is, seen from the side how high, both as a function of the
//! distance z ahead of the camera. An arc is v + s (z − z₀) + ½ b (z − z₀)².

use crate::things::{between, chance, pick};
use offnominal_core::Rng;

/// An arc.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Arc {
    from: f32,
    value: f32,
    slope: f32,
    bend: f32,
}

impl Arc {
    fn at(&self, z: f32) -> f32 {
        let d = z - self.from;
        self.value + d * (self.slope + 0.5 * self.bend * d)
    }

    fn slope_at(&self, z: f32) -> f32 {
        self.slope + self.bend * (z - self.from)
    }
}

/// A straight start, two arcs, and a straight end.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Alignment {
    arcs: [Arc; 4],
}

impl Alignment {
    /// Begins at a value, bends from `start` over two lengths in metres, and goes on straight.
    pub fn new(value: f32, start: f32, bends: [f32; 2], lengths: [f32; 2]) -> Alignment {
        let first = Arc { from: f32::NEG_INFINITY, value, slope: 0.0, bend: 0.0 };
        let mut arcs = [first; 4];
        arcs[1] = Arc { from: start, value, slope: 0.0, bend: bends[0] };
        for (i, bend) in [(2, bends[1]), (3, 0.0)] {
            let (before, from) = (arcs[i - 1], arcs[i - 1].from + lengths[i - 2]);
            arcs[i] = Arc { from, value: before.at(from), slope: before.slope_at(from), bend };
        }
        arcs[0].from = start;
        Alignment { arcs }
    }

    /// The course of a road seen from above: straight as far as given, then straight on, a curve, or an S.
    pub fn plan(rng: &mut Rng, shift: f32, straight: f32) -> Alignment {
        if chance(rng, 0.3) {
            return Alignment::new(shift, straight, [between(rng, -4e-4, 4e-4), 0.0], [60.0, 60.0]);
        }
        let lengths = [between(rng, 18.0, 36.0), between(rng, 18.0, 36.0)];
        // At the end of the first arc the road heads 11° to 37° aside.
        let bend = pick(rng, &[-1.0, 1.0]) * between(rng, 0.2, 0.75) / lengths[0];
        let back = bend * pick(rng, &[0.0, -0.5, -1.0]);
        Alignment::new(shift, straight.max(between(rng, 2.0, 14.0)), [bend, back], lengths)
    }

    /// The course seen from the side: level, or up or down to another level.
    pub fn profile(rng: &mut Rng) -> Alignment {
        if chance(rng, 0.35) {
            return Alignment::default();
        }
        let lengths = [between(rng, 12.0, 32.0), between(rng, 12.0, 40.0)];
        let grade = pick(rng, &[-1.0, 1.0]) * between(rng, 0.04, 0.13);
        let bends = [grade / lengths[0], -grade / lengths[1]];
        Alignment::new(0.0, between(rng, 2.0, 14.0), bends, lengths)
    }

    #[inline]
    fn arc(&self, z: f32) -> &Arc {
        let number = self.arcs[1..].iter().take_while(|a| a.from <= z).count();
        &self.arcs[number]
    }

    /// The value at a distance.
    #[inline]
    pub fn at(&self, z: f32) -> f32 {
        self.arc(z).at(z)
    }

    /// Its change per metre.
    #[inline]
    pub fn slope(&self, z: f32) -> f32 {
        self.arc(z).slope_at(z)
    }

    /// The least and the largest value between the camera and a distance.
    pub fn range(&self, far: f32) -> [f32; 2] {
        let ends = self.arcs.iter().map(|a| a.from.min(far)).chain([0.0, far]);
        // Within an arc the extreme is where it is level.
        let level = self.arcs.iter().map(|a| a.from - a.slope / a.bend).filter(|z| (0.0..far).contains(z));
        let values = ends.chain(level).map(|z| self.at(z));
        values.fold([f32::INFINITY, f32::NEG_INFINITY], |[l, h], v| [l.min(v), h.max(v)])
    }

    /// The first distance at which a straight line from `height` at 0 meets the curve from above.
    pub fn meeting(&self, height: f32, slope: f32) -> Option<f32> {
        (0..self.arcs.len()).find_map(|i| {
            let (arc, end) = (&self.arcs[i], self.arcs.get(i + 1).map_or(f32::INFINITY, |a| a.from));
            let begin = if i == 0 { 0.0 } else { arc.from };
            arc.meeting(height, slope).into_iter().filter(|z| (begin..=end).contains(z)).reduce(f32::min)
        })
    }
}

impl Arc {
    /// Where the arc is at the height of a line: c + b d + a d² = 0 with d = z − z₀.
    fn meeting(&self, height: f32, slope: f32) -> [f32; 2] {
        let a = -0.5 * self.bend;
        let b = slope - self.slope;
        let c = height + slope * self.from - self.value;
        if a == 0.0 {
            return [self.from - c / b; 2];
        }
        let rest = b * b - 4.0 * a * c;
        // The form that does not cancel; without a root the numbers are NaN, which no interval contains.
        let q = -0.5 * (b + rest.sqrt().copysign(b));
        [self.from + q / a, self.from + c / q]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hill() -> Alignment {
        Alignment::new(0.0, 10.0, [0.004, -0.004], [20.0, 20.0])
    }

    #[test]
    fn arcs_join_without_step_or_kink() {
        let hill = hill();
        for z in [10.0, 30.0, 50.0] {
            assert!((hill.at(z - 1e-3) - hill.at(z + 1e-3)).abs() < 1e-3);
            assert!((hill.slope(z - 1e-3) - hill.slope(z + 1e-3)).abs() < 1e-4);
        }
        // Up by b L² in two arcs of length L, and level again.
        assert!((hill.at(90.0) - 1.6).abs() < 1e-5 && hill.slope(90.0).abs() < 1e-6);
        assert_eq!(hill.at(-5.0), 0.0);
        let [low, high] = hill.range(90.0);
        assert!(low == 0.0 && (high - 1.6).abs() < 1e-5);
    }

    #[test]
    fn a_ray_meets_the_ground_where_it_first_touches_it() {
        for slope in [-0.2, -0.1, -0.05, -0.02, -0.001, 0.01] {
            let line = |z: f32| 1.4 + slope * z;
            let found = hill().meeting(1.4, slope);
            let stepped = (0..200_000).map(|i| 0.01 * i as f32).find(|&z| line(z) <= hill().at(z));
            match (found, stepped) {
                (Some(a), Some(b)) => assert!((a - b).abs() < 0.02 * (1.0 + 0.01 * b), "{slope}: {a} {b}"),
                other => assert_eq!(other, (None, None), "{slope}"),
            }
        }
    }
}
