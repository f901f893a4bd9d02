//! The variants of a benchmark: 90 of cartpole, 40 of the pendulum, 20 of pong, and null controls that no detector may
//! tell from the nominal environment.
//!
//! Reference: Mohammed and Valdenegro-Toro, "Benchmark for Out-of-Distribution Detection in Deep Reinforcement Learning"
//! (2021), Table 1.
//!
//! Cartpole's and pendulum's values are the factors of the paper times the default; the paper's table rounds them.
//! Whole episodes are anomalous, from the first step on.

use offnominal_core::anomaly_spec::{AnomalySpec, DYNAMICS};
use offnominal_core::schedule::Schedule;
use serde_json::json;

/// One environment of the benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The environment.
    pub env: &'static str,
    /// What is different in it.
    pub anomaly_spec: AnomalySpec,
    /// Why nothing can be detected, if so: the environment behaves as the nominal one, and an AUROC must be one half.
    pub null: Option<&'static str>,
}

/// One row of the table: a parameter with its default and the multiples of it.
struct Row {
    env: &'static str,
    parameter: &'static str,
    default: f64,
    multiples: &'static [f64],
}

/// Multiples of the default, and with them the fractions.
const CARTPOLE: &[f64] = &[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];

/// Of the pendulum, whose grid is coarser and wider.
const PENDULUM: &[f64] = &[2.0, 5.0, 10.0, 20.0];

const fn cartpole(parameter: &'static str, default: f64) -> Row {
    Row { env: "cartpole", parameter, default, multiples: CARTPOLE }
}

const fn pendulum(parameter: &'static str, default: f64) -> Row {
    Row { env: "pendulum", parameter, default, multiples: PENDULUM }
}

const ROWS: [Row; 10] = [
    cartpole("gravity", 9.8),
    cartpole("cart-mass", 1.0),
    cartpole("pole-length", 0.5),
    cartpole("pole-mass", 0.1),
    cartpole("force", 10.0),
    pendulum("gravity", 10.0),
    pendulum("mass", 1.0),
    pendulum("length", 1.0),
    pendulum("max-speed", 8.0),
    pendulum("max-torque", 2.0),
];

const IMAGES: [&str; 4] = ["img-gaussian-noise", "img-impulse-noise", "img-motion-blur", "img-pixelate"];

/// Why a stronger motor changes nothing.
const OUT_OF_REACH: &str = "actions end at ±2 N m, so a higher limit of the torque is never reached";
/// Why a control changes nothing.
const NEUTRAL: &str = "the anomaly has its neutral magnitude";

/// The 150 variants of the paper, in the order of its table.
pub fn variants() -> Vec<Variant> {
    let physical = ROWS.iter().flat_map(|row| row.factors().map(|f| row.variant(f * row.default)));
    let images = IMAGES.iter().flat_map(|id| (1..=5).map(|s| image(id, f64::from(s))));
    physical.chain(images).collect()
}

/// One control per row: the same anomaly at its neutral magnitude.
pub fn null_controls() -> Vec<Variant> {
    let physical = ROWS.iter().map(|row| row.variant(row.default));
    let all = physical.chain(IMAGES.iter().map(|id| image(id, 0.0)));
    all.map(|v| Variant { null: Some(NEUTRAL), ..v }).collect()
}

impl Row {
    /// From the smallest fraction to the largest multiple.
    fn factors(&self) -> impl Iterator<Item = f64> {
        self.multiples.iter().rev().map(|m| 1.0 / m).chain(self.multiples.iter().copied())
    }

    fn variant(&self, value: f64) -> Variant {
        let is_out_of_reach = self.parameter == "max-torque" && value > self.default;
        let null = is_out_of_reach.then_some(OUT_OF_REACH);
        Variant { env: self.env, anomaly_spec: whole(format!("{DYNAMICS}{}", self.parameter), value), null }
    }
}

fn image(id: &str, severity: f64) -> Variant {
    Variant { env: "pong", anomaly_spec: whole(id.into(), severity), null: None }
}

fn whole(anomaly: String, magnitude: f64) -> AnomalySpec {
    AnomalySpec { anomaly, params: json!({ "magnitude": magnitude }), schedule: Schedule::WHOLE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{anomaly, env};
    use offnominal_core::prelude::*;

    fn magnitudes(env: &str, id: &str) -> Vec<f64> {
        let of = |v: &Variant| v.env == env && v.anomaly_spec.anomaly == id;
        variants()
            .iter()
            .filter(|v| of(v))
            .map(|v| v.anomaly_spec.params["magnitude"].as_f64().unwrap())
            .collect()
    }

    /// Whether the values are those printed in the paper, which have two to four decimals.
    #[track_caller]
    fn check(env: &str, id: &str, printed: &[f64]) {
        let found = magnitudes(env, id);
        assert_eq!(found.len(), printed.len());
        let off = found.iter().zip(printed).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off <= 0.0051, "{env} {id}: {found:?}");
    }

    #[test]
    fn values_are_those_of_the_table() {
        let gravity = [
            0.98, 1.09, 1.23, 1.4, 1.63, 1.96, 2.45, 3.27, 4.9, 19.6, 29.4, 39.2, 49.0, 58.8, 68.6, 78.4,
            88.2, 98.0,
        ];
        check("cartpole", "dyn-gravity", &gravity);
        let force = [
            1.0, 1.1111, 1.25, 1.4286, 1.6667, 2.0, 2.5, 3.3333, 5.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0,
            80.0, 90.0, 100.0,
        ];
        check("cartpole", "dyn-force", &force);
        check("cartpole", "dyn-cart-mass", &force.map(|f| f / 10.0));
        check("cartpole", "dyn-pole-mass", &force.map(|f| f / 100.0));
        check("cartpole", "dyn-pole-length", &force.map(|f| f / 20.0));
        check("pendulum", "dyn-gravity", &[0.5, 1.0, 2.0, 5.0, 20.0, 50.0, 100.0, 200.0]);
        check("pendulum", "dyn-mass", &[0.05, 0.1, 0.2, 0.5, 2.0, 5.0, 10.0, 20.0]);
        check("pendulum", "dyn-length", &[0.05, 0.1, 0.2, 0.5, 2.0, 5.0, 10.0, 20.0]);
        check("pendulum", "dyn-max-speed", &[0.4, 0.8, 1.6, 4.0, 16.0, 40.0, 80.0, 160.0]);
        check("pendulum", "dyn-max-torque", &[0.1, 0.2, 0.4, 1.0, 4.0, 10.0, 20.0, 40.0]);
        for id in IMAGES {
            assert_eq!(magnitudes("pong", id), [1.0, 2.0, 3.0, 4.0, 5.0]);
        }
        let count = |env| variants().iter().filter(|v| v.env == env).count();
        assert_eq!(["cartpole", "pendulum", "pong"].map(count), [90, 40, 20]);
    }

    #[test]
    fn defaults_are_those_of_the_environments() {
        for row in ROWS {
            let env = env::catalogue().build(row.env, &json!({})).unwrap();
            assert_eq!(
                env.spec().parameter(row.parameter).unwrap().nominal,
                row.default,
                "{}",
                row.parameter
            );
        }
    }

    /// A short episode of the random policy under the variant, and its twin.
    fn played(v: &Variant) -> (Episode, Episode) {
        let env = env::catalogue().build(v.env, &json!({})).unwrap();
        let policy = offnominal_core::policy::Random::new(&env.spec().action);
        let mut trial = Trial::new(env.as_ref(), &policy);
        trial.horizon = 40;
        trial.with_twin(Seed(5), &v.anomaly_spec, &anomaly::catalogue()).unwrap()
    }

    #[test]
    fn variants_change_the_environment_and_null_ones_do_not() {
        let all = [variants(), null_controls()].concat();
        assert_eq!(all.iter().filter(|v| v.null.is_some()).count(), 4 + 14);
        for v in &all {
            let (anomalous, twin) = played(v);
            let alike = anomalous.observations == twin.observations && anomalous.rewards == twin.rewards;
            // A higher limit of the speed changes nothing as long as the random policy does not reach it.
            let may_be_alike = v.anomaly_spec.anomaly == "dyn-max-speed"
                && v.anomaly_spec.params["magnitude"].as_f64() > Some(8.0);
            assert!(alike == v.null.is_some() || (alike && may_be_alike), "{v:?}");
        }
    }
}
