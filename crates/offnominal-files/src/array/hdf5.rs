//! An array in an HDF5 file, as SegmentMeIfYouCan's benchmark writes and reads score maps: the data set `value`.

use super::{Array, chosen, shape};
use crate::half;
use anyhow::{Context, Result};
use hdf5_pure::{DType, File, FileBuilder};

/// The name of the array.
const NAME: &str = "value";

/// An array as a file, compressed.
///
/// # Errors
/// If it is empty.
pub fn encode(shape: &[usize], values: &[f32]) -> Result<Vec<u8>> {
    let mut file = FileBuilder::new();
    let axes: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
    file.create_dataset(NAME).with_f32_data(values).with_shape(&axes).with_shuffle().with_deflate(6);
    file.finish().context("cannot lay out the HDF5 file")
}

/// The array `value`, the one that is asked for, or the only one.
pub(super) fn decode(bytes: &[u8], name: &str) -> Result<Array> {
    let file = File::from_bytes(bytes.to_vec()).context("expected an HDF5 file")?;
    let names = file.root().datasets()?;
    let name = if names.iter().any(|n| n == NAME) { NAME.into() } else { chosen(&names, name)? };
    let data = file.dataset(&name)?;
    // As text, so that the limits are those of the other formats.
    let axes: Vec<String> = data.shape()?.iter().map(u64::to_string).collect();
    let shape = shape(&axes.join(","))?;
    let kind = data.dtype()?;
    let numbers = || format!("{name}: expected numbers");
    if let DType::Other(kind) = &kind
        && let Some(order) = half::order(kind)
    {
        return Ok(Array::new(shape, half::of_bytes(&data.read_raw()?, order).collect()));
    }
    if matches!(kind, DType::F64 | DType::I32 | DType::U32 | DType::I64 | DType::U64) {
        return Ok(Array::of_wide(shape, &data.read_f64().with_context(numbers)?));
    }
    Ok(Array::new(shape, data.read_f32().with_context(numbers)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_come_back_whatever_they_are_called() {
        let bytes = encode(&[2, 3], &[0.5, 1.0, -2.0, 3.0, 4.0, 5.0]).unwrap();
        let found = decode(&bytes, "scores").unwrap();
        assert_eq!((found.shape, found.values[2]), (vec![2, 3], -2.0));
        let mut file = FileBuilder::new();
        file.create_dataset("a").with_f64_data(&[1.5]);
        file.create_dataset("b").with_u8_data(&[2]);
        let two = file.finish().unwrap();
        assert_eq!(decode(&two, "b").unwrap().values, [2.0]);
        assert!(format!("{:#}", decode(&two, "c").unwrap_err()).contains("or one called \"c\""));
        assert!(decode(b"no HDF5", "c").is_err());
    }

    /// h5py wrote it as the benchmark does: `create_dataset("value", data=…, dtype="float16", compression=9)`.
    #[test]
    fn a_map_of_the_benchmark_is_read() {
        let found = decode(include_bytes!("../../tests/data/value.hdf5"), "scores").unwrap();
        assert_eq!((found.shape, found.values), (vec![2, 3], vec![-0.25, -0.125, 0.0, 0.125, 0.25, 0.375]));
    }
}
