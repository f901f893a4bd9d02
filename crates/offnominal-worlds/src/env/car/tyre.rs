//! The force of a tyre across its direction of rolling.
//!
//! With the sideways slip z = tan α = v_across / v_along and the largest force F that the road can still transmit,
//!
//! F_y = −C z + C² |z| z / (3 F) − C³ z³ / (27 F²)  for |z| < 3 F / C, else −F sign z.
//!
//! What accelerating or braking takes away is no longer there for cornering: F² = (μ F_z)² − F_x² (friction circle).
//!
//! | symbol | meaning                          | unit  |
//! |--------|----------------------------------|-------|
//! | C      | cornering stiffness              | N/rad |
//! | μ      | coefficient of friction          | 1     |
//! | F_z    | load                             | N     |
//! | F_x    | force along the rolling direction| N     |
//!
//! Reference: E. Fiala, "Seitenkräfte am rollenden Luftreifen", VDI-Zeitschrift 96 (1954); in this form in
//! H. B. Pacejka, "Tire and Vehicle Dynamics", 3rd ed. (2012), section 3.2 (brush model).

/// Share of the friction that braking and accelerating may take, so that a car can be steered while it brakes.
pub const LENGTHWAYS_SHARE: f64 = 0.95;

/// The force along the rolling direction, N, that the tyre transmits of what is asked of it.
pub fn along(wanted_n: f64, friction_n: f64) -> f64 {
    let limit = LENGTHWAYS_SHARE * friction_n;
    wanted_n.clamp(-limit, limit)
}

/// The force across the rolling direction, N, at the slip `z`, while the tyre transmits `along_n` lengthways.
pub fn across(z: f64, stiffness_n: f64, friction_n: f64, along_n: f64) -> f64 {
    let limit = (friction_n * friction_n - along_n * along_n).sqrt();
    let share = stiffness_n * z / (3.0 * limit);
    if share.abs() >= 1.0 {
        return -limit * share.signum();
    }
    // With u = C z / (3 F) the polynomial reads F (3 u − 3 |u| u + u³).
    -limit * share * (3.0 - 3.0 * share.abs() + share * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: f64 = 100_000.0;

    #[track_caller]
    fn close(found: f64, want: f64) {
        assert!((found - want).abs() <= 1e-9 * want.abs().max(1.0), "expected {want}, found {found}");
    }

    #[test]
    fn a_small_slip_meets_the_cornering_stiffness() {
        let z = 1e-6;
        assert!((across(z, C, 9000.0, 0.0) / (-C * z) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn the_force_saturates_at_the_friction_without_a_kink() {
        let sliding = 3.0 * 9000.0 / C;
        close(across(sliding, C, 9000.0, 0.0), -9000.0);
        close(across(10.0 * sliding, C, 9000.0, 0.0), -9000.0);
        let slope = (across(sliding, C, 9000.0, 0.0) - across(sliding - 1e-5, C, 9000.0, 0.0)) / 1e-5;
        assert!(slope.abs() < 10.0, "{slope}");
    }

    #[test]
    fn half_of_the_sliding_slip_gives_seven_eighths_of_the_friction() {
        // u = 1/2: 3/2 − 3/4 + 1/8.
        close(across(1.5 * 8000.0 / C, C, 8000.0, 0.0), -7000.0);
    }

    #[test]
    fn left_and_right_mirror_each_other() {
        for z in [0.01, 0.1, 0.3, 2.0] {
            close(across(z, C, 5000.0, 1000.0), -across(-z, C, 5000.0, 1000.0));
        }
    }

    #[test]
    fn braking_takes_from_cornering() {
        // A 3-4-5 triangle.
        close(across(9.0, C, 5000.0, -3000.0), -4000.0);
        close(along(-1e9, 5000.0), -4750.0);
        close(along(1200.0, 5000.0), 1200.0);
        assert!(across(9.0, C, 5000.0, along(-1e9, 5000.0)) < -1500.0);
    }
}
