//! One policy in one variant, judged by one measure: as a record while it is worked with, and as rows of the results.
//!
//! The rows have the metrics of all results (`auroc_global` pools all steps), `return` and `youden_threshold`.

use crate::ood_rl::Method;
use crate::ood_rl::milder::MILDER;
use anyhow::{Context, Result};
use offnominal_worlds::anomaly::IMAGE;
use serde::{Deserialize, Serialize};

/// The measure in which the tables of the publication are made again.
pub const MAIN: &str = "mean-sd";

/// One policy in one variant, judged by one measure. Intervals are at 95 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The environment.
    pub env: String,
    /// How the policy disagrees with itself.
    pub method: Method,
    /// Which of the trials, from 1.
    pub trial: u32,
    /// What is different; `none` in nominal episodes.
    pub anomaly: String,
    /// Its value; 0 in nominal episodes.
    pub magnitude: f64,
    /// Whether nothing can be detected.
    pub null: bool,
    /// Episodes played in the variant.
    pub episodes: usize,
    /// Their mean return, with Student's interval.
    pub mean_return: f64,
    /// Its lower end.
    pub return_low: f64,
    /// Its upper end.
    pub return_high: f64,
    /// Whether the mean return is below what counts as solved.
    pub fails: bool,
    /// The measure of disagreement, or another detector.
    pub measure: String,
    /// Steps in the variant.
    pub positives: usize,
    /// Steps at home.
    pub negatives: usize,
    /// AUROC of all steps pooled; nothing at home.
    pub auroc: Option<f64>,
    /// Its interval by resampling episodes, for the main measure and other detectors.
    pub auroc_low: Option<f64>,
    /// Its upper end.
    pub auroc_high: Option<f64>,
    /// Average precision; by chance it is the prevalence, positives / (positives + negatives).
    pub aupr: Option<f64>,
    /// False positive rate where 95 % of the steps in the variant are found.
    pub fpr95: Option<f64>,
    /// AUROC against steps at home at the same times; a clock has one half.
    pub auroc_matched: Option<f64>,
    /// Threshold with the largest difference of true and false positive rates.
    pub youden: Option<f64>,
}

/// Five significant digits: more than the intervals bear, and half the size.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

impl Judged {
    /// Whether the variant is milder than those of the publication.
    pub(super) fn is_milder(&self) -> bool {
        self.anomaly.starts_with(IMAGE) && MILDER.contains(&self.magnitude)
    }

    /// Whether it is one of the publication's, in which something can be detected.
    pub(super) fn is_published(&self) -> bool {
        !self.null && !self.is_milder()
    }

    /// The same with numbers of five significant digits.
    pub(super) fn rounded(&self) -> Judged {
        let mut row = self.clone();
        let numbers = [&mut row.mean_return, &mut row.return_low, &mut row.return_high];
        let shares = [
            &mut row.auroc,
            &mut row.auroc_low,
            &mut row.auroc_high,
            &mut row.aupr,
            &mut row.fpr95,
            &mut row.auroc_matched,
            &mut row.youden,
        ];
        for number in numbers.into_iter().chain(shares.into_iter().flatten()) {
            *number = rounded(*number);
        }
        row
    }
}

/// One number of the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The environment.
    pub env: String,
    /// How the policy disagrees with itself.
    pub method: Method,
    /// Which of the trials, from 1.
    pub trial: u32,
    /// What is different; `none` in the nominal environment.
    pub anomaly: String,
    /// Its value; 0 in the nominal environment.
    pub magnitude: f64,
    /// Whether nothing can be detected.
    pub null: bool,
    /// Whether the mean return is below what counts as solved.
    pub fails: bool,
    /// Episodes played in the variant.
    pub episodes: usize,
    /// Steps in the variant.
    pub positives: usize,
    /// Steps in the nominal environment.
    pub negatives: usize,
    /// The measure of disagreement, or another detector.
    pub detector: String,
    /// What the number is.
    pub metric: String,
    /// The number.
    pub value: f64,
    /// Lower end of its 95 % interval; not a number if there is none.
    pub low: f64,
    /// Upper end of its 95 % interval; not a number if there is none.
    pub high: f64,
}

/// A metric: its name, and where its value and interval stand in a record.
type Place = (&'static str, fn(&mut Judged) -> [Option<&mut Option<f64>>; 3]);

const PLACES: [Place; 5] = [
    ("auroc_global", |j| [Some(&mut j.auroc), Some(&mut j.auroc_low), Some(&mut j.auroc_high)]),
    ("aupr_global", |j| [Some(&mut j.aupr), None, None]),
    ("fpr95_global", |j| [Some(&mut j.fpr95), None, None]),
    ("auroc_matched", |j| [Some(&mut j.auroc_matched), None, None]),
    ("youden_threshold", |j| [Some(&mut j.youden), None, None]),
];

/// The metric that every record has.
const RETURN: &str = "return";

/// The records as rows.
pub fn to_rows(records: &[Judged]) -> Vec<Row> {
    records.iter().flat_map(numbers).collect()
}

fn numbers(record: &Judged) -> Vec<Row> {
    let mut record = record.rounded();
    let first = row(&record, RETURN, [record.mean_return, record.return_low, record.return_high]);
    let mut rows = vec![first];
    for (metric, of) in PLACES {
        let found = of(&mut record).map(|place| place.and_then(|p| *p));
        if found[0].is_some() {
            rows.push(row(&record, metric, found.map(|number| number.unwrap_or(f64::NAN))));
        }
    }
    rows
}

fn row(record: &Judged, metric: &str, [value, low, high]: [f64; 3]) -> Row {
    Row {
        env: record.env.clone(),
        method: record.method,
        trial: record.trial,
        anomaly: record.anomaly.clone(),
        magnitude: record.magnitude,
        null: record.null,
        fails: record.fails,
        episodes: record.episodes,
        positives: record.positives,
        negatives: record.negatives,
        detector: record.measure.clone(),
        metric: metric.into(),
        value,
        low,
        high,
    }
}

/// The records of rows, each of which begins with its return.
///
/// # Errors
/// If a row is of no record, or of a metric that no record has.
pub fn from_rows(rows: Vec<Row>) -> Result<Vec<Judged>> {
    let mut records: Vec<Judged> = Vec::new();
    for row in rows {
        if row.metric == RETURN {
            records.push(record(row));
            continue;
        }
        let of = PLACES.iter().find(|(metric, _)| *metric == row.metric).map(|(_, of)| of);
        let of = of.with_context(|| format!("metric: expected one of the suite, found {:?}", row.metric))?;
        let places = records.last_mut().filter(|r| is_of(r, &row)).map(of);
        let places = places.with_context(|| format!("expected the return of {row:?} before it"))?;
        for (place, number) in places.into_iter().zip([row.value, row.low, row.high]) {
            if let Some(place) = place {
                *place = Some(number).filter(|n| !n.is_nan());
            }
        }
    }
    Ok(records)
}

fn is_of(record: &Judged, row: &Row) -> bool {
    (&record.env, record.method, record.trial, &record.anomaly, record.magnitude, &record.measure)
        == (&row.env, row.method, row.trial, &row.anomaly, row.magnitude, &row.detector)
}

fn record(row: Row) -> Judged {
    Judged {
        env: row.env,
        method: row.method,
        trial: row.trial,
        anomaly: row.anomaly,
        magnitude: row.magnitude,
        null: row.null,
        episodes: row.episodes,
        mean_return: row.value,
        return_low: row.low,
        return_high: row.high,
        fails: row.fails,
        measure: row.detector,
        positives: row.positives,
        negatives: row.negatives,
        auroc: None,
        auroc_low: None,
        auroc_high: None,
        aupr: None,
        fpr95: None,
        auroc_matched: None,
        youden: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_from_their_rows() {
        let blank = Row {
            env: "cartpole".into(),
            method: Method::Dropout,
            trial: 2,
            anomaly: "dyn-gravity".into(),
            magnitude: 0.98,
            null: false,
            fails: true,
            episodes: 20,
            positives: 9,
            negatives: 8,
            detector: MAIN.into(),
            metric: RETURN.into(),
            value: 500.0,
            low: 499.0,
            high: 501.0,
        };
        let main = Judged { auroc: Some(0.75), auroc_low: Some(0.5), auroc_high: Some(1.0), ..record(blank) };
        let other = Judged {
            measure: "max-sd".into(),
            auroc: Some(0.5),
            aupr: Some(0.25),
            ..record(row(&main, RETURN, [500.0, 499.0, 501.0]))
        };
        let rows = to_rows(&[main.clone(), other.clone()]);
        assert_eq!(
            rows.iter().map(|r| &*r.metric).collect::<Vec<_>>(),
            ["return", "auroc_global", "return", "auroc_global", "aupr_global"]
        );
        assert_eq!(from_rows(rows.clone()).unwrap(), [main, other]);
        assert!(from_rows(rows[1..].to_vec()).unwrap_err().to_string().contains("expected the return"));
    }
}
