//! Arrow and Parquet: batches of columns, read as rows. Lists and structures become one column for each leaf.

use super::arrow_messages::Batches;
use crate::record::{Sink, Topic};
use anyhow::{Context, Result, anyhow};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};
use offnominal_files::parquet_pages::{self, Bounded};
use offnominal_topics::nested::{MAX_ITEMS, Nested, Place};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::ChunkReader;
use std::io::BufRead;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Rows that are decoded at once.
const ROWS: usize = 4096;

/// Reads a Parquet file.
///
/// # Errors
/// If it is damaged, or the sink refuses a row.
pub fn parquet(file: impl ChunkReader + 'static, sink: &mut dyn Sink) -> Result<()> {
    let file = Bounded(Arc::new(file));
    let builder =
        ParquetRecordBatchReaderBuilder::try_new(file.clone()).context("expected a Parquet file")?;
    parquet_pages::check(&file, builder.metadata())?;
    let schema = builder.schema().clone();
    let columns = ProjectionMask::roots(builder.parquet_schema(), readable(&schema));
    let builder = builder.with_projection(columns).with_batch_size(ROWS);
    let mut batches = builder.build().context("expected a Parquet file")?;
    read(&schema, || decoded(|| Ok(batches.next().transpose()?)), sink)
}

/// Reads an Arrow file or stream.
///
/// # Errors
/// As [`parquet`].
pub fn arrow(from: impl BufRead, sink: &mut dyn Sink) -> Result<()> {
    let mut batches = Batches::open(from, readable).context("expected an Arrow stream or file")?;
    let schema = batches.schema().clone();
    read(&schema, || decoded(|| batches.next()), sink)
}

/// What a decoder returns. Some damage, such as that of run lengths, shows only within the libraries that decode, and there
/// as a panic.
fn decoded<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|panic| {
        let text =
            panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(anyhow!(
            "expected columns as the file describes them, found damaged ones: {}",
            text.unwrap_or_default()
        ))
    })
}

/// The columns whose type can be read; the others are not decoded.
fn readable(schema: &Schema) -> Vec<usize> {
    (0..schema.fields().len()).filter(|&i| is_readable(schema.field(i).data_type())).collect()
}

fn is_readable(kind: &DataType) -> bool {
    match kind {
        DataType::Struct(fields) => fields.iter().any(|field| is_readable(field.data_type())),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            is_readable(item.data_type())
        }
        DataType::Dictionary(_, values) => is_readable(values),
        DataType::Boolean | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => true,
        kind => kind.is_integer() || kind.is_floating(),
    }
}

/// Reads the batches, which hold the readable columns.
fn read(
    schema: &Schema,
    mut next: impl FnMut() -> Result<Option<RecordBatch>>,
    sink: &mut dyn Sink,
) -> Result<()> {
    if !sink.topic(0, &Topic { name: String::new(), kind: "table".into(), is_timed: false })? {
        return Ok(());
    }
    let mut into = Nested::new(0);
    let places: Vec<Place> = schema.fields().iter().map(|field| named(&mut into, field)).collect();
    for (field, &at) in
        schema.fields().iter().zip(&places).filter(|(field, _)| !is_readable(field.data_type()))
    {
        into.leave_out(at, &format!("values of type {}", field.data_type()), sink);
    }
    let places: Vec<Place> = readable(schema).into_iter().map(|i| places[i]).collect();
    let mut n = 0;
    while let Some(batch) = next().with_context(|| format!("after row {n}"))? {
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
            let keys = dictionary.keys();
            let key = whole(keys, row, keys.data_type()).context("key of a dictionary")?;
            value(dictionary.values().as_ref(), usize::try_from(key)?, at, into, sink)
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
        let at = into.item(at, i);
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
