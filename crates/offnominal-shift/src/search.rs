//! Which changes of a limb do most harm, and how likely harm is.

use crate::analysis::{Answer, sigmas};
use crate::bodies::{Body, Draw};
use crate::row::Row;
use offnominal_core::estimate::Estimate;
use offnominal_core::{Rng, Seed};
use offnominal_stats::Level;
use offnominal_stats::correlation::spearman;
use offnominal_stats::proportion::clopper_pearson;
use offnominal_stats::risk::{HorvitzThompson, Thinning};

/// What a change of one quantity goes with.
#[derive(Debug, Clone, PartialEq)]
pub struct Harm {
    /// The quantity.
    pub name: String,
    /// Rank correlation of its value with the return gap: above zero if larger is worse.
    pub larger: f64,
    /// Rank correlation of how far it is off, in either direction.
    pub off: f64,
}

/// The mean return gap of each body over policies, with the body.
fn gaps<'a>(rows: &[Row], draws: &'a [(f64, Draw)]) -> Vec<(&'a Body, f64)> {
    let mean = |body: &Body| {
        let own = rows.iter().filter(|r| (r.sigma, r.body) == (body.sigma, body.number)).map(Row::return_gap);
        let (n, sum) = own.fold((0.0, 0.0), |(n, s), d| (n + 1.0, s + d));
        (n > 0.0).then_some(sum / n)
    };
    draws.iter().flat_map(|(_, d)| &d.bodies).filter_map(|b| Some((b, mean(b)?))).collect()
}

/// The quantities in the order of how much their changes go with the return gap.
pub fn harms(rows: &[Row], draws: &[(f64, Draw)]) -> Vec<Harm> {
    let gaps = gaps(rows, draws);
    let Some((first, _)) = gaps.first() else { return vec![] };
    let costs: Vec<f64> = gaps.iter().map(|d| d.1).collect();
    let ones = vec![1.0; gaps.len()];
    let harm = |name: &String| {
        let values: Vec<f64> = gaps.iter().map(|(b, _)| b.set[name]).collect();
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

/// The bodies with the largest gaps.
pub fn worst<'a>(rows: &[Row], draws: &'a [(f64, Draw)], n: usize) -> Vec<(&'a Body, f64)> {
    let mut gaps = gaps(rows, draws);
    gaps.sort_by(|a, b| b.1.total_cmp(&a.1));
    gaps.truncate(n);
    gaps
}

/// Shares of the return on the nominal body, and what is asked of each.
pub const BELOW: [(f64, &str); 2] =
    [(0.5, "return below 0.5 of the nominal return"), (0.8, "return below 0.8 of the nominal return")];
/// What an answer from every body of a spread is called.
const ALL: &str = "every body";

/// A body of a spread: whether the return falls too low there, and its score after one episode.
struct Outcome {
    fails: bool,
    /// Larger is worse.
    warned: f64,
}

/// The share of the bodies that are played to the end, and of these the ones that ignore the warning.
const THINNED: (f64, f64) = (0.4, 0.4);

/// What a score after one episode warns of, larger being worse; the internal model's rate falls where others rise. A run
/// too short for a score is the worst sign of all.
fn warning(row: &Row, score: &str) -> f64 {
    match row.score(score) {
        Some(rate) if score.starts_with("tpr") => 1.0 - rate,
        Some(score) => score,
        None if score.starts_with("tpr") => 1.0,
        None => f64::INFINITY,
    }
}

fn outcomes(rows: &[Row], sigma: f64, share: f64, score: &str) -> Vec<Outcome> {
    let mut bodies: Vec<usize> = rows.iter().filter(|r| r.sigma == sigma).map(|r| r.body).collect();
    bodies.sort_unstable();
    bodies.dedup();
    let outcome = |body: &usize| {
        let own = || rows.iter().filter(|r| r.sigma == sigma && r.body == *body);
        let (there, nominal) = own().fold((0.0, 0.0), |(t, h), r| (t + r.median, h + r.nominal_return));
        Outcome { fails: there < share * nominal, warned: own().map(|r| warning(r, score)).sum() }
    };
    bodies.iter().map(outcome).collect()
}

/// The probability that the mean return over policies falls below a share of that on the nominal body, for a body of
/// a spread: the exact interval, as bodies are drawn independently.
fn below(rows: &[Row], sigma: f64, share: f64) -> Option<Estimate> {
    let all = outcomes(rows, sigma, share, "");
    clopper_pearson(all.iter().filter(|o| o.fails).count(), all.len(), Level::P95).ok()
}

/// The same probability from fewer bodies: each is played to the end with a chance that follows a score after
/// one episode, without any reward. The interval is valid whatever that is worth; its n counts the bodies that were
/// played.
fn thinned(rows: &[Row], sigma: f64, share: f64, score: &str, rng: &mut Rng) -> Option<Estimate> {
    let all = outcomes(rows, sigma, share, score);
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
    Some(Estimate { value: estimate.value + 0.0, n: found.experiments(), ..estimate })
}

/// For each spread and share the probability that the return falls below it: from every body, and from fewer that each
/// score after one episode chose.
pub fn chances(rows: &[Row], seed: Seed) -> Vec<Answer> {
    let mut scores: Vec<&String> = rows.iter().flat_map(|r| r.scores.keys()).collect();
    scores.sort();
    scores.dedup();
    scores.retain(|name| name.ends_with("@1"));
    let mut found = Vec::new();
    for sigma in sigmas(rows) {
        for (share, question) in BELOW {
            let mut answer = |by: &str, estimate: Option<Estimate>| {
                let (algorithm, by, sigma) = ("all".into(), by.into(), Some(sigma));
                found.extend(estimate.map(|estimate| Answer { algorithm, question, by, sigma, estimate }));
            };
            answer(ALL, below(rows, sigma, share));
            for score in &scores {
                let seed = seed.child("thinned").child((1e6 * sigma) as usize);
                answer(score, thinned(rows, sigma, share, score, &mut seed.rng()));
            }
        }
    }
    found
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
            policy: "a".into(),
            algorithm: "td3".into(),
            sigma: 0.1,
            body: i,
            difference: 0.1,
            nominal_return: 100.0,
            median: 100.0 - 10.0 * i as f64,
            mean: 0.0,
            fall_rate: 0.0,
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
        let fewer = thinned(&rows, 0.1, 0.5, "tpr@1", &mut Rng::new(1)).unwrap();
        assert!(fewer.n < 10 && fewer.covers(0.4), "{fewer}");
    }

    #[test]
    fn a_score_that_warns_chooses_the_bodies_that_fail() {
        let (mut rows, _) = fixture();
        for row in &mut rows {
            row.scores.insert("knn@1".into(), row.body as f64);
            row.scores.insert("tpr@1".into(), 1.0);
        }
        let found = chances(&rows, Seed(1));
        let asked: Vec<(&str, &str)> = found.iter().map(|a| (a.question, a.by.as_str())).collect();
        let by = |question| [(question, "every body"), (question, "knn@1"), (question, "tpr@1")];
        assert_eq!(asked, [by(BELOW[0].1), by(BELOW[1].1)].concat());
        // Of many such bodies those that fail are played more often.
        let all = outcomes(&rows, 0.1, 0.5, "knn@1");
        let (worst, best) = (&all[9], &all[0]);
        assert!(worst.fails && !best.fails && worst.warned > best.warned);
    }
}
