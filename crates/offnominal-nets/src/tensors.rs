//! Named tensors of f32 to and from bytes, in the safetensors format; on disk also with half the bytes.
//!
//! A file holds a digest of its tensors and texts, so that one that was changed is refused.

mod seal;

use half::f16;
use offnominal_core::limits::{HEADER_BYTES, TENSORS};
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// Named tensors with a table of texts about them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tensors {
    /// Shape and numbers of each tensor.
    tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    /// Texts stored in the header.
    pub metadata: BTreeMap<String, String>,
}

/// Why bytes are not the expected tensors.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The bytes are not in the format.
    #[error("expected a safetensors file, found {found}")]
    Format {
        /// What the reader says.
        found: String,
    },
    /// A tensor is not there.
    #[error("expected a tensor {name:?}, found {known}")]
    Missing {
        /// The name that was asked for.
        name: String,
        /// All names in the file.
        known: String,
    },
    /// A tensor has another shape.
    #[error("tensor {name:?}: expected shape {expected:?}, found {found:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// What the reader needs.
        expected: Vec<usize>,
        /// What the file has.
        found: Vec<usize>,
    },
    /// The file is not what was written.
    #[error("expected the digest {expected} of tensors and texts, found {found}: the file was changed")]
    Changed {
        /// What the file says.
        expected: String,
        /// What it holds.
        found: String,
    },
    /// A tensor holds another type of number.
    #[error("tensor {name:?}: expected F32 or F16, found {found}")]
    Type {
        /// The tensor.
        name: String,
        /// The type in the file.
        found: String,
    },
    /// A part of the file is not what its reader needs.
    #[error("{what}: expected {expected}, found {found}")]
    Mismatch {
        /// Which part.
        what: String,
        /// The rule in words.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// A tensor holds something that is not a finite number.
    #[error("tensor {name:?}: expected finite numbers, found {found} at index {index}")]
    NotFinite {
        /// The tensor.
        name: String,
        /// Place in the flat tensor.
        index: usize,
        /// The number.
        found: f32,
    },
}

impl Tensors {
    /// Adds a tensor, or replaces the one of that name.
    ///
    /// # Panics
    /// If the shape does not fit the number of values.
    pub fn insert(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "shape {shape:?} of tensor {name}");
        self.tensors.insert(name.into(), (shape.to_vec(), values.to_vec()));
    }

    /// Adds a list of numbers.
    pub fn put(&mut self, name: &str, values: &[f32]) {
        self.insert(name, &[values.len()], values);
    }

    /// Reads a list of as many finite numbers as there is room for.
    ///
    /// # Errors
    /// As [`Tensors::expect`].
    pub fn read(&self, name: &str, into: &mut [f32]) -> Result<(), TensorError> {
        into.copy_from_slice(self.expect(name, &[into.len()])?);
        Ok(())
    }

    /// Adds an entry to the header.
    pub fn put_entry(&mut self, key: &str, value: impl ToString) {
        self.metadata.insert(key.into(), value.to_string());
    }

    /// An entry of the header; empty if it is missing.
    pub fn entry(&self, key: &str) -> &str {
        self.metadata.get(key).map_or("", String::as_str)
    }

    /// Checks an entry of the header.
    ///
    /// # Errors
    /// If it is another one.
    pub fn expect_entry(&self, key: &str, expected: &str) -> Result<(), TensorError> {
        (self.entry(key) == expected).then_some(()).ok_or_else(|| self.wrong_entry(key, expected))
    }

    /// The error about an entry of the header.
    pub fn wrong_entry(&self, key: &str, expected: &str) -> TensorError {
        TensorError::mismatch(entry(key), format!("{expected:?}"), format!("{:?}", self.entry(key)))
    }

    /// Adds a value to the header as JSON.
    ///
    /// # Panics
    /// If it is not plain data.
    pub fn put_json(&mut self, key: &str, value: &impl Serialize) {
        self.put_entry(key, serde_json::to_string(value).expect("plain data is valid JSON"));
    }

    /// A value of the header that is JSON.
    ///
    /// # Errors
    /// If it is missing or malformed.
    pub fn json<T: DeserializeOwned>(&self, key: &str) -> Result<T, TensorError> {
        let error = |e| TensorError::mismatch(entry(key), "valid JSON of this format", e);
        serde_json::from_str(self.entry(key)).map_err(error)
    }

    /// The names and shapes, in alphabetical order.
    pub fn shapes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.tensors.iter().map(|(name, (shape, _))| (name.as_str(), shape.as_slice()))
    }

    /// The shape and the numbers of a tensor.
    ///
    /// # Errors
    /// If there is no such tensor.
    pub fn get(&self, name: &str) -> Result<(&[usize], &[f32]), TensorError> {
        let (shape, values) = self.tensors.get(name).ok_or_else(|| TensorError::Missing {
            name: name.into(),
            known: self.tensors.keys().cloned().collect::<Vec<_>>().join(", "),
        })?;
        Ok((shape, values))
    }

    /// The numbers of a tensor that must have the given shape and only finite numbers.
    ///
    /// # Errors
    /// If it is missing or otherwise.
    pub fn expect(&self, name: &str, expected: &[usize]) -> Result<&[f32], TensorError> {
        let (shape, values) = self.get(name)?;
        if shape != expected {
            let (expected, found) = (expected.to_vec(), shape.to_vec());
            return Err(TensorError::Shape { name: name.into(), expected, found });
        }
        match values.iter().position(|v| !v.is_finite()) {
            None => Ok(values),
            Some(index) => Err(TensorError::NotFinite { name: name.into(), index, found: values[index] }),
        }
    }

    /// Writes the format; the same tensors always give the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.written(Dtype::F32, |values| values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    /// Writes the format with half as many bytes. What is [`Tensors::halved`] loses nothing.
    pub fn to_half_bytes(&self) -> Vec<u8> {
        let half = |v: &f32| f16::from_f32(*v).to_le_bytes();
        self.written(Dtype::F16, |values| values.iter().flat_map(half).collect())
    }

    /// The same tensors with every number rounded to half precision; what is too large for it becomes infinite.
    pub fn halved(&self) -> Tensors {
        let mut halved = self.clone();
        let numbers = halved.tensors.values_mut().flat_map(|(_, values)| values);
        numbers.for_each(|v| *v = f16::from_f32(*v).to_f32());
        halved
    }

    fn written(&self, dtype: Dtype, bytes: impl Fn(&[f32]) -> Vec<u8>) -> Vec<u8> {
        let data: Vec<_> = self.tensors.iter().map(|(name, (shape, v))| (name, shape, bytes(v))).collect();
        let views: Vec<(String, TensorView<'_>)> = data
            .iter()
            .map(|(name, shape, data)| {
                let view = TensorView::new(dtype, (*shape).clone(), data).expect("shape was checked");
                (name.to_string(), view)
            })
            .collect();
        let header = seal::header(&self.metadata, &views);
        serialize(views, Some(header)).expect("shapes were checked")
    }

    /// Reads one of our files.
    ///
    /// # Errors
    /// If the bytes are not in the format, are not ours or not what was written, or a tensor is neither of type F32 nor
    /// F16.
    pub fn from_bytes(bytes: &[u8]) -> Result<Tensors, TensorError> {
        Tensors::parse(bytes, true, |_| true)
    }

    /// Reads the tensors of type F32 or F16 of anybody's file, which may also count things.
    ///
    /// # Errors
    /// If the bytes are not in the format, or those of one of our files are not what was written.
    pub fn from_bytes_of_floats(bytes: &[u8]) -> Result<Tensors, TensorError> {
        Tensors::parse(bytes, false, |view| matches!(view.dtype(), Dtype::F32 | Dtype::F16))
    }

    /// Requires that a header is of a size that can be read: its length and the number of its tensors.
    ///
    /// # Errors
    /// If it is longer or has more.
    pub fn check_header(bytes: &[u8]) -> Result<(), TensorError> {
        const ENTRY: &[u8] = b"data_offsets";
        let length = bytes.first_chunk().map_or(0, |&length| u64::from_le_bytes(length));
        if length > HEADER_BYTES as u64 {
            let found = format!("a header of {length} bytes, where at most {HEADER_BYTES} are read");
            return Err(TensorError::Format { found });
        }
        let header = &bytes[8.min(bytes.len())..bytes.len().min(8 + length as usize)];
        let found = header.windows(ENTRY.len()).filter(|w| *w == ENTRY).count();
        TensorError::require(found <= TENSORS, "tensors in the file", &format!("at most {TENSORS}"), found)
    }

    /// Whether a file in the format holds a digest; those that this program's first version wrote have none.
    pub fn is_sealed(bytes: &[u8]) -> bool {
        SafeTensors::read_metadata(bytes).is_ok_and(|(_, header)| seal::is_in(&header))
    }

    fn parse(
        bytes: &[u8],
        is_ours: bool,
        wanted: impl Fn(&TensorView<'_>) -> bool,
    ) -> Result<Tensors, TensorError> {
        let malformed =
            |found: safetensors::SafeTensorError| TensorError::Format { found: found.to_string() };
        Tensors::check_header(bytes)?;
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(malformed)?;
        let views = SafeTensors::deserialize(bytes).map_err(malformed)?.tensors();
        let metadata = seal::texts(&header, &views)?;
        if is_ours && metadata.is_none() {
            return Err(TensorError::Format { found: "one of another program".into() });
        }
        let views = views.iter().filter(|(_, view)| wanted(view));
        let tensors = views.map(|(name, view)| Ok((name.clone(), numbers(name, view)?)));
        Ok(Tensors { tensors: tensors.collect::<Result<_, _>>()?, metadata: metadata.unwrap_or_default() })
    }
}

impl TensorError {
    /// That a part of a file is not what its reader needs.
    pub fn mismatch(
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl ToString,
    ) -> TensorError {
        TensorError::Mismatch { what: what.into(), expected: expected.into(), found: found.to_string() }
    }

    /// Requires of a part of a file what its reader needs.
    ///
    /// # Errors
    /// Unless it holds.
    pub fn require(holds: bool, what: &str, expected: &str, found: impl ToString) -> Result<(), TensorError> {
        if holds { Ok(()) } else { Err(TensorError::mismatch(what, expected, found)) }
    }
}

fn entry(key: &str) -> String {
    format!("entry {key:?} of the header")
}

fn numbers(name: &str, view: &TensorView<'_>) -> Result<(Vec<usize>, Vec<f32>), TensorError> {
    let data = view.data();
    let values = match view.dtype() {
        Dtype::F32 => data.as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect(),
        Dtype::F16 => data.as_chunks().0.iter().map(|&b| f16::from_le_bytes(b).to_f32()).collect(),
        other => return Err(TensorError::Type { name: name.into(), found: format!("{other:?}") }),
    };
    Ok((view.shape().to_vec(), values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Tensors {
        let mut tensors = Tensors::default();
        tensors.insert("w", &[2, 3], &[0.0, -1.5, 2.0, 3.0, f32::MAX, 1e-40]);
        tensors.insert("b", &[1], &[f32::NAN]);
        tensors.metadata.extend([("env".into(), "x".into()), ("algorithm".into(), "tqc".into())]);
        tensors
    }

    #[test]
    fn bytes_round_trip() {
        let (bytes, want) = (sample().to_bytes(), sample());
        let found = Tensors::from_bytes(&bytes).unwrap();
        assert_eq!((found.get("w"), &found.metadata), (want.get("w"), &want.metadata));
        assert_eq!(found.to_bytes(), bytes);
    }

    #[test]
    fn halves_round_trip_once_they_are_rounded() {
        let mut tensors = Tensors::default();
        tensors.insert("w", &[4], &[1.0, -0.333_333_34, 65_504.0, 1e-9]);
        let halved = tensors.halved();
        // Half precision has eleven bits, and nothing between zero and 6e-8.
        assert_eq!(halved.get("w").unwrap().1, [1.0, -0.333_251_95, 65_504.0, 0.0]);
        assert_eq!(Tensors::from_bytes(&halved.to_half_bytes()).unwrap(), halved);
        assert_eq!(tensors.to_half_bytes(), halved.to_half_bytes());
        tensors.insert("w", &[1], &[1e5]);
        assert!(tensors.halved().expect("w", &[1]).is_err(), "too large");
    }

    #[test]
    fn files_that_were_changed_and_those_of_others_are_refused() {
        let bytes = sample().to_bytes();
        assert!(Tensors::is_sealed(&bytes));
        let mut changed = bytes.clone();
        *changed.last_mut().unwrap() ^= 1;
        for read in [Tensors::from_bytes, Tensors::from_bytes_of_floats] {
            let error = read(&changed).unwrap_err().to_string();
            assert!(error.contains("the file was changed"), "{error}");
        }
        let (data, header) = ([0_u8; 4], |key: &str| Some([(key.into(), r#"{"env":"x"}"#.into())].into()));
        let with = |key: Option<&str>| {
            let view = TensorView::new(Dtype::F32, vec![1], &data).unwrap();
            serialize([("w", view)], key.and_then(header)).unwrap()
        };
        let first = with(Some("offnominal"));
        assert_eq!(Tensors::from_bytes(&first).unwrap().entry("env"), "x");
        assert!(!Tensors::is_sealed(&first), "the first version had no digests");
        for other in [with(None), with(Some("of another"))] {
            assert!(Tensors::from_bytes(&other).unwrap_err().to_string().contains("another program"));
            assert!(Tensors::from_bytes_of_floats(&other).unwrap().get("w").is_ok());
        }
    }

    #[test]
    fn errors_name_the_tensor_and_what_was_found() {
        let message = |name: &str, shape: &[usize]| sample().expect(name, shape).unwrap_err().to_string();
        assert_eq!(message("w", &[3, 2]), "tensor \"w\": expected shape [3, 2], found [2, 3]");
        assert_eq!(message("v", &[1]), "expected a tensor \"v\", found b, w");
        assert_eq!(message("b", &[1]), "tensor \"b\": expected finite numbers, found NaN at index 0");
    }

    #[test]
    fn other_types_are_refused() {
        let data = [0_u8; 8];
        let view = TensorView::new(Dtype::F64, vec![1], &data).unwrap();
        let header = [("offnominal".to_string(), "{}".to_string())].into();
        let bytes = serialize([("w", view)], Some(header)).unwrap();
        let found = Tensors::from_bytes(&bytes).unwrap_err().to_string();
        assert_eq!(found, "tensor \"w\": expected F32 or F16, found F64");
    }

    #[test]
    fn a_header_without_end_is_refused_before_it_is_parsed() {
        let entry = |i| format!(r#""t{i}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#);
        let header = format!("{{{}}}", (0..20_001).map(entry).collect::<Vec<_>>().join(","));
        let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
        let error = Tensors::from_bytes(&bytes).unwrap_err().to_string();
        assert_eq!(error, "tensors in the file: expected at most 20000, found 20001");
        let error = Tensors::from_bytes(&u64::MAX.to_le_bytes()).unwrap_err().to_string();
        let want = "expected a safetensors file, found a header of 18446744073709551615 bytes, where at most";
        assert!(error.starts_with(want), "{error}");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Tensors::from_bytes(&bytes);
        }

        #[test]
        fn damaged_files_never_panic(at in 0_usize..200, value in any::<u8>(), cut in 0_usize..200) {
            let mut bytes = sample().to_bytes();
            let (at, cut) = (at % bytes.len(), cut % bytes.len());
            bytes[at] = value;
            // Bits of numbers that mean the same, as of NaN, may differ.
            prop_assert!(Tensors::from_bytes(&bytes).is_err() || Tensors::from_bytes(&bytes).unwrap().to_bytes() == sample().to_bytes());
            prop_assert!(Tensors::from_bytes(&bytes[..cut]).is_err());
        }
    }
}
