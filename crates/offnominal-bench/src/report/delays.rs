//! Delay curves: the share of anomalies detected within j steps after onset, all detectors in one chart.

use crate::report::distinct;
use crate::report::index::Index;
use crate::report::settings::strength_rank;
use crate::results::DelayCurve;
use offnominal_report::axis::Axis;
use offnominal_report::number;
use offnominal_report::plot::{Line, Plot};
use offnominal_stats::metric::Unit;
use offnominal_stats::{RULES, rule};
use serde::Serialize;

/// The name of curves that pool all anomalies.
const POOLED: &str = "all";

/// One chart with its legend.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Environment, by which the page groups.
    pub environment: String,
    /// Threshold, for the filter.
    pub threshold: String,
    /// Environment, anomaly and strength.
    pub title: String,
    /// The image for the page.
    pub svg: String,
    /// The image as a file of its own.
    #[serde(skip)]
    pub alone: String,
    /// One entry per line.
    pub legend: Vec<Entry>,
}

/// One line of the legend.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Detector id.
    pub detector: String,
    /// Name of its colour in the style sheet.
    pub pen: String,
    /// Lengths of dashes and gaps.
    pub dash: &'static str,
    /// Share of nominal twins with an alarm.
    pub false_alarms: String,
}

type Key<'a> = (&'a str, &'a str, &'a str, &'a str); // environment, threshold, anomaly, strength

/// One chart per environment, strength and threshold; environments without pooled curves get one per anomaly.
pub fn charts(index: &Index, curves: &[DelayCurve]) -> Vec<Chart> {
    let mut keys = distinct(curves.iter().filter(|c| is_shown(c, curves)).map(key));
    keys.sort_by_key(|k| (place(&index.environments, k.0), threshold_rank(k.1), k.2, strength_rank(k.3)));
    keys.into_iter().map(|k| chart(index, k, curves)).collect()
}

/// The preferred among the thresholds of the charts.
pub fn headline(charts: &[Chart]) -> String {
    charts.iter().map(|c| &c.threshold).min_by_key(|t| threshold_rank(t)).cloned().unwrap_or_default()
}

fn is_shown(curve: &DelayCurve, curves: &[DelayCurve]) -> bool {
    curve.anomaly == POOLED || !curves.iter().any(|c| c.env == curve.env && c.anomaly == POOLED)
}

fn key(c: &DelayCurve) -> Key<'_> {
    (&c.env, &c.threshold, &c.anomaly, &c.strength)
}

fn place(list: &[String], name: &str) -> usize {
    list.iter().position(|x| x == name).unwrap_or(list.len())
}

fn threshold_rank(name: &str) -> usize {
    rule::preferred().position(|r| r.id == name).unwrap_or(RULES.len())
}

fn chart(index: &Index, of: Key, curves: &[DelayCurve]) -> Chart {
    let mut members: Vec<&DelayCurve> = curves.iter().filter(|c| key(c) == of).collect();
    members.sort_by_key(|c| place(&index.detectors, &c.detector));
    let (environment, threshold, anomaly, strength) = of;
    let anomaly = if anomaly == POOLED { "all anomalies" } else { anomaly };
    let title = format!("{environment} · {anomaly}, {strength}");
    let plot = plot(index, &title, &members);
    Chart {
        environment: environment.into(),
        threshold: threshold.into(),
        svg: plot.inside(),
        alone: Plot { title: format!("{title} · {threshold}"), ..plot }.alone(),
        title,
        legend: members.iter().map(|c| entry(index, c)).collect(),
    }
}

fn plot(index: &Index, title: &str, members: &[&DelayCurve]) -> Plot {
    Plot {
        title: title.into(),
        what: "steps after onset".into(),
        axis: Axis::linear(0.0, 1.0),
        lines: members.iter().rev().map(|c| line(index, c)).collect(), // the first detector on top
        levels: Vec::new(),
        onset: None,
        mark: None,
        size: (520.0, 250.0),
    }
}

fn line(index: &Index, curve: &DelayCurve) -> Line {
    Line {
        name: curve.detector.clone(),
        note: format!("({} false alarms)", false_alarms(curve)),
        pen: index.pen(place(&index.detectors, &curve.detector)),
        width: 1.8,
        values: curve.detected.clone(),
        band: curve.low.iter().copied().zip(curve.high.iter().copied()).collect(),
    }
}

fn entry(index: &Index, curve: &DelayCurve) -> Entry {
    let pen = index.pen(place(&index.detectors, &curve.detector));
    Entry {
        detector: curve.detector.clone(),
        pen: pen.class,
        dash: pen.dash,
        false_alarms: false_alarms(curve),
    }
}

fn false_alarms(curve: &DelayCurve) -> String {
    number::format(curve.false_alarm_rate, Unit::Share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(anomaly: &str, strength: &str, threshold: &str) -> DelayCurve {
        DelayCurve {
            env: "sap-goal0".into(),
            anomaly: anomaly.into(),
            strength: strength.into(),
            detector: "knn".into(),
            threshold: threshold.into(),
            false_alarm_rate: 0.05,
            detected: vec![0.0, 0.5, 0.75],
            low: vec![0.0, 0.4, 0.6],
            high: vec![0.1, 0.6, 0.9],
        }
    }

    #[test]
    fn pooled_curves_are_shown_in_order_of_threshold_and_strength() {
        let curves = [
            curve("all", "strong", "q95"),
            curve("obs-noise", "tiny", "q95"),
            curve("all", "tiny", "conformal"),
        ];
        let charts = charts(&Index::new(&[]), &curves);
        let titles: Vec<&str> = charts.iter().map(|c| c.title.as_str()).collect();
        assert_eq!(titles, ["sap-goal0 · all anomalies, tiny", "sap-goal0 · all anomalies, strong"]);
        assert_eq!(
            (headline(&charts).as_str(), charts[0].legend[0].false_alarms.as_str()),
            ("conformal", "5.0 %")
        );
    }

    #[test]
    fn without_pooled_curves_each_anomaly_has_its_chart() {
        assert_eq!(charts(&Index::new(&[]), &[curve("obs-noise", "tiny", "q95")]).len(), 1);
    }
}
