//! Bodies that move and push one another.
//!
//! v ← (1 − d) v + F Δt / m, shortened to |v| ≤ 1; then x ← x + v Δt. Where there is friction, the speed loses μ Δt / m
//! before it is shortened, as far as it has it.
//! Two bodies whose centres are d ≤ r₁ + r₂ apart push each other with 100 k ln(1 + exp((r₁ + r₂ − d) / k)).
//!
//! | symbol | meaning                    | value | unit |
//! |--------|----------------------------|-------|------|
//! | Δt     | duration of a step         | 0.1   | s    |
//! | m      | mass                       | 1     | kg   |
//! | F      | sum of forces              |       | N    |
//! | d      | share of speed that is lost | 0.25 | 1    |
//! | μ      | friction                   | 0     | N    |
//! | k      | softness of the contact    | 0.001 | m    |

use crate::env::vec2::Vec2;

/// Duration of a step, s.
pub const DT_SECS: f64 = 0.1;
/// Largest speed of any body, m/s.
pub const MAX_SPEED_MPS: f64 = 1.0;
/// Share of the velocity that is lost in each step.
pub const DAMPING: f64 = 0.25;
/// Contact force per metre of penetration, N/m.
pub const CONTACT_STIFFNESS: f64 = 100.0;
/// Softness of a contact's beginning, m.
pub const CONTACT_MARGIN_M: f64 = 1e-3;

/// How a body answers forces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertia {
    /// Mass, kg.
    pub mass_kg: f64,
    /// Share of the velocity that is lost in each step.
    pub damping: f64,
    /// Force against the motion, N.
    pub friction_n: f64,
}

/// A disc that moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Centre, m.
    pub position: Vec2,
    /// Velocity, m/s.
    pub velocity: Vec2,
    /// Sum of the forces of the current step, N.
    pub force: Vec2,
    /// Radius, m.
    pub radius: f64,
}

impl Body {
    /// A body at rest.
    pub fn at_rest(position: Vec2, radius: f64) -> Body {
        Body { position, velocity: Vec2::ZERO, force: Vec2::ZERO, radius }
    }

    /// Moves the body under its forces and clears them.
    pub fn advance(&mut self, Inertia { mass_kg, damping, friction_n }: Inertia) {
        let mut velocity = self.velocity * (1.0 - damping) + self.force * (DT_SECS / mass_kg);
        if friction_n > 0.0 {
            let speed = velocity.norm_squared().sqrt();
            let left = (speed - friction_n * DT_SECS / mass_kg).max(0.0);
            velocity = velocity * (left / speed.max(f64::MIN_POSITIVE));
        }
        self.velocity = velocity.at_most(MAX_SPEED_MPS);
        self.position += self.velocity * DT_SECS;
        self.force = Vec2::ZERO;
    }
}

/// Adds the contact forces between two bodies, equal and opposite.
pub fn push_apart(a: &mut Body, b: &mut Body) {
    let delta = a.position - b.position;
    let reach = a.radius + b.radius;
    let squared = delta.norm_squared();
    if squared > reach * reach {
        return;
    }
    let distance = squared.sqrt();
    // Centres that coincide have no direction; east is as good as any, and keeps the result finite.
    let direction = if distance > 0.0 { delta * (1.0 / distance) } else { Vec2::new(1.0, 0.0) };
    let force = direction * contact_force(reach - distance);
    a.force += force;
    b.force -= force;
}

/// Contact force, N, of bodies that overlap by so many metres.
pub fn contact_force(overlap_m: f64) -> f64 {
    let z = overlap_m / CONTACT_MARGIN_M;
    // ln(1 + eᶻ), written so that a large z cannot overflow.
    let softplus = z.max(0.0) + (-z.abs()).exp().ln_1p();
    CONTACT_STIFFNESS * CONTACT_MARGIN_M * softplus
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Inertia = Inertia { mass_kg: 1.0, damping: DAMPING, friction_n: 0.0 };

    fn body(x: f64) -> Body {
        Body::at_rest(Vec2::new(x, 0.0), 0.1)
    }

    #[track_caller]
    fn close(found: f64, want: f64) {
        assert!((found - want).abs() <= 1e-12 * want.abs().max(1.0), "expected {want}, found {found}");
    }

    #[test]
    fn free_flight_loses_a_quarter_of_the_speed_each_step() {
        let mut b = body(0.0);
        b.velocity = Vec2::new(0.8, 0.0);
        for _ in 0..7 {
            b.advance(PLAIN);
        }
        close(b.velocity.x, 0.8 * 0.75_f64.powi(7));
        // Geometric sum of v Δt over the steps.
        close(b.position.x, 0.1 * 0.8 * 0.75 * (1.0 - 0.75_f64.powi(7)) / 0.25);
    }

    #[test]
    fn terminal_speed_is_force_over_damping() {
        let mut b = body(0.0);
        for _ in 0..200 {
            b.force = Vec2::new(1.2, 0.0);
            b.advance(Inertia { mass_kg: 2.0, ..PLAIN });
        }
        close(b.velocity.x, 1.2 * 0.1 / 2.0 / 0.25);
    }

    #[test]
    fn speed_is_capped_and_keeps_its_direction() {
        let mut b = body(0.0);
        b.force = Vec2::new(300.0, 400.0);
        b.advance(PLAIN);
        close(b.velocity.x, 0.6);
        close(b.velocity.y, 0.8);
    }

    #[test]
    fn contact_is_linear_when_deep_and_soft_at_the_edge() {
        close(contact_force(0.05), 5.0);
        close(contact_force(0.0), 0.1 * 2.0_f64.ln());
        close(contact_force(1e-3), 0.1 * (1.0 + std::f64::consts::E).ln());
        assert!(contact_force(1e6).is_finite());
    }

    #[test]
    fn contact_is_equal_opposite_and_ends_at_the_rim() {
        let (mut a, mut b) = (body(0.0), body(0.15));
        push_apart(&mut a, &mut b);
        close(a.force.x, -5.0);
        assert_eq!(a.force, -b.force);
        let (mut a, mut b) = (body(0.0), body(0.2001));
        push_apart(&mut a, &mut b);
        assert_eq!((a.force, b.force), (Vec2::ZERO, Vec2::ZERO));
    }

    #[test]
    fn coincident_centres_are_pushed_apart_by_a_finite_force() {
        let (mut a, mut b) = (body(0.3), body(0.3));
        push_apart(&mut a, &mut b);
        close(a.force.x, 20.0);
        close(b.force.x, -20.0);
    }

    #[test]
    fn friction_takes_speed_and_no_more_than_there_is() {
        let slowed = |friction_n| {
            let mut b = Body::at_rest(Vec2::ZERO, 0.1);
            b.velocity = Vec2::new(0.3, -0.4);
            b.advance(Inertia { damping: 0.0, friction_n, ..PLAIN });
            b.velocity
        };
        let half = slowed(2.5);
        assert!((half.x - 0.15).abs() < 1e-12 && (half.y + 0.2).abs() < 1e-12, "{half:?}");
        assert_eq!(slowed(6.0), Vec2::ZERO);
        assert_eq!(slowed(0.0), Vec2::new(0.3, -0.4));
    }

    #[test]
    fn without_damping_a_body_keeps_its_speed() {
        let mut b = Body::at_rest(Vec2::ZERO, 0.1);
        b.velocity = Vec2::new(0.5, 0.0);
        b.advance(Inertia { damping: 0.0, ..PLAIN });
        assert_eq!((b.velocity.x, b.position.x), (0.5, 0.05));
    }
}
