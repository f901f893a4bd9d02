//! Arrow and Parquet: batches of columns, read as rows. Lists and structures become one column for each leaf.

use super::arrow_messages::{Batches, decoded};
use super::compression::BYTES_OF_WORK;
use crate::record::{Sink, Topic};
use anyhow::{Context, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal128Type, DurationMicrosecondType,
    DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};
use offnominal_files::parquet_pages::{self, Bounded};
use offnominal_topics::nested::{MAX_ITEMS, Nested, Place};
use offnominal_topics::record::Charge;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;
use std::io::{BufRead, BufReader};
use std::sync::Arc;

/// Rows that are decoded at once.
const ROWS: usize = 4096;

/// Reads a Parquet file, one group of rows after the other: where one is damaged, the columns that are not are read.
///
/// # Errors
/// If it has no footer, or the sink refuses what it is told.
pub fn parquet(file: impl ChunkReader + 'static, sink: &mut dyn Sink) -> Result<()> {
    let file = Bounded(Arc::new(file));
    let metadata =
        ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).context("expected a Parquet file")?;
    let Some(mut rows) = Rows::open(metadata.schema(), sink)? else { return Ok(()) };
    for group in 0..metadata.metadata().num_row_groups() {
        let mut columns = readable(metadata.schema());
        let until = rows.n;
        if let Err(why) = rows.group(&Group { file: &file, metadata: &metadata, group }, &columns, 0, sink) {
            ensure_damage(why, sink)?;
            let done = rows.n - until;
            columns.retain(|&column| Group { file: &file, metadata: &metadata, group }.is_sound(column));
            let lost = |column: &&usize| !columns.contains(column);
            let names = readable(metadata.schema());
            let names: Vec<&str> =
                names.iter().filter(lost).map(|&i| metadata.schema().field(i).name().as_str()).collect();
            sink.lost(None, "columns of a group of rows", &format!("group {group}: {}", names.join(", ")))?;
            if !columns.is_empty() {
                rows.group(&Group { file: &file, metadata: &metadata, group }, &columns, done, sink)?;
            }
        }
    }
    Ok(())
}

/// Passes on what is no damage.
fn ensure_damage(why: anyhow::Error, sink: &dyn Sink) -> Result<()> {
    if sink.is_refusing() { Err(why) } else { Ok(()) }
}

/// A group of rows of a Parquet file.
struct Group<'f, F: ChunkReader> {
    file: &'f Bounded<F>,
    metadata: &'f ArrowReaderMetadata,
    group: usize,
}

impl<F: ChunkReader + 'static> Group<'_, F> {
    /// The batches of some columns.
    fn batches(&self, columns: &[usize]) -> Result<ParquetRecordBatchReader> {
        let metadata = self.metadata.metadata();
        parquet_pages::check_group(self.file, metadata, self.group, |root| columns.contains(&root))?;
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), self.metadata.clone());
        let columns = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
        Ok(builder
            .with_projection(columns)
            .with_batch_size(ROWS)
            .with_row_groups(vec![self.group])
            .build()?)
    }

    /// Whether a column can be decoded alone.
    fn is_sound(&self, column: usize) -> bool {
        let all = || -> Result<()> {
            let mut batches = self.batches(&[column])?;
            while batches.next().transpose()?.is_some() {}
            Ok(())
        };
        decoded(all).is_ok()
    }
}

/// Reads an Arrow stream.
///
/// # Errors
/// If it has no schema, or the sink refuses what it is told.
pub fn arrow(from: impl BufRead, sink: &mut dyn Sink) -> Result<()> {
    batches(Batches::open(from, readable).context("expected an Arrow stream or file")?, sink)
}

/// Reads an Arrow file.
///
/// # Errors
/// As [`arrow`].
pub fn arrow_file(file: impl ChunkReader + 'static, sink: &mut dyn Sink) -> Result<()> {
    let file = Bounded(Arc::new(file));
    match decoded(|| Batches::of_file(file.clone(), readable)) {
        Ok(found) => batches(found, sink),
        Err(why) => {
            let from = BufReader::new(file.get_read(0)?);
            let found =
                Batches::open(from, readable).with_context(|| format!("expected an Arrow file: {why:#}"))?;
            sink.lost(None, "the footer, so the file was read as a stream", &format!("{why:#}"))?;
            batches(found, sink)
        }
    }
}

fn batches(mut found: Batches<'_>, sink: &mut dyn Sink) -> Result<()> {
    let schema = found.schema().clone();
    let Some(mut rows) = Rows::open(&schema, sink)? else { return Ok(()) };
    let columns = readable(&schema);
    while let Some(batch) = found.next(sink)? {
        sink.charge(Charge::Work(batch.get_array_memory_size() as u64 / BYTES_OF_WORK))?;
        rows.batch(&batch, &columns, 0, sink)?;
    }
    Ok(())
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
        DataType::Duration(_) | DataType::Decimal128(..) => true,
        kind => kind.is_integer() || kind.is_floating(),
    }
}

/// The rows of a table.
struct Rows {
    into: Nested,
    places: Vec<Place>,
    /// Rows that were handed over.
    n: usize,
}

impl Rows {
    /// Tells the sink of the table; none if it does not want it.
    fn open(schema: &Schema, sink: &mut dyn Sink) -> Result<Option<Rows>> {
        if !sink.topic(0, &Topic { name: String::new(), kind: "table".into(), is_timed: false })? {
            return Ok(None);
        }
        let mut into = Nested::new(0);
        let places: Vec<Place> = schema.fields().iter().map(|field| named(&mut into, field)).collect();
        for (field, &at) in
            schema.fields().iter().zip(&places).filter(|(field, _)| !is_readable(field.data_type()))
        {
            into.leave_out(at, &format!("values of type {}", field.data_type()), sink);
        }
        Ok(Some(Rows { into, places, n: 0 }))
    }

    /// The rows of a group but for the first ones, which were handed over before.
    fn group<F: ChunkReader + 'static>(
        &mut self,
        group: &Group<'_, F>,
        columns: &[usize],
        mut skip: usize,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let mut batches = decoded(|| group.batches(columns))?;
        while let Some(batch) = decoded(|| Ok(batches.next().transpose()?))? {
            sink.charge(Charge::Work(batch.get_array_memory_size() as u64 / BYTES_OF_WORK))?;
            self.batch(&batch, columns, skip.min(batch.num_rows()), sink)?;
            skip = skip.saturating_sub(batch.num_rows());
        }
        Ok(())
    }

    /// The rows of a batch of some columns, from one on.
    fn batch(
        &mut self,
        batch: &RecordBatch,
        columns: &[usize],
        from: usize,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        for row in from..batch.num_rows() {
            self.into.begin();
            for (array, &column) in batch.columns().iter().zip(columns) {
                value(array.as_ref(), row, self.places[column], &mut self.into, sink)?;
            }
            self.into.end(None, sink).with_context(|| format!("row {}", self.n))?;
            self.n += 1;
        }
        Ok(())
    }
}

/// The place of a column; a unit is stated by its metadata, or in brackets after its name.
fn named(into: &mut Nested, field: &arrow_schema::Field) -> Place {
    let column = super::csv::with_unit(field.name());
    let at = into.field(Nested::ROOT, &column.name);
    let nanos = is_time(field.data_type()).then(|| "ns".to_string());
    if let Some(unit) = nanos.as_ref().or(field.metadata().get("unit")).or(column.unit.as_ref()) {
        into.set_unit(at, unit);
    }
    at
}

/// Whether entries are read as nanoseconds, whatever their own unit is.
fn is_time(kind: &DataType) -> bool {
    matches!(kind, DataType::Duration(_) | DataType::Timestamp(..) | DataType::Date32 | DataType::Date64)
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
        // Below 2⁵³ and 10²² both are exact, so the quotient is the number that the digits say.
        &DataType::Decimal128(_, scale) => {
            let digits = item::<Decimal128Type>(column, row) as f64;
            into.number(at, digits / 10_f64.powi(scale.into()), sink)
        }
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

/// A whole number, a time in nanoseconds since 1970, and how long something took in nanoseconds.
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
        DataType::Duration(TimeUnit::Nanosecond) => Some(item::<DurationNanosecondType>(column, row)),
        DataType::Duration(TimeUnit::Microsecond) => {
            times(item::<DurationMicrosecondType>(column, row), 1_000)
        }
        DataType::Duration(TimeUnit::Millisecond) => {
            times(item::<DurationMillisecondType>(column, row), 1_000_000)
        }
        DataType::Duration(TimeUnit::Second) => times(item::<DurationSecondType>(column, row), 1_000_000_000),
        DataType::Date32 => times(item::<Date32Type>(column, row).into(), DAY),
        DataType::Date64 => times(item::<Date64Type>(column, row), 1_000_000),
        _ => None,
    }
}
