//! What the runner promises to an environment that may play ahead with the policy.

use offnominal_core::prelude::*;
use offnominal_core::run::Disturbance;
use offnominal_core::spec::{Channel, EnvSpec, ParameterError};
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Mutex};

/// Counts steps, and writes down what it is promised and the commands that come.
struct Counter {
    spec: EnvSpec,
    t: f32,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    promised: Option<u32>,
    /// What it showed, and the command that came for it.
    steps: Vec<(f32, f32)>,
}

impl Counter {
    fn new() -> Counter {
        let spec = EnvSpec {
            observation: vec![Channel::unbounded("t", "time", "1")],
            action: vec![Channel::new("u", "command", "1", -1000.0, 1000.0)],
            horizon: 12,
            initial: vec!["t".into()],
            ..EnvSpec::new("counter", "a fixture")
        };
        Counter { spec, t: 0.0, seen: Arc::default() }
    }
}

impl Env for Counter {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }
    fn draw(&self, _: &mut Rng) -> Vec<f64> {
        vec![0.0]
    }
    fn start(&mut self, x: &[f64], _: &mut Rng) {
        self.t = x[0] as f32;
    }
    fn observe(&self, obs: &mut [f32]) {
        obs[0] = self.t;
    }
    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        self.seen.lock().unwrap().steps.push((self.t, action[0]));
        self.t += 1.0;
        Step::running(1.0)
    }
    fn play_ahead(&mut self, seat: &Seat, steps: u32) {
        assert_eq!(seat.downcast_ref(), Some(&"here"));
        self.seen.lock().unwrap().promised = Some(steps);
    }
    fn set_parameter(&mut self, name: &str, _: f64) -> Result<(), ParameterError> {
        self.spec.parameter(name).map(|_| ())
    }
    fn fork(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(Counter { spec: self.spec.clone(), t: self.t, seen: self.seen.clone() }))
    }
}

/// Doubles what it sees.
#[derive(Clone)]
struct Doubling {
    is_seated: bool,
}

impl Policy for Doubling {
    fn act(&mut self, obs: &[f32], action: &mut [f32], _: &mut Rng) {
        action[0] = 2.0 * obs[0];
    }
    fn seat(&self) -> Option<Seat> {
        self.is_seated.then(|| -> Seat { Arc::new("here") })
    }
    fn fork(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

/// Adds to observation and command.
#[derive(Deserialize)]
struct Both {
    magnitude: f32,
}

impl Anomaly for Both {
    fn on_action(&mut self, action: &mut [f32], _: &mut Rng) {
        action[0] += self.magnitude;
    }
    fn on_observation(&mut self, obs: &mut [f32], _: &mut Rng) {
        obs[0] += self.magnitude;
    }
}

fn played(is_seated: bool, onset: Option<u32>) -> Seen {
    let env = Counter::new();
    let all = Catalogue::<dyn Anomaly>::new("anomaly", &[entry!(Both as dyn Anomaly, "both", "a fixture")]);
    let policy = Doubling { is_seated };
    let trial = Trial { horizon: 9, ..Trial::new(&env, &policy) };
    match onset {
        None => drop(trial.nominal(Seed(1))),
        Some(onset) => {
            let schedule = Schedule { onset: Onset::At(onset), extent: Extent::Window { steps: 2 } };
            let params = json!({"magnitude": 0.5});
            let anomaly_spec = AnomalySpec { anomaly: "both".into(), params, schedule };
            let anomaly = anomaly_spec.build(&all, &env).unwrap();
            let disturbance = Disturbance { anomaly_spec: &anomaly_spec, onset, anomaly };
            trial.disturbed_from(vec![0.0], Seed(1), disturbance, &mut |_| ());
        }
    }
    std::mem::take(&mut *env.seen.lock().unwrap())
}

#[test]
fn a_nominal_episode_is_promised_whole() {
    let seen = played(true, None);
    assert_eq!((seen.promised, seen.steps.len()), (Some(9), 9));
}

#[test]
fn what_is_promised_is_kept_and_no_more_is_promised() {
    for onset in 0..9_u32 {
        let Seen { promised, steps } = played(true, Some(onset));
        assert_eq!(promised, Some(onset));
        let kept = steps.iter().take_while(|(shown, command)| *command == 2.0 * shown).count();
        assert_eq!(kept, onset as usize, "{steps:?}");
    }
}

#[test]
fn a_policy_without_a_seat_brings_no_promise() {
    assert_eq!(played(false, None).promised, None);
}
