//! Postures from which episodes begin: stored ones, and how a body is put into one.
//!
//! A posture is the torso's roll and pitch and the 21 angles of the joints. An initial condition is the number of a
//! stored posture and, for each angle, how many standard deviations it differs.

use offnominal_core::Rng;
use offnominal_mujoco::{Model, Simulation};

/// Angles of a posture: roll, pitch and the joints.
pub(super) const ANGLES: usize = 23;
/// Standard deviation of the torso's roll and pitch around a stored posture, rad.
pub(super) const TILT_SD_RAD: f64 = 0.02;
/// Standard deviation of a joint's angle around a stored posture, rad.
pub(super) const JOINT_SD_RAD: f64 = 0.05;
/// A neighbour has another stored posture this often.
const ANOTHER: f64 = 0.1;
/// How far the farthest neighbours' deviations are from those that they come from, as a share of their own size, and how
/// far those of the nearest are as a share of that.
const LARGEST_MOVE: f64 = 0.5;
const SMALLEST_SHARE: f64 = 0.05;

/// The stored postures, a line each, below the names of their angles; `models/make_humanoid_postures.py` makes the file.
const STORED: &str = include_str!("../../../models/humanoid_stand_postures.csv");

/// The stored postures.
pub(super) struct Postures {
    stored: Vec<[f64; ANGLES]>,
    limits: [(f64, f64); ANGLES],
}

impl Postures {
    /// Those of the file, with the joints' limits.
    ///
    /// # Panics
    /// If the file is not what it should be.
    pub(super) fn stored(model: &Model) -> Postures {
        let number = |text: &str| text.trim().parse::<f64>().expect("a number");
        let row = |line: &str| {
            let angles: Vec<f64> = line.split(',').map(number).collect();
            angles.try_into().expect("as many angles as a posture has")
        };
        let free = [(-1.0, 1.0); 2];
        let joints = model.jnt_range()[2..].chunks_exact(2).map(|range| (range[0], range[1]));
        let limits: Vec<(f64, f64)> = free.into_iter().chain(joints).collect();
        Postures {
            stored: STORED.lines().skip(1).map(row).collect(),
            limits: limits.try_into().expect("as many joints as a posture has angles"),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.stored.len()
    }

    /// The angles of an initial condition; a number beyond those stored means the nearest.
    pub(super) fn angles(&self, x: &[f64]) -> [f64; ANGLES] {
        let from = &self.stored[(x[0].max(0.0) as usize).min(self.len() - 1)];
        std::array::from_fn(|i| {
            let sd = if i < 2 { TILT_SD_RAD } else { JOINT_SD_RAD };
            let (low, high) = self.limits[i];
            (from[i] + sd * x[i + 1]).clamp(low, high)
        })
    }

    pub(super) fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let posture = rng.below(self.len()) as f64;
        std::iter::once(posture).chain((0..ANGLES).map(|_| rng.normal())).collect()
    }

    /// Whether it can be drawn.
    pub(super) fn admits(&self, x: &[f64]) -> bool {
        let counts = |v: f64| v >= 0.0 && v < self.len() as f64 && v.fract() == 0.0;
        x.len() == ANGLES + 1 && counts(x[0]) && x[1..].iter().all(|v| v.abs() < 10.0)
    }

    /// A neighbour: a little of every deviation is drawn anew, which leaves normal numbers normal.
    pub(super) fn vary(&self, x: &[f64], rng: &mut Rng) -> Vec<f64> {
        let size = LARGEST_MOVE * SMALLEST_SHARE.powf(rng.uniform());
        let keep = (1.0 - size * size).sqrt();
        let posture = if rng.uniform() < ANOTHER { rng.below(self.len()) as f64 } else { x[0] };
        let near = x[1..].iter().map(|v| keep * v + size * rng.normal());
        std::iter::once(posture).chain(near).collect()
    }
}

/// Puts a body into a posture: at rest above the origin, its lowest point on the floor.
pub(super) fn stand(sim: &mut Simulation, angles: &[f64; ANGLES]) {
    let ([roll_sin, roll_cos], [pitch_sin, pitch_cos]) = (half(angles[0]), half(angles[1]));
    // Pitch after roll.
    let turn = [pitch_cos * roll_cos, pitch_cos * roll_sin, pitch_sin * roll_cos, -pitch_sin * roll_sin];
    let q = sim.qpos_mut();
    q[..3].copy_from_slice(&[0.0, 0.0, HEIGHT_M]);
    q[3..7].copy_from_slice(&turn);
    q[7..].copy_from_slice(&angles[2..]);
    sim.qvel_mut().fill(0.0);
    sim.refresh_poses();
    let lowest = lowest_m(sim);
    sim.qpos_mut()[2] -= lowest;
}

/// Some height of the torso above the floor, m.
const HEIGHT_M: f64 = 1.5;

fn half(angle: f64) -> [f64; 2] {
    let (sin, cos) = (0.5 * angle).sin_cos();
    [sin, cos]
}

/// The lowest point of the body; all its shapes, which follow the floor, are capsules and balls.
pub(super) fn lowest_m(sim: &Simulation) -> f64 {
    let sizes = sim.model().geom_size().chunks_exact(3);
    let places = sim.geom_xpos().chunks_exact(3).zip(sim.geom_xmat().chunks_exact(9));
    let low = |(size, (at, turn)): (&[f64], (&[f64], &[f64]))| at[2] - size[0] - size[1] * turn[8].abs();
    sizes.zip(places).skip(1).map(low).fold(f64::INFINITY, f64::min)
}
