//! The rows of the results as CSV and as Parquet, with the same columns.

use crate::results::{Diagnosed, Row};
use anyhow::Result;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::sync::Arc;

/// A column: its name and where its values come from.
type Column = (&'static str, Values);

/// The values of a column.
#[derive(Clone, Copy)]
enum Values {
    Text(fn(&Row) -> &str),
    Count(fn(&Row) -> u64),
    Real(fn(&Row) -> f64),
}

/// The columns, in order.
const COLUMNS: &[Column] = &[
    ("campaign", Values::Text(|r| &r.campaign)),
    ("env", Values::Text(|r| &r.env)),
    ("modality", Values::Text(|r| &r.modality)),
    ("policy", Values::Text(|r| &r.policy)),
    ("anomaly_class", Values::Text(|r| &r.anomaly_class)),
    ("anomaly", Values::Text(|r| &r.anomaly)),
    ("strength", Values::Text(|r| &r.strength)),
    ("magnitude", Values::Real(|r| r.magnitude)),
    ("detector", Values::Text(|r| &r.detector)),
    ("seed", Values::Count(|r| r.seed)),
    ("episodes", Values::Count(|r| r.episodes)),
    ("metric", Values::Text(|r| &r.metric)),
    ("threshold", Values::Text(|r| &r.threshold)),
    ("value", Values::Real(|r| r.value)),
    ("low", Values::Real(|r| r.low)),
    ("high", Values::Real(|r| r.high)),
];

/// The rows as CSV with a header; numbers are written so that reading gives the same bits.
///
/// # Errors
/// Never in practice: the rows are written to memory.
pub fn csv(rows: &[Row]) -> Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.write_record(COLUMNS.iter().map(|(name, _)| name))?;
    rows.iter().try_for_each(|row| writer.serialize(row))?;
    Ok(writer.into_inner()?)
}

/// Diagnoses as CSV with a header.
///
/// # Errors
/// Never in practice: the rows are written to memory.
pub fn diagnoses(rows: &[Diagnosed]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row))?;
    Ok(writer.into_inner()?)
}

/// The rows as Parquet: text, unsigned counts and doubles, one row group, no missing values (what is not a number is
/// stored as one that is not a number).
///
/// # Errors
/// Never in practice: the rows are written to memory.
pub fn parquet(rows: &[Row]) -> Result<Vec<u8>> {
    let properties = WriterProperties::builder().set_created_by("offnominal".into()).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema()?), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for &(_, values) in COLUMNS {
        let mut column = group.next_column()?.expect("the schema was made of the same columns");
        write(&mut column, values, rows)?;
        column.close()?;
    }
    group.close()?;
    Ok(writer.into_inner()?)
}

fn schema() -> Result<Type> {
    let fields =
        COLUMNS.iter().map(|&(name, values)| field(name, values).map(Arc::new)).collect::<Result<_>>()?;
    Ok(Type::group_type_builder("results").with_fields(fields).build()?)
}

fn field(name: &str, values: Values) -> Result<Type> {
    let (physical, logical) = match values {
        Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Values::Count(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Values::Real(_) => (Physical::DOUBLE, None),
    };
    let builder = Type::primitive_type_builder(name, physical);
    Ok(builder.with_repetition(Repetition::REQUIRED).with_logical_type(logical).build()?)
}

fn write(column: &mut SerializedColumnWriter<'_>, values: Values, rows: &[Row]) -> Result<()> {
    match values {
        Values::Text(get) => {
            let texts: Vec<ByteArray> = rows.iter().map(|r| get(r).into()).collect();
            column.typed::<ByteArrayType>().write_batch(&texts, None, None)?
        }
        Values::Count(get) => {
            // Parquet stores unsigned numbers as the signed ones with the same bits.
            let counts: Vec<i64> = rows.iter().map(|r| get(r) as i64).collect();
            column.typed::<Int64Type>().write_batch(&counts, None, None)?
        }
        Values::Real(get) => {
            let reals: Vec<f64> = rows.iter().map(get).collect();
            column.typed::<DoubleType>().write_batch(&reals, None, None)?
        }
    };
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::RowAccessor;

    /// Rows with everything that is hard to store.
    pub(crate) fn rows() -> Vec<Row> {
        let row = Row {
            campaign: "a, \"b\"\n".into(),
            env: "sap-goal1".into(),
            modality: "vector".into(),
            policy: "tqc".into(),
            anomaly_class: "action".into(),
            anomaly: "act-noise".into(),
            strength: "tiny".into(),
            magnitude: 0.1 + 0.2,
            detector: "knn".into(),
            seed: u64::MAX,
            episodes: 50,
            metric: "auroc_matched".into(),
            threshold: String::new(),
            value: 1.0 / 3.0,
            low: 5e-324,
            high: 1e300,
        };
        let missing = Row { value: f64::NAN, high: f64::INFINITY, threshold: "q95".into(), ..row.clone() };
        vec![row, missing]
    }

    #[test]
    fn csv_gives_back_the_same_bits() {
        let text = csv(&rows()).unwrap();
        let read: Vec<Row> = csv::Reader::from_reader(&*text).deserialize().map(Result::unwrap).collect();
        assert_eq!(format!("{read:?}"), format!("{:?}", rows()));
        assert!(csv(&[]).unwrap().starts_with(b"campaign,env,"));
    }

    /// The header comes from the list of columns and the cells from the fields of a row: they must be the same.
    #[test]
    fn the_columns_are_the_fields_of_a_row() {
        let fields = serde_json::to_value(&rows()[0]).unwrap();
        let mut fields: Vec<String> = fields.as_object().unwrap().keys().cloned().collect();
        let mut columns: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
        fields.sort();
        columns.sort_unstable();
        assert_eq!(fields, columns);
    }

    #[test]
    fn parquet_gives_back_the_same_bits() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &parquet(&rows()).unwrap()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let read: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].get_string(0).unwrap(), "a, \"b\"\n");
        assert_eq!(read[0].get_double(7).unwrap().to_bits(), (0.1_f64 + 0.2).to_bits());
        assert_eq!(read[0].get_ulong(9).unwrap(), u64::MAX);
        assert!(read[1].get_double(13).unwrap().is_nan());
        assert_eq!(read[1].get_double(15).unwrap(), f64::INFINITY);
    }
}
