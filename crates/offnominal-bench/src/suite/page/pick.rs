//! Chosen rows, and what they tell together.

use crate::report::aggregate::{self, Point};
use crate::suite::Row;
use offnominal_core::estimate::Estimate;
use std::collections::BTreeMap;

/// Some of the rows.
#[derive(Clone)]
pub(crate) struct Pick<'a>(pub Vec<&'a Row>);

impl<'a> Pick<'a> {
    /// The rows of anomalies under a policy. Only some of many metrics, because each table reads its rows often.
    pub fn anomalies(rows: &'a [Row], policy: &str, metrics: &[&str]) -> Pick<'a> {
        Pick::all(rows)
            .only(|r| metrics.contains(&&*r.metric) && r.policy == policy && r.anomaly_class != "none")
    }

    /// The rows of nominal episodes that are judged as if they were anomalous.
    pub fn control(rows: &'a [Row], policy: &str, metrics: &[&str]) -> Pick<'a> {
        Pick::all(rows)
            .only(|r| metrics.contains(&&*r.metric) && r.policy == policy && r.anomaly_class == "none")
    }

    fn all(rows: &'a [Row]) -> Pick<'a> {
        Pick(rows.iter().collect())
    }

    /// Those that fit.
    pub fn only(&self, keep: impl Fn(&Row) -> bool) -> Pick<'a> {
        Pick(self.0.iter().copied().filter(|r| keep(r)).collect())
    }

    /// Those of a detector.
    pub fn detector(&self, id: &str) -> Pick<'a> {
        self.only(|r| r.detector == id)
    }

    /// Those of an environment.
    pub fn env(&self, id: &str) -> Pick<'a> {
        self.only(|r| r.env == id)
    }

    /// Those of a strength.
    pub fn strength(&self, level: &str) -> Pick<'a> {
        self.only(|r| r.strength == level)
    }

    /// Those of a metric, at an alarm rule if it needs one.
    pub fn metric(&self, metric: &str, rule: &str) -> Pick<'a> {
        self.only(|r| r.metric == metric && r.threshold == rule)
    }

    /// A metric of every cell; anomalies of an environment are a cluster.
    pub fn points(&self, metric: &str, rule: &str) -> Vec<Point> {
        let mut clusters: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
        let point = |row: &&'a Row| {
            let n = clusters.len();
            let cluster = *clusters.entry((&row.env, &row.policy, &row.anomaly)).or_insert(n);
            Point { value: row.value, low: row.low, high: row.high, cluster }
        };
        self.metric(metric, rule).0.iter().map(point).collect()
    }

    /// Mean of a share over the cells.
    pub fn mean(&self, metric: &str, rule: &str) -> Option<Estimate> {
        aggregate::mean(&self.points(metric, rule), (0.0, 1.0))
    }

    /// Median of a number over the cells.
    pub fn median(&self, metric: &str, rule: &str) -> Option<Estimate> {
        aggregate::median(&self.points(metric, rule))
    }

    /// What a function makes of a metric of each cell and of that of the other rows in the same cell; the points
    /// have no intervals of their own.
    pub fn against(
        &self,
        other: &Pick<'_>,
        (metric, rule): (&str, &str),
        of: fn(f64, f64) -> f64,
    ) -> Vec<Point> {
        fn key(row: &Row) -> [&str; 4] {
            [&row.env, &row.policy, &row.anomaly, &row.strength]
        }
        let others = other.metric(metric, rule);
        let others: BTreeMap<[&str; 4], f64> = others.0.iter().map(|r| (key(r), r.value)).collect();
        let own = self.metric(metric, rule);
        let pair = own.0.iter().zip(own.points(metric, rule)).filter_map(|(row, point)| {
            let value = of(point.value, *others.get(&key(row))?);
            Some(Point { value, low: f64::NAN, high: f64::NAN, cluster: point.cluster })
        });
        pair.collect()
    }
}
