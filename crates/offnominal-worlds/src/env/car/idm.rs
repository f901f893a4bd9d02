//! How the other drivers accelerate: the intelligent driver model.
//!
//! v̇ = a (f − (s* / s)²),  s* = s₀ + max(0, v T + v (v − v_ahead) / (2 √(a b)))
//!
//! On a free road f = 1 − (v / v₀)⁴ up to the desired speed, and −b / a (1 − (v₀ / v)³) above it, so that a driver who
//! wants to be slower slows down comfortably.
//!
//! | symbol | meaning                        | value | unit |
//! |--------|--------------------------------|-------|------|
//! | v₀     | desired speed                  |       | m/s  |
//! | s      | gap, bumper to bumper          |       | m    |
//! | s₀     | gap kept at standstill         | 2     | m    |
//! | T      | time headway                   | 1.2   | s    |
//! | a      | acceleration from standstill   | 1.5   | m/s² |
//! | b      | comfortable deceleration       | 2     | m/s² |
//!
//! Reference: M. Treiber, A. Hennecke, D. Helbing, "Congested traffic states in empirical observations and microscopic
//! simulations", Physical Review E 62 (2000), equations 2 and 3; above the desired speed M. Treiber, A. Kesting, "Traffic
//! Flow Dynamics" (2013), section 11.3.7, whose exponent a δ / b is 3 here.

/// Speeds that drivers want, m/s (45 to 65 km/h).
pub const DESIRED_MPS: (f64, f64) = (12.5, 18.0);
/// Gap kept at standstill, m.
pub const STANDSTILL_GAP_M: f64 = 2.0;
/// Time headway, s.
pub const HEADWAY_SECS: f64 = 1.2;
/// Acceleration from standstill, m/s².
pub const ACCELERATION: f64 = 1.5;
/// Comfortable deceleration, m/s².
pub const DECELERATION: f64 = 2.0;
/// The hardest braking that a driver can get out of the tyres, m/s².
pub const HARDEST: f64 = 8.0;

/// Acceleration, m/s², of a driver at `speed` who wants `desired` and has a vehicle with `speed_ahead` in front.
pub fn acceleration(speed: f64, desired: f64, gap_m: f64, speed_ahead: f64) -> f64 {
    let interaction = wanted_gap(speed, speed_ahead) / gap_m.max(0.01);
    (free(speed, desired) - ACCELERATION * interaction * interaction).max(-HARDEST)
}

/// Acceleration on a free road, m/s².
fn free(speed: f64, desired: f64) -> f64 {
    if speed > desired {
        return -DECELERATION * (1.0 - (desired / speed).powi(3));
    }
    ACCELERATION * (1.0 - (speed / desired).powi(4))
}

/// The gap s* that a driver wants, m.
fn wanted_gap(speed: f64, speed_ahead: f64) -> f64 {
    let closing = speed * (speed - speed_ahead) / (2.0 * (ACCELERATION * DECELERATION).sqrt());
    STANDSTILL_GAP_M + (speed * HEADWAY_SECS + closing).max(0.0)
}

/// The gap, m, at which a driver keeps the speed of the vehicle ahead.
#[cfg(test)]
pub fn equilibrium_gap(speed: f64, desired: f64) -> f64 {
    (STANDSTILL_GAP_M + speed * HEADWAY_SECS) / (1.0 - (speed / desired).powi(4)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_accelerates_at_the_equilibrium_gap() {
        for (speed, desired) in [(0.0, 15.0), (8.0, 15.0), (14.0, 15.0)] {
            let gap = equilibrium_gap(speed, desired);
            assert!(acceleration(speed, desired, gap, speed).abs() < 1e-12);
            assert!(acceleration(speed, desired, 1.1 * gap, speed) > 0.0);
            assert!(acceleration(speed, desired, 0.9 * gap, speed) < 0.0);
        }
    }

    #[test]
    fn an_empty_road_is_driven_at_the_desired_speed() {
        assert!((acceleration(0.0, 15.0, f64::INFINITY, 0.0) - ACCELERATION).abs() < 1e-12);
        assert!(acceleration(15.0, 15.0, f64::INFINITY, 0.0).abs() < 1e-12);
        assert!((acceleration(20.0, 10.0, f64::INFINITY, 0.0) + 0.875 * DECELERATION).abs() < 1e-12);
    }

    #[test]
    fn closing_in_brakes_and_tyres_limit_it() {
        assert!(acceleration(15.0, 15.0, 40.0, 10.0) < acceleration(15.0, 15.0, 40.0, 15.0));
        assert_eq!(acceleration(15.0, 15.0, 0.5, 0.0), -HARDEST);
    }
}
