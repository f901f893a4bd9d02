//! What was said at alarms, against what was done.

use crate::report::aggregate::{Point, mean, median};
use crate::results::Diagnosed;
use crate::suite::page::{Column, Found, POLICY, estimate, table_of};

pub(super) fn section(found: &Found) -> String {
    let all = found.environments.iter().flat_map(|w| &w.diagnoses).filter(|d| d.policy == POLICY);
    let all: Vec<&Diagnosed> = all.collect();
    if all.is_empty() {
        return String::new();
    }
    let own = |class: &str| all.iter().copied().filter(|d| d.anomaly_class == *class).collect::<Vec<_>>();
    let alarms = |class: &str| own(class).iter().map(|d| d.alarms).sum::<u64>();
    let said = |class: &str, of: fn(&Diagnosed) -> u64| {
        let alarmed: Vec<&Diagnosed> = own(class).into_iter().filter(|d| d.alarms > 0).collect();
        let anomalies: Vec<(&str, &str)> = alarmed.iter().map(|d| (&*d.env, &*d.anomaly)).collect();
        let points = alarmed.iter().zip(&anomalies).map(|(d, anomaly)| Point {
            value: of(d) as f64 / d.alarms as f64,
            low: f64::NAN,
            high: f64::NAN,
            cluster: anomalies.iter().position(|other| other == anomaly).expect("it is one of them"),
        });
        estimate(mean(&points.collect::<Vec<_>>(), (0.0, 1.0)))
    };
    let steps = |class: &str, of: fn(&Diagnosed) -> f64| {
        let point = |d: &Diagnosed| Point { value: of(d), low: f64::NAN, high: f64::NAN, cluster: 0 };
        median(&own(class).into_iter().map(point).collect::<Vec<_>>())
            .map_or("–".into(), |e| format!("{:.0}", e.value))
    };
    let columns: [Column<'_, &str>; 7] = [
        ("what was done", &|class| class.to_string()),
        ("alarms", &|class| alarms(class).to_string()),
        ("said: observation", &|class| said(class, |d| d.as_observation)),
        ("said: action", &|class| said(class, |d| d.as_action)),
        ("said: dynamics", &|class| said(class, |d| d.as_dynamics)),
        ("onset off by, steps", &|class| steps(class, |d| d.onset_error)),
        ("alarm after, steps", &|class| steps(class, |d| d.alarm_delay)),
    ];
    format!(
        "## Diagnosis\n\nWhat is said at the first alarm of `{}`, if it comes after the onset: the class of the fault, and when \
         it began; means over environments, anomalies, strengths and repetitions with alarms. Both distances are medians over anomalies and strengths; the last column is what the error would be if \
         the alarm were taken for the onset.\n\n{}",
        all[0].detector,
        table_of(&["observation", "action", "dynamics"], &columns)
    )
}
