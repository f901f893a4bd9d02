//! Where the flange of a UR3e is for given joint angles, and which joint angles bring it to a place.
//!
//! Frame i follows from frame i − 1 by the standard convention of Denavit and Hartenberg:
//! T = Rot_z(q) · Trans_z(d) · Trans_x(a) · Rot_x(α). The base frame is that of the robot's controller.
//!
//! | joint | a (m)    | d (m)   | α (rad) |
//! |-------|----------|---------|---------|
//! | 1     | 0        | 0.15185 | π/2     |
//! | 2     | −0.24355 | 0       | 0       |
//! | 3     | −0.2132  | 0       | 0       |
//! | 4     | 0        | 0.13105 | π/2     |
//! | 5     | 0        | 0.08535 | −π/2    |
//! | 6     | 0        | 0.0921  | 0       |
//!
//! Lengths: Universal Robots, *DH parameters for calculations of kinematics and dynamics*, UR3e.
//! Inverse: in closed form, up to eight solutions, after Hawkins, *Analytic inverse kinematics for the Universal Robots
//! UR-5/UR-10 arms* (2013). Joints 2 to 4 have parallel axes, so joint 1 follows from the wrist's centre alone.

use super::Pose;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Angles of the six joints in rad, from the base to the flange.
pub type Joints = [f64; 6];

/// Height of the shoulder above the base, in m.
pub const D1: f64 = 0.15185;
/// Length of the upper arm, in m; negative, because the arm points along −x at zero angles.
pub const A2: f64 = -0.24355;
/// Length of the forearm, in m; negative like the upper arm.
pub const A3: f64 = -0.2132;
/// Offset of wrist 1 to the side, in m.
pub const D4: f64 = 0.13105;
/// Offset between wrists 1 and 2, in m.
pub const D5: f64 = 0.08535;
/// Offset between wrist 2 and the flange, in m.
pub const D6: f64 = 0.0921;

/// Rows (a, d, α) of the table above.
pub const DH: [(f64, f64, f64); 6] = [
    (0.0, D1, FRAC_PI_2),
    (A2, 0.0, 0.0),
    (A3, 0.0, 0.0),
    (0.0, D4, FRAC_PI_2),
    (0.0, D5, -FRAC_PI_2),
    (0.0, D6, 0.0),
];

/// The posture in which episodes begin: the forearm level and the flange looking down.
pub const HOME: Joints = [FRAC_PI_2, -FRAC_PI_2, FRAC_PI_2, -FRAC_PI_2, -FRAC_PI_2, 0.0];

/// The pose `base_from_flange`.
pub fn forward(q: &Joints) -> Pose {
    frames(q)[5]
}

/// The poses of all six frames in the base; the last one is the flange.
pub fn frames(q: &Joints) -> [Pose; 6] {
    let mut at = Pose::IDENTITY;
    std::array::from_fn(|i| {
        at = at.then(&link(i, q[i]));
        at
    })
}

/// Frame i in frame i − 1.
fn link(i: usize, q: f64) -> Pose {
    let (a, d, alpha) = DH[i];
    let ((s, c), (sa, ca)) = (q.sin_cos(), alpha.sin_cos());
    Pose {
        position_m: [a * c, a * s, d],
        rotation: [[c, -s * ca, s * sa], [s, c * ca, -c * sa], [0.0, sa, ca]],
    }
}

/// The joint angles that bring the flange to a pose in the base and lie nearest to `near`; `None` if it is out of reach.
///
/// Nearest is the smallest sum of squared differences, each angle taken modulo a full turn but never beyond ±2π, the
/// range of the joints. Where the axes of joints 4 and 6 coincide, their sum alone is determined; joint 6 then stays.
pub fn inverse(base_from_flange: &Pose, near: &Joints) -> Option<Joints> {
    let cost = |q: &Joints| -> f64 { q.iter().zip(near).map(|(a, b)| (a - b).powi(2)).sum() };
    let all = solutions(base_from_flange, near);
    all.into_iter().flatten().min_by(|a, b| cost(a).total_cmp(&cost(b)))
}

/// All postures with the flange at a pose: shoulder left or right, wrist up or down, elbow up or down.
pub fn solutions(base_from_flange: &Pose, near: &Joints) -> [Option<Joints>; 8] {
    std::array::from_fn(|i| {
        let side = |bit: usize| if i & bit == 0 { 1.0 } else { -1.0 };
        let q = posture(base_from_flange, near, [side(1), side(2), side(4)])?;
        Some(std::array::from_fn(|j| nearest_turn(q[j], near[j])))
    })
}

fn posture(target: &Pose, near: &Joints, [shoulder, wrist, elbow]: [f64; 3]) -> Option<Joints> {
    let q1 = pan(target, shoulder)?;
    let (q5, q6) = wrists(target, q1, wrist, near[5])?;
    // What is left is a planar chain in frame 1.
    let tail = link(4, q5).then(&link(5, q6));
    let planar = link(0, q1).inverse().then(target).then(&tail.inverse());
    let [q2, q3] = two_links(planar.position_m, elbow)?;
    let pitch = planar.rotation[1][0].atan2(planar.rotation[0][0]);
    Some([q1, q2, q3, pitch - q2 - q3, q5, q6])
}

/// Joint 1: the wrist's centre lies d₄ beside the plane in which the arm moves.
fn pan(target: &Pose, side: f64) -> Option<f64> {
    let [x, y, _] = target.apply([0.0, 0.0, -D6]);
    Some(y.atan2(x) + FRAC_PI_2 + side * arc_cosine(D4 / x.hypot(y))?)
}

/// Joints 5 and 6, from the flange's axes seen along the axis of joint 2.
fn wrists(target: &Pose, q1: f64, side: f64, near_q6: f64) -> Option<(f64, f64)> {
    let (s, c) = q1.sin_cos();
    let across = |v: [f64; 3]| v[0] * s - v[1] * c;
    let q5 = side * arc_cosine((across(target.position_m) - D4) / D6)?;
    if q5.sin().abs() < 1e-9 {
        return Some((q5, near_q6));
    }
    let sign = q5.sin().signum();
    let q6 = (-sign * across(target.column(1))).atan2(sign * across(target.column(0)));
    Some((q5, q6))
}

/// Joints 2 and 3 of the planar chain with the lengths a₂ and a₃.
fn two_links([x, y, _]: [f64; 3], side: f64) -> Option<[f64; 2]> {
    let cosine = (x * x + y * y - A2 * A2 - A3 * A3) / (2.0 * A2 * A3);
    let q3 = side * arc_cosine(cosine)?;
    let q2 = y.atan2(x) - (A3 * q3.sin()).atan2(A2 + A3 * q3.cos());
    Some([q2, q3])
}

/// `None` beyond ±1, but for rounding: a stretched arm is within reach.
fn arc_cosine(x: f64) -> Option<f64> {
    (x.abs() <= 1.0 + 1e-9).then(|| x.clamp(-1.0, 1.0).acos())
}

/// The angle plus the number of full turns that brings it nearest to another one, within ±2π.
fn nearest_turn(angle: f64, near: f64) -> f64 {
    let shifted = angle + TAU * ((near - angle) / TAU).round();
    if shifted.abs() <= TAU {
        shifted
    } else {
        shifted - TAU * ((shifted.abs() - PI) / TAU).round().copysign(shifted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    fn postures(seed: u64, n: usize) -> impl Iterator<Item = Joints> {
        let mut rng = Rng::new(seed);
        (0..n).map(move |_| std::array::from_fn(|_| rng.range(-PI, PI)))
    }

    #[test]
    fn stretched_out_and_at_home_the_flange_is_where_the_lengths_say() {
        let stretched = forward(&[0.0; 6]).position_m;
        let want = [A2 + A3, -D4 - D6, D1 - D5];
        assert!(stretched.iter().zip(want).all(|(f, w)| (f - w).abs() < 1e-15), "{stretched:?}");
        let home = forward(&HOME);
        // The upper arm stands, the forearm and wrist 1 lie along −y, the flange looks down.
        let want = [D4, A3 - D5, D1 - A2 - D6];
        assert!(home.position_m.iter().zip(want).all(|(f, w)| (f - w).abs() < 1e-15), "{home:?}");
        assert!((home.column(2)[2] + 1.0).abs() < 1e-15);
    }

    #[test]
    fn every_solution_leads_back_to_the_pose() {
        let mut found = 0;
        for q in postures(1, 500) {
            let target = forward(&q);
            for solution in solutions(&target, &q).into_iter().flatten() {
                let off = forward(&solution).distance(&target);
                assert!(off < 1e-8, "{q:?} became {solution:?}, off by {off}");
                found += 1;
            }
        }
        assert!(found > 500 * 3, "{found} solutions of 500 poses");
    }

    #[test]
    fn the_posture_itself_is_the_nearest_solution() {
        for q in postures(2, 500) {
            let near = q.map(|a| a + 0.01);
            let again = inverse(&forward(&q), &near).unwrap();
            let off = q.iter().zip(again).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Near singular postures small errors of the pose become larger ones of the angles.
            assert!(off < 1e-5, "{q:?} became {again:?}");
        }
    }

    #[test]
    fn full_turns_are_kept_and_limits_respected() {
        let q = [6.0, -1.2, 1.0, -0.8, 1.1, -5.5];
        let again = inverse(&forward(&q), &q).unwrap();
        assert!(q.iter().zip(again).all(|(a, b)| (a - b).abs() < 1e-9), "{again:?}");
        for (angle, near) in [(0.1, 6.25), (-3.0, 6.0), (3.1, -6.2), (1.0, 40.0)] {
            let turned = nearest_turn(angle, near);
            assert!(
                turned.abs() <= TAU
                    && ((turned - angle) / TAU - ((turned - angle) / TAU).round()).abs() < 1e-12
            );
        }
    }

    #[test]
    fn with_the_wrist_straight_joint_six_stays() {
        let q = [0.4, -1.0, 1.3, 0.2, 0.0, 0.7];
        let again = inverse(&forward(&q), &q).unwrap();
        assert!(q.iter().zip(again).all(|(a, b)| (a - b).abs() < 1e-6), "{again:?}");
    }

    #[test]
    fn what_is_out_of_reach_has_no_solution() {
        let far = Pose { position_m: [1.0, 0.0, 0.2], ..forward(&HOME) };
        assert_eq!(inverse(&far, &HOME), None);
        let inside = Pose { position_m: [0.0, 0.05, 0.2], ..forward(&HOME) };
        assert_eq!(inverse(&inside, &HOME), None, "the wrist cannot pass through the shoulder's axis");
    }
}
