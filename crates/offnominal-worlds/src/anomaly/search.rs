//! Where to look for the magnitude of an anomaly in a given environment.

use super::kind;
use super::kind::{AnomalyKind, Class, Domain, Unit};
use offnominal_core::anomaly_spec::DYNAMICS;
use offnominal_core::channel::spans;
use offnominal_core::prelude::*;
use serde::{Deserialize, Serialize};

/// One direction in which magnitudes grow more harmful, starting from neutral.
///
/// A search begins at `neutral`, tries `neutral + step` first, and gives up at `limit`, or at `ceiling` where it wants to be
/// sure that nothing larger has an effect; `step`, `limit − neutral` and `ceiling − neutral` have the same sign.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Search {
    /// The magnitude at which nothing happens.
    pub neutral: f64,
    /// A small step away from neutral; negative where harm grows downwards.
    pub step: f64,
    /// The farthest magnitude that makes sense by the bounds of the channels, or by what they read nominally.
    pub limit: f64,
    /// The farthest magnitude: the limit, but where a channel has no bounds a thousand of its deviations, if that is farther.
    pub ceiling: f64,
    /// Which numbers are magnitudes: whole ones cannot be refined below 1.
    pub domain: Domain,
}

/// How far the numbers of each signal stray from their mean in nominal episodes, in the order of the numbers: the unit of
/// channels without bounds, so that it does not matter in which unit they are read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviations {
    observation: Vec<f64>,
    action: Vec<f64>,
}

impl Deviations {
    /// Those of nominal episodes.
    pub fn of(nominal: &[Episode]) -> Deviations {
        let width = |of: fn(&Episode) -> usize| nominal.first().map_or(0, of);
        let numbers =
            |i: usize| nominal.iter().flat_map(move |e| e.observations.iter().skip(i).step_by(e.obs_width));
        let commands =
            |i: usize| nominal.iter().flat_map(move |e| e.actions.iter().skip(i).step_by(e.act_width));
        Deviations {
            observation: (0..width(|e| e.obs_width)).map(|i| deviation(numbers(i))).collect(),
            action: (0..width(|e| e.act_width)).map(|i| deviation(commands(i))).collect(),
        }
    }

    /// Those of the signal that anomalies of a class disturb.
    pub fn of_class(&self, class: Class) -> &[f64] {
        if class == Class::Action { &self.action } else { &self.observation }
    }
}

/// The standard deviation of numbers.
fn deviation<'n>(numbers: impl Iterator<Item = &'n f32> + Clone) -> f64 {
    let n = numbers.clone().count().max(1) as f64;
    let mean = numbers.clone().map(|&x| f64::from(x)).sum::<f64>() / n;
    (numbers.map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// The directions of an anomaly in an environment, the preferred one first.
///
/// # Errors
/// If nothing has that name, or the environment lacks the parameter.
pub fn searches(spec: &EnvSpec, id: &str, nominal: &Deviations) -> Result<Vec<Search>, BuildError> {
    let kind = kind(id)?;
    match id.strip_prefix(DYNAMICS) {
        Some(name) => {
            let parameter = spec.parameter(name).map_err(|e| BuildError::Parameters(e.to_string()))?;
            Ok(of_parameter(parameter))
        }
        None => Ok(of_signal(kind, spec, nominal)),
    }
}

fn of_signal(kind: &AnomalyKind, spec: &EnvSpec, nominal: &Deviations) -> Vec<Search> {
    let deviations = nominal.of_class(kind.class);
    let channels = if kind.class == Class::Action { &spec.action } else { &spec.observation };
    let open = largest_open(channels, deviations);
    // What is uniform over a range strays by a third to a half of the half-width from its mean.
    let unit = half_width(channels).or(open.map(|deviation| 3.0 * deviation)).unwrap_or(1.0);
    let scaled = |r: &super::kind::Reach| {
        let (unit, farthest) = match r.unit {
            Unit::Signal => (unit, FARTHEST * open.unwrap_or(0.0)),
            Unit::One => (1.0, 0.0),
        };
        let at = |distance: f64| kind.neutral + distance.min(Domain::LARGEST) * r.limit.signum();
        let way = r.limit.abs() * unit;
        let [limit, ceiling] = [way, way.max(farthest)].map(at);
        Search { neutral: kind.neutral, step: r.step * unit, limit, ceiling, domain: kind.domain }
    };
    kind.reach.iter().map(scaled).collect()
}

/// Deviations of a channel without bounds beyond which nobody looks.
const FARTHEST: f64 = 1e3;

fn half_width(channels: &[Channel]) -> Option<f64> {
    let widths = channels.iter().map(|c| 0.5 * (c.high - c.low)).filter(|w| w.is_finite());
    widths.reduce(f64::max)
}

/// The largest deviation among the numbers of channels without bounds; none where they never change.
fn largest_open(channels: &[Channel], deviations: &[f64]) -> Option<f64> {
    let is_open = |c: &Channel| !(c.high - c.low).is_finite();
    let open = channels.iter().zip(spans(channels)).filter(|(c, _)| is_open(c));
    let found = open.flat_map(|(_, span)| deviations.get(span).unwrap_or_default()).copied();
    found.filter(|&deviation| deviation > 0.0).reduce(f64::max)
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
        Search { neutral: p.nominal, step, limit, ceiling: limit, domain: Domain::Real }
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
        let found = searches(env.spec(), id, &Deviations::default()).unwrap();
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

    /// A plant whose channels are read in these units.
    fn plant(high: f64, units: [f64; 2]) -> (EnvSpec, Deviations) {
        let channels = vec![Channel::new("a", "", "", -high, high), Channel::unbounded("b", "", "")];
        let observation =
            channels.into_iter().zip(units).map(|(c, u)| Channel { low: c.low * u, high: c.high * u, ..c });
        let deviations = Deviations { observation: vec![0.4 * units[0], 0.5 * units[1]], action: vec![] };
        (EnvSpec { observation: observation.collect(), ..EnvSpec::new("plant", "") }, deviations)
    }

    #[test]
    fn the_unit_of_a_channel_without_bounds_scales_magnitudes_and_nothing_else() {
        let found = |high: f64, unit: f64| {
            let (spec, nominal) = plant(high, [unit, unit]);
            searches(&spec, "obs-offset", &nominal).unwrap()
        };
        // Powers of two, so that nothing is rounded.
        for (high, unit) in [1.0, f64::INFINITY]
            .iter()
            .flat_map(|&high| [2.0_f64.powi(-20), 2.0_f64.powi(17)].map(|u| (high, u)))
        {
            let scaled = |s: &Search| {
                let [step, limit, ceiling] = [s.step, s.limit, s.ceiling].map(|x| x * unit);
                Search { step, limit, ceiling, ..*s }
            };
            assert_eq!(found(high, unit), found(high, 1.0).iter().map(scaled).collect::<Vec<_>>());
        }
        // A thousand deviations of what has no bounds are within every search, whatever else there is.
        for unit in [1e-6, 1.0, 1e5] {
            let (spec, nominal) = plant(1.0, [1.0, unit]);
            let all = searches(&spec, "obs-noise", &nominal).unwrap();
            assert!(all.iter().all(|s| s.ceiling >= 500.0 * unit && s.limit == 10.0), "{all:?}");
        }
        // Without bounds and without a deviation there is no unit but that of the numbers.
        let (spec, _) = plant(f64::INFINITY, [1.0, 1.0]);
        assert_eq!(searches(&spec, "obs-noise", &Deviations::default()).unwrap()[0].ceiling, 10.0);
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
        let error = |id| searches(env.spec(), id, &Deviations::default()).unwrap_err().to_string();
        assert!(error("dyn-maß").contains("did you mean \"mass\"?"));
        assert!(error("obs-nois").contains("did you mean \"obs-noise\"?"));
    }
}
