//! The charts of an environment: return against bodies, against the nominal return, and against the internal model.

use crate::analysis::{gap_curve, kinds, return_curve, sigmas};
use crate::chart::{Dot, Scatter, Series};
use crate::row::Row;
use crate::table::Table;
use offnominal_report::colour::Pen;

/// A figure: what it shows, and its charts.
pub struct Figure {
    /// The word by which links know it.
    pub id: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// What to know when reading it.
    pub note: &'static str,
    /// The charts, one for each kind of policy.
    pub charts: Vec<String>,
}

/// The figures that the rows allow. `toplines` are rows of policies that were trained on such bodies.
pub fn all(rows: &[Row], toplines: &[Row]) -> Vec<Figure> {
    let all_kinds = kinds(rows);
    let each =
        |draw: &dyn Fn(&str) -> Vec<String>| all_kinds.iter().flat_map(|k| draw(k)).collect::<Vec<String>>();
    let by = |score: &'static str| move |k: &str| vec![by_score(rows, k, score)];
    let of_toplines = if toplines.is_empty() { vec![] } else { topline(rows, toplines) };
    let figure = |id, title, note, charts| Figure { id, title, note, charts };
    let figures = [
        figure(
            "difference",
            "Different bodies cost return",
            DIFFERENCE,
            each(&|k| vec![by_difference(rows, k)]),
        ),
        // A single policy has none.
        figure(
            "nominal-return",
            "Return on the nominal body against return elsewhere",
            NOMINAL,
            each(&|k| by_nominal(rows, k)),
        ),
        figure("model", "What the internal model does not recognise costs return", MODEL, each(&by("tpr"))),
        figure(
            "model-of-states",
            "The same with an internal model of states only",
            MODEL,
            each(&by("tpr-states")),
        ),
        figure("toplines", "Policies that were trained on such bodies", TOPLINE, of_toplines),
    ];
    figures.into_iter().filter(|f| !f.charts.is_empty()).collect()
}

const DIFFERENCE: &str = "Each point is a body: its mean relative difference from the nominal one, and the mean over \
    policies of the median return. The curve is the binomial regression.";
const NOMINAL: &str = "Each point is a policy: its median return on the nominal body, and the mean over bodies of its median return there.";
const MODEL: &str = "Each point is a body: the rate of true positives of the internal model (median over k = 1 … 16 tokens, \
    which are 4 steps apart) and the return gap, both as means over policies. The curve is the Gaussian regression \
    with a logarithmic link.";
const TOPLINE: &str = "Each point is a body: the mean return of policies of the nominal body, and that of toplines, which \
    were trained on such bodies. Below the line the latter are no better.";

/// The key of a body in the page.
pub fn key(sigma: f64, body: usize) -> String {
    format!("{sigma}/{body}")
}

/// One series for each spread, with a point for each body that has both numbers.
fn bodies(
    rows: &[Row],
    kind: &str,
    x: impl Fn(&Row) -> Option<f64>,
    y: impl Fn(&Row) -> Option<f64>,
    says: (&str, &str),
) -> Vec<Series> {
    let series = |(i, sigma): (usize, f64)| {
        let table = Table::of(of_kind(rows, kind), Some(sigma));
        let ones = vec![1.0; table.policies.len()];
        let (xs, ys) = (table.means(&ones, &x), table.means(&ones, &y));
        let dot = |(i, (sigma, body)): (usize, &(f64, usize))| {
            let (x, y) = (xs[i]?, ys[i]?);
            let says = format!("body {body}, σ = {sigma}: {} {x:.3}, {} {y:.3}", says.0, says.1);
            Some(Dot { at: (x, y), body: key(*sigma, *body), says })
        };
        let dots = table.bodies.iter().enumerate().filter_map(dot).collect();
        Series { name: format!("σ = {sigma}"), pen: Pen::detector(i), dots }
    };
    sigmas(rows).into_iter().enumerate().map(series).collect()
}

fn of_kind<'a>(rows: &'a [Row], kind: &str) -> impl Iterator<Item = &'a Row> {
    rows.iter().filter(move |r| kind == "all" || r.algorithm == kind)
}

fn by_difference(rows: &[Row], kind: &str) -> String {
    let series = bodies(rows, kind, |r| Some(r.difference), |r| Some(r.median), ("difference", "return"));
    let curve = return_curve(&Table::of(of_kind(rows, kind), None));
    scatter(kind, "relative difference of the body", "return", series, curve).draw()
}

fn by_score(rows: &[Row], kind: &str, score: &str) -> String {
    let series = bodies(rows, kind, |r| r.score(score), |r| Some(r.return_gap()), (score, "return gap"));
    let curve = gap_curve(&Table::of(of_kind(rows, kind), None), score);
    scatter(kind, "rate of true positives", "return gap", series, curve).draw()
}

/// One chart for each spread.
fn by_nominal(rows: &[Row], kind: &str) -> Vec<String> {
    let chart = |(i, sigma): (usize, f64)| {
        let table = Table::of(of_kind(rows, kind), Some(sigma));
        let dots = table.policies.iter().enumerate().filter_map(|(a, name)| {
            let mut weights = vec![0.0; table.policies.len()];
            weights[a] = 1.0;
            let mean = |of: fn(&Row) -> Option<f64>| {
                let values: Vec<f64> = table.means(&weights, of).into_iter().flatten().collect();
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            };
            let (nominal, there) = (mean(|r| Some(r.nominal_return))?, mean(|r| Some(r.median))?);
            let says = format!("{name}: on the nominal body {nominal:.0}, on these bodies {there:.0}");
            Some(Dot { at: (nominal, there), body: String::new(), says })
        });
        let series =
            vec![Series { name: format!("σ = {sigma}"), pen: Pen::detector(i), dots: dots.collect() }];
        Scatter {
            diagonal: true,
            ..scatter(kind, "return on the nominal body", "return on bodies", series, None)
        }
        .draw()
    };
    let several = Table::of(of_kind(rows, kind), None).policies.len() > 1;
    sigmas(rows).into_iter().enumerate().filter(|_| several).map(chart).collect()
}

fn topline(rows: &[Row], toplines: &[Row]) -> Vec<String> {
    let there = |row: &Row| {
        let same = rows.iter().filter(|r| (r.sigma, r.body) == (row.sigma, row.body)).map(|r| r.median);
        let values: Vec<f64> = same.collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let series = bodies(toplines, "all", there, |r| Some(r.median), ("nominal policies", "toplines"));
    vec![
        Scatter {
            diagonal: true,
            ..scatter("all", "policies of the nominal body", "toplines", series, None)
        }
        .draw(),
    ]
}

fn scatter(
    kind: &str,
    across: &str,
    up: &str,
    series: Vec<Series>,
    curve: Option<crate::analysis::Curve>,
) -> Scatter {
    Scatter { title: kind.into(), across: across.into(), up: up.into(), series, curve, diagonal: false }
}
