//! Results as files: `results.json` holds everything, `results.csv` the rows for everybody else.
//!
//! A page must not show other numbers than the table beside it, so both files must hold the same rows: results whose
//! rows were removed or edited are refused. Everything is checked on the way in; an error names the file, the place,
//! what was expected and what was found.

use crate::report::metric::Metric;
use crate::results::{DelayCurve, Film, Results, Row, Trace};
use anyhow::{Context, Result, bail, ensure};
use offnominal_files::write;
use std::path::Path;

const COLUMNS: [&str; 16] = [
    "campaign",
    "env",
    "modality",
    "policy",
    "anomaly_class",
    "anomaly",
    "strength",
    "magnitude",
    "detector",
    "seed",
    "episodes",
    "metric",
    "threshold",
    "value",
    "low",
    "high",
];

/// The columns that hold floating-point numbers.
const NUMBERS: [&str; 4] = ["magnitude", "value", "low", "high"];

/// Writes `results.json` into the folder.
///
/// # Errors
/// If the file cannot be written; the message names it.
pub fn save(folder: &Path, results: &Results) -> Result<()> {
    let json = serde_json::to_vec(results).context("results cannot be written as JSON")?;
    write::atomically(&folder.join("results.json"), &json)
}

/// Reads the results of a folder: `results.json`, whose rows must be those of `results.csv`.
///
/// # Errors
/// If a file is missing or is not what it should be; the message names file, place, expectation and finding.
pub fn read(folder: &Path) -> Result<Results> {
    let (json, csv) = (folder.join("results.json"), folder.join("results.csv"));
    let results: Results = serde_json::from_slice(&bytes(&json)?)
        .with_context(|| format!("{}: expected the results of a benchmark", json.display()))?;
    check(&results).with_context(|| json.display().to_string())?;
    rows(&bytes(&csv)?)
        .and_then(|found| same(&results.rows, &found))
        .with_context(|| csv.display().to_string())?;
    Ok(results)
}

/// Insists on the same rows; the first difference is named with its line, and a different number with both.
fn same(expected: &[Row], found: &[Row]) -> Result<()> {
    let (n, m) = (expected.len(), found.len());
    let first = expected.iter().zip(found).position(|(a, b)| cells(a) != cells(b));
    let Some(first) = first.or((n != m).then_some(n.min(m))) else { return Ok(()) };
    let what = if n == m {
        difference(&expected[first], &found[first])
    } else {
        format!("expected {n} rows, found {m}")
    };
    // The header is line 1.
    bail!(
        "{what}; the rows differ from those of results.json from line {} on. Were rows removed or edited? \
         Run the campaign again: finished cells are not repeated",
        first + 2
    )
}

/// The first column in which two rows differ.
fn difference(expected: &Row, found: &Row) -> String {
    let (a, b) = (cells(expected), cells(found));
    let column = (0..COLUMNS.len()).find(|&c| a[c] != b[c]).unwrap_or(0);
    format!("column {}: expected {}, found {}", COLUMNS[column], a[column], b[column])
}

/// A row as text: numbers are written so that no two have the same text, and NaN is equal to itself.
fn cells(row: &Row) -> [String; 16] {
    let text = |s: &String| format!("{s:?}");
    let number = |x: f64| x.to_string();
    [
        text(&row.campaign),
        text(&row.env),
        text(&row.modality),
        text(&row.policy),
        text(&row.anomaly_class),
        text(&row.anomaly),
        text(&row.strength),
        number(row.magnitude),
        text(&row.detector),
        row.seed.to_string(),
        row.episodes.to_string(),
        text(&row.metric),
        text(&row.threshold),
        number(row.value),
        number(row.low),
        number(row.high),
    ]
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| {
        format!("cannot read {}: expected a results folder with results.json and results.csv", path.display())
    })
}

fn rows(bytes: &[u8]) -> Result<Vec<Row>> {
    let mut reader = csv::Reader::from_reader(bytes);
    let header = reader.headers().context("line 1: expected the names of the columns")?.clone();
    for column in COLUMNS {
        ensure!(
            header.iter().any(|h| h == column),
            "line 1: expected a column {column:?}, found {}",
            header.iter().collect::<Vec<_>>().join(", ")
        );
    }
    reader.records().map(|record| row(record.map_err(|e| place(&e, &header))?, &header)).collect()
}

fn row(record: csv::StringRecord, header: &csv::StringRecord) -> Result<Row> {
    let line = record.position().map_or(0, csv::Position::line);
    for (column, text) in header.iter().zip(&record).filter(|(column, _)| NUMBERS.contains(column)) {
        ensure!(
            text.parse::<f64>().is_ok(),
            "line {line}, column {column}: expected a number, NaN, inf or -inf, found {text:?}"
        );
    }
    let row = record.deserialize(Some(header)).map_err(|e| place(&e, header))?;
    plausible(row).with_context(|| format!("line {line}"))
}

/// Where in the file a reading error is, by line and by the name of the column.
fn place(error: &csv::Error, header: &csv::StringRecord) -> anyhow::Error {
    let line = error.position().map_or(0, csv::Position::line);
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let column = err.field().and_then(|f| header.get(f as usize)).unwrap_or("?");
            anyhow::anyhow!("line {line}, column {column}: {}", err.kind())
        }
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            anyhow::anyhow!("line {line}: expected {expected_len} columns, found {len}")
        }
        csv::ErrorKind::Utf8 { .. } => {
            anyhow::anyhow!("line {line}: expected text in UTF-8, found other bytes")
        }
        _ => anyhow::anyhow!("line {line}: {error}"),
    }
}

fn plausible(row: Row) -> Result<Row> {
    let Some(metric) = Metric::find(&row.metric) else { return Ok(row) };
    let (least, most) = metric.range();
    if row.value < least || row.value > most {
        bail!(
            "{} of {} for {} in {}: expected a value in [{least}, {most}], found {}",
            row.metric,
            row.detector,
            row.anomaly,
            row.env,
            row.value
        );
    }
    Ok(row)
}

fn check(results: &Results) -> Result<()> {
    results
        .traces
        .iter()
        .enumerate()
        .try_for_each(|(i, t)| trace(t).with_context(|| format!("traces[{i}]")))?;
    results
        .curves
        .iter()
        .enumerate()
        .try_for_each(|(i, c)| curve(c).with_context(|| format!("curves[{i}]")))?;
    results.films.iter().enumerate().try_for_each(|(i, f)| film(f).with_context(|| format!("films[{i}]")))
}

fn trace(trace: &Trace) -> Result<()> {
    let (onset, steps) = (trace.onset, trace.scores.len());
    ensure!((onset as usize) <= steps, "expected an onset within the {steps} steps, found {onset}");
    Ok(())
}

fn curve(curve: &DelayCurve) -> Result<()> {
    let (n, low, high) = (curve.detected.len(), curve.low.len(), curve.high.len());
    ensure!(n == low && n == high, "expected as many limits as values ({n}), found {low} and {high}");
    Ok(())
}

fn film(film: &Film) -> Result<()> {
    let head: String = film.gif.iter().take(4).map(|&b| char::from(b)).collect();
    ensure!(
        head == "GIF8",
        "expected a GIF picture, found {} bytes that begin with {head:?}",
        film.gif.len()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::row;

    fn table(rows: &[Row]) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        rows.iter().for_each(|r| writer.serialize(r).unwrap());
        String::from_utf8(writer.into_inner().unwrap()).unwrap()
    }

    fn sample() -> Results {
        let missing = row("knn", "obs-noise", "tiny", "auroc_matched", "", f64::NAN);
        let never = row("knn", "obs-noise", "tiny", "delay_median", "q95", f64::INFINITY);
        Results { rows: vec![missing, never], ..Results::default() }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        save(folder.path(), &sample()).unwrap();
        std::fs::write(folder.path().join("results.csv"), table(&sample().rows)).unwrap();
        let back = read(folder.path()).unwrap();
        assert_eq!(format!("{back:?}"), format!("{:?}", sample()));
    }

    #[test]
    fn removed_and_edited_rows_are_refused_with_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = |edited: &[Row]| {
            std::fs::write(folder.path().join("results.csv"), table(edited)).unwrap();
            format!("{:#}", read(folder.path()).unwrap_err())
        };
        let rows: Vec<Row> =
            [0.5, 0.75, 0.9].map(|v| row("knn", "obs-noise", "tiny", "auroc_matched", "", v)).into();
        save(folder.path(), &Results { rows: rows.clone(), ..Results::default() }).unwrap();
        let removed = refusal(&[rows[0].clone(), rows[2].clone()]);
        assert!(removed.contains("results.csv: expected 3 rows, found 2; "), "{removed}");
        assert!(removed.contains("from line 3 on"), "{removed}");
        let mut edited = rows;
        edited[2].value = 0.91;
        let edited = refusal(&edited);
        assert!(edited.contains("results.csv: column value: expected 0.9, found 0.91; "), "{edited}");
        assert!(edited.contains("from line 4 on"), "{edited}");
    }

    #[test]
    fn a_bad_table_says_where_and_why() {
        let good = table(&[row("knn", "obs-noise", "tiny", "auroc_matched", "", 0.75)]);
        let cases = [
            (good.replace("detector", "detektor"), "line 1: expected a column \"detector\""),
            (
                good.replace(",0.75,", ",a lot,"),
                "line 2, column value: expected a number, NaN, inf or -inf, found \"a lot\"",
            ),
            (good.replace(",50,", ",many,"), "line 2, column episodes: invalid digit"),
            (
                good.replace(",0.75,", ",1.75,"),
                "line 2: auroc_matched of knn for obs-noise in sap-goal0: expected a value in [0, 1], found 1.75",
            ),
            (good.replace(",0.75,", ","), "line 2: expected 16 columns, found 15"),
        ];
        for (text, expected) in cases {
            let error = format!("{:#}", rows(text.as_bytes()).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_folder_without_results_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = format!("{:#}", read(folder.path()).unwrap_err());
        assert!(error.contains("results.json") && error.contains("expected a results folder"), "{error}");
    }

    #[test]
    fn a_film_must_be_a_gif() {
        let film = Film { env: "e".into(), caption: "c".into(), gif: b"<svg>".to_vec() };
        let error = check(&Results { films: vec![film], ..Results::default() }).unwrap_err();
        assert!(format!("{error:#}").contains("films[0]: expected a GIF picture"), "{error:#}");
    }
}
