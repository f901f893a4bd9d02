//! Rows of a Parquet file whose columns nobody knows beforehand, each as a JSON object: lists become arrays, structures
//! become objects. What is not finite, and bytes that are no text, have no form in JSON and are refused.

use crate::parquet_pages::{Bounded, check};
use anyhow::{Context, Result, anyhow, bail, ensure};
use bytes::Bytes;
use offnominal_core::limits::{COLUMNS, ROWS};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Map, Number, Value};
use std::path::Path;
use std::sync::Arc;

/// Numbers, texts and other entries of one row: a chunk of 64 samples of 50 actions of 32 numbers has a tenth of it.
const MOST_ENTRIES: usize = 1 << 20;

/// Hands each row of a Parquet file to `visit`, with its number from 1; `path` is the file's name in errors.
///
/// # Errors
/// If the file is damaged or too large, a row has no form in JSON, or as `visit` says of a row.
pub fn each_row(
    bytes: &[u8],
    path: &Path,
    mut visit: impl FnMut(Map<String, Value>) -> Result<()>,
) -> Result<()> {
    each_record(
        bytes,
        path,
        |_| Ok(()),
        |record| {
            let mut entries = 0;
            let columns = record.get_column_iter();
            let row = columns.map(|(name, field)| {
                Ok((name.clone(), value(field, &mut entries).with_context(|| format!("column {name}"))?))
            });
            visit(row.collect::<Result<_>>()?)
        },
    )
}

/// Hands the names of the columns to `begin`, and then each row to `visit`; the number of a row, from 1, stands in its
/// errors.
pub(crate) fn each_record(
    bytes: &[u8],
    path: &Path,
    begin: impl FnOnce(Vec<String>) -> Result<()>,
    mut visit: impl FnMut(&Row) -> Result<()>,
) -> Result<()> {
    let mut at = 0;
    // The library asserts what a damaged page breaks.
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let file = Bytes::copy_from_slice(bytes);
        let reader = SerializedFileReader::new(file.clone())?;
        check(&Bounded(Arc::new(file)), reader.metadata())?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let n_columns = schema.num_columns();
        ensure!(n_columns <= COLUMNS, "expected at most {COLUMNS} columns, found {n_columns}");
        begin(schema.root_schema().get_fields().iter().map(|field| field.name().into()).collect())?;
        for record in reader.get_row_iter(None)? {
            at += 1;
            ensure!(at <= ROWS, "expected at most {ROWS} rows, found more");
            visit(&record?)?;
        }
        Ok(())
    }));
    let read = read.unwrap_or_else(|_| Err(anyhow!("expected sound columns, found a damaged one")));
    let read = if at > 0 { read.with_context(|| format!("row {at}")) } else { read };
    read.with_context(|| path.display().to_string())
}

fn value(field: &Field, entries: &mut usize) -> Result<Value> {
    *entries += 1;
    ensure!(*entries <= MOST_ENTRIES, "expected at most {MOST_ENTRIES} entries in a row, found more");
    Ok(match field {
        Field::Null => Value::Null,
        Field::Bool(truth) => (*truth).into(),
        Field::Byte(n) => (*n).into(),
        Field::Short(n) => (*n).into(),
        Field::Int(n) => (*n).into(),
        Field::Long(n) => (*n).into(),
        Field::UByte(n) => (*n).into(),
        Field::UShort(n) => (*n).into(),
        Field::UInt(n) => (*n).into(),
        Field::ULong(n) => (*n).into(),
        Field::Float16(x) => number(f64::from(f32::from(*x)))?,
        Field::Float(x) => number(f64::from(*x))?,
        Field::Double(x) => number(*x)?,
        Field::Str(text) => text.clone().into(),
        Field::ListInternal(list) => {
            list.elements().iter().map(|item| value(item, entries)).collect::<Result<Vec<_>>>()?.into()
        }
        Field::Group(row) => {
            let fields = row.get_column_iter();
            let fields = fields.map(|(name, field)| Ok((name.clone(), value(field, entries)?)));
            Value::Object(fields.collect::<Result<_>>()?)
        }
        other => bail!("expected text, truths, numbers, lists or structures, found {other}"),
    })
}

fn number(x: f64) -> Result<Value> {
    Number::from_f64(x).map(Value::Number).with_context(|| format!("expected a finite number, found {x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::to_parquet;
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    #[derive(Serialize, Deserialize)]
    struct Row {
        task: String,
        step: u64,
        success: bool,
        tce: f64,
    }

    fn bytes(tce: f64) -> Vec<u8> {
        let row = |step| Row { task: "lift".into(), step, success: true, tce };
        to_parquet(&[row(0), row(1)]).unwrap()
    }

    fn rows(bytes: &[u8]) -> Result<Vec<Map<String, Value>>> {
        let mut rows = Vec::new();
        each_row(bytes, Path::new("r.parquet"), |row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    #[test]
    fn rows_are_objects() {
        let found = rows(&bytes(0.25)).unwrap();
        let want = json!({"task": "lift", "step": 1, "success": true, "tce": 0.25});
        assert_eq!((found.len(), Value::Object(found[1].clone())), (2, want));
    }

    #[test]
    fn errors_name_file_row_and_column() {
        let error = format!("{:#}", rows(&bytes(f64::NAN)).unwrap_err());
        assert_eq!(error, "r.parquet: row 1: column tce: expected a finite number, found NaN");
        assert!(format!("{:#}", rows(b"PAR1").unwrap_err()).starts_with("r.parquet: "));
    }

    #[test]
    fn damaged_files_never_panic() {
        let good = bytes(1.0);
        for at in 0..good.len() {
            let mut damaged = good.clone();
            damaged[at] ^= 0x81;
            let _ = rows(&damaged);
        }
    }
}
