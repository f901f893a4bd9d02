//! An environment of your own, a tank to be filled, in every command: `cargo run --example own_env -- list envs`.

use offnominal_core::prelude::*;
use offnominal_engine::catalogues::{Extras, OwnPolicy};

fn spec() -> EnvSpec {
    EnvSpec {
        source: "an example".into(),
        observation: vec![Channel::unbounded("level", "water", "m"), Channel::unbounded("mark", "goal", "m")],
        action: vec![Channel::new("valve", "inflow, as a share of 0.1 m/s", "1", 0.0, 1.0)],
        parameters: vec![Parameter::new("leak", "outflow at a level of 1 m", "m/s", 0.05, 0.0, 0.2)],
        initial: vec!["level".into(), "mark".into()],
        reward: "−|level − mark|".into(),
        reset: "both uniform from 0.5 to 1.5 m".into(),
        success: "level within 0.1 m of the mark".into(),
        horizon: 60,
        ..EnvSpec::new("tank", "fill a leaking tank to a mark")
    }
}

/// Water level and mark in m, outflow at a level of 1 m in m/s.
#[rustfmt::skip] #[derive(Clone)]
struct Tank { spec: EnvSpec, level: f64, mark: f64, leak: f64 }

#[rustfmt::skip]
impl Env for Tank {
    fn spec(&self) -> &EnvSpec { &self.spec }
    fn draw(&self, rng: &mut Rng) -> Vec<f64> { vec![rng.range(0.5, 1.5), rng.range(0.5, 1.5)] }
    fn start(&mut self, x: &[f64], _: &mut Rng) { (self.level, self.mark) = (x[0], x[1]); }
    fn observe(&self, obs: &mut [f32]) { obs.copy_from_slice(&[self.level as f32, self.mark as f32]); }
    fn goal_met(&self) -> Option<bool> { Some((self.level - self.mark).abs() < 0.1) }
    fn fork(&self) -> Option<Box<dyn Env>> { Some(Box::new(self.clone())) }
    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        let inflow = 0.1 * f64::from(action[0]).clamp(0.0, 1.0) + 0.002 * rng.normal();
        self.level = (self.level + inflow - self.leak * self.level.sqrt()).max(0.0);
        Step::running(-(self.level - self.mark).abs())
    }
    fn parameter(&self, name: &str) -> Option<f64> { (name == "leak").then_some(self.leak) }
    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value).map(|()| self.leak = value)
    }
}

fn float_valve(obs: &[f32], action: &mut [f32]) {
    action[0] = (0.5 + 4.0 * (obs[1] - obs[0])).clamp(0.0, 1.0);
}

/// What the program adds.
#[rustfmt::skip]
pub fn extras() -> Extras {
    let tank = Entry::<dyn Env> { id: "tank", summary: "fill a leaking tank to a mark", exempt: &[],
        build: |_| Ok(Box::new(Tank { spec: spec(), level: 1.0, mark: 1.0, leak: 0.05 })) };
    let entry = Entry::<dyn Policy> { id: "float-valve", summary: "opens as the water lacks", exempt: &[],
        build: |_| Ok(Box::new(float_valve)) };
    Extras { environments: vec![tank], policies: vec![OwnPolicy { env: "tank", entry }], ..Extras::default() }
}

fn main() -> std::process::ExitCode {
    offnominal::cli::main_with(extras())
}
