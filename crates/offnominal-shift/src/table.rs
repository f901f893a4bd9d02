//! Policies against bodies, crossed: each body meets all policies, so that an interval resamples both.

use crate::row::Row;
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_stats::regression::{Crossed, Point};
use offnominal_stats::{Bootstrap, Level};
use std::collections::BTreeMap;

/// Replicates of an interval.
const REPLICATES: usize = 500;

/// Policies against bodies.
pub struct Table<'a> {
    pub(super) rows: BTreeMap<(usize, usize), &'a Row>,
    /// The names of the policies.
    pub policies: Vec<String>,
    /// Spread and number of each body.
    pub bodies: Vec<(f64, usize)>,
}

impl<'a> Table<'a> {
    /// The rows of some policies on bodies of some spread, or of all.
    pub fn of(rows: impl Iterator<Item = &'a Row>, sigma: Option<f64>) -> Table<'a> {
        let mut table = Table { rows: BTreeMap::new(), policies: vec![], bodies: vec![] };
        for row in rows.filter(|r| r.sigma > 0.0 && sigma.is_none_or(|s| s == r.sigma)) {
            let policy = place(&mut table.policies, row.policy.clone());
            let body = place(&mut table.bodies, (row.sigma, row.body));
            table.rows.insert((policy, body), row);
        }
        table
    }

    /// For each body the weighted mean over policies of a number; none where no policy has it.
    pub fn means(&self, policies: &[f64], of: impl Fn(&Row) -> Option<f64>) -> Vec<Option<f64>> {
        let mean = |body: usize| {
            let values =
                policies.iter().enumerate().filter_map(|(a, w)| Some((*w, of(self.rows.get(&(a, body))?)?)));
            let (weight, sum) = values.fold((0.0, 0.0), |(n, s), (w, v)| (n + w, s + w * v));
            (weight > 0.0).then(|| sum / weight)
        };
        (0..self.bodies.len()).map(mean).collect()
    }

    /// Points of bodies that have both numbers, each with the weight of its body.
    pub(super) fn points(
        &self,
        (policies, bodies): (&[f64], &[f64]),
        x: impl Fn(&Row) -> Option<f64>,
        y: impl Fn(&Row) -> Option<f64>,
    ) -> Vec<Point> {
        let pairs = self.means(policies, x).into_iter().zip(self.means(policies, y)).zip(bodies);
        pairs.filter_map(|((x, y), &weight)| Some(Point { x: vec![x?], y: y?, weight })).collect()
    }

    /// A weight of one for each policy and each body.
    pub(super) fn ones(&self) -> (Vec<f64>, Vec<f64>) {
        (vec![1.0; self.policies.len()], vec![1.0; self.bodies.len()])
    }

    /// The largest mean return of a body, or on the nominal body.
    pub fn most(&self) -> f64 {
        let there = self.means(&self.ones().0, |r| Some(r.median.max(r.nominal_return)));
        there.into_iter().flatten().fold(1.0, f64::max)
    }

    /// Shares of the best return, by a number; the weight is the best return, as in the publication.
    pub(super) fn shares(&self, weights: (&[f64], &[f64]), x: impl Fn(&Row) -> Option<f64>) -> Vec<Point> {
        let most = self.most();
        let points = self.points(weights, x, |r| Some(r.median));
        points
            .into_iter()
            .map(|p| Point { y: (p.y / most).clamp(0.0, 1.0), weight: p.weight * most, ..p })
            .collect()
    }

    /// A number of weighted policies and bodies, with an interval.
    pub(super) fn estimate(
        &self,
        seed: Seed,
        what: &'static str,
        of: impl Fn((&[f64], &[f64])) -> Option<f64>,
    ) -> Option<Estimate> {
        let plan = Bootstrap::new(REPLICATES, Level::P95, seed.child(what));
        let crossed = Crossed { plan, rows: self.policies.len(), columns: self.bodies.len() };
        let floats = |counts: &[u32]| counts.iter().map(|&c| f64::from(c)).collect::<Vec<f64>>();
        let found = crossed.estimates(what, |a, b| Some([of((&floats(a), &floats(b)))?]));
        found.ok().map(|[estimate]| estimate)
    }
}

fn place<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|i| *i == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}
