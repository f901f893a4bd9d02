//! The table of false alarms against thresholds: what each threshold costs, and what it buys.

use crate::report::index::Index;
use crate::report::summary::{self, Table};
use offnominal_stats::metric;

/// One row per detector and threshold, over all environments and then for each if there are several.
pub fn tables(index: &Index) -> Vec<Table> {
    if index.thresholds.is_empty() {
        return Vec::new();
    }
    index.scopes().into_iter().map(|(title, environment)| table(index, title, environment)).collect()
}

fn table(index: &Index, title: &str, environment: Option<&str>) -> Table {
    let detectors = 0..index.detectors.len();
    let pairs = detectors.flat_map(|d| index.thresholds.iter().map(move |&t| (d, t)));
    let pairs: Vec<_> = pairs.collect();
    let metrics = summary::telling(index, environment, &metric::shown(|c| c.alarms), &pairs);
    let rows = summary::lines(index, environment, &pairs, &metrics);
    Table { title: title.into(), columns: summary::columns(&metrics), rows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::row;

    #[test]
    fn every_detector_meets_every_threshold() {
        let rows = [
            row("knn", "obs-noise", "tiny", "false_alarm_rate", "q95", 0.6),
            row("knn", "obs-noise", "tiny", "false_alarm_rate", "conformal", 0.05),
            row("clock", "obs-noise", "tiny", "false_alarm_rate", "q95", 1.0),
        ];
        let tables = tables(&Index::new(&rows));
        let lines: Vec<(&str, &str, &str)> = tables[0]
            .rows
            .iter()
            .map(|l| (l.detector.as_str(), l.threshold.as_str(), l.numbers[0].text.as_str()))
            .collect();
        assert_eq!(
            lines,
            [
                ("knn", "conformal", "5.0 %"),
                ("knn", "q95", "60.0 %"),
                ("clock", "conformal", "–"),
                ("clock", "q95", "100.0 %"),
            ]
        );
    }
}
