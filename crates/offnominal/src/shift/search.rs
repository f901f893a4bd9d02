//! Which changes of a limb do most harm, and how likely harm is.

use super::bodies::{Body, Draw};
use super::row::Row;
use offnominal_core::Rng;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::correlation::spearman;
use offnominal_stats::proportion::clopper_pearson;
use offnominal_stats::risk::{HorvitzThompson, Thinning};

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

/// A body of a spread: whether the return falls too low there, and what was said of it after one episode.
struct Outcome {
    fails: bool,
    /// Larger is worse.
    warned: f64,
}

/// The share of the bodies that are played to the end, and of these the ones that ignore the warning.
const THINNED: (f64, f64) = (0.4, 0.4);

fn outcomes(rows: &[Row], sigma: f64, share: f64) -> Vec<Outcome> {
    let mut bodies: Vec<usize> = rows.iter().filter(|r| r.sigma == sigma).map(|r| r.body).collect();
    bodies.sort_unstable();
    bodies.dedup();
    let outcome = |body: &usize| {
        let own = || rows.iter().filter(|r| r.sigma == sigma && r.body == *body);
        let (there, home) = own().fold((0.0, 0.0), |(t, h), r| (t + r.median, h + r.home));
        // A run too short for the internal model to say anything is the worst sign of all.
        let warned = own().map(|r| r.score("tpr@1").map_or(1.0, |rate| 1.0 - rate)).sum();
        Outcome { fails: there < share * home, warned }
    };
    bodies.iter().map(outcome).collect()
}

/// The same probability from fewer bodies: each is played to the end with a chance that follows what the internal model
/// said after one episode. The interval is valid whatever that is worth. Also how many bodies were played.
pub fn thinned(rows: &[Row], sigma: f64, share: f64, rng: &mut Rng) -> Option<(Estimate, usize)> {
    let all = outcomes(rows, sigma, share);
    let count = |holds: &dyn Fn(f64) -> bool| all.iter().filter(|o| holds(o.warned)).count() as f64;
    // Equal warnings share the middle of their ranks, so that bodies of which nothing is known are all alike.
    let rank = |warned: f64| (count(&|w| w < warned) + 0.5 * count(&|w| w == warned)) / all.len() as f64;
    let predicted: Vec<f64> = all.iter().map(|o| rank(o.warned)).collect();
    let mean = predicted.iter().map(|p| p.sqrt()).sum::<f64>() / all.len().max(1) as f64;
    let rule = Thinning::new(THINNED.0, THINNED.1, 0.5, mean).ok()?;
    let mut found = HorvitzThompson::new(rule.floor());
    for (outcome, predicted) in all.iter().zip(predicted) {
        let chance = rule.chance(predicted);
        if rng.uniform() < chance { found.record(chance, outcome.fails) } else { found.skip() }
    }
    let estimate = found.estimate(Level::P95).ok()?;
    // Adding zero takes the sign from a zero.
    Some((Estimate { value: estimate.value + 0.0, ..estimate }, found.experiments()))
}

/// The probability that the mean return over policies falls below a share of that at home, for a body of a spread: the
/// exact interval, as bodies are drawn independently.
pub fn below(rows: &[Row], sigma: f64, share: f64) -> Option<Estimate> {
    let all = outcomes(rows, sigma, share);
    clopper_pearson(all.iter().filter(|o| o.fails).count(), all.len(), Level::P95).ok()
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
        let (fewer, tried) = thinned(&rows, 0.1, 0.5, &mut Rng::new(1)).unwrap();
        assert!(tried < 10 && fewer.covers(0.4), "{tried}: {fewer}");
    }
}
