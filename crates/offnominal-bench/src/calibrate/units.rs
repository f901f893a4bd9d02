//! The unit in which a channel without bounds is read scales magnitudes and changes no verdict.

use super::*;
use offnominal_files::dataset::PolicyName;

/// A vessel whose pressure is held at its set point; it is read in units of 1/`unit`.
#[derive(Clone)]
struct Vessel {
    spec: EnvSpec,
    unit: f64,
    pressure: f64,
}

fn vessel(unit: f64) -> Subject {
    let spec = EnvSpec {
        observation: vec![Channel::unbounded("pressure", "pressure above the set point", "")],
        action: vec![Channel::new("valve", "inflow", "1", -1.0, 1.0)],
        initial: vec!["pressure".into()],
        horizon: 30,
        ..EnvSpec::new("vessel", "hold a pressure")
    };
    let hold = move |obs: &[f32], action: &mut [f32]| {
        action[0] = (-2.0 * f64::from(obs[0]) / unit).clamp(-1.0, 1.0) as f32;
    };
    let name = PolicyName { id: "hold".into(), digest: unit.to_string() };
    Subject::of(Box::new(Vessel { spec, unit, pressure: 0.0 }), Box::new(hold), name)
}

impl Env for Vessel {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        vec![rng.range(-0.5, 0.5)]
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        self.pressure = x[0];
    }

    fn observe(&self, obs: &mut [f32]) {
        obs[0] = (self.unit * self.pressure) as f32;
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        self.pressure += 0.2 * f64::from(action[0]) + 0.02 * rng.normal();
        Step::running(-self.pressure.powi(2))
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)
    }
}

/// Statuses of all levels, and magnitudes in units of the plant.
fn found(unit: f64) -> Vec<(String, Status, Option<f64>)> {
    let folder = tempfile::tempdir().unwrap();
    let effort = Effort { nominal: 40, budget: 1500, tolerance: 0.3, precision: 0.75 };
    let anomalies = ["obs-offset", "obs-noise", "obs-drift"].map(String::from);
    let rows = calibrate(&vessel(unit), &anomalies, &effort, &Context::silent(1, 1), folder.path()).unwrap();
    rows.into_iter()
        .map(|row| (format!("{} {}", row.anomaly, row.level), row.status, row.magnitude.map(|m| m / unit)))
        .collect()
}

#[test]
fn a_plant_in_pascal_and_in_micrometres_has_the_same_faults() {
    let plain = found(1.0);
    let reached = plain.iter().filter(|(_, status, _)| *status == Status::Found).count();
    assert!(reached >= 6, "{plain:?}");
    // Powers of two, so that nothing is rounded: about 1e5, and about 1e-6.
    for unit in [2.0_f64.powi(17), 2.0_f64.powi(-20)] {
        assert_eq!(found(unit), plain, "{unit}");
    }
}
