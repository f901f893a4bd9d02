//! The highway: a closed centre line with bends to either side, and four lanes in one direction.
//!
//! A point of the road is given by its position s along the centre line and its distance d to the left of it, both in
//! metres. The centre line is the curve ρ(θ) = R (1 + Σₖ aₖ cos(k θ + φₖ)), k = 2 … 5, with aₖ and φₖ drawn from the
//! track's own seed and R such that the tightest bend has [`MIN_RADIUS_M`].

use offnominal_core::Rng;
use std::f64::consts::TAU;

/// Number of lanes.
pub const LANES: usize = 4;
/// Width of a lane, m.
pub const LANE_WIDTH_M: f64 = 3.5;
/// Radius of the tightest bend of the centre line, m.
pub const MIN_RADIUS_M: f64 = 150.0;

/// Σ (k² − 1) aₖ: how much the curvature swings about its mean, in units of the mean.
const SWING: f64 = 2.6;
/// Points at which the generating curve is measured.
const FINE: usize = 20_000;
/// Distance of the nodes at which the track is tabulated, m, nearly.
const SPACING_M: f64 = 2.0;

/// Distance of a lane's centre from the centre line, m; lane 0 is the rightmost.
pub fn lane_centre(lane: usize) -> f64 {
    (lane as f64 - 0.5 * (LANES as f64 - 1.0)) * LANE_WIDTH_M
}

/// A place and a direction in the plane.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pose {
    /// Eastward coordinate, m.
    pub x: f64,
    /// Northward coordinate, m.
    pub y: f64,
    /// Direction, rad, anticlockwise from east.
    pub heading: f64,
}

/// A tabulated closed centre line.
#[derive(Debug, Clone)]
pub struct Track {
    /// Length of the centre line, m.
    pub length_m: f64,
    nodes_per_m: f64,
    /// Poses and curvatures of the nodes; the first is repeated at the end, a turn further.
    poses: Vec<Pose>,
    curvatures: Vec<f64>,
}

impl Track {
    /// The track that a seed names.
    pub fn new(seed: u64) -> Track {
        Shape::draw(&mut Rng::new(seed)).tabulate()
    }

    /// Curvature of the centre line, 1/m, positive in a bend to the left.
    pub fn curvature(&self, s: f64) -> f64 {
        let (node, rest) = self.node(s);
        self.curvatures[node] + rest * (self.curvatures[node + 1] - self.curvatures[node])
    }

    /// The place that is `d` metres to the left of the centre line, and the direction of the road there.
    pub fn pose(&self, s: f64, d: f64) -> Pose {
        let (node, rest) = self.node(s);
        let (from, to) = (self.poses[node], self.poses[node + 1]);
        let mix = |a: f64, b: f64| a + rest * (b - a);
        let heading = mix(from.heading, to.heading);
        let (sin, cos) = heading.sin_cos();
        Pose { x: mix(from.x, to.x) - d * sin, y: mix(from.y, to.y) + d * cos, heading }
    }

    /// The shortest way from one position to another along the closed track, m; positive if `to` is ahead.
    pub fn ahead(&self, from: f64, to: f64) -> f64 {
        let way = (to - from).rem_euclid(self.length_m);
        if way > 0.5 * self.length_m { way - self.length_m } else { way }
    }

    /// The node before a position, and how far beyond it the position is, as a share of the spacing.
    fn node(&self, s: f64) -> (usize, f64) {
        let at = s.rem_euclid(self.length_m) * self.nodes_per_m;
        let node = (at as usize).min(self.poses.len() - 2);
        (node, at - node as f64)
    }
}

/// The generating curve with R = 1.
struct Shape {
    waves: [(f64, f64, f64); 4],
}

impl Shape {
    fn draw(rng: &mut Rng) -> Shape {
        let weights: [f64; 4] = std::array::from_fn(|_| rng.range(0.3, 1.0));
        let total: f64 = weights.iter().sum();
        let wave = |i: usize| {
            let k = i as f64 + 2.0;
            (k, SWING * weights[i] / total / (k * k - 1.0), rng.range(0.0, TAU))
        };
        Shape { waves: std::array::from_fn(wave) }
    }

    /// ρ and its first two derivatives.
    fn radius(&self, theta: f64) -> [f64; 3] {
        self.waves.iter().fold([1.0, 0.0, 0.0], |[r, r1, r2], &(k, a, phase)| {
            let (sin, cos) = (k * theta + phase).sin_cos();
            [r + a * cos, r1 - a * k * sin, r2 - a * k * k * cos]
        })
    }

    fn curvature(&self, theta: f64) -> f64 {
        let [r, r1, r2] = self.radius(theta);
        (r * r + 2.0 * r1 * r1 - r * r2) / (r * r + r1 * r1).powf(1.5)
    }

    fn pose(&self, theta: f64, scale: f64) -> Pose {
        let [r, r1, _] = self.radius(theta);
        let (sin, cos) = theta.sin_cos();
        // The tangent turns with θ plus the angle between the radius and the tangent, which stays in (0, π).
        Pose { x: scale * r * cos, y: scale * r * sin, heading: theta + r.atan2(r1) }
    }

    fn tabulate(&self) -> Track {
        let thetas: Vec<f64> = (0..=FINE).map(|i| TAU * i as f64 / FINE as f64).collect();
        let sharpest = thetas.iter().map(|&t| self.curvature(t).abs()).fold(0.0, f64::max);
        let scale = MIN_RADIUS_M * sharpest;
        let way = self.way(&thetas, scale);
        let length_m = way[FINE];
        let n = (length_m / SPACING_M).round() as usize;
        let at = (0..=n).map(|i| inverse(&way, length_m * i as f64 / n as f64));
        let at: Vec<f64> = at.map(|fine| TAU * fine / FINE as f64).collect();
        Track {
            length_m,
            nodes_per_m: n as f64 / length_m,
            poses: at.iter().map(|&t| self.pose(t, scale)).collect(),
            curvatures: at.iter().map(|&t| self.curvature(t) / scale).collect(),
        }
    }

    /// Arc length at each angle, m.
    fn way(&self, thetas: &[f64], scale: f64) -> Vec<f64> {
        let step = TAU / FINE as f64;
        let speed = |t: f64| {
            let [r, r1, _] = self.radius(t);
            scale * r.hypot(r1)
        };
        let mut way = vec![0.0];
        for t in &thetas[..FINE] {
            way.push(way[way.len() - 1] + step * speed(t + 0.5 * step));
        }
        way
    }
}

/// The fractional index at which an increasing table reaches a value.
fn inverse(table: &[f64], value: f64) -> f64 {
    let after = table.partition_point(|&w| w < value).clamp(1, table.len() - 1);
    let (low, high) = (table[after - 1], table[after]);
    (after - 1) as f64 + (value - low) / (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_track_is_a_closed_highway_with_bends_to_both_sides() {
        for seed in 0..20 {
            let track = Track::new(seed);
            assert!((1500.0..6000.0).contains(&track.length_m), "track {seed}: {} m", track.length_m);
            let bends = track.curvatures.iter();
            let (low, high) = bends.fold((0.0_f64, 0.0_f64), |(l, h), &k| (l.min(k), h.max(k)));
            assert!(low < -1.0 / 1000.0 && high > 1.0 / 400.0, "track {seed}: {low} to {high}");
            assert!(high.max(-low) <= 1.000_001 / MIN_RADIUS_M);
            let (start, end) = (track.pose(0.0, 0.0), track.pose(track.length_m - 1e-9, 0.0));
            assert!((start.x - end.x).hypot(start.y - end.y) < 1e-3);
            assert!((end.heading - start.heading - TAU).abs() < 1e-3);
        }
    }

    #[test]
    fn the_heading_is_the_direction_and_the_curvature_its_change() {
        let track = Track::new(1);
        for i in 0..300 {
            let (s, h) = (10.0 * f64::from(i), 2.0);
            let (a, m, b) = (track.pose(s - h, 0.0), track.pose(s, 0.0), track.pose(s + h, 0.0));
            let direction = (b.y - a.y).atan2(b.x - a.x);
            assert!((direction - m.heading).sin().abs() < 2e-3, "{direction} at {s}");
            let turned = (b.heading - a.heading).rem_euclid(TAU);
            let turned = if turned > 3.0 { turned - TAU } else { turned };
            assert!((turned / (2.0 * h) - track.curvature(s)).abs() < 2e-4, "at {s}");
            assert!(((b.x - a.x).hypot(b.y - a.y) / (2.0 * h) - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn left_is_left_and_lanes_count_from_the_right() {
        let track = Track::new(1);
        let (middle, left) = (track.pose(50.0, 0.0), track.pose(50.0, 2.0));
        let (sin, cos) = middle.heading.sin_cos();
        let across = (left.y - middle.y) * cos - (left.x - middle.x) * sin;
        assert!((across - 2.0).abs() < 1e-9);
        assert_eq!([0, 3].map(lane_centre), [-5.25, 5.25]);
    }

    #[test]
    fn ways_wrap_around() {
        let track = Track::new(1);
        let l = track.length_m;
        assert!((track.ahead(l - 3.0, 4.0) - 7.0).abs() < 1e-9);
        assert!((track.ahead(4.0, l - 3.0) + 7.0).abs() < 1e-9);
        assert!((track.ahead(10.0, 25.0 + 3.0 * l) - 15.0).abs() < 1e-6);
    }
}
