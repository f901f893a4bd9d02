//! A box whose sides lean: cabins with a raked windscreen, roofs, tents.
//!
//! A lean is the share of a size by which a side is farther inside at the top than at the bottom; below 0 the bottom is
//! narrower. The wider end fills [−1, 1].

use crate::ray::Ray;
use offnominal_core::vec3::{Vec3, vec3};

/// How far the sides of a box lean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lean {
    /// Left and right.
    pub side: f32,
    /// Toward +z.
    pub front: f32,
    /// Toward −z.
    pub back: f32,
}

impl Lean {
    /// The same on all sides.
    pub const fn even(lean: f32) -> Lean {
        Lean { side: lean, front: lean, back: lean }
    }

    /// Left and right alone.
    pub const fn sides(lean: f32) -> Lean {
        Lean { side: lean, front: 0.0, back: 0.0 }
    }
}

/// A plane that leans by k: its slack 1 − |k| − k y − (outward coordinate) is positive inside.
#[inline(always)]
fn clip(range: &mut [f32; 2], outward: f32, k: f32, y: f32, speed: f32) {
    let slack = 1.0 - k.abs() - k * y - outward;
    if speed < 0.0 {
        range[0] = range[0].max(slack / speed);
    } else if speed > 0.0 {
        range[1] = range[1].min(slack / speed);
    } else if slack < 0.0 {
        range[1] = f32::NEG_INFINITY;
    }
}

/// Where a ray enters the hull, if it does so ahead of its beginning.
#[inline(always)]
pub fn entry(Ray { origin: o, direction: d }: Ray, lean: Lean) -> Option<f32> {
    let mut range = [0.0_f32, f32::INFINITY];
    clip(&mut range, o.y, 0.0, o.y, d.y);
    clip(&mut range, -o.y, 0.0, o.y, -d.y);
    clip(&mut range, o.x, lean.side, o.y, d.x + lean.side * d.y);
    clip(&mut range, -o.x, lean.side, o.y, lean.side * d.y - d.x);
    clip(&mut range, o.z, lean.front, o.y, d.z + lean.front * d.y);
    clip(&mut range, -o.z, lean.back, o.y, lean.back * d.y - d.z);
    let [enter, leave] = range;
    (enter < leave && enter > 0.0).then_some(enter)
}

/// The normal of the side that a point is nearest to.
pub fn normal(p: Vec3, lean: Lean) -> Vec3 {
    let slack = |outward: f32, k: f32| 1.0 - k.abs() - k * p.y - outward;
    let sides = [
        (1.0 - p.y, vec3(0.0, 1.0, 0.0)),
        (1.0 + p.y, vec3(0.0, -1.0, 0.0)),
        (slack(p.x, lean.side), vec3(1.0, lean.side, 0.0)),
        (slack(-p.x, lean.side), vec3(-1.0, lean.side, 0.0)),
        (slack(p.z, lean.front), vec3(0.0, lean.front, 1.0)),
        (slack(-p.z, lean.back), vec3(0.0, lean.back, -1.0)),
    ];
    sides.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(Vec3::default(), |(_, n)| n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn enters(lean: Lean, origin: [f32; 3], direction: [f32; 3], want: f32) {
        let found = entry(Ray { origin: origin.into(), direction: direction.into() }, lean);
        assert!(found.is_some_and(|t| (t - want).abs() < 1e-5), "{found:?}, expected {want}");
    }

    #[test]
    fn a_leaning_side_is_met_farther_inside() {
        // Half way up, a side that leans in by half its size is half of that inside.
        let ridge = Lean { side: 0.0, front: 0.5, back: 0.25 };
        enters(ridge, [0.0, 0.0, -3.0], [0.0, 0.0, 1.0], 2.25);
        enters(ridge, [0.0, 0.0, 3.0], [0.0, 0.0, -1.0], 2.5);
        enters(ridge, [0.0, 3.0, 0.0], [0.0, -1.0, 0.0], 2.0);
        // Below 0 the bottom is the narrower end, and the top fills the box.
        enters(Lean::sides(-0.25), [3.0, 1.0 - 1e-6, 0.0], [-1.0, 0.0, 0.0], 2.0);
        enters(Lean::sides(-0.25), [3.0, -1.0 + 1e-6, 0.0], [-1.0, 0.0, 0.0], 2.5);
    }

    #[test]
    fn the_normal_leans_with_its_side() {
        assert_eq!(normal(vec3(0.0, 0.0, -0.75), Lean::even(0.25)), vec3(0.0, 0.25, -1.0));
        assert_eq!(normal(vec3(0.0, 1.0, 0.0), Lean::even(0.25)), vec3(0.0, 1.0, 0.0));
    }
}
