//! Steps of the particle environment against values computed independently (`golden/sap_steps.py`).

use offnominal_core::prelude::*;
use offnominal_worlds::env::catalogue;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    environment: String,
    initial: Vec<f64>,
    actions: Vec<[f32; 2]>,
    parameters: BTreeMap<String, f64>,
    steps: Vec<Want>,
}

#[derive(Deserialize)]
struct Want {
    observation: Vec<f32>,
    reward: f64,
    status: Status,
}

impl Case {
    fn started(&self) -> Box<dyn Env> {
        let mut env = catalogue().build(&self.environment, &serde_json::json!({})).unwrap();
        for (name, value) in &self.parameters {
            env.set_parameter(name, *value).unwrap();
        }
        env.start(&self.initial, &mut Rng::new(0));
        env
    }

    fn check(&self) {
        let mut env = self.started();
        let mut obs = vec![0.0; env.spec().obs_width()];
        for (t, (action, want)) in self.actions.iter().zip(&self.steps).enumerate() {
            let step = env.step(action, &mut Rng::new(0));
            env.observe(&mut obs);
            let place = format!("{}, step {t}", self.name);
            assert_eq!(step.status, want.status, "{place}");
            // Actions are f32 here and f64 there, and observations f32: hence the width.
            assert!((step.reward - want.reward).abs() < 2e-6, "{place}: {step:?}, {}", want.reward);
            let off = obs.iter().zip(&want.observation).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(off < 2e-6, "{place}: an observation is off by {off}");
        }
    }
}

#[test]
fn steps_are_those_of_the_independent_computation() {
    let golden: Golden = serde_json::from_str(include_str!("../golden/sap_steps.json")).unwrap();
    assert_eq!(golden.cases.len(), 3);
    golden.cases.iter().for_each(Case::check);
}
