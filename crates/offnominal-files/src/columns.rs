//! Columns of numbers and words as an Arrow file, in which what is missing is null.

use anyhow::{Result, ensure};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{Field, Schema};
use std::collections::HashMap;
use std::sync::Arc;

/// A column: a number or a word for each row, or nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Counts.
    Counts(Vec<Option<u64>>),
    /// Numbers of observations and actions, and scores.
    Doubles(Vec<Option<f64>>),
    /// Words.
    Words(Vec<Option<&'static str>>),
}

impl Column {
    fn array(self) -> ArrayRef {
        match self {
            Column::Integers(x) => Arc::new(Int64Array::from(x)),
            Column::Counts(x) => Arc::new(UInt64Array::from(x)),
            Column::Doubles(x) => Arc::new(Float64Array::from(x)),
            Column::Words(x) => Arc::new(StringArray::from(x)),
        }
    }
}

/// The bytes of an Arrow file with these columns, all of the same length, and what is said of all of it.
///
/// # Errors
/// If the columns differ in length, or two have the same name.
pub fn arrow(columns: Vec<(String, Column)>, about: HashMap<String, String>) -> Result<Vec<u8>> {
    let mut names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    ensure!(
        twice.is_none(),
        "expected different names of columns, found {:?} twice",
        twice.unwrap_or_default()
    );
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
        .into_iter()
        .map(|(name, column)| {
            let array = column.array();
            (Field::new(name, array.data_type().clone(), true), array)
        })
        .unzip();
    let schema = Arc::new(Schema::new_with_metadata(fields, about));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)?;
    let mut writer = FileWriter::try_new(Vec::new(), &schema)?;
    writer.write(&batch)?;
    writer.finish()?;
    Ok(writer.into_inner()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_ipc::reader::FileReader;

    #[test]
    fn columns_come_back_with_what_is_missing() {
        let columns = vec![
            ("time".to_string(), Column::Integers(vec![Some(-1), Some(2)])),
            ("x".to_string(), Column::Doubles(vec![Some(0.1), None])),
            ("state".to_string(), Column::Words(vec![None, Some("armed")])),
        ];
        let bytes = arrow(columns, HashMap::new()).unwrap();
        let batch = FileReader::try_new(std::io::Cursor::new(bytes), None).unwrap().next().unwrap().unwrap();
        let x = batch.column(1).as_any().downcast_ref::<Float64Array>().unwrap();
        assert!(x.value(0).to_bits() == 0.1_f64.to_bits() && x.is_null(1) && batch.column(2).is_null(0));
    }

    #[test]
    fn a_name_that_occurs_twice_is_refused() {
        let column = || ("x".to_string(), Column::Counts(vec![None]));
        let error = arrow(vec![column(), column()], HashMap::new()).unwrap_err().to_string();
        assert!(error.contains("found [\"x\", \"x\"] twice"), "{error}");
    }
}
