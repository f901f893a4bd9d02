//! Which changes of a limb do most harm, and how likely harm is.

use super::bodies::{Body, Draw};
use super::row::Row;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::correlation::spearman;
use offnominal_stats::proportion::clopper_pearson;

/// What a change of one quantity goes with.
#[derive(Debug, Clone, PartialEq)]
pub struct Harm {
    /// The quantity.
    pub name: String,
    /// Rank correlation of its value with the drop: above zero if larger is worse.
    pub larger: f64,
    /// Rank correlation of how far it is off, in either direction.
    pub off: f64,
}

/// The mean drop of each body over policies, with the body.
fn drops<'a>(rows: &[Row], draws: &'a [(f64, Draw)]) -> Vec<(&'a Body, f64)> {
    let mean = |body: &Body| {
        let own = rows.iter().filter(|r| (r.sigma, r.body) == (body.sigma, body.number)).map(Row::drop);
        let (n, sum) = own.fold((0.0, 0.0), |(n, s), d| (n + 1.0, s + d));
        (n > 0.0).then_some(sum / n)
    };
    draws.iter().flat_map(|(_, d)| &d.bodies).filter_map(|b| Some((b, mean(b)?))).collect()
}

/// The quantities in the order of how much their changes go with the drop.
pub fn harms(rows: &[Row], draws: &[(f64, Draw)]) -> Vec<Harm> {
    let drops = drops(rows, draws);
    let Some((first, _)) = drops.first() else { return vec![] };
    let costs: Vec<f64> = drops.iter().map(|d| d.1).collect();
    let ones = vec![1.0; drops.len()];
    let harm = |name: &String| {
        let values: Vec<f64> = drops.iter().map(|(b, _)| b.set[name]).collect();
        let middle = values.iter().sum::<f64>() / values.len() as f64;
        let off: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
        let rank = |of: &[f64]| spearman(of, &costs, &ones).ok();
        Some(Harm { name: name.clone(), larger: rank(&values)?, off: rank(&off)? })
    };
    let mut found: Vec<Harm> = first.set.keys().filter_map(harm).collect();
    let size = |h: &Harm| h.larger.abs().max(h.off);
    found.sort_by(|a, b| size(b).total_cmp(&size(a)));
    found
}

/// The bodies with the largest drops.
pub fn worst<'a>(rows: &[Row], draws: &'a [(f64, Draw)], n: usize) -> Vec<(&'a Body, f64)> {
    let mut drops = drops(rows, draws);
    drops.sort_by(|a, b| b.1.total_cmp(&a.1));
    drops.truncate(n);
    drops
}

/// The probability that the mean return over policies falls below a share of that at home, for a body of a spread: the
/// exact interval, as bodies are drawn independently.
pub fn below(rows: &[Row], sigma: f64, share: f64) -> Option<Estimate> {
    let mut bodies: Vec<usize> = rows.iter().filter(|r| r.sigma == sigma).map(|r| r.body).collect();
    bodies.sort_unstable();
    bodies.dedup();
    let is_below = |body: &usize| {
        let own = rows.iter().filter(|r| r.sigma == sigma && r.body == *body);
        let (there, home) = own.fold((0.0, 0.0), |(t, h), r| (t + r.median, h + r.home));
        there < share * home
    };
    clopper_pearson(bodies.iter().filter(|b| is_below(b)).count(), bodies.len(), Level::P95).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn fixture() -> (Vec<Row>, Vec<(f64, Draw)>) {
        let body = |i: usize| Body {
            number: i,
            sigma: 0.1,
            set: BTreeMap::from([
                ("thigh-length".to_string(), 1.0 + 0.01 * i as f64),
                ("foot-width".to_string(), 1.0 + 0.1 * ((i * 7) % 10) as f64),
            ]),
            difference: 0.1,
        };
        let row = |i: usize| Row {
            env: "hopper".into(),
            agent: "a".into(),
            kind: "td3".into(),
            sigma: 0.1,
            body: i,
            difference: 0.1,
            home: 100.0,
            median: 100.0 - 10.0 * i as f64,
            mean: 0.0,
            fell: 0.0,
            episodes: 1,
            scores: BTreeMap::new(),
        };
        let draw = Draw { bodies: (0..10).map(body).collect(), rejected: 0 };
        ((0..10).map(row).collect(), vec![(0.1, draw)])
    }

    #[test]
    fn the_harmful_quantity_is_found_and_the_share_below_half_counted() {
        let (rows, draws) = fixture();
        let found = harms(&rows, &draws);
        assert_eq!((found[0].name.as_str(), found[0].larger), ("thigh-length", 1.0));
        assert_eq!(worst(&rows, &draws, 2)[0].0.number, 9);
        let half = below(&rows, 0.1, 0.5).unwrap();
        assert!((half.value - 0.4).abs() < 1e-12 && half.low < 0.15 && half.high > 0.7, "{half}");
        assert!(below(&rows, 0.2, 0.5).is_none());
    }
}
