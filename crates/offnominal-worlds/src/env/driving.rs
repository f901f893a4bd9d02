//! A car that laps a track it has never seen, between walls.
//!
//! The initial condition *is* the track: twelve checkpoints around the origin, of which ten are random. The car senses
//! the walls by a range finder, and touching one is the failure. Few tracks are hard for a good driver, which makes this
//! the environment for finding rare failures.
//!
//! Cost: a step casts nine beams on the walls near the car; nothing is allocated.
//! Reference: Uesato et al., arXiv 1812.01647, section 4 (Driving, in TORCS); checkpoints and pen of Gymnasium's
//! CarRacing-v3. Deviates: see the `source` of the specification.

mod beams;
mod car;
mod card;
mod features;
mod image;
mod places;
mod track;

use car::Car;
use offnominal_core::prelude::*;
use std::sync::Arc;
use track::{HALF_WIDTH_M, Track};

pub(super) const ENTRY: Entry<dyn Env> = Entry {
    id: card::ID,
    summary: card::SUMMARY,
    build: |params| {
        super::no_options(params)?;
        Ok(Box::new(Driving::new()))
    },
    exempt: &[],
};

/// Distance of the car's middle from a wall that it touches, m.
const CAR_RADIUS_M: f64 = 1.0;
const CRASH_REWARD: f64 = -10.0;

/// One lap in progress.
#[derive(Debug, Clone)]
struct Driving {
    spec: Arc<EnvSpec>,
    track: Arc<Track>,
    car: Car,
    /// Index of the centre point nearest to the car.
    at: usize,
    /// Centre points passed since the start; negative if it drives backwards.
    passed: i64,
}

impl Driving {
    fn new() -> Driving {
        let track = Arc::new(Track::of(&[0.5; track::NUMBERS]));
        Driving { spec: Arc::new(card::spec()), car: Car::at(track.start()), track, at: 0, passed: 0 }
    }

    /// Room between the car and the nearer wall, m.
    fn room(&self) -> f64 {
        HALF_WIDTH_M - CAR_RADIUS_M - self.track.offset(self.at, self.car.position).abs()
    }

    fn touches(&self) -> bool {
        self.room() <= 0.0
    }

    fn is_home(&self) -> bool {
        self.passed >= self.track.len() as i64
    }

    fn status(&self) -> Status {
        match (self.touches(), self.is_home()) {
            (true, _) => Status::Failed,
            (false, true) => Status::Succeeded,
            (false, false) => Status::Running,
        }
    }
}

impl Env for Driving {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        track::draw(rng)
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        assert_eq!(x.len(), self.spec.initial.len(), "{}: length of the initial condition", self.spec.id);
        self.track = Arc::new(Track::of(x));
        self.car = Car { physics: self.car.physics, ..Car::at(self.track.start()) };
        (self.at, self.passed) = (0, 0);
    }

    fn observe(&self, obs: &mut [f32]) {
        assert_eq!(obs.len(), self.spec.observation.len(), "{}: length of the observation", self.spec.id);
        let (beams, body) = obs.split_at_mut(beams::N);
        beams::cast(&self.track, self.at, self.car.position, self.car.heading, beams);
        body.copy_from_slice(&[self.car.speed, self.car.yaw_rate, self.car.steering].map(|v| v as f32));
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        let Some([pedal, steering]) = super::two_actions(&self.spec, action) else {
            return super::DIVERGED;
        };
        self.car.advance(pedal, steering);
        let (at, passed) = self.track.follow(self.at, self.car.position);
        self.at = at;
        self.passed += passed;
        let status = self.status();
        let progress = self.track.along(self.at, self.car.velocity()) * car::DT_SECS / 10.0;
        Step { reward: progress + if status == Status::Failed { CRASH_REWARD } else { 0.0 }, status }
    }

    fn goal_met(&self) -> Option<bool> {
        Some(!self.touches())
    }

    fn parameter(&self, name: &str) -> Option<f64> {
        Some(match name {
            "grip" => self.car.physics.grip,
            "steering-gain" => self.car.physics.steering_gain,
            "engine" => self.car.physics.engine,
            _ => return None,
        })
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        let physics = &mut self.car.physics;
        match name {
            "grip" => physics.grip = value,
            "steering-gain" => physics.steering_gain = value,
            "engine" => physics.engine = value,
            _ => unreachable!("the specification lists only the parameters above"),
        }
        Ok(())
    }

    fn render(&mut self, _: Camera, frame: &mut Frame) {
        image::draw(&self.track, self.at, &self.car, frame);
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        self
    }
}

impl FailureSearch for Driving {
    fn features(&self, x: &[f64]) -> Vec<f64> {
        x.iter().copied().chain(features::of(&Track::of(x))).collect()
    }

    fn places(&self, x: &[f64]) -> Option<Places> {
        Some(places::of(&Track::of(x)))
    }

    fn current_place(&self) -> Option<usize> {
        Some(places::nearest(self.at))
    }

    fn admits(&self, x: &[f64]) -> bool {
        x.len() == track::NUMBERS && x.iter().all(|v| (0.0..1.0).contains(v)) && track::is_sound(x)
    }

    fn vary(&self, x: &[f64], rng: &mut Rng) -> Option<Vec<f64>> {
        Some(track::vary(x, rng))
    }

    fn margin(&self) -> Option<f64> {
        Some(self.room())
    }
}

/// A driver who steers to where the beams are longest and brakes for what is ahead.
pub(crate) fn driver(obs: &[f32], action: &mut [f32]) {
    let (beams, speed) = (&obs[..beams::N], obs[beams::N]);
    let (mut pull, mut weights) = (0.0, 0.0);
    for (i, &range) in beams.iter().enumerate() {
        let weight = (range / 10.0).powi(3);
        pull += weight * beams::angle(i) as f32;
        weights += weight;
    }
    let bearing = pull / weights.max(1e-6);
    let middle = beams::N / 2;
    let ahead = beams[middle].max(0.8 * beams[middle - 1]).max(0.8 * beams[middle + 1]);
    let wanted = (2.0 * 3.0 * ahead).sqrt().min(20.0) - 6.0 * bearing.abs();
    action[0] = (0.5 * (wanted.max(6.0) - speed)).clamp(-1.0, 1.0);
    action[1] = (2.0 * bearing).clamp(-1.0, 1.0);
}
