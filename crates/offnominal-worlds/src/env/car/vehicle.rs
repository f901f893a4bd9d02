//! The car itself: a bicycle model with tyres that slip.
//!
//! m (v̇_x − v_y r) = Σ F_x − drag,  m (v̇_y + v_x r) = Σ F_y,  I ṙ = l_f F_y,front − l_r F_y,rear
//!
//! v_x and v_y are the velocity of the centre of mass, forward and to the left, r is the yaw rate (anticlockwise).
//! The wheels of an axle are one; their forces are those of [`super::tyre`]. Loads are those of standing still: what
//! braking shifts to the front is left out. The figures are those of a large American saloon (Ford Crown Victoria).
//!
//! Below [`SLOW_MPS`] slips are measured against that speed instead of the car's own. A rolling car has no slip either
//! way, so nothing changes but that the equations stay regular, and a standing car feels no force.
//!
//! Reference: R. Rajamani, "Vehicle Dynamics and Control", 2nd ed. (2012), sections 2.3 and 4.1.

use super::tyre;

/// Gravity, m/s².
pub const GRAVITY: f64 = 9.81;
/// Mass, kg.
pub const MASS_KG: f64 = 1873.0;
/// Yaw inertia, kg m².
pub const INERTIA: f64 = 3900.0;
/// Distance of the front axle from the centre of mass, m.
pub const FRONT_M: f64 = 1.31;
/// Distance of the rear axle from the centre of mass, m.
pub const REAR_M: f64 = 1.60;
/// Length and width of the body, m; the centre of mass is taken for its middle.
pub const SIZE_M: [f64; 2] = [5.4, 2.0];
/// Cornering stiffness of each axle, N/rad.
pub const STIFFNESS: f64 = 100_000.0;
/// Coefficient of friction of the dry road.
pub const FRICTION: f64 = 0.9;
/// Road-wheel angle of a full steering action, rad.
pub const MAX_STEER_RAD: f64 = 0.35;
/// Deceleration that a full brake action asks for, m/s².
pub const MAX_BRAKE: f64 = 10.0;
/// Acceleration of a full throttle action as long as the engine's power allows it, m/s².
pub const MAX_DRIVE: f64 = 3.5;
/// Power of the engine, W.
pub const POWER_W: f64 = 130_000.0;
/// Speed at which a governor takes the throttle away, m/s (100 km/h).
pub const MAX_SPEED_MPS: f64 = 100.0 / 3.6;
/// Half of air density × drag coefficient × frontal area, kg/m.
pub const AIR_DRAG: f64 = 0.5;
/// Rolling resistance, as a share of the weight.
pub const ROLLING: f64 = 0.013;
/// Speed below which slips are measured against this speed, m/s.
pub const SLOW_MPS: f64 = 2.0;

/// Speed range over which the governor closes the throttle, m/s.
const GOVERNOR_MPS: f64 = 1.0;
/// Speed below which brakes fade so that they stop the car and do not push it back, m/s.
const FADE_MPS: f64 = 0.2;

offnominal_core::with_defaults! {
    /// The quantities that can go wrong, each as a multiple of its nominal value.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Condition {
        /// Brake force per brake action.
        pub brake_gain: f64 = 1.0,
        /// Road-wheel angle per steering action.
        pub steering_gain: f64 = 1.0,
        /// Coefficient of friction between tyres and road.
        pub tyre_friction: f64 = 1.0,
    }
}

/// What the driver asks for, held over a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pedals {
    /// Throttle if positive, brake if negative; in [−1, 1].
    pub throttle: f64,
    /// Steering, positive to the left; in [−1, 1].
    pub steering: f64,
}

/// How the car moves over the ground, seen from the car.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Motion {
    /// Forward velocity, m/s; never negative.
    pub forward: f64,
    /// Leftward velocity, m/s.
    pub leftward: f64,
    /// Yaw rate, rad/s, positive anticlockwise.
    pub yaw_rate: f64,
}

impl Motion {
    /// Speed over the ground, m/s.
    pub fn speed(&self) -> f64 {
        self.forward.hypot(self.leftward)
    }

    /// Moves on by `dt` seconds; returns the acceleration over the ground, forward and leftward, m/s².
    pub fn advance(&mut self, wheels: &Wheels, dt: f64) -> [f64; 2] {
        let [along, across, moment] = wheels.forces(self);
        let (ahead, sideways) = (along / MASS_KG, across / MASS_KG);
        let forward = self.forward + (ahead + self.leftward * self.yaw_rate) * dt;
        self.leftward += (sideways - self.forward * self.yaw_rate) * dt;
        self.yaw_rate += moment / INERTIA * dt;
        self.forward = forward.max(0.0);
        [ahead, sideways]
    }
}

/// The actions of a step as they arrive at the wheels.
#[derive(Debug, Clone, Copy)]
pub struct Wheels {
    sin: f64,
    cos: f64,
    throttle: f64,
    brake_n: f64,
    friction: f64,
}

impl Wheels {
    /// What a car in this condition makes of the driver's actions.
    pub fn new(pedals: Pedals, condition: &Condition) -> Wheels {
        let (sin, cos) = (MAX_STEER_RAD * pedals.steering * condition.steering_gain).sin_cos();
        Wheels {
            sin,
            cos,
            throttle: pedals.throttle.max(0.0),
            brake_n: MASS_KG * MAX_BRAKE * (-pedals.throttle).max(0.0) * condition.brake_gain,
            friction: FRICTION * condition.tyre_friction,
        }
    }

    /// Forces forward and leftward, N, and the moment about the vertical, N m.
    fn forces(&self, motion: &Motion) -> [f64; 3] {
        let (front, rear) = (self.front(motion), self.rear(motion));
        let drag =
            AIR_DRAG * motion.forward * motion.forward + ROLLING * MASS_KG * GRAVITY * fade(motion.forward);
        [front[0] + rear[0] - drag, front[1] + rear[1], FRONT_M * front[1] - REAR_M * rear[1]]
    }

    /// The force of the steered axle, turned into the car's directions.
    fn front(&self, motion: &Motion) -> [f64; 2] {
        let share = REAR_M / (FRONT_M + REAR_M);
        let sideways = motion.leftward + FRONT_M * motion.yaw_rate;
        let rolling = motion.forward * self.cos + sideways * self.sin;
        let slipping = sideways * self.cos - motion.forward * self.sin;
        let [along, across] =
            self.axle(-self.brake_n * share * fade(motion.forward), share, rolling, slipping);
        [along * self.cos - across * self.sin, along * self.sin + across * self.cos]
    }

    /// The force of the driven axle.
    fn rear(&self, motion: &Motion) -> [f64; 2] {
        let share = FRONT_M / (FRONT_M + REAR_M);
        let brake = self.brake_n * share * fade(motion.forward);
        let slipping = motion.leftward - REAR_M * motion.yaw_rate;
        self.axle(self.throttle * drive_n(motion.forward) - brake, share, motion.forward, slipping)
    }

    fn axle(&self, wanted_n: f64, share: f64, rolling: f64, slipping: f64) -> [f64; 2] {
        let friction_n = self.friction * share * MASS_KG * GRAVITY;
        let along = tyre::along(wanted_n, friction_n);
        [along, tyre::across(slipping / rolling.max(SLOW_MPS), STIFFNESS, friction_n, along)]
    }
}

/// Force of the full throttle, N.
fn drive_n(speed: f64) -> f64 {
    let governor = ((MAX_SPEED_MPS - speed) / GOVERNOR_MPS).clamp(0.0, 1.0);
    (MASS_KG * MAX_DRIVE).min(POWER_W / speed.max(1.0)) * governor
}

fn fade(speed: f64) -> f64 {
    (speed / FADE_MPS).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT: f64 = 0.005;

    fn rolling(forward: f64) -> Motion {
        Motion { forward, ..Motion::default() }
    }

    fn wheels(throttle: f64, steering: f64, condition: Condition) -> Wheels {
        Wheels::new(Pedals { throttle, steering }, &condition)
    }

    fn slippery(tyre_friction: f64) -> Condition {
        Condition { tyre_friction, ..Condition::default() }
    }

    /// Drives so long, holding the forward speed, and returns the motion and the acceleration at the end.
    fn cornering(speed: f64, steering: f64, condition: Condition) -> (Motion, [f64; 2]) {
        let (wheels, mut motion) = (wheels(0.0, steering, condition), rolling(speed));
        let mut acceleration = [0.0; 2];
        for _ in 0..2000 {
            acceleration = motion.advance(&wheels, DT);
            motion.forward = speed;
        }
        (motion, acceleration)
    }

    #[test]
    fn the_steady_turn_has_the_radius_of_the_textbook() {
        // δ = (l + K v²) / R with K = m / l (l_r / C_f − l_f / C_r); small angles, so 1 % is enough.
        let wheelbase = FRONT_M + REAR_M;
        let gradient = MASS_KG / wheelbase * (REAR_M / STIFFNESS - FRONT_M / STIFFNESS);
        for speed in [1.0, 5.0, 10.0, 15.0, 20.0] {
            let delta = 0.004;
            let (motion, _) = cornering(speed, delta / MAX_STEER_RAD, Condition::default());
            let (found, want) = (speed / motion.yaw_rate, (wheelbase + gradient * speed * speed) / delta);
            assert!((found / want - 1.0).abs() < 0.01, "{speed} m/s: expected {want} m, found {found} m");
        }
    }

    #[test]
    fn no_turn_is_tighter_than_friction_allows() {
        for friction in [0.1, 0.3, 1.0] {
            let (motion, [_, sideways]) = cornering(15.0, 0.5, slippery(friction));
            let limit = friction * FRICTION * GRAVITY;
            assert!(sideways <= limit && motion.yaw_rate * 15.0 <= 1.01 * limit, "{sideways} of {limit}");
            assert!(sideways > 0.8 * limit, "{sideways} of {limit}");
        }
    }

    /// Distance in which a full brake action stops the car, m.
    fn braking_distance(speed: f64, condition: Condition) -> f64 {
        let (wheels, mut motion, mut way) = (wheels(-1.0, 0.0, condition), rolling(speed), 0.0);
        while motion.forward > 0.01 {
            let before = motion.forward;
            motion.advance(&wheels, DT);
            way += 0.5 * (before + motion.forward) * DT;
        }
        way
    }

    /// Distance at constant brakes a, with rolling resistance and air drag: ln(1 + k v² / (m a)) m / (2 k).
    fn distance_of(speed: f64, braking: f64) -> f64 {
        let (k, a) = (AIR_DRAG / MASS_KG, braking + ROLLING * GRAVITY);
        (1.0 + k * speed * speed / a).ln() / (2.0 * k)
    }

    #[test]
    fn brakes_are_limited_by_the_pedal_or_by_the_road() {
        let grip = tyre::LENGTHWAYS_SHARE * FRICTION * GRAVITY;
        let weak = Condition { brake_gain: 0.3, ..Condition::default() };
        for (condition, braking) in
            [(Condition::default(), grip), (slippery(0.2), 0.2 * grip), (weak, 0.3 * MAX_BRAKE)]
        {
            for speed in [5.0, 14.0, 27.0] {
                let (found, want) = (braking_distance(speed, condition), distance_of(speed, braking));
                assert!(
                    (found - want).abs() < 0.02 + 0.005 * want,
                    "{speed}: expected {want}, found {found}"
                );
            }
        }
    }

    #[test]
    fn a_standing_car_stays_however_it_is_steered() {
        for steering in [-1.0, 0.0, 1.0] {
            let mut motion = rolling(0.0);
            assert_eq!(motion.advance(&wheels(-1.0, steering, Condition::default()), DT), [0.0; 2]);
            assert_eq!(motion, rolling(0.0));
        }
    }

    #[test]
    fn it_starts_from_rest_turning_and_without_a_jump() {
        let (wheels, mut motion) = (wheels(1.0, 1.0, Condition::default()), rolling(0.0));
        for _ in 0..400 {
            let before = motion;
            motion.advance(&wheels, DT);
            assert!((motion.yaw_rate - before.yaw_rate).abs() < 0.05 && motion.forward.is_finite());
        }
        // Slowly, the car turns about the point that geometry gives: r = v tan δ / l, at the rear axle.
        assert!(motion.forward > 4.0 && motion.yaw_rate > 0.3, "{motion:?}");
    }

    #[test]
    fn full_throttle_ends_at_the_governor() {
        let (wheels, mut motion) = (wheels(1.0, 0.0, Condition::default()), rolling(10.0));
        let mut secs = 0.0;
        while motion.forward < MAX_SPEED_MPS - GOVERNOR_MPS && secs < 60.0 {
            motion.advance(&wheels, DT);
            secs += DT;
        }
        assert!((3.0..12.0).contains(&secs), "{secs} s");
        (0..20_000).for_each(|_| {
            motion.advance(&wheels, DT);
        });
        assert!((26.5..MAX_SPEED_MPS).contains(&motion.forward), "{} m/s", motion.forward);
    }

    #[test]
    fn left_mirrors_right() {
        let (left, right) = (cornering(12.0, 0.3, slippery(0.3)).0, cornering(12.0, -0.3, slippery(0.3)).0);
        assert!(
            (left.yaw_rate + right.yaw_rate).abs() < 1e-9 && (left.leftward + right.leftward).abs() < 1e-9
        );
    }
}
