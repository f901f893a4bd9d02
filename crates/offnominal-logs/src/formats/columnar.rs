//! Arrow and Parquet: batches of columns, read as rows. Lists and structures become one column for each leaf.

use super::nested::{MAX_ITEMS, Nested, Place};
use crate::record::{Sink, Topic};
use anyhow::{Context, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::io::{BufRead, Read, Seek};

/// Rows that are decoded at once.
const ROWS: usize = 4096;

/// Reads a Parquet file.
///
/// # Errors
/// If it is damaged, or the sink refuses a row.
pub fn parquet(file: File, sink: &mut dyn Sink) -> Result<()> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).context("expected a Parquet file")?;
    let schema = builder.schema().clone();
    let batches = builder.with_batch_size(ROWS).build().context("expected a Parquet file")?;
    read(&schema, batches, sink)
}

/// Reads an Arrow file, which ends with a table of its parts.
///
/// # Errors
/// As [`parquet`].
pub fn arrow_file(file: impl Read + Seek, sink: &mut dyn Sink) -> Result<()> {
    let reader = FileReader::try_new(file, None).context("expected an Arrow file")?;
    let schema = reader.schema();
    read(&schema, reader, sink)
}

/// Reads an Arrow stream.
///
/// # Errors
/// As [`parquet`].
pub fn arrow_stream(from: impl BufRead, sink: &mut dyn Sink) -> Result<()> {
    let reader = StreamReader::try_new(from, None).context("expected an Arrow stream")?;
    let schema = reader.schema();
    read(&schema, reader, sink)
}

fn read(
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    sink: &mut dyn Sink,
) -> Result<()> {
    if !sink.topic(0, &Topic { name: String::new(), kind: "table".into(), is_timed: false })? {
        return Ok(());
    }
    let mut into = Nested::new(0);
    let places: Vec<Place> = schema.fields().iter().map(|field| named(&mut into, field)).collect();
    let mut n = 0;
    for batch in batches {
        let batch = batch.with_context(|| format!("after row {n}"))?;
        for row in 0..batch.num_rows() {
            into.begin();
            for (column, &at) in batch.columns().iter().zip(&places) {
                value(column.as_ref(), row, at, &mut into, sink)?;
            }
            into.end(None, sink).with_context(|| format!("row {n}"))?;
            n += 1;
        }
    }
    Ok(())
}

/// The place of a column; a unit is stated by its metadata, or in brackets after its name.
fn named(into: &mut Nested, field: &arrow_schema::Field) -> Place {
    let column = super::csv::with_unit(field.name());
    let at = into.field(Nested::ROOT, &column.name);
    if let Some(unit) = field.metadata().get("unit").or(column.unit.as_ref()) {
        into.set_unit(at, unit);
    }
    at
}

/// One entry of a column.
fn value(column: &dyn Array, row: usize, at: Place, into: &mut Nested, sink: &mut dyn Sink) -> Result<()> {
    if column.is_null(row) {
        return Ok(());
    }
    match column.data_type() {
        DataType::Float64 => into.number(at, item::<Float64Type>(column, row), sink),
        DataType::Float32 => into.number(at, item::<Float32Type>(column, row).into(), sink),
        DataType::Float16 => into.number(at, item::<Float16Type>(column, row).into(), sink),
        DataType::Boolean => into.integer(at, column.as_boolean().value(row).into(), sink),
        DataType::Utf8 => into.text(at, column.as_string::<i32>().value(row), sink),
        DataType::LargeUtf8 => into.text(at, column.as_string::<i64>().value(row), sink),
        DataType::Utf8View => into.text(at, column.as_string_view().value(row), sink),
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let key = dictionary.normalized_keys()[row];
            value(dictionary.values().as_ref(), key, at, into, sink)
        }
        DataType::Struct(fields) => {
            let parts = column.as_struct();
            for (field, part) in fields.iter().zip(parts.columns()) {
                let at = into.field(at, field.name());
                value(part.as_ref(), row, at, into, sink)?;
            }
            Ok(())
        }
        DataType::List(_) => items(&column.as_list::<i32>().value(row), at, into, sink),
        DataType::LargeList(_) => items(&column.as_list::<i64>().value(row), at, into, sink),
        DataType::FixedSizeList(..) => items(&column.as_fixed_size_list().value(row), at, into, sink),
        kind => match whole(column, row, kind) {
            Some(n) => into.integer(at, n, sink),
            None => {
                into.leave_out(at, &format!("values of type {kind}"), sink);
                Ok(())
            }
        },
    }
}

fn item<T: ArrowPrimitiveType>(column: &dyn Array, row: usize) -> T::Native {
    column.as_primitive::<T>().value(row)
}

fn items(array: &dyn Array, at: Place, into: &mut Nested, sink: &mut dyn Sink) -> Result<()> {
    if array.len() > MAX_ITEMS {
        into.leave_out(at, &format!("a list of {} items", array.len()), sink);
        return Ok(());
    }
    (0..array.len()).try_for_each(|i| {
        let at = into.item(at, &i.to_string());
        value(array, i, at, into, sink)
    })
}

/// A whole number, and a time in nanoseconds since 1970.
fn whole(column: &dyn Array, row: usize, kind: &DataType) -> Option<i64> {
    const DAY: i64 = 86_400_000_000_000;
    let times = |n: i64, by: i64| Some(n.saturating_mul(by));
    match kind {
        DataType::Int64 => Some(item::<Int64Type>(column, row)),
        DataType::Int32 => Some(item::<Int32Type>(column, row).into()),
        DataType::Int16 => Some(item::<Int16Type>(column, row).into()),
        DataType::Int8 => Some(item::<Int8Type>(column, row).into()),
        DataType::UInt64 => i64::try_from(item::<UInt64Type>(column, row)).ok(),
        DataType::UInt32 => Some(item::<UInt32Type>(column, row).into()),
        DataType::UInt16 => Some(item::<UInt16Type>(column, row).into()),
        DataType::UInt8 => Some(item::<UInt8Type>(column, row).into()),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => Some(item::<TimestampNanosecondType>(column, row)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            times(item::<TimestampMicrosecondType>(column, row), 1_000)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            times(item::<TimestampMillisecondType>(column, row), 1_000_000)
        }
        DataType::Timestamp(TimeUnit::Second, _) => {
            times(item::<TimestampSecondType>(column, row), 1_000_000_000)
        }
        DataType::Date32 => times(item::<Date32Type>(column, row).into(), DAY),
        DataType::Date64 => times(item::<Date64Type>(column, row), 1_000_000),
        _ => None,
    }
}
