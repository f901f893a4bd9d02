//! A car that keeps its lane and its speed on a curved highway, behind and among other vehicles.
//!
//! The driver changes two actions, throttle or brake and steering, by a tenth of their range per step at most. The car
//! is a bicycle model whose tyres slip and let go; the highway is a closed track; a hundred other drivers follow one
//! another on its lanes.
//!
//! Cost: a step is linear in the number of vehicles; nothing is allocated.
//! Reference: Anomaly-Gym (TMLR submission 7913), CAR-LaneKeep. Deviates: see the `source` of the specification.

pub(super) mod canvas;
mod card;
mod debris;
mod ego;
mod idm;
mod image;
mod models;
mod scene;
mod start;
mod track;
mod traffic;
mod tyre;
mod vehicle;

use canvas::Canvas;
use debris::Debris;
use ego::{DT_SECS, Ego};
use offnominal_core::catalogue::parse;
use offnominal_core::prelude::*;
use scene::{Place, Scene};
use start::Start;
use std::sync::Arc;
use track::Track;
use traffic::Traffic;
use vehicle::{Condition, MAX_SPEED_MPS};

/// `car-lanekeep`.
pub const LANEKEEP: Entry<dyn Env> = Entry {
    id: card::ID,
    summary: card::SUMMARY,
    build: |params| Ok(Box::new(LaneKeep::new(&parse(params)?))),
    exempt: &[(Law::EveryChannelVaries, card::CONSTANT)],
};

/// Speed to be held, m/s (50 km/h).
const TARGET_MPS: f64 = 50.0 / 3.6;
/// Largest mean deviation from it that counts as holding it, m/s (10 km/h).
const HELD_MPS: f64 = 10.0 / 3.6;
/// A vehicle nearer than this, m, excuses a car that is too slow.
const HELD_UP_M: f64 = 30.0;
/// Largest deviation from the road's direction, rad.
const MAX_HEADING_RAD: f64 = std::f64::consts::FRAC_PI_4;
/// Largest distance from the lane's centre, m.
const MAX_OFFSET_M: f64 = 1.5;

with_defaults! {
    /// What can be chosen when the environment is made.
    #[derive(Debug, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Options {
        /// Seed of the highway's shape.
        track: u64 = 1,
    }
}

/// One episode of the lane-keeping environment.
#[derive(Debug, Clone)]
struct LaneKeep {
    spec: Arc<EnvSpec>,
    track: Arc<Track>,
    debris: Arc<Debris>,
    /// Pieces of debris per 100 m.
    debris_density: f64,
    condition: Condition,
    ego: Ego,
    traffic: Traffic,
    record: Record,
    easel: Easel,
}

/// What painting needs room for; a clone begins without.
#[derive(Debug, Default)]
struct Easel {
    scene: Scene,
    canvas: Canvas,
}

impl Clone for Easel {
    fn clone(&self) -> Easel {
        Easel::default()
    }
}

/// How well the speed was held so far.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    steps: u32,
    shortfall_sum: f64,
    has_failed: bool,
}

impl LaneKeep {
    fn new(options: &Options) -> LaneKeep {
        let track = Track::new(options.track);
        LaneKeep {
            spec: Arc::new(card::spec()),
            debris: Arc::new(Debris::on(&track, options.track)),
            debris_density: 0.0,
            track: Arc::new(track),
            condition: Condition::default(),
            ego: Ego::default(),
            traffic: Traffic::default(),
            record: Record::default(),
            easel: Easel::default(),
        }
    }

    fn fails(&self) -> bool {
        self.ego.heading.abs() > MAX_HEADING_RAD
            || self.ego.offset().abs() > MAX_OFFSET_M
            || self.ego.collides(&self.traffic, &self.track)
            || self.ego.hits(&self.debris, self.debris_density, &self.track)
    }

    fn deviation(&self) -> f64 {
        (self.ego.motion.speed() - TARGET_MPS).abs()
    }

    /// The part of the deviation that the vehicle ahead does not excuse.
    fn shortfall(&self) -> f64 {
        let is_held_up = self.ahead().0 < HELD_UP_M && self.ego.motion.speed() < TARGET_MPS;
        if is_held_up { 0.0 } else { self.deviation() }
    }

    fn reward(&self, action: [f64; 2]) -> f64 {
        if self.record.has_failed {
            return -100.0;
        }
        let astray = self.ego.heading.abs() + self.ego.offset().abs();
        -self.deviation() / MAX_SPEED_MPS - 0.1 * astray - 0.01 * action[0].hypot(action[1])
    }

    /// Gap to the vehicle ahead and its speed relative to the car's, as the driver sees them.
    fn ahead(&self) -> (f64, f64) {
        let car = self.ego.seen();
        match self.traffic.ahead_of(self.ego.lane, car) {
            (gap, speed) if gap < card::VIEW_RANGE_M => (gap.max(0.0), speed - car.speed),
            _ => (card::VIEW_RANGE_M, 0.0),
        }
    }
}

impl Env for LaneKeep {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        Start::draw(&self.track, rng)
    }

    fn start(&mut self, x: &[f64], rng: &mut Rng) {
        let start = Start::read(x);
        self.ego = Ego::at(&start, &self.track);
        self.traffic.populate(&start, &self.track, rng);
        self.record = Record::default();
    }

    fn observe(&self, obs: &mut [f32]) {
        let obs: &mut [f32; 9] = obs.try_into().expect("one number per channel");
        let (gap, closing) = self.ahead();
        let ego = &self.ego;
        let state = [
            ego.motion.speed() / MAX_SPEED_MPS,
            TARGET_MPS / MAX_SPEED_MPS,
            ego.acceleration,
            ego.heading,
            ego.offset(),
            gap,
            closing,
            ego.pedals.throttle,
            ego.pedals.steering,
        ];
        *obs = state.map(|v| v as f32);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        let Some(action) = super::two_actions(&self.spec, action) else { return super::DIVERGED };
        self.ego.act(action[0], action[1]);
        self.traffic.advance(self.ego.lane, self.ego.seen(), &self.track, DT_SECS);
        self.ego.advance(&self.track, &self.condition);
        self.record.note(self.shortfall(), self.fails());
        let status = if self.record.has_failed { Status::Failed } else { Status::Running };
        Step { reward: self.reward(action), status }
    }

    fn goal_met(&self) -> Option<bool> {
        Some(self.record.is_good())
    }

    fn parameter(&self, name: &str) -> Option<f64> {
        Some(match name {
            "brake-gain" => self.condition.brake_gain,
            "steering-gain" => self.condition.steering_gain,
            "tyre-friction" => self.condition.tyre_friction,
            "debris" => self.debris_density,
            _ => return None,
        })
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        match name {
            "brake-gain" => self.condition.brake_gain = value,
            "steering-gain" => self.condition.steering_gain = value,
            "tyre-friction" => self.condition.tyre_friction = value,
            "debris" => self.debris_density = value,
            _ => unreachable!("the specification lists only the parameters above"),
        }
        Ok(())
    }

    fn render(&mut self, camera: Camera, frame: &mut Frame) {
        let place = if camera == Camera(0) { Place::Bumper } else { Place::Chase };
        let Easel { scene, canvas } = &mut self.easel;
        let debris = (self.debris.as_ref(), self.debris_density);
        scene.describe(&self.track, &self.ego, &self.traffic, debris, place);
        image::draw(scene, canvas, frame);
    }
}

impl Record {
    fn note(&mut self, shortfall: f64, fails: bool) {
        self.steps += 1;
        self.shortfall_sum += shortfall;
        self.has_failed |= fails;
    }

    fn is_good(&self) -> bool {
        self.steps > 0 && !self.has_failed && self.shortfall_sum <= HELD_MPS * f64::from(self.steps)
    }
}
