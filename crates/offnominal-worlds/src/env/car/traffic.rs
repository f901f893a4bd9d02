//! The other vehicles: a ring of drivers on each lane, in the order of the road.
//!
//! Nobody changes lanes, so the order never changes: the vehicle ahead of number i is number i + 1, and ahead of the
//! last is number 0, a lap further. The car takes its place in its own lane ahead of the last and behind number 0.
//! Drivers want a speed of their own, in bends no more than what they find comfortable, and once in [`WHIM_EVERY_M`]
//! metres, each at places of their own, they slow down for no reason that others can see.

use super::idm::{self, DESIRED_MPS};
use super::start::Start;
use super::track::{LANES, Track, lane_centre};
use super::vehicle;
use offnominal_core::Rng;

/// Number of vehicles on each lane, the car not counted.
pub const PER_LANE: usize = 25;
/// Length and width of a vehicle, m.
pub const SIZE_M: [f64; 2] = [4.6, 1.9];
/// Acceleration towards the inside of a bend that drivers accept, m/s².
pub const COMFORTABLE: f64 = 1.0;
/// Distance from one place at which a driver slows down to the next, m.
pub const WHIM_EVERY_M: f64 = 300.0;
/// Length of such a place, m.
pub const WHIM_M: f64 = 60.0;
/// Share of the desired speed that a driver wants there.
pub const WHIM_SHARE: f64 = 0.55;
/// Smallest distance from middle to middle when an episode begins, m.
pub const MIN_SPACING_M: f64 = 30.0;

/// The drivers on one lane, those further along the road later.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lane {
    /// Position of each vehicle's middle along the centre line, m; not wrapped, and within a lap of the first.
    pub positions: Vec<f64>,
    /// Speeds, m/s.
    pub speeds: Vec<f64>,
    drivers: Vec<Driver>,
}

/// What is particular to a driver.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Driver {
    /// Speed wanted on a straight road, m/s.
    desired: f64,
    /// Where the driver's places to slow down are, m.
    whim: f64,
}

impl Driver {
    fn draw(rng: &mut Rng) -> Driver {
        let desired = rng.range(DESIRED_MPS.0, DESIRED_MPS.1);
        Driver { desired, whim: rng.range(0.0, WHIM_EVERY_M) }
    }

    /// The speed wanted at a position where the road is so much curved.
    fn wants(&self, position: f64, curvature: f64) -> f64 {
        let slow = (position + self.whim).rem_euclid(WHIM_EVERY_M) < WHIM_M;
        let wanted = if slow { WHIM_SHARE * self.desired } else { self.desired };
        wanted.min((COMFORTABLE / curvature.abs().max(1e-6)).sqrt())
    }
}

/// What the drivers of a lane see of the car.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ahead {
    /// Position along the centre line, m.
    pub position: f64,
    /// Speed, m/s.
    pub speed: f64,
    /// Length, m.
    pub length: f64,
}

impl Lane {
    /// Moves all drivers on by `dt`; `last` is what the last one has in front.
    fn advance(&mut self, d: f64, track: &Track, last: Ahead, dt: f64) {
        let n = self.positions.len();
        for i in 0..n {
            let ahead = if i + 1 < n { self.seen(i + 1) } else { last };
            let curvature = track.curvature(self.positions[i]);
            let accelerated = self.acceleration(i, ahead, curvature);
            let speed = (self.speeds[i] + accelerated * dt).max(0.0);
            // The lane is longer than the centre line on the outside of a bend, and shorter on the inside.
            self.positions[i] += 0.5 * (self.speeds[i] + speed) * dt / (1.0 - curvature * d);
            self.speeds[i] = speed;
        }
    }

    fn acceleration(&self, i: usize, ahead: Ahead, curvature: f64) -> f64 {
        let gap = ahead.position - self.positions[i] - 0.5 * (ahead.length + SIZE_M[0]);
        idm::acceleration(
            self.speeds[i],
            self.drivers[i].wants(self.positions[i], curvature),
            gap,
            ahead.speed,
        )
    }

    /// Number `i` as the driver behind sees it.
    fn seen(&self, i: usize) -> Ahead {
        Ahead { position: self.positions[i], speed: self.speeds[i], length: SIZE_M[0] }
    }

    fn push(&mut self, position: f64, driver: Driver, track: &Track) {
        self.positions.push(position);
        self.speeds.push(driver.wants(position, track.curvature(position)));
        self.drivers.push(driver);
    }

    fn clear(&mut self) {
        self.positions.clear();
        self.speeds.clear();
        self.drivers.clear();
    }
}

/// All vehicles but the car.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Traffic {
    /// The lanes, from the right.
    pub lanes: [Lane; LANES],
}

impl Traffic {
    /// Puts a vehicle ahead of the car, where the initial condition says, and the others at random.
    pub fn populate(&mut self, start: &Start, track: &Track, rng: &mut Rng) {
        self.lanes.iter_mut().for_each(Lane::clear);
        for lane in 0..LANES {
            if lane == start.lane {
                let offset = start.gap + 0.5 * (SIZE_M[0] + vehicle::SIZE_M[0]);
                let driver = Driver { desired: start.speed_ahead, ..Driver::draw(rng) };
                self.lanes[lane].push(start.position + offset, driver, track);
                self.fill(lane, track.length_m - offset, track, rng);
            } else {
                let first = start.position + rng.range(0.0, track.length_m);
                self.lanes[lane].push(first, Driver::draw(rng), track);
                self.fill(lane, track.length_m, track, rng);
            }
        }
    }

    /// Completes a lane on the `room` metres ahead of its first vehicle.
    fn fill(&mut self, lane: usize, room: f64, track: &Track, rng: &mut Rng) {
        let lane = &mut self.lanes[lane];
        let mut position = lane.positions[0];
        for spacing in &spacings(room, rng)[1..] {
            position += spacing;
            lane.push(position, Driver::draw(rng), track);
        }
    }

    /// Moves everybody on by `dt`; the car is in the way of those behind it.
    pub fn advance(&mut self, lane_of_car: usize, car: Ahead, track: &Track, dt: f64) {
        let lap = track.length_m;
        for (i, lane) in self.lanes.iter_mut().enumerate() {
            let in_front = if i == lane_of_car { car } else { lane.seen(0) };
            let last = Ahead { position: in_front.position + lap, ..in_front };
            lane.advance(lane_centre(i), track, last, dt);
        }
    }

    /// The gap to the vehicle ahead of the car, m, and that vehicle's speed, m/s.
    pub fn ahead_of(&self, lane_of_car: usize, car: Ahead) -> (f64, f64) {
        let first = self.lanes[lane_of_car].seen(0);
        (first.position - car.position - 0.5 * (first.length + car.length), first.speed)
    }

    /// Every vehicle: its lane, its number there, and its position along the centre line.
    pub fn vehicles(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.lanes.iter().enumerate().flat_map(|(lane, on_it)| {
            on_it.positions.iter().enumerate().map(move |(number, &position)| (lane, number, position))
        })
    }
}

/// Random distances that add up to `room`, none smaller than the minimum.
fn spacings(room: f64, rng: &mut Rng) -> [f64; PER_LANE] {
    let shares: [f64; PER_LANE] = std::array::from_fn(|_| -(1.0 - rng.uniform()).ln());
    let spare = room - PER_LANE as f64 * MIN_SPACING_M;
    let total: f64 = shares.iter().sum();
    shares.map(|share| MIN_SPACING_M + spare * share / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT: f64 = 0.05;

    fn start() -> Start {
        Start {
            position: 100.0,
            lane: 1,
            offset: 0.0,
            heading: 0.0,
            speed: 14.0,
            gap: 40.0,
            speed_ahead: 13.0,
        }
    }

    fn populated(track: &Track, seed: u64) -> Traffic {
        let mut traffic = Traffic::default();
        traffic.populate(&start(), track, &mut Rng::new(seed));
        traffic
    }

    fn car(position: f64, speed: f64) -> Ahead {
        Ahead { position, speed, length: vehicle::SIZE_M[0] }
    }

    /// The smallest gap between vehicles that follow each other, and to the car, m.
    fn smallest_gap(traffic: &Traffic, lane_of_car: usize, car: Ahead, lap: f64) -> f64 {
        let gaps = traffic.lanes.iter().enumerate().map(|(i, lane)| {
            let n = lane.positions.len();
            let inner = lane.positions.windows(2).map(|w| w[1] - w[0] - SIZE_M[0]);
            let front = if i == lane_of_car { car } else { lane.seen(0) };
            let last = front.position + lap - lane.positions[n - 1] - 0.5 * (front.length + SIZE_M[0]);
            inner.fold(last, f64::min)
        });
        gaps.fold(traffic.ahead_of(lane_of_car, car).0, f64::min)
    }

    #[test]
    fn a_hundred_vehicles_keep_their_distance_when_an_episode_begins() {
        for seed in 0..20 {
            let track = Track::new(seed);
            let traffic = populated(&track, seed);
            assert_eq!(traffic.vehicles().count(), 100);
            assert!((traffic.ahead_of(1, car(100.0, 14.0)).0 - 40.0).abs() < 1e-9);
            assert!(smallest_gap(&traffic, 1, car(100.0, 14.0), track.length_m) > 24.0, "track {seed}");
        }
    }

    #[test]
    fn nobody_collides_in_an_hour() {
        let track = Track::new(1);
        let mut traffic = populated(&track, 1);
        // The car follows as everybody does, and stops dead twice an hour.
        let (mut s, mut v) = (100.0, 14.0);
        for t in 0..20 * 3600 {
            let (gap, speed) = traffic.ahead_of(1, car(s, v));
            let wants = idm::acceleration(v, 14.0, gap, speed);
            let accelerated = if t % 36_000 > 35_000 { -6.0 } else { wants };
            traffic.advance(1, car(s, v), &track, DT);
            v = f64::max(v + accelerated * DT, 0.0);
            s += v * DT;
            if t % 20 == 0 {
                let found = smallest_gap(&traffic, 1, car(s, v), track.length_m);
                assert!(found > 0.5, "{found} m after {t} steps");
            }
        }
    }

    #[test]
    fn the_measure_of_gaps_sees_an_overlap() {
        let track = Track::new(1);
        let mut traffic = populated(&track, 1);
        let lane = &mut traffic.lanes[3];
        lane.positions[7] = lane.positions[8] - 4.0;
        let found = smallest_gap(&traffic, 1, car(100.0, 14.0), track.length_m);
        assert!((found + 0.6).abs() < 1e-9, "{found}");
    }

    #[test]
    fn a_follower_settles_at_the_equilibrium_gap() {
        let (mut gap, mut v) = (60.0, 14.0);
        for _ in 0..20_000 {
            v += idm::acceleration(v, 16.0, gap, 12.0) * DT;
            gap += (12.0 - v) * DT;
        }
        assert!((gap - idm::equilibrium_gap(12.0, 16.0)).abs() < 1e-6 && (v - 12.0).abs() < 1e-9);
    }

    #[test]
    fn drivers_slow_down_in_bends_and_at_places_of_their_own() {
        let driver = Driver { desired: 15.0, whim: 50.0 };
        let wants = |position, curvature| driver.wants(position, curvature);
        assert_eq!(
            [wants(100.0, 0.0), wants(100.0, 1.0 / 144.0), wants(100.0, -1.0 / 144.0)],
            [15.0, 12.0, 12.0]
        );
        let places = [249.0, 251.0, 309.0, 311.0, 551.0].map(|position| wants(position, 0.0) < 15.0);
        assert_eq!(places, [false, true, true, false, true]);
    }
}
