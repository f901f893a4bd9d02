//! A closed track around the origin.
//!
//! Twelve checkpoints, the first and the last at 1.5 R, the others anywhere in their twelfth of the circle between R / 3
//! and R. A pen goes round them at a limited rate of turn, and its second lap is the centre line.

use crate::env::vec2::Vec2;
use offnominal_core::Rng;
use std::f64::consts::TAU;

/// Numbers that describe a track: the places of ten checkpoints in their twelfth of the circle, then their radii, all as
/// shares of their range.
pub const NUMBERS: usize = 20;
/// Distance of a wall from the centre line, m.
pub const HALF_WIDTH_M: f64 = 6.67;
const CHECKPOINTS: usize = 12;
/// R, m.
const RADIUS_M: f64 = 150.0;
/// Distance of two centre points, m.
pub const STEP_M: f64 = 3.5;
/// Largest turn of the pen per step, rad.
const TURN_RAD: f64 = 0.31;
/// Turn of the pen per metre that the next checkpoint lies aside, rad/m.
const TURN_PER_M: f64 = 0.006;
/// Steps of the pen for two laps of the longest track, and more.
const PATIENCE: usize = 2500;

/// Centre line and walls.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    centre: Vec<Vec2>,
    /// Unit vector from each centre point to the next.
    forward: Vec<Vec2>,
    /// Left and right wall at each centre point.
    walls: Vec<[Vec2; 2]>,
}

/// A random track on which the pen closes its lap and whose walls do not meet.
pub fn draw(rng: &mut Rng) -> Vec<f64> {
    loop {
        let x: Vec<f64> = (0..NUMBERS).map(|_| rng.uniform()).collect();
        if is_sound(&x) {
            return x;
        }
    }
}

/// Whether the pen closes its lap and the walls do not meet.
pub fn is_sound(x: &[f64]) -> bool {
    lap(&checkpoints(x)).is_some_and(|lap| closes(&lap) && !Track::along_line(lap).meets_itself())
}

/// A track like another one: some of its numbers moved, the others kept; the same one if the new one is not sound.
/// Moves are as likely forwards as backwards, so tracks drawn before are drawn after.
pub fn vary(x: &[f64], rng: &mut Rng) -> Vec<f64> {
    let size = LARGEST_MOVE * SMALLEST_SHARE.powf(rng.uniform());
    let (one, others) = (rng.below(NUMBERS), if rng.uniform() < 0.5 { 0.0 } else { 0.3 });
    let mut near = x.to_vec();
    for (i, v) in near.iter_mut().enumerate() {
        if i == one || rng.uniform() < others {
            *v = reflected(*v + size * rng.normal());
        }
    }
    if is_sound(&near) { near } else { x.to_vec() }
}

/// Standard deviation of the largest moves of [`vary`], and that of the smallest as a share of it: the nearer tracks
/// are to a failure, the smaller are the moves that do not lead away from it.
const LARGEST_MOVE: f64 = 0.2;
const SMALLEST_SHARE: f64 = 0.01;

/// A number thrown back into 0 to 1 at both ends.
fn reflected(v: f64) -> f64 {
    let folded = v.rem_euclid(2.0);
    if folded < 1.0 { folded } else { (2.0 - folded).min(1.0 - f64::EPSILON) }
}

impl Track {
    /// The track that these numbers describe. Numbers beyond 0 to 1 are clipped; where the pen finds no lap, straight
    /// lines from checkpoint to checkpoint.
    pub fn of(x: &[f64]) -> Track {
        let checkpoints = checkpoints(x);
        Track::along_line(lap(&checkpoints).unwrap_or_else(|| polygon(&checkpoints)))
    }

    /// Closes a lap by spreading what is missing over all of it.
    fn along_line(mut lap: Vec<Vec2>) -> Track {
        let last = lap.pop().expect("a lap has points");
        let n = lap.len();
        let gap = lap[0] - last;
        for (i, p) in lap.iter_mut().enumerate() {
            *p += gap * (i as f64 / n as f64);
        }
        let forward: Vec<Vec2> = (0..n).map(|i| unit(lap[(i + 1) % n] - lap[i])).collect();
        let wall = |i: usize| {
            let (before, after) = (forward[(i + n - 1) % n], forward[i]);
            let left = unit(Vec2::new(-before.y - after.y, before.x + after.x));
            [HALF_WIDTH_M, -HALF_WIDTH_M].map(|d| lap[i] + left * d)
        };
        let walls = (0..n).map(wall).collect();
        Track { centre: lap, forward, walls }
    }

    /// Number of centre points.
    pub fn len(&self) -> usize {
        self.centre.len()
    }

    /// Where the car begins, and its heading in rad.
    pub fn start(&self) -> (Vec2, f64) {
        (self.centre[0], self.forward[0].y.atan2(self.forward[0].x))
    }

    /// The centre point at an index, counted on from any other.
    pub fn centre(&self, i: usize) -> Vec2 {
        self.centre[i % self.len()]
    }

    /// Left and right wall at an index, counted on from any other.
    pub fn walls(&self, i: usize) -> [Vec2; 2] {
        self.walls[i % self.len()]
    }

    /// Distance from the centre line near an index, positive to the left, m.
    pub fn offset(&self, at: usize, position: Vec2) -> f64 {
        self.forward[at].cross(position - self.centre[at])
    }

    /// The component of a velocity along the track.
    pub fn along(&self, at: usize, velocity: Vec2) -> f64 {
        self.forward[at].dot(velocity)
    }

    /// Change of heading from one centre point to another, rad, positive to the left.
    pub fn turn(&self, from: usize, to: usize) -> f64 {
        let (a, b) = (self.forward[from], self.forward[to]);
        a.cross(b).atan2(a.dot(b))
    }

    /// The index of the nearest centre point near the last known one, and how many were passed to reach it.
    pub fn follow(&self, mut at: usize, position: Vec2) -> (usize, i64) {
        let (n, mut passed) = (self.len(), 0);
        let distance = |i: usize| (position - self.centre[i]).norm_squared();
        while distance((at + 1) % n) < distance(at) && passed < 10 {
            at = (at + 1) % n;
            passed += 1;
        }
        while distance((at + n - 1) % n) < distance(at) && passed > -10 {
            at = (at + n - 1) % n;
            passed -= 1;
        }
        (at, passed)
    }

    /// Whether two stretches of the track are so near that their walls meet. From a point that is too far away, no less far
    /// than the longest steps lead is passed over.
    fn meets_itself(&self) -> bool {
        let (n, near) = (self.len(), 2.2 * HALF_WIDTH_M);
        let apart = (3.0 * std::f64::consts::PI * HALF_WIDTH_M / STEP_M) as usize;
        let step = |i: usize| (self.centre[(i + 1) % n] - self.centre[i]).norm_squared();
        // A little longer, so that rounding passes over nothing.
        let longest = 1.001 * (0..n).map(step).fold(0.0, f64::max).sqrt();
        (0..n).any(|i| {
            let (mut j, end) = (i + apart, n.min((n + i + 1).saturating_sub(apart)));
            while j < end {
                let distance = (self.centre[i] - self.centre[j]).norm_squared();
                if distance < near * near {
                    return true;
                }
                j += (((distance.sqrt() - near) / longest) as usize).max(1);
            }
            false
        })
    }
}

fn checkpoints(x: &[f64]) -> [Vec2; CHECKPOINTS] {
    std::array::from_fn(|i| {
        let (turn, radius) = match i {
            0 => (0.0, 1.5 * RADIUS_M),
            11 => (11.0, 1.5 * RADIUS_M),
            _ => {
                let [turn, radius] =
                    [x[i - 1], x[i + 9]].map(|v| if v.is_nan() { 0.5 } else { v.clamp(0.0, 1.0) });
                (i as f64 + turn, RADIUS_M * (1.0 + 2.0 * radius) / 3.0)
            }
        };
        Vec2::along(TAU * turn / CHECKPOINTS as f64) * radius
    })
}

/// The pen's second lap, its end included; `None` if it does not finish one.
fn lap(checkpoints: &[Vec2; CHECKPOINTS]) -> Option<Vec<Vec2>> {
    let (mut pen, mut heading, mut next) = (checkpoints[0], TAU / 4.0, 1);
    let (mut laps, mut line) = (0, Vec::with_capacity(400));
    for _ in 0..PATIENCE {
        let (before, forward) = (pen, Vec2::along(heading));
        pen += forward * STEP_M;
        // A checkpoint is passed once the pen's bearing is beyond its own.
        while checkpoints[next].cross(pen) > 0.0 && checkpoints[next].dot(pen) > 0.0 {
            next = (next + 1) % CHECKPOINTS;
        }
        if before.y < 0.0 && pen.y >= 0.0 && pen.x > 0.0 {
            laps += 1;
        }
        if laps >= 1 {
            line.push(pen);
        }
        if laps == 2 {
            return (line.len() > 50).then_some(line);
        }
        let aside = forward.cross(checkpoints[next] - pen);
        heading += (TURN_PER_M * aside).clamp(-TURN_RAD, TURN_RAD);
    }
    None
}

fn closes(lap: &[Vec2]) -> bool {
    (lap[lap.len() - 1] - lap[0]).norm_squared() <= STEP_M * STEP_M
}

/// Straight lines from checkpoint to checkpoint, in short steps, back to the first.
fn polygon(checkpoints: &[Vec2; CHECKPOINTS]) -> Vec<Vec2> {
    let side = |i: usize| {
        let (a, b) = (checkpoints[i], checkpoints[(i + 1) % CHECKPOINTS]);
        let steps = ((b - a).norm() / STEP_M).ceil().max(1.0) as usize;
        (0..steps).map(move |k| a + (b - a) * (k as f64 / steps as f64))
    };
    (0..CHECKPOINTS).flat_map(side).chain([checkpoints[0]]).collect()
}

fn unit(a: Vec2) -> Vec2 {
    let length = a.norm().max(f64::MIN_POSITIVE);
    Vec2::new(a.x / length, a.y / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_tracks_are_closed_and_do_not_meet_themselves() {
        let mut rng = Rng::new(1);
        for _ in 0..20 {
            let track = Track::of(&draw(&mut rng));
            let gaps = (0..track.len()).map(|i| track.centre(i + 1).distance(track.centre(i)));
            assert!(gaps.clone().all(|g| (2.0..5.0).contains(&g)), "{:?}", gaps.collect::<Vec<_>>());
            assert!(track.len() > 150 && !track.meets_itself());
        }
    }

    /// A ring with a waist, whose two sides are 200 m · (1 − `depth`) apart there, turned by an angle.
    fn waisted(depth: f64, turned: f64) -> Track {
        let point = |i: usize| {
            let angle = TAU * i as f64 / 240.0;
            Vec2::along(angle + turned) * (100.0 * (1.0 + depth * (2.0 * angle).cos()))
        };
        Track::along_line((0..=240).map(point).collect())
    }

    #[test]
    fn points_that_are_passed_over_meet_nothing() {
        let mut rng = Rng::new(3);
        let far = (3.0 * std::f64::consts::PI * HALF_WIDTH_M / STEP_M) as usize;
        let any = |rng: &mut Rng| Track::of(&(0..NUMBERS).map(|_| rng.uniform()).collect::<Vec<_>>());
        let mut tracks: Vec<Track> = (0..100).map(|_| any(&mut rng)).collect();
        tracks.extend((0..100).map(|_| waisted(rng.range(0.7, 1.0), rng.range(0.0, TAU))));
        let mut met = 0;
        for track in tracks {
            let n = track.len();
            let pairs = (0..n).flat_map(|i| (i + far..n).map(move |j| (i, j)));
            let meets = pairs
                .filter(|(i, j)| n - (j - i) >= far)
                .any(|(i, j)| track.centre(i).distance(track.centre(j)) < 2.2 * HALF_WIDTH_M);
            assert_eq!(track.meets_itself(), meets);
            met += usize::from(meets);
        }
        assert!((10..100).contains(&met), "{met}");
    }

    #[test]
    fn neighbours_are_sound_and_keep_the_distribution() {
        let mut rng = Rng::new(2);
        let (mut drawn, mut moved) = (0.0, 0.0);
        for _ in 0..300 {
            let x = draw(&mut rng);
            let mut near = x.clone();
            (0..5).for_each(|_| near = vary(&near, &mut rng));
            assert!(is_sound(&near) && near.iter().all(|v| (0.0..1.0).contains(v)), "{near:?}");
            drawn += x.iter().sum::<f64>() / 6000.0;
            moved += near.iter().sum::<f64>() / 6000.0;
        }
        // The mean of 6,000 uniform numbers has a standard error of 0.004.
        assert!((drawn - moved).abs() < 0.02, "{drawn} {moved}");
        assert_eq!([-0.25, 1.25, 2.25].map(reflected), [0.25, 0.75, 0.25]);
    }

    #[test]
    fn walls_stand_at_half_the_width() {
        let track = Track::of(&[0.5; NUMBERS]);
        for i in 0..track.len() {
            let [left, right] = track.walls(i).map(|w| w.distance(track.centre(i)));
            assert!((left - HALF_WIDTH_M).abs() < 1e-9 && (right - HALF_WIDTH_M).abs() < 1e-9);
        }
    }

    #[test]
    fn numbers_out_of_range_still_make_a_track() {
        for x in [[f64::NAN; NUMBERS], [7.0; NUMBERS], [-1.0; NUMBERS]] {
            assert!(Track::of(&x).len() > 50);
        }
    }
}
