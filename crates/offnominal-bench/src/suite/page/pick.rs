//! Chosen lines, and what they tell together.

use crate::report::aggregate::{self, Point};
use crate::suite::{Line, columns};
use offnominal_core::estimate::Estimate;
use std::collections::BTreeMap;

/// Some of the lines.
#[derive(Clone)]
pub(crate) struct Pick<'a>(pub Vec<&'a Line>);

impl<'a> Pick<'a> {
    /// The lines of anomalies under a policy.
    pub fn anomalies(lines: &'a [Line], policy: &str) -> Pick<'a> {
        Pick(lines.iter().filter(|l| l.policy == policy && l.anomaly_class != "none").collect())
    }

    /// The lines of nominal episodes that are judged as if they were anomalous.
    pub fn control(lines: &'a [Line], policy: &str) -> Pick<'a> {
        Pick(lines.iter().filter(|l| l.policy == policy && l.anomaly_class == "none").collect())
    }

    /// Those that fit.
    pub fn only(&self, keep: impl Fn(&Line) -> bool) -> Pick<'a> {
        Pick(self.0.iter().copied().filter(|l| keep(l)).collect())
    }

    /// Those of a detector.
    pub fn detector(&self, id: &str) -> Pick<'a> {
        self.only(|l| l.detector == id)
    }

    /// Those of a world.
    pub fn env(&self, id: &str) -> Pick<'a> {
        self.only(|l| l.env == id)
    }

    /// Those of a strength.
    pub fn strength(&self, level: &str) -> Pick<'a> {
        self.only(|l| l.strength == level)
    }

    /// A metric of every line; anomalies of a world are a cluster.
    pub fn points(&self, metric: &str, rule: &str) -> Vec<Point> {
        let at = place(metric, rule);
        let mut clusters: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
        let point = |line: &&'a Line| {
            let n = clusters.len();
            let cluster = *clusters.entry((&line.env, &line.policy, &line.anomaly)).or_insert(n);
            let [value, low, high] = line.values[at];
            Point { value, low, high, cluster }
        };
        self.0.iter().map(point).collect()
    }

    /// Mean of a share over the lines.
    pub fn mean(&self, metric: &str, rule: &str) -> Option<Estimate> {
        aggregate::mean(&self.points(metric, rule), (0.0, 1.0))
    }

    /// Median of a number over the lines.
    pub fn median(&self, metric: &str, rule: &str) -> Option<Estimate> {
        aggregate::median(&self.points(metric, rule))
    }

    /// What a function makes of a metric of each cell and of that of the other lines in the same cell; the points
    /// have no intervals of their own.
    pub fn against(
        &self,
        other: &Pick<'_>,
        (metric, rule): (&str, &str),
        of: fn(f64, f64) -> f64,
    ) -> Vec<Point> {
        fn key(line: &Line) -> [&str; 4] {
            [&line.env, &line.policy, &line.anomaly, &line.strength]
        }
        let at = place(metric, rule);
        let others: BTreeMap<[&str; 4], f64> = other.0.iter().map(|l| (key(l), l.values[at][0])).collect();
        let own = self.0.iter().zip(self.points(metric, rule));
        let pair = own.filter_map(|(line, point)| {
            let value = of(point.value, *others.get(&key(line))?);
            Some(Point { value, low: f64::NAN, high: f64::NAN, cluster: point.cluster })
        });
        pair.collect()
    }
}

fn place(metric: &str, rule: &str) -> usize {
    let found = columns().iter().position(|c| *c == (metric, rule));
    found.unwrap_or_else(|| panic!("no column holds {metric} at {rule:?}"))
}
