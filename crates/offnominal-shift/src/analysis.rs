//! The questions of the publication, and ours, as numbers with intervals.
//!
//! A point is a body with the mean over policies, as in the publication; its regressions' own intervals take the points
//! for independent, ours resample policies and bodies ([`Table::estimate`]).

use crate::row::Row;
use crate::table::Table;
use offnominal_core::estimate::Estimate;
use offnominal_core::{Rng, Seed};
use offnominal_stats::Level;
use offnominal_stats::correlation::{pearson, spearman};
use offnominal_stats::proportion::clopper_pearson;
use offnominal_stats::regression::{Family, Point, fit, held_out};
use serde::{Deserialize, Serialize};

/// Parts of the bodies of which each is predicted from the others.
const FOLDS: usize = 10;

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The policies: `td3`, `sac-0.2`, or `all`.
    pub algorithm: String,
    /// What was asked.
    pub question: &'static str,
    /// What it was asked of: a score, or `difference`.
    pub by: String,
    /// The spread; none where all are taken together.
    pub sigma: Option<f64>,
    /// The number.
    pub estimate: Estimate,
}

/// Slope of the log odds of the share of the best return.
pub const LOGIT_SLOPE: &str = "logit slope of the return";
/// Slope of the logarithm of the return gap.
pub const LOG_SLOPE: &str = "log slope of the return gap";
/// How much better than the mean the regression predicts bodies that it has not seen.
pub const SKILL: &str = "skill on bodies left out";
/// Rank correlation of a score with the return gap.
pub const RANK: &str = "rank correlation with the return gap";
/// How much better a score ranks the return gap than the internal model does that looked at as many episodes.
pub const ADVANTAGE: &str = "advantage over the internal model in rank correlation";
/// Share of the bodies on which policies of the nominal body do better than those that were trained on such bodies.
pub const TOPLINE: &str = "share of bodies on which nominal policies beat toplines";
/// Correlation of the returns on the nominal body and elsewhere, over policies.
pub const NOMINAL: &str = "correlation of nominal and target return";

/// A curve fitted to bodies: what it predicts over a range of x.
pub struct Curve {
    /// Points of the curve.
    pub points: Vec<(f64, f64)>,
}

/// The fitted return by difference, in units of return.
pub fn return_curve(table: &Table<'_>) -> Option<Curve> {
    let (a, b) = table.ones();
    let (points, most) = (table.shares((&a, &b), |r| Some(r.difference)), table.most());
    curve(Family::BinomialLogit, &points, most)
}

/// The fitted return gap by a score.
pub fn gap_curve(table: &Table<'_>, score: &str) -> Option<Curve> {
    let (a, b) = table.ones();
    curve(Family::GaussianLog, &table.points((&a, &b), |r| r.score(score), |r| Some(r.return_gap())), 1.0)
}

fn curve(family: Family, points: &[Point], scale: f64) -> Option<Curve> {
    let model = fit(family, points).ok()?;
    let xs = points.iter().map(|p| p.x[0]);
    let (low, high) = xs.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    let at = |i: u32| low + (high - low) * f64::from(i) / 60.0;
    Some(Curve { points: (0..=60).map(|i| (at(i), scale * model.predict(&[at(i)]))).collect() })
}

/// Everything that is asked of the rows of one environment.
/// What has no answer is left out.
pub fn answers(rows: &[Row], seed: Seed) -> Vec<Answer> {
    let mut found = Vec::new();
    for kind in kinds(rows) {
        let own = || rows.iter().filter(|r| kind == "all" || r.algorithm == kind);
        let sigmas = sigmas(rows);
        for sigma in std::iter::once(None).chain(sigmas.into_iter().map(Some)) {
            let table = Table::of(own(), sigma);
            if table.bodies.len() > FOLDS {
                about(&table, &kind, sigma, seed, &mut found);
            }
        }
    }
    found
}

/// A row of the table of answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRow {
    /// The environment.
    pub env: String,
    /// The policies: `td3`, `sac-0.2`, or `all`.
    pub algorithm: String,
    /// What was asked.
    pub metric: String,
    /// The score that it was asked of, or `difference`.
    pub score: String,
    /// The spread; none where all are taken together.
    pub sigma: Option<f64>,
    /// The number.
    pub value: f64,
    /// The ends of its interval.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Independent units behind it.
    pub n: usize,
    /// How the interval was made.
    pub method: String,
}

impl Answer {
    /// The answer as a row of a table, with four decimals.
    pub fn row(&self, env: &str) -> AnswerRow {
        let e = &self.estimate;
        let [value, low, high] = [e.value, e.low, e.high].map(|v| format!("{v:.4}").parse().unwrap_or(v));
        AnswerRow {
            env: env.into(),
            algorithm: self.algorithm.clone(),
            metric: self.question.into(),
            score: self.by.clone(),
            sigma: self.sigma,
            value,
            low,
            high,
            n: e.n,
            method: e.method.clone(),
        }
    }
}

/// The kinds of policies, and `all` where there are several.
pub fn kinds(rows: &[Row]) -> Vec<String> {
    let mut kinds: Vec<String> = rows.iter().map(|r| r.algorithm.clone()).collect();
    kinds.sort();
    kinds.dedup();
    if kinds.len() > 1 {
        kinds.push("all".into());
    }
    kinds
}

/// The spreads, in ascending order.
pub fn sigmas(rows: &[Row]) -> Vec<f64> {
    let mut sigmas: Vec<f64> = rows.iter().map(|r| r.sigma).filter(|s| *s > 0.0).collect();
    sigmas.sort_by(f64::total_cmp);
    sigmas.dedup();
    sigmas
}

fn about(table: &Table<'_>, kind: &str, sigma: Option<f64>, seed: Seed, into: &mut Vec<Answer>) {
    let mut answer = |question, by: &str, estimate: Option<Estimate>| {
        into.extend(estimate.map(|e| Answer {
            algorithm: kind.into(),
            question,
            by: by.into(),
            sigma,
            estimate: e,
        }));
    };
    let seed = seed.child(kind).child(sigma.map_or(0, |s| (1e6 * s) as usize));
    if sigma.is_none() {
        let slope = |w: (&[f64], &[f64])| {
            fit(Family::BinomialLogit, &table.shares(w, |r| Some(r.difference)))
                .ok()
                .map(|f| f.coefficients[1])
        };
        answer(LOGIT_SLOPE, "difference", table.estimate(seed, "logit slope", slope));
        let skill =
            |w: (&[f64], &[f64])| skill(Family::BinomialLogit, &table.shares(w, |r| Some(r.difference)));
        answer(SKILL, "difference", table.estimate(seed, "skill", skill));
    }
    answer(NOMINAL, "nominal return", table.estimate(seed, "home", |w| nominal_correlation(table, w)));
    answer(RANK, "difference", table.estimate(seed, "rank", |w| rank(table, w, &|r| Some(r.difference))));
    for score in scores(table) {
        let of = |r: &Row| r.score(&score);
        answer(RANK, &score, table.estimate(seed.child(score.as_str()), "rank", |w| rank(table, w, &of)));
        if let Some(rival) = rival(&score) {
            let to_beat = |r: &Row| r.score(&rival);
            let advantage =
                |w: (&[f64], &[f64])| Some(rank(table, w, &of)?.abs() - rank(table, w, &to_beat)?.abs());
            answer(ADVANTAGE, &score, table.estimate(seed.child(score.as_str()), "lead", advantage));
        }
        if sigma.is_none() && ["tpr", "tpr-states"].contains(&score.as_str()) {
            let points = |w: (&[f64], &[f64])| table.points(w, of, |r: &Row| Some(r.return_gap()));
            let slope =
                |w: (&[f64], &[f64])| fit(Family::GaussianLog, &points(w)).ok().map(|f| f.coefficients[1]);
            answer(LOG_SLOPE, &score, table.estimate(seed, "log slope", slope));
            answer(SKILL, &score, table.estimate(seed, "skill", |w| skill(Family::GaussianLog, &points(w))));
        }
    }
}

/// The internal model's score after as many episodes; none for its own.
fn rival(score: &str) -> Option<String> {
    let (name, episodes) = score.split_once('@')?;
    (!name.starts_with("tpr")).then(|| format!("tpr@{episodes}"))
}

/// For each spread, and for all together, on how many bodies toplines are no better than policies of the nominal body.
pub fn against_toplines(rows: &[Row], toplines: &[Row]) -> Vec<Answer> {
    let mean = |rows: &[Row], (sigma, body): (f64, usize)| {
        let own = rows.iter().filter(|r| (r.sigma, r.body) == (sigma, body)).map(|r| r.median);
        let (n, sum) = own.fold((0.0, 0.0), |(n, s), m| (n + 1.0, s + m));
        (n > 0.0).then_some(sum / n)
    };
    let answer = |sigma: Option<f64>| {
        let bodies = Table::of(toplines.iter(), sigma).bodies;
        let beaten = bodies.iter().filter_map(|&body| Some(mean(rows, body)? > mean(toplines, body)?));
        let beaten: Vec<bool> = beaten.collect();
        let n = beaten.iter().filter(|b| **b).count();
        let estimate = clopper_pearson(n, beaten.len(), Level::P95).ok()?;
        Some(Answer { algorithm: "all".into(), question: TOPLINE, by: "toplines".into(), sigma, estimate })
    };
    std::iter::once(None).chain(sigmas(toplines).into_iter().map(Some)).filter_map(answer).collect()
}

/// The scores that are set against the return gap: all but those of single k.
fn scores(table: &Table<'_>) -> Vec<String> {
    let mut names: Vec<String> = table.rows.values().flat_map(|r| r.scores.keys().cloned()).collect();
    names.sort();
    names.dedup();
    names.retain(|n| !n.contains("-k"));
    names
}

fn rank(
    table: &Table<'_>,
    (policies, bodies): (&[f64], &[f64]),
    of: &dyn Fn(&Row) -> Option<f64>,
) -> Option<f64> {
    let points = table.points((policies, bodies), of, |r| Some(r.return_gap()));
    let [x, y, w] = [|p: &Point| p.x[0], |p: &Point| p.y, |p: &Point| p.weight]
        .map(|part| points.iter().map(part).collect::<Vec<f64>>());
    spearman(&x, &y, &w).ok()
}

/// Over policies: their return on the nominal body, and their mean return on the bodies.
fn nominal_correlation(table: &Table<'_>, (policies, bodies): (&[f64], &[f64])) -> Option<f64> {
    if table.policies.len() < 3 {
        return None;
    }
    let of = |policy: usize| {
        let own = bodies.iter().enumerate().filter_map(|(b, w)| Some((*w, *table.rows.get(&(policy, b))?)));
        let (n, there, nominal) = own
            .fold((0.0, 0.0, 0.0), |(n, t, h), (w, r)| (n + w, t + w * r.median, h + w * r.nominal_return));
        (nominal / n, there / n)
    };
    let (nominal, there): (Vec<f64>, Vec<f64>) = (0..table.policies.len()).map(of).unzip();
    pearson(&nominal, &there, policies).ok()
}

fn skill(family: Family, points: &[Point]) -> Option<f64> {
    let drawn: Vec<Point> = points.iter().filter(|p| p.weight > 0.0).cloned().collect();
    held_out(family, &drawn, FOLDS, &mut Rng::new(0)).ok().map(|h| h.skill)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Three policies on 40 bodies whose return falls with the difference, and a score that input it.
    pub(super) fn rows() -> Vec<Row> {
        let mut rng = Rng::new(1);
        let mut rows = Vec::new();
        for policy in 0..3 {
            for body in 0..40 {
                let difference = 0.005 * f64::from(body);
                let median = 2000.0 / (1.0 + (40.0 * difference - 4.0).exp()) + 20.0 * rng.normal();
                rows.push(Row {
                    env: "hopper".into(),
                    policy: format!("hopper-td3-{policy}"),
                    algorithm: "td3".into(),
                    sigma: 0.1,
                    body: body as usize,
                    difference,
                    nominal_return: 2000.0 + 10.0 * f64::from(policy),
                    median,
                    mean: median,
                    fall_rate: 0.0,
                    episodes: 10,
                    scores: BTreeMap::from([
                        ("tpr".to_string(), 0.9 - difference),
                        ("tpr@1".to_string(), 0.9 - difference + 0.02 * rng.normal()),
                        ("noise@1".to_string(), rng.normal()),
                        ("sure@1".to_string(), difference),
                    ]),
                });
            }
        }
        rows
    }

    #[test]
    fn slopes_and_ranks_are_those_of_the_data() {
        let found = answers(&rows(), Seed(1));
        let of = |question: &str, by: &str| {
            let answer = found.iter().find(|a| a.question == question && a.by == by && a.sigma.is_none());
            answer.unwrap_or_else(|| panic!("{question} {by}")).estimate.clone()
        };
        let slope = of(LOGIT_SLOPE, "difference");
        assert!(
            (slope.value + 40.0).abs() < 4.0 && slope.low < slope.value && slope.value < slope.high,
            "{slope}"
        );
        assert!(of(RANK, "tpr").value < -0.9 && of(RANK, "noise@1").value.abs() < 0.5);
        assert!(of(ADVANTAGE, "noise@1").high < 0.0 && of(ADVANTAGE, "sure@1").value > 0.0);
        assert!(of(SKILL, "difference").value > 0.95 && of(LOG_SLOPE, "tpr").value < 0.0);
        assert!(found.iter().any(|a| a.question == NOMINAL && a.sigma == Some(0.1)));
    }

    #[test]
    fn toplines_are_beaten_where_they_are_worse() {
        let better =
            |r: &Row| Row { median: r.median + if r.body < 4 { -500.0 } else { 500.0 }, ..r.clone() };
        let toplines: Vec<Row> = rows().iter().map(better).collect();
        let found = against_toplines(&rows(), &toplines);
        assert_eq!(found.len(), 2, "all together, and the only spread");
        assert!(found.iter().all(|a| (a.estimate.value - 0.1).abs() < 1e-12 && a.estimate.n == 40));
        assert!(against_toplines(&rows(), &[]).is_empty());
    }

    #[test]
    fn too_few_bodies_have_no_answers() {
        assert!(answers(&rows()[..9], Seed(1)).is_empty());
    }
}
