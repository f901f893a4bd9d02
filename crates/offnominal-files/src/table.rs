//! Tables of results: a row is a flat struct, a column is one of its fields, and a file is CSV or Parquet.
//!
//! Results are tidy: a row says of what its number is (`env`, `policy`, `detector`, `metric`, …) and has one `value` with
//! its `low` and `high`. So a new metric adds rows, and neither files nor readers change.
//!
//! * Columns are found by name, in any order. A column that is missing or there twice is an error. One that the row does
//!   not have is ignored, unless the row refuses it (`#[serde(deny_unknown_fields)]`).
//! * Text comes back as it was, though in CSV an apostrophe stands before what a spreadsheet would compute.
//! * Numbers come back with the same bits; in CSV those that are no reals are `NaN`, `inf` and `-inf`.
//! * A field that is an `Option` is an empty field in CSV and a null in Parquet if it is `None`.
//! * An error names the file, the line (the number of the row, in Parquet), the column, and what was found.

mod cell;
mod parquet;
mod row;

pub use self::cell::Cell;
pub use self::parquet::{from_parquet, to_parquet};

use anyhow::{Context, Result, anyhow, bail, ensure};
use offnominal_core::limits::COLUMNS;
use offnominal_core::outside;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The endings of files that hold tables, the preferred one first.
const ENDINGS: [&str; 2] = ["parquet", "csv"];

/// The fields of a row by name, as they stand in CSV.
///
/// # Errors
/// If a row is no flat struct.
pub fn fields<T: Serialize>(row: &T) -> Result<Vec<(&'static str, String)>> {
    Ok(cell::of(row)?.into_iter().map(|(name, cell)| (name, cell.csv())).collect())
}

/// The rows as CSV with a header.
///
/// # Errors
/// If a row is no flat struct.
pub fn to_csv<T: Serialize + DeserializeOwned>(rows: &[T]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(row::columns::<T>()?)?;
    for row in rows {
        writer.write_record(cell::of(row)?.iter().map(|(_, cell)| cell.csv()))?;
    }
    Ok(writer.into_inner()?)
}

/// Columns with their names, where these are known only when the program runs; all have the same number of rows.
pub type Columns = Vec<(String, Vec<Cell>)>;

/// The columns as a file of that name: its ending says whether as CSV or as Parquet.
///
/// # Errors
/// If the ending is another one, two columns have the same name, or the fields of a column are of several types.
pub fn columns_to_file(columns: &Columns, path: &Path) -> Result<Vec<u8>> {
    Header::distinct(columns.iter().map(|(name, _)| name.as_str()))?;
    match ending(path)? {
        Ending::Parquet => parquet::columns_to_parquet(columns),
        Ending::Csv => columns_to_csv(columns),
    }
}

fn columns_to_csv(columns: &Columns) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|(name, _)| outside::cell(name).into_owned()))?;
    for i in 0..columns.first().map_or(0, |(_, cells)| cells.len()) {
        writer.write_record(columns.iter().map(|(_, cells)| cells[i].csv()))?;
    }
    Ok(writer.into_inner()?)
}

/// What a table is written as.
enum Ending {
    Parquet,
    Csv,
}

/// What the name of a table says.
///
/// # Errors
/// If it ends otherwise.
fn ending(path: &Path) -> Result<Ending> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => Ok(Ending::Csv),
        Some("parquet") => Ok(Ending::Parquet),
        _ => bail!("{}: expected a table that ends in .parquet or .csv", path.display()),
    }
}

/// Refuses a file that is none for a table, before there are rows.
///
/// # Errors
/// If its name ends neither in `.parquet` nor in `.csv`.
pub fn check_name(path: &Path) -> Result<()> {
    ending(path).map(drop)
}

/// The rows of a CSV file; `path` is its name in errors.
///
/// # Errors
/// If a column is missing, or a field is not what it should be.
pub fn from_csv<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<Vec<T>> {
    csv_rows(bytes).with_context(|| path.display().to_string())
}

fn csv_rows<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>> {
    let mut reader = csv::Reader::from_reader(bytes);
    let header = reader.headers().map_err(|e| broken(&e))?.clone();
    let header = Header::new::<T>(header.iter().map(String::from).collect()).context("line 1")?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| broken(&e))?;
        let line = record.position().map_or(0, csv::Position::line);
        let cells = record.iter().map(|field| Cell::Text(outside::uncelled(field).into())).collect();
        rows.push(row::parsed(&header.0, cells).map_err(|e| anyhow!("line {line}, {e}"))?);
    }
    Ok(rows)
}

fn broken(error: &csv::Error) -> anyhow::Error {
    let line = error.position().map_or(0, csv::Position::line);
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            anyhow!("line {line}: expected {expected_len} columns, found {len}")
        }
        csv::ErrorKind::Utf8 { .. } => anyhow!("line {line}: expected text in UTF-8, found other bytes"),
        _ => anyhow!("line {line}: {error}"),
    }
}

/// The rows of a file that ends in `.csv` or `.parquet`.
///
/// # Errors
/// If the file cannot be read, or as [`from_csv`].
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let ending = ending(path)?;
    let bytes = crate::read::bytes(path)?;
    match ending {
        Ending::Csv => from_csv(&bytes, path),
        Ending::Parquet => from_parquet(&bytes, path),
    }
}

/// The table of that name in a folder, as Parquet or as CSV.
///
/// # Errors
/// If there is neither.
pub fn find(folder: &Path, name: &str) -> Result<PathBuf> {
    let candidates = ENDINGS.map(|ending| folder.join(format!("{name}.{ending}")));
    let found = candidates.iter().find(|path| path.is_file()).cloned();
    found.with_context(|| format!("expected {} (or .csv), found no such file", candidates[0].display()))
}

/// The columns of a file, which are those of a row in any order.
struct Header(Vec<String>);

impl Header {
    fn new<T: DeserializeOwned>(found: Vec<String>) -> Result<Header> {
        let expected = row::columns::<T>()?;
        ensure!(found.len() <= COLUMNS, "expected at most {COLUMNS} columns, found {}", found.len());
        let names = || found.join(", ");
        for column in expected {
            ensure!(found.iter().any(|f| f == column), "expected a column {column:?}, found {}", names());
        }
        Header::distinct(found.iter().map(String::as_str))?;
        Ok(Header(found))
    }

    /// Refuses a name that stands there twice.
    fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Result<()> {
        let mut seen = BTreeSet::new();
        for name in names {
            ensure!(seen.insert(name), "expected the column {name:?} once, found it twice");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Class {
        Observation,
        NotAtAll,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Row {
        env: String,
        class: Class,
        seed: u64,
        shift: i32,
        null: bool,
        threshold: Option<String>,
        value: f64,
        low: Option<f64>,
    }

    fn rows() -> Vec<Row> {
        let row = Row {
            env: "a, \"b\"\n".into(),
            class: Class::NotAtAll,
            seed: u64::MAX,
            shift: -3,
            null: true,
            threshold: Some("q95".into()),
            value: 0.1 + 0.2,
            low: Some(5e-324),
        };
        let missing = Row {
            class: Class::Observation,
            threshold: None,
            value: f64::INFINITY,
            low: None,
            null: false,
            ..row.clone()
        };
        vec![row.clone(), missing, Row { value: f64::NAN, low: Some(1e300), ..row }]
    }

    fn path() -> &'static Path {
        Path::new("x.csv")
    }

    #[test]
    fn both_files_give_back_the_same_bits() {
        let expected = format!("{:?}", rows());
        let csv: Vec<Row> = from_csv(&to_csv(&rows()).unwrap(), path()).unwrap();
        let parquet: Vec<Row> = from_parquet(&to_parquet(&rows()).unwrap(), path()).unwrap();
        assert_eq!((format!("{csv:?}"), format!("{parquet:?}")), (expected.clone(), expected));
        let nothing: [Row; 0] = [];
        assert!(to_csv(&nothing).unwrap().starts_with(b"env,class,seed,shift,null,threshold,value,low\n"));
        assert_eq!(from_parquet::<Row>(&to_parquet(&nothing).unwrap(), path()).unwrap(), nothing);
    }

    #[test]
    fn a_column_of_nothing_is_read_back() {
        let nothing = [Row { low: None, ..rows()[1].clone() }];
        assert_eq!(from_parquet::<Row>(&to_parquet(&nothing).unwrap(), path()).unwrap(), nothing);
    }

    #[test]
    fn columns_come_in_any_order() {
        let text = "value,low,env,seed,class,null,shift,threshold\n0.5,,w,1,observation,false,2,\n";
        let row: &Row = &from_csv(text.as_bytes(), path()).unwrap()[0];
        assert_eq!((row.value, row.low, &*row.env, row.shift), (0.5, None, "w", 2));
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Wide {
        value: f64,
        more: f64,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Narrow {
        value: f64,
    }

    #[derive(Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        #[serde(rename = "value")]
        _value: f64,
    }

    #[test]
    fn unknown_columns_are_ignored_unless_the_row_refuses_them() {
        let rows = [Wide { value: 1.0, more: 2.0 }];
        let (csv, parquet) = (to_csv(&rows).unwrap(), to_parquet(&rows).unwrap());
        assert_eq!(from_csv::<Narrow>(&csv, path()).unwrap(), [Narrow { value: 1.0 }]);
        assert_eq!(from_parquet::<Narrow>(&parquet, path()).unwrap(), [Narrow { value: 1.0 }]);
        let error = format!("{:#}", from_csv::<Strict>(&csv, path()).unwrap_err());
        assert!(error.contains("line 2, unknown field `more`"), "{error}");
    }

    #[test]
    fn columns_whose_names_come_with_the_data_are_written_as_rows_are() {
        let columns = vec![
            ("value".into(), vec![Cell::Real(0.1), Cell::Nothing]),
            ("initial.x, =m".into(), vec![Cell::Count(u64::MAX), Cell::Count(1)]),
        ];
        let csv = columns_to_file(&columns, Path::new("a.csv")).unwrap();
        assert_eq!(
            String::from_utf8(csv).unwrap(),
            "value,\"initial.x, =m\"\n0.1,18446744073709551615\n,1\n"
        );
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Value {
            value: Option<f64>,
        }
        let parquet = columns_to_file(&columns, Path::new("a.parquet")).unwrap();
        let found = from_parquet::<Value>(&parquet, path()).unwrap();
        assert_eq!(found, [Value { value: Some(0.1) }, Value { value: None }]);
        let refusal = |columns: &Columns, name: &str| {
            columns_to_file(columns, Path::new(name)).unwrap_err().to_string()
        };
        assert_eq!(refusal(&columns, "a.txt"), "a.txt: expected a table that ends in .parquet or .csv");
        let twice = vec![columns[0].clone(), columns[0].clone()];
        assert_eq!(refusal(&twice, "a.csv"), "expected the column \"value\" once, found it twice");
    }

    #[test]
    fn files_are_found_by_their_endings() {
        let folder = tempfile::tempdir().unwrap();
        assert!(find(folder.path(), "t").unwrap_err().to_string().contains("t.parquet (or .csv)"));
        for (name, bytes) in
            [("t.csv", to_csv(&rows()).unwrap()), ("t.parquet", to_parquet(&rows()).unwrap())]
        {
            std::fs::write(folder.path().join(name), bytes).unwrap();
            let found = find(folder.path(), "t").unwrap();
            assert!(found.ends_with(name));
            assert_eq!(read::<Row>(&found).unwrap().len(), 3);
        }
    }

    #[test]
    fn bad_tables_are_refused_with_their_place() {
        let good = "env,class,seed,shift,null,threshold,value,low\nw,observation,1,2,false,,0.5,0.25\n";
        let refuse = |from: &str, to: &str, expected: &str| {
            let error = from_csv::<Row>(good.replacen(from, to, 1).as_bytes(), path()).unwrap_err();
            let error = format!("{error:#}");
            assert!(error.starts_with("x.csv: line ") && error.contains(expected), "{error}");
        };
        refuse("env", "enw", "line 1: expected a column \"env\", found enw, class");
        refuse("env,", "env,env,", "line 1: expected the column \"env\" once");
        refuse(
            ",0.5,",
            ",a lot,",
            "line 2, column value: expected a number, NaN, inf or -inf, found \"a lot\"",
        );
        refuse(",0.5,", ",,", "line 2, column value: expected a number, NaN, inf or -inf, found \"\"");
        refuse(
            ",1,",
            ",-1,",
            "line 2, column seed: expected a whole number that is not negative, found \"-1\"",
        );
        refuse("false", "no", "line 2, column null: expected true or false, found \"no\"");
        refuse("observation", "action", "line 2, column class: unknown variant `action`");
        refuse(",0.5,", ",", "line 2: expected 8 columns, found 7");
        let damaged = from_parquet::<Row>(b"PAR1", path()).unwrap_err();
        assert!(format!("{damaged:#}").starts_with("x.csv: "), "{damaged:#}");
    }

    #[test]
    fn damaged_columns_never_panic() {
        let good = to_parquet(&rows()).unwrap();
        for at in (0..good.len()).step_by(2) {
            for value in [0x80, good[at] ^ 1] {
                let mut bytes = good.clone();
                bytes[at] = value;
                let _ = from_parquet::<Row>(&bytes, path());
            }
        }
    }

    proptest! {
        #[test]
        fn every_double_survives(bits in any::<u64>()) {
            let row = Row { value: f64::from_bits(bits), ..rows().remove(0) };
            let back = |found: Vec<Row>| found[0].value;
            for v in [
                back(from_csv(&to_csv(std::slice::from_ref(&row)).unwrap(), path()).unwrap()),
                back(from_parquet(&to_parquet(std::slice::from_ref(&row)).unwrap(), path()).unwrap()),
            ] {
                prop_assert!(v.to_bits() == bits || (v.is_nan() && row.value.is_nan()));
            }
        }

        #[test]
        fn damaged_tables_never_panic(at in 0_usize..400, value in any::<u8>()) {
            let mut bytes = to_csv(&rows()).unwrap();
            let n = bytes.len();
            bytes[at % n] = value;
            let _ = from_csv::<Row>(&bytes, path());
        }
    }
}
