//! Regressions are those of statsmodels (`data/make_regression.py`).

use offnominal_stats::regression::{Family, Fit, Point, fit};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    statsmodels: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    family: String,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    weight: Vec<f64>,
    coefficients: Vec<f64>,
    standard_errors: Vec<f64>,
    deviance: f64,
    null_deviance: f64,
}

impl Case {
    fn fit(&self) -> Fit {
        let family = if self.family == "binomial" { Family::BinomialLogit } else { Family::GaussianLog };
        let rows = self.x.iter().zip(&self.y).zip(&self.weight);
        let points: Vec<Point> = rows.map(|((x, &y), &weight)| Point { x: x.clone(), y, weight }).collect();
        fit(family, &points).unwrap()
    }

    /// Every number of the fit beside that of statsmodels.
    fn pairs(&self) -> Vec<(f64, f64)> {
        let found = self.fit();
        let wanted = self.coefficients.iter().chain(&self.standard_errors);
        let mut pairs: Vec<_> =
            found.coefficients.iter().chain(&found.standard_errors).copied().zip(wanted.copied()).collect();
        pairs.extend([(found.deviance, self.deviance), (found.null_deviance, self.null_deviance)]);
        pairs
    }
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../data/regression.json")).unwrap()
}

#[test]
fn fits_are_those_of_statsmodels() {
    let golden = golden();
    assert_eq!(golden.statsmodels, "0.15.0");
    assert_eq!(golden.cases.len(), 7);
    for case in &golden.cases {
        for (found, wanted) in case.pairs() {
            let off = (found - wanted).abs() / wanted.abs().max(1.0);
            assert!(off < 1e-6, "{}: expected {wanted}, found {found}", case.name);
        }
    }
}

#[test]
fn another_response_is_noticed() {
    let mut case = golden().cases.swap_remove(1);
    case.y[0] += 1e-3;
    assert!(case.pairs().iter().any(|(found, wanted)| (found - wanted).abs() > 1e-6));
}
