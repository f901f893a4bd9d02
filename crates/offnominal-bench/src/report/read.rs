//! Results as files: `results.json` holds everything, `results.csv` the rows for everybody else.
//!
//! A page must not show other numbers than the table beside it, so both files must hold the same rows: results whose
//! rows were removed or edited are refused. Everything is checked on the way in; an error names the file, the place,
//! what was expected and what was found.

use crate::results::{DelayCurve, Results, Row, Trace, Video};
use anyhow::{Context, Result, bail, ensure};
use offnominal_files::{table, write};
use offnominal_stats::metric;
use std::path::Path;

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
    same(&results.rows, &rows(&csv)?).with_context(|| csv.display().to_string())?;
    Ok(results)
}

/// Insists on the same rows; the first difference is named with its line, and a different number with both.
fn same(expected: &[Row], found: &[Row]) -> Result<()> {
    let (n, m) = (expected.len(), found.len());
    let mut first = None;
    for (i, (a, b)) in expected.iter().zip(found).enumerate() {
        if table::fields(a)? != table::fields(b)? {
            first = Some(i);
            break;
        }
    }
    let Some(first) = first.or((n != m).then_some(n.min(m))) else { return Ok(()) };
    let what = if n == m {
        difference(&expected[first], &found[first])?
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
fn difference(expected: &Row, found: &Row) -> Result<String> {
    let (a, b) = (table::fields(expected)?, table::fields(found)?);
    let differs = a.iter().zip(&b).find(|(x, y)| x != y);
    Ok(differs.map_or(String::new(), |(x, y)| format!("column {}: expected {}, found {}", x.0, x.1, y.1)))
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    offnominal_files::read::bytes(path).context("expected a results folder with results.json and results.csv")
}

/// The rows of the table, none of which has a value that its metric cannot have.
fn rows(path: &Path) -> Result<Vec<Row>> {
    let rows: Vec<Row> = table::from_csv(&bytes(path)?, path)?;
    for (i, row) in rows.iter().enumerate() {
        // The header is line 1.
        plausible(row).with_context(|| format!("{}: line {}", path.display(), i + 2))?;
    }
    Ok(rows)
}

fn plausible(row: &Row) -> Result<()> {
    let Some(metric) = metric::find(&row.metric) else { return Ok(()) };
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
    Ok(())
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
    results.videos.iter().enumerate().try_for_each(|(i, f)| video(f).with_context(|| format!("videos[{i}]")))
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

fn video(video: &Video) -> Result<()> {
    let head: String = video.gif.iter().take(4).map(|&b| char::from(b)).collect();
    ensure!(head == "GIF8", "expected a GIF image, found {} bytes that begin with {head:?}", video.gif.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::row;

    fn table(rows: &[Row]) -> String {
        String::from_utf8(offnominal_files::table::to_csv(rows).unwrap()).unwrap()
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
            (
                good.replace(",50,", ",many,"),
                "line 2, column episodes: expected a whole number that is not negative, found \"many\"",
            ),
            (
                good.replace(",0.75,", ",1.75,"),
                "line 2: auroc_matched of knn for obs-noise in sap-goal0: expected a value in [0, 1], found 1.75",
            ),
            (good.replace(",0.75,", ","), "line 2: expected 16 columns, found 15"),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.csv");
        for (text, expected) in cases {
            std::fs::write(&path, text).unwrap();
            let error = format!("{:#}", rows(&path).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_folder_without_results_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = format!("{:#}", read(folder.path()).unwrap_err());
        assert!(error.contains("cannot read") && error.contains("expected a results folder"), "{error}");
    }

    #[test]
    fn a_video_must_be_a_gif() {
        let video = Video { env: "e".into(), caption: "c".into(), gif: b"<svg>".to_vec() };
        let error = check(&Results { videos: vec![video], ..Results::default() }).unwrap_err();
        assert!(format!("{error:#}").contains("videos[0]: expected a GIF image"), "{error:#}");
    }
}
