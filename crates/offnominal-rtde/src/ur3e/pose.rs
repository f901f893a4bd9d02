//! A position and an orientation, in metres and radians.
//!
//! Orientations are rotation matrices. The robot's controller speaks of them as rotation vectors r = θ u (axis u,
//! angle θ); the conversions follow Rodrigues: R = I + sin θ \[u\]× + (1 − cos θ) \[u\]×².

/// The three rows of a 3 × 3 matrix.
pub type Matrix = [[f64; 3]; 3];

/// Where a frame is, seen from another one: the pose `a_from_b` maps coordinates in `b` to coordinates in `a`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Origin of the inner frame in the outer one, in m.
    pub position_m: [f64; 3],
    /// Its axes, as columns, in the outer one.
    pub rotation: Matrix,
}

impl Pose {
    /// The frame itself.
    pub const IDENTITY: Pose =
        Pose { position_m: [0.0; 3], rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };

    /// The pose with that position and rotation vector (axis times angle in rad), as robot controllers write it.
    pub fn from_rotation_vector(position_m: [f64; 3], vector: [f64; 3]) -> Pose {
        let angle = norm(vector);
        // Below this the axis is lost in rounding, and so is the rotation.
        if angle < 1e-12 {
            return Pose { position_m, ..Pose::IDENTITY };
        }
        let [x, y, z] = vector.map(|v| v / angle);
        let (s, c) = angle.sin_cos();
        let t = 1.0 - c;
        let rotation = [
            [t * x * x + c, t * x * y - s * z, t * x * z + s * y],
            [t * x * y + s * z, t * y * y + c, t * y * z - s * x],
            [t * x * z - s * y, t * y * z + s * x, t * z * z + c],
        ];
        Pose { position_m, rotation }
    }

    /// The rotation vector: axis times angle, the angle in [0, π].
    pub fn rotation_vector(&self) -> [f64; 3] {
        let quaternion = self.quaternion();
        let [w, x, y, z] = quaternion;
        let sine = norm([x, y, z]);
        if sine < 1e-15 {
            return [0.0; 3];
        }
        let angle = 2.0 * sine.atan2(w);
        [x, y, z].map(|v| v / sine * angle)
    }

    /// The unit quaternion (w, x, y, z) with w ≥ 0.
    ///
    /// The largest of the four components is computed first, from the diagonal, and the others by division by it
    /// (Shepperd, 1978), so that no digits are lost near half a turn.
    pub fn quaternion(&self) -> [f64; 4] {
        let m = &self.rotation;
        let trace = m[0][0] + m[1][1] + m[2][2];
        let squares = [trace, m[0][0], m[1][1], m[2][2]].map(|d| 1.0 + 2.0 * d - trace);
        // Four times the products of two components: of w with an axis, and of two axes.
        let turn = [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]];
        let [xy, xz, yz] = [m[0][1] + m[1][0], m[0][2] + m[2][0], m[1][2] + m[2][1]];
        let products = [
            [squares[0], turn[0], turn[1], turn[2]],
            [turn[0], squares[1], xy, xz],
            [turn[1], xy, squares[2], yz],
            [turn[2], xz, yz, squares[3]],
        ];
        let largest = (0..4).max_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap_or(0);
        let scale = 2.0 * squares[largest].sqrt();
        let sign = if products[largest][0] < 0.0 { -1.0 } else { 1.0 };
        products[largest].map(|p| sign * p / scale)
    }

    /// `a_from_c` = `a_from_b` · `b_from_c`.
    #[must_use]
    pub fn then(&self, inner: &Pose) -> Pose {
        let rotation = std::array::from_fn(|i| {
            std::array::from_fn(|j| (0..3).map(|k| self.rotation[i][k] * inner.rotation[k][j]).sum())
        });
        Pose { position_m: self.apply(inner.position_m), rotation }
    }

    /// A point of the inner frame, in the outer one.
    pub fn apply(&self, point: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| self.position_m[i] + dot(self.rotation[i], point))
    }

    /// `b_from_a` of `a_from_b`.
    #[must_use]
    pub fn inverse(&self) -> Pose {
        let rotation: Matrix = std::array::from_fn(|i| self.column(i));
        Pose { position_m: rotation.map(|row| -dot(row, self.position_m)), rotation }
    }

    /// An axis of the inner frame (0, 1, 2 = x, y, z), in the outer one.
    pub fn column(&self, axis: usize) -> [f64; 3] {
        std::array::from_fn(|i| self.rotation[i][axis])
    }

    /// Largest difference of an element of the matrix, or of a coordinate in m: zero for equal poses.
    pub fn distance(&self, other: &Pose) -> f64 {
        let rows = self.rotation.iter().flatten().zip(other.rotation.iter().flatten());
        let places = self.position_m.iter().zip(&other.position_m);
        rows.chain(places).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(v: [f64; 3]) -> f64 {
    dot(v, v).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;
    use std::f64::consts::PI;

    fn random(rng: &mut Rng, angle: f64) -> Pose {
        let axis = [rng.normal(), rng.normal(), rng.normal()];
        let place = [rng.normal(), rng.normal(), rng.normal()];
        Pose::from_rotation_vector(place, axis.map(|a| a / norm(axis) * angle))
    }

    #[test]
    fn a_quarter_turn_about_z_sends_x_to_y() {
        let pose = Pose::from_rotation_vector([1.0, 2.0, 3.0], [0.0, 0.0, PI / 2.0]);
        let found = pose.apply([1.0, 0.0, 0.0]);
        assert!(found.iter().zip([1.0, 3.0, 3.0]).all(|(f, w)| (f - w).abs() < 1e-15), "{found:?}");
    }

    #[test]
    fn rotation_vectors_return_whatever_the_angle() {
        let mut rng = Rng::new(1);
        for angle in [0.0, 1e-7, 0.3, 1.5, 3.0, PI - 1e-9, PI] {
            for _ in 0..50 {
                let pose = random(&mut rng, angle);
                let again = Pose::from_rotation_vector(pose.position_m, pose.rotation_vector());
                assert!(pose.distance(&again) < 1e-9, "angle {angle}: {}", pose.distance(&again));
                let length: f64 = pose.quaternion().iter().map(|q| q * q).sum();
                assert!((length - 1.0).abs() < 1e-12 && pose.quaternion()[0] >= 0.0);
            }
        }
    }

    #[test]
    fn a_pose_and_its_inverse_cancel() {
        let mut rng = Rng::new(2);
        let (a, b) = (random(&mut rng, 1.0), random(&mut rng, 2.0));
        assert!(a.then(&a.inverse()).distance(&Pose::IDENTITY) < 1e-14);
        let point = [0.3, -0.2, 0.5];
        let (once, twice) = (a.then(&b).apply(point), a.apply(b.apply(point)));
        assert!(once.iter().zip(twice).all(|(x, y)| (x - y).abs() < 1e-14));
        assert!(a.distance(&b) > 0.1, "poses that differ have a distance");
    }
}
