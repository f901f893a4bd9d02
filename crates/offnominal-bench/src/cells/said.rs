//! What a diagnosis says of an episode after its alarm, and how often that is right.

use crate::campaign::Setting;
use crate::cells::cell::Diagnosing;
use crate::equivalents::{are_one, has_both_families};
use crate::results::Diagnosed;
use offnominal_core::prelude::*;
use offnominal_detectors::diagnosis::{AFTER, Diagnoser, Diagnosis, Direction, Family, Suspect};
use offnominal_worlds::anomaly::kind;

/// A diagnosis, against what was done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct JudgedDiagnosis {
    family: Family,
    /// Whether the family is the one of what was done, under either of its names.
    is_family: bool,
    /// Steps between the true onset and the estimated one.
    onset_error: f64,
    named: Option<Named>,
}

/// What is said by name.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Named {
    /// Whether the most probable hypothesis is what was done, under either of its names,
    is_name: bool,
    /// and has the direction too.
    is_direction: bool,
    /// |ln| of the estimated by the true distance from neutral; of what was done under its own name.
    magnitude_error: Option<f64>,
    /// Whether what was done is among the compatible hypotheses, and how many these are.
    is_covered: bool,
    compatible: usize,
}

/// What is said at each of [`AFTER`], or at the end of the episode if that is earlier.
pub(super) fn after(
    diagnoser: &mut Diagnoser,
    cell: &Diagnosing,
    setting: &Setting,
    (episode, onset, alarm): (&Episode, usize, usize),
) -> [JudgedDiagnosis; AFTER.len()] {
    let last = episode.len() - 1;
    let (mut said, mut due) = (Vec::with_capacity(AFTER.len()), AFTER.iter().peekable());
    diagnoser.reset();
    let truth = Truth { env: &cell.setup.env, setting, onset };
    for (t, seen) in episode.signals().transitions().enumerate().take(alarm + AFTER[AFTER.len() - 1] + 1) {
        diagnoser.observe(&seen);
        while due.next_if(|&&after| t == (alarm + after).min(last)).is_some() {
            let found = diagnoser.diagnose(t - alarm).clone();
            said.push(truth.judge(&found, diagnoser, t));
        }
    }
    said.try_into().expect("every time is reached, or the end")
}

struct Truth<'a> {
    env: &'a str,
    setting: &'a Setting,
    onset: usize,
}

impl Truth<'_> {
    /// The id of what was done, whatever a campaign calls it.
    fn anomaly(&self) -> &str {
        &self.setting.anomaly_spec.anomaly
    }

    fn judge(&self, found: &Diagnosis, by: &Diagnoser, t: usize) -> JudgedDiagnosis {
        JudgedDiagnosis {
            family: found.family,
            is_family: self.is_family(found.family),
            onset_error: (t - found.steps_ago).abs_diff(self.onset) as f64,
            named: found.suspects.first().map(|first| self.named(first, &found.suspects, by)),
        }
    }

    /// A fault that an action could have as well is one of either family.
    fn is_family(&self, family: Family) -> bool {
        let is_either = family != Family::Observation && has_both_families(self.env, self.anomaly());
        family.id() == self.setting.class || is_either
    }

    fn named(&self, first: &Suspect, all: &[Suspect], by: &Diagnoser) -> Named {
        let hypotheses = by.hypotheses();
        let is_it = |s: &Suspect| are_one(self.env, &hypotheses[s.hypothesis].anomaly, self.anomaly());
        let chosen = &hypotheses[first.hypothesis];
        let distance = |magnitude: f64| (magnitude - chosen.neutral).abs().ln();
        let is_own = chosen.anomaly == self.anomaly();
        let is_name = is_it(first);
        Named {
            is_name,
            is_direction: is_name && (!is_own || Some(chosen.direction) == self.direction(chosen.neutral)),
            magnitude_error: is_own
                .then(|| (distance(first.magnitude) - distance(self.setting.magnitude)).abs()),
            is_covered: all.iter().any(|s| s.is_compatible && is_it(s)),
            compatible: all.iter().filter(|s| s.is_compatible).count(),
        }
    }

    fn direction(&self, neutral: f64) -> Option<Direction> {
        kind(self.anomaly()).ok()?;
        Some(if self.setting.magnitude > neutral { Direction::Up } else { Direction::Down })
    }
}

/// A row with what was said of it.
pub(super) fn counted(row: Diagnosed, said: &[&JudgedDiagnosis]) -> Diagnosed {
    let count = |is: &dyn Fn(&JudgedDiagnosis) -> bool| said.iter().filter(|s| is(s)).count() as u64;
    let of_named = |is: fn(&Named) -> bool| count(&|s| s.named.as_ref().is_some_and(is));
    let named: Vec<Named> = said.iter().filter_map(|s| s.named).collect();
    let sizes: usize = named.iter().map(|n| n.compatible).sum();
    Diagnosed {
        as_observation: count(&|s| s.family == Family::Observation),
        as_action: count(&|s| s.family == Family::Action),
        as_dynamics: count(&|s| s.family == Family::Dynamics),
        right_family: count(&|s| s.is_family),
        named: of_named(|n| n.is_name),
        right_direction: of_named(|n| n.is_direction),
        covered: of_named(|n| n.is_covered),
        abstained: of_named(|n| n.compatible == 0),
        set_size: sizes as f64 / named.len() as f64,
        magnitude_error: median(named.iter().filter_map(|n| n.magnitude_error).collect()),
        onset_error: median(said.iter().map(|s| s.onset_error).collect()),
        ..row
    }
}

/// The median; not a number of nothing.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    if n == 0 { f64::NAN } else { (values[(n - 1) / 2] + values[n / 2]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn medians() {
        assert_eq!((median(vec![3.0, 1.0, 2.0]), median(vec![4.0, 1.0])), (2.0, 2.5));
        assert!(median(vec![]).is_nan());
    }

    fn setting(class: &str, anomaly: &str) -> Setting {
        let schedule = Schedule::WHOLE;
        let anomaly_spec = AnomalySpec { anomaly: anomaly.into(), params: json!({}), schedule };
        Setting {
            class: class.into(),
            anomaly: anomaly.into(),
            strength: "tiny".into(),
            magnitude: 2.0,
            anomaly_spec,
        }
    }

    #[test]
    fn a_fault_with_two_names_has_two_families() {
        let families = |env, class, anomaly| {
            let setting = setting(class, anomaly);
            let truth = Truth { env, setting: &setting, onset: 0 };
            Family::ALL.map(|family| truth.is_family(family))
        };
        assert_eq!(families("sap-goal0", "dynamics", "dyn-mass"), [false, true, true]);
        assert_eq!(families("sap-goal0", "action", "act-offset"), [false, true, true]);
        assert_eq!(families("sap-goal0", "action", "act-noise"), [false, true, false]);
        assert_eq!(families("mjc-reacher3d", "dynamics", "dyn-mass"), [false, false, true]);
        assert_eq!(families("car-lanekeep", "dynamics", "dyn-brake-gain"), [false, true, true]);
        assert_eq!(families("car-lanekeep", "action", "act-scaling"), [false, true, false]);
        assert_eq!(families("mjc-reacher3d", "observation", "obs-offset"), [true, false, false]);
    }
}
