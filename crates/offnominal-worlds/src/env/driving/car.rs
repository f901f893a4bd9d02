//! A bicycle with a limit to its grip.
//!
//! With speed v, wheelbase L and road-wheel angle δ, which lags its action, the car turns at the rate ω = v tan δ /
//! L, as long as the lateral acceleration v ω stays within the grip μ g; beyond it the car runs wide. What grip is
//! left over, √((μ g)² − (v ω)²), bounds acceleration and braking.

use crate::env::vec2::Vec2;

/// Seconds per step.
pub const DT_SECS: f64 = 0.1;
const SUBSTEPS: usize = 2;
const WHEELBASE_M: f64 = 2.6;
const LARGEST_ANGLE_RAD: f64 = 0.5;
/// Time constant of the steering, s.
const STEERING_LAG_SECS: f64 = 0.1;
/// Friction times gravity on the nominal road, m/s².
const GRIP: f64 = 9.0;
/// Acceleration of full throttle at rest, m/s².
const ENGINE: f64 = 5.0;
/// Deceleration of full brake, m/s².
const BRAKE: f64 = 8.0;
/// Deceleration by air per squared speed, 1/m.
const DRAG_PER_M: f64 = 0.003;
const START_SPEED: f64 = 8.0;

/// The physical quantities that can be changed, as multiples of the nominal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Physics {
    /// Of the road.
    pub grip: f64,
    /// Of the road-wheel angle.
    pub steering_gain: f64,
    /// Of the engine's force.
    pub engine: f64,
}

/// The car's state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Car {
    /// Where it is, m.
    pub position: Vec2,
    /// Where it points to, rad.
    pub heading: f64,
    /// Forward speed, m/s.
    pub speed: f64,
    /// Rate of turn, rad/s, positive to the left.
    pub yaw_rate: f64,
    /// Angle of the road wheels, rad, positive to the left.
    pub steering: f64,
    /// What it drives with and on.
    pub physics: Physics,
}

impl Car {
    /// A car at a place and heading, rolling.
    pub fn at((position, heading): (Vec2, f64)) -> Car {
        let physics = Physics { grip: 1.0, steering_gain: 1.0, engine: 1.0 };
        Car { position, heading, speed: START_SPEED, yaw_rate: 0.0, steering: 0.0, physics }
    }

    /// One step; actions from −1 to 1, brake to throttle and right to left.
    pub fn advance(&mut self, pedal: f64, steering: f64) {
        (0..SUBSTEPS).for_each(|_| self.move_for(DT_SECS / SUBSTEPS as f64, pedal, steering));
    }

    /// Over the ground, m/s.
    pub fn velocity(&self) -> Vec2 {
        Vec2::new(self.heading.cos(), self.heading.sin()) * self.speed
    }

    fn move_for(&mut self, dt: f64, pedal: f64, steering: f64) {
        let wanted = LARGEST_ANGLE_RAD * steering * self.physics.steering_gain;
        self.steering += (wanted - self.steering) * dt / STEERING_LAG_SECS;
        let grip = GRIP * self.physics.grip;
        let lateral = (self.speed * self.speed * self.steering.tan() / WHEELBASE_M).clamp(-grip, grip);
        self.yaw_rate = if self.speed > 1e-6 { lateral / self.speed } else { 0.0 };
        let left = (grip * grip - lateral * lateral).max(0.0).sqrt();
        let force = if pedal >= 0.0 { pedal * ENGINE * self.physics.engine } else { pedal * BRAKE };
        let drag = DRAG_PER_M * self.speed * self.speed;
        self.speed = (self.speed + dt * (force.clamp(-left, left) - drag)).max(0.0);
        self.heading += dt * self.yaw_rate;
        self.position += self.velocity() * dt;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_car_drives_the_circle_of_its_wheels_and_a_fast_one_runs_wide() {
        let radius = |speed: f64| {
            let mut car = Car { speed, steering: 0.25, ..Car::at((Vec2::ZERO, 0.0)) };
            car.advance(0.0, 0.5);
            car.speed / car.yaw_rate
        };
        let of_wheels = WHEELBASE_M / 0.25_f64.tan();
        assert!((radius(4.0) / of_wheels - 1.0).abs() < 0.02, "{} {of_wheels}", radius(4.0));
        assert!(radius(25.0) > 5.0 * of_wheels);
    }

    #[test]
    fn a_car_comes_to_rest_and_stays() {
        let mut car = Car::at((Vec2::ZERO, 0.0));
        (0..50).for_each(|_| car.advance(-1.0, 0.3));
        assert_eq!((car.speed, car.yaw_rate), (0.0, 0.0));
    }
}
