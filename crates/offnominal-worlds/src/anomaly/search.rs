//! Where to look for the magnitude of an anomaly in a given environment.

use super::kind;
use super::kind::{AnomalyKind, Class, Domain, Unit};
use offnominal_core::anomaly_spec::DYNAMICS;
use offnominal_core::prelude::*;
use serde::Serialize;

/// One direction in which magnitudes grow more harmful, starting from neutral.
///
/// A search begins at `neutral`, tries `neutral + step` first, and gives up at `limit`; `step` and `limit − neutral`
/// have the same sign.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Search {
    /// The magnitude at which nothing happens.
    pub neutral: f64,
    /// A small step away from neutral; negative where harm grows downwards.
    pub step: f64,
    /// The farthest magnitude that makes sense.
    pub limit: f64,
    /// Which numbers are magnitudes: whole ones cannot be refined below 1.
    pub domain: Domain,
}

/// The directions of an anomaly in an environment, the preferred one first.
///
/// # Errors
/// If nothing has that name, or the environment lacks the parameter.
pub fn searches(spec: &EnvSpec, id: &str) -> Result<Vec<Search>, BuildError> {
    let kind = kind(id)?;
    match id.strip_prefix(DYNAMICS) {
        Some(name) => {
            let parameter = spec.parameter(name).map_err(|e| BuildError::Parameters(e.to_string()))?;
            Ok(of_parameter(parameter))
        }
        None => Ok(of_signal(kind, spec)),
    }
}

fn of_signal(kind: &AnomalyKind, spec: &EnvSpec) -> Vec<Search> {
    let channels = if kind.class == Class::Action { &spec.action } else { &spec.observation };
    let scaled = |r: &super::kind::Reach| {
        let unit = if r.unit == Unit::Signal { half_width(channels) } else { 1.0 };
        let limit = kind.neutral + r.limit * unit;
        Search { neutral: kind.neutral, step: r.step * unit, limit, domain: kind.domain }
    };
    kind.reach.iter().map(scaled).collect()
}

fn half_width(channels: &[Channel]) -> f64 {
    let widths = channels.iter().map(|c| 0.5 * (c.high - c.low)).filter(|w| w.is_finite());
    widths.reduce(f64::max).unwrap_or(1.0)
}

/// Both directions that the physical range leaves open. The first step is a tenth of the nominal value, or a
/// thousandth of the way where that is zero; an infinite way ends after a thousand steps.
fn of_parameter(p: &Parameter) -> Vec<Search> {
    let toward = |end: f64| {
        let way = end - p.nominal;
        let step = match (p.nominal == 0.0, way.is_finite()) {
            (false, _) => 0.1 * p.nominal.abs() * way.signum(),
            (true, true) => 1e-3 * way,
            (true, false) => 0.1 * way.signum(),
        };
        let limit = if end.is_finite() { end } else { p.nominal + 1e3 * step };
        Search { neutral: p.nominal, step, limit, domain: Domain::Real }
    };
    [p.high, p.low].into_iter().filter(|&end| end != p.nominal).map(toward).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::catalogue;
    use serde_json::json;

    #[track_caller]
    fn check(id: &str, want: &[(f64, f64, f64)]) {
        let env = catalogue().build("sap-goal0", &json!({})).unwrap();
        let found = searches(env.spec(), id).unwrap();
        let found: Vec<_> = found.iter().map(|s| (s.neutral, s.step, s.limit)).collect();
        assert_eq!(found, want, "{id}");
    }

    #[test]
    fn searches_start_at_neutral() {
        check("obs-scaling", &[(1.0, 0.05, 10.0), (1.0, -0.05, 0.0)]);
        check("act-noise", &[(0.0, 0.1, 10.0)]);
        check("act-delay", &[(0.0, 1.0, 50.0)]);
        check("obs-stuck", &[(0.0, 1.0, 1000.0)]);
        check("act-dropout", &[(0.0, 0.05, 1.0)]);
        check("act-ar-noise", &[(0.0, 0.1, 10.0)]);
        check("dyn-mass", &[(1.0, 0.1, 1000.0), (1.0, -0.1, 0.01)]);
        check("dyn-moving-objects", &[(0.0, 0.1, 100.0)]);
    }

    #[test]
    fn an_open_range_ends_somewhere() {
        let limits = |nominal: f64| {
            let p = Parameter::new("friction", "", "1", nominal, 0.0, f64::INFINITY);
            of_parameter(&p).iter().map(|s| s.limit).collect::<Vec<_>>()
        };
        assert_eq!((limits(2.0), limits(0.0)), (vec![202.0, 0.0], vec![100.0]));
    }

    #[test]
    fn wrong_names_get_the_nearest_right_one() {
        let env = catalogue().build("sap-goal0", &json!({})).unwrap();
        let error = |id| searches(env.spec(), id).unwrap_err().to_string();
        assert!(error("dyn-maß").contains("did you mean \"mass\"?"));
        assert!(error("obs-nois").contains("did you mean \"obs-noise\"?"));
    }
}
