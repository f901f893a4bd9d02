//! Where the torso is and how it moves, as roboschool describes it.

use super::plan::Root;

/// The torso's pose and velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Posture {
    pub height_m: f64,
    pub roll_rad: f64,
    pub pitch_rad: f64,
    pub yaw_rad: f64,
    /// In the environment, m/s.
    pub velocity_mps: [f64; 3],
}

impl Posture {
    /// The posture for positions and velocities.
    pub(super) fn of(root: Root, qpos: &[f64], qvel: &[f64]) -> Posture {
        let (height_m, up, forward, velocity_mps) = match root {
            Root::Planar => {
                let (sin, cos) = qpos[2].sin_cos();
                (qpos[1], [-sin, 0.0, cos], [cos, 0.0], [qvel[0], 0.0, qvel[1]])
            }
            Root::Free => {
                let (up, forward) = rows(&qpos[3..7]);
                (qpos[2], up, forward, [qvel[0], qvel[1], qvel[2]])
            }
        };
        Posture {
            height_m,
            roll_rad: up[1].atan2(up[2]),
            pitch_rad: (-up[0]).clamp(-1.0, 1.0).asin(),
            yaw_rad: forward[1].atan2(forward[0]),
            velocity_mps,
        }
    }

    /// The velocity along the direction that the torso faces, to its left, and up.
    pub(super) fn own_velocity_mps(&self) -> [f64; 3] {
        let (sin, cos) = self.yaw_rad.sin_cos();
        let [x, y, z] = self.velocity_mps;
        [cos * x + sin * y, cos * y - sin * x, z]
    }
}

/// The last row of a quaternion's rotation, and the first two entries of its first column.
fn rows(q: &[f64]) -> ([f64; 3], [f64; 2]) {
    let (w, x, y, z) = (q[0], q[1], q[2], q[3]);
    let up = [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)];
    (up, [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_about_y_is_the_same_in_the_plane_and_in_space() {
        for angle in [-1.2_f64, 0.0, 0.3, 2.0] {
            let half = 0.5 * angle;
            let planar = Posture::of(Root::Planar, &[4.0, 1.1, angle], &[2.0, 0.5, 0.0]);
            let position = [4.0, 0.0, 1.1, half.cos(), 0.0, half.sin(), 0.0];
            let free = Posture::of(Root::Free, &position, &[2.0, 0.0, 0.5, 0.0, 0.0, 0.0]);
            assert!((planar.pitch_rad - free.pitch_rad).abs() < 1e-12, "{planar:?} {free:?}");
            assert_eq!(planar.height_m, free.height_m);
        }
    }

    #[test]
    fn a_torso_that_faces_left_moves_forward_along_y() {
        let quarter = std::f64::consts::FRAC_PI_4;
        let position = [0.0, 0.0, 1.0, quarter.cos(), 0.0, 0.0, quarter.sin()];
        let posture = Posture::of(Root::Free, &position, &[0.0, 3.0, 0.0, 0.0, 0.0, 0.0]);
        let [forward, left, up] = posture.own_velocity_mps();
        assert!((forward - 3.0).abs() < 1e-12 && left.abs() < 1e-12 && up == 0.0);
    }
}
