//! Tables as Parquet: one row group, columns with dictionaries.

use super::cell::{self, Cell};
use super::{Columns, Header, row};
use crate::records::each_record;
use anyhow::{Context, Result, anyhow, bail, ensure};
use offnominal_core::limits::TABLE_TEXT;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::record::Field;
use parquet::schema::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

/// The rows as Parquet: text, booleans, counts and doubles.
///
/// # Errors
/// If a row is no flat struct, or the fields of a column are of several types.
pub fn to_parquet<T: Serialize + DeserializeOwned>(rows: &[T]) -> Result<Vec<u8>> {
    let names = row::columns::<T>()?;
    let mut columns: Columns =
        names.iter().map(|&name| (name.into(), Vec::with_capacity(rows.len()))).collect();
    for row in rows {
        let fields = cell::of(row)?;
        columns.iter_mut().zip(fields).for_each(|((_, column), (_, cell))| column.push(cell));
    }
    columns_to_parquet(&columns)
}

/// The columns as Parquet.
pub(super) fn columns_to_parquet(columns: &Columns) -> Result<Vec<u8>> {
    let fields = columns.iter().map(|(name, cells)| field(name, cells).map(Arc::new));
    let schema = Type::group_type_builder("rows").with_fields(fields.collect::<Result<_>>()?).build()?;
    let properties = WriterProperties::builder().set_created_by("offnominal".into()).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (name, cells) in columns {
        let mut column = group.next_column()?.context("the schema was made of the same columns")?;
        write(&mut column, cells).with_context(|| format!("column {name}"))?;
        column.close()?;
    }
    group.close()?;
    Ok(writer.into_inner()?)
}

fn is_there(cell: &&Cell) -> bool {
    **cell != Cell::Nothing
}

/// The schema of a column is that of its first field; fields may be missing if one is.
fn field(name: &str, cells: &[Cell]) -> Result<Type> {
    let (physical, logical) = match cells.iter().find(is_there) {
        Some(Cell::Truth(_)) => (Physical::BOOLEAN, None),
        Some(Cell::Count(_)) => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Some(Cell::Whole(_)) => (Physical::INT64, Some(LogicalType::integer(64, true))),
        Some(Cell::Real(_)) => (Physical::DOUBLE, None),
        _ => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let repetition = if cells.contains(&Cell::Nothing) { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let builder = Type::primitive_type_builder(name, physical);
    Ok(builder.with_repetition(repetition).with_logical_type(logical).build()?)
}

fn write(column: &mut SerializedColumnWriter<'_>, cells: &[Cell]) -> Result<()> {
    match cells.iter().find(is_there) {
        Some(Cell::Truth(_)) => batch::<BoolType>(column, cells, |c| match *c {
            Cell::Truth(truth) => Some(truth),
            _ => None,
        }),
        // Parquet stores unsigned numbers as the signed ones with the same bits.
        Some(Cell::Count(_) | Cell::Whole(_)) => batch::<Int64Type>(column, cells, |c| match *c {
            Cell::Count(n) => Some(n as i64),
            Cell::Whole(n) => Some(n),
            _ => None,
        }),
        Some(Cell::Real(_)) => batch::<DoubleType>(column, cells, |c| match *c {
            Cell::Real(x) => Some(x),
            _ => None,
        }),
        _ => batch::<ByteArrayType>(column, cells, |c| match c {
            Cell::Text(text) => Some(ByteArray::from(text.as_str())),
            _ => None,
        }),
    }
}

fn batch<D: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    cells: &[Cell],
    value: fn(&Cell) -> Option<D::T>,
) -> Result<()> {
    let own = |cell: &Cell| value(cell).ok_or_else(|| anyhow!("expected fields of one type, found {cell:?}"));
    let values: Vec<D::T> = cells.iter().filter(is_there).map(own).collect::<Result<_>>()?;
    let is_optional = values.len() < cells.len();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(is_there(&cell))).collect();
    column.typed::<D>().write_batch(&values, is_optional.then_some(&levels), None)?;
    Ok(())
}

/// The rows of a Parquet file; `path` is its name in errors.
///
/// # Errors
/// If a column is missing, or a field is not what it should be.
pub fn from_parquet<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<Vec<T>> {
    let (header, mut rows, mut n_text) = (OnceCell::new(), Vec::new(), 0);
    let begin = |names| Header::new::<T>(names).map(|found| header.set(found).unwrap_or_default());
    each_record(bytes, path, begin, |record| {
        let cells = record.get_column_iter().map(|(_, field)| cell_of(field)).collect::<Result<Vec<_>>>()?;
        n_text += cells.iter().map(Cell::text_len).sum::<usize>();
        ensure!(n_text <= TABLE_TEXT, "expected at most {TABLE_TEXT} bytes of text, found more");
        let Header(names) = header.get().context("the columns were named first")?;
        rows.push(row::parsed(names, cells).map_err(|e| anyhow!("{e}"))?);
        Ok(())
    })?;
    Ok(rows)
}

fn cell_of(field: &Field) -> Result<Cell> {
    Ok(match field {
        Field::Null => Cell::Nothing,
        Field::Bool(truth) => Cell::Truth(*truth),
        Field::Int(n) => Cell::Whole((*n).into()),
        Field::Long(n) => Cell::Whole(*n),
        Field::UInt(n) => Cell::Count((*n).into()),
        Field::ULong(n) => Cell::Count(*n),
        Field::Float(x) => Cell::Real((*x).into()),
        Field::Double(x) => Cell::Real(*x),
        Field::Str(text) => Cell::Text(text.clone()),
        other => bail!("expected text, truths, counts or doubles, found {other}"),
    })
}
