//! What was said at alarms, against what was done.

use crate::report::aggregate::{Point, median};
use crate::results::Diagnosed;
use crate::suite::page::{Found, POLICY, table};

pub(super) fn section(found: &Found) -> String {
    let all = found.environments.iter().flat_map(|w| &w.diagnoses).filter(|d| d.policy == POLICY);
    let all: Vec<&Diagnosed> = all.collect();
    if all.is_empty() {
        return String::new();
    }
    let rows: Vec<_> = ["observation", "action", "dynamics"].iter().map(|class| row(class, &all)).collect();
    let head = [
        "what was done",
        "alarms",
        "said: observation",
        "said: action",
        "said: dynamics",
        "onset off by, steps",
        "alarm after, steps",
    ];
    format!(
        "## Diagnosis\n\nWhat is said at the first alarm of `{}`, if it comes after the onset: the class of the fault, and when \
         it began. Both distances are medians over anomalies and strengths; the last column is what the error would be if \
         the alarm were taken for the onset.\n\n{}",
        all[0].detector,
        table(&head, &rows)
    )
}

fn row(class: &str, all: &[&Diagnosed]) -> Vec<String> {
    let own: Vec<&&Diagnosed> = all.iter().filter(|d| d.anomaly_class == class).collect();
    let sum = |of: fn(&Diagnosed) -> u64| own.iter().map(|d| of(d)).sum::<u64>();
    let alarms = sum(|d| d.alarms);
    let share = |n: u64| {
        if alarms == 0 { "–".into() } else { format!("{:.0} %", 100.0 * n as f64 / alarms as f64) }
    };
    let steps = |of: fn(&Diagnosed) -> f64| {
        let point = |d: &Diagnosed| Point { value: of(d), low: f64::NAN, high: f64::NAN, cluster: 0 };
        median(&own.iter().map(|d| point(d)).collect::<Vec<_>>())
            .map_or("–".into(), |e| format!("{:.0}", e.value))
    };
    let said = [share(sum(|d| d.as_observation)), share(sum(|d| d.as_action)), share(sum(|d| d.as_dynamics))];
    let times = [steps(|d| d.onset_error), steps(|d| d.alarm_delay)];
    [class.to_string(), alarms.to_string()].into_iter().chain(said).chain(times).collect()
}
