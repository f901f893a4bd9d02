//! An environment, a policy and an anomaly of a page: `cargo run -p offnominal-core --example tank`.
//!
//! A valve fills a leaking tank to a mark. From step 20 on its level sensor reads 0.3 m too much; until then the
//! anomalous episode is bit for bit its nominal twin.

use offnominal_core::prelude::*;
use serde::Deserialize;
use serde_json::json;

/// The level in metres, and what the environment says of itself.
#[derive(Clone)]
struct Tank {
    spec: EnvSpec,
    level: f64,
}

impl Tank {
    fn new() -> Tank {
        let spec = EnvSpec {
            observation: vec![Channel::unbounded("level", "water", "m")],
            action: vec![Channel::new("valve", "inflow, as a share of 0.1 m per step", "1", 0.0, 1.0)],
            initial: vec!["level".into()],
            horizon: 60,
            ..EnvSpec::new("tank", "keep a leaking tank at 1 m")
        };
        Tank { spec, level: 0.0 }
    }
}

impl Env for Tank {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        vec![rng.range(0.5, 1.5)]
    }

    fn start(&mut self, initial: &[f64], _: &mut Rng) {
        self.level = initial[0];
    }

    fn observe(&self, obs: &mut [f32]) {
        obs[0] = self.level as f32;
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        let inflow = 0.1 * f64::from(action[0]) + 0.002 * rng.normal();
        self.level = (self.level + inflow - 0.05 * self.level.sqrt()).max(0.0);
        Step::running(-(self.level - 1.0).abs())
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)
    }

    fn fork(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(self.clone()))
    }
}

/// Opens as the water lacks.
fn float_valve(obs: &[f32], action: &mut [f32]) {
    action[0] = (0.5 + 4.0 * (1.0 - obs[0])).clamp(0.0, 1.0);
}

/// The anomaly: a sensor reads too much.
#[derive(Deserialize)]
struct Bias {
    magnitude: f32,
}

impl Anomaly for Bias {
    fn on_observation(&mut self, obs: &mut [f32], _: &mut Rng) {
        obs[0] += self.magnitude;
    }
}

const BIAS: Entry<dyn Anomaly> = entry!(Bias as dyn Anomaly, "bias", "a sensor reads too much");

fn main() {
    let tank = Tank::new();
    let schedule = Schedule { onset: Onset::At(20), extent: Extent::ToEnd };
    let params = json!({ "magnitude": 0.3 });
    let bias = AnomalySpec { anomaly: "bias".into(), params, schedule };
    let anomalies = Catalogue::new("anomaly", &[BIAS]);
    let played = Trial::new(&tank, &float_valve).with_twin(Seed(1), &bias, &anomalies);
    let (anomalous, twin) = played.expect("the anomaly is in the catalogue");
    println!("step  anomalous  nominal");
    for t in (0..60).step_by(6) {
        println!(
            "{t:4}  {:9.3}  {:7.3}",
            anomalous.signals().observations()[t],
            twin.signals().observations()[t]
        );
    }
    println!("return {:.2}, of the twin {:.2}", anomalous.total_reward(), twin.total_reward());
}
