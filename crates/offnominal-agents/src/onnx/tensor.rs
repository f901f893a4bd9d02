//! Numbers with a shape. Whole numbers are kept as floats too: shapes and indices are far below 2²⁴.

use super::OnnxError;
use super::budget::{Budget, len};
use super::message::Message;

/// Numbers in order of their last index first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) data: Vec<f32>,
}

impl Tensor {
    /// Numbers with their shape.
    ///
    /// # Errors
    /// If there are not as many as the shape says, or too many.
    pub(super) fn new(shape: Vec<usize>, data: Vec<f32>) -> Result<Tensor, OnnxError> {
        if len(&shape)? == data.len() {
            return Ok(Tensor { shape, data });
        }
        Err(OnnxError::Damaged("a tensor whose shape and numbers disagree"))
    }

    /// Reads a `TensorProto`, and its name.
    ///
    /// # Errors
    /// If it is damaged, of text or complex numbers, kept in another file, or holds a number that is not finite.
    pub(super) fn read(message: Message<'_>) -> Result<(String, Tensor), OnnxError> {
        let (mut name, mut shape, mut kind, mut raw) = (String::new(), vec![], 1, None);
        let mut data: Vec<f32> = vec![];
        for field in message.fields() {
            let (field, value) = field?;
            match field {
                1 => shape
                    .extend(value.numbers()?.into_iter().map(|n| usize::try_from(n).unwrap_or(usize::MAX))),
                2 => kind = value.numbers()?.first().copied().unwrap_or(0),
                4 => data.extend(value.floats()?),
                5 | 7 => data.extend(value.numbers()?.into_iter().map(|n| n as f32)),
                8 => name = value.text()?,
                9 => raw = Some(value.bytes()?),
                13 | 14 => {
                    return Err(OnnxError::Damaged("weights in another file; export them into this one"));
                }
                _ => {}
            }
        }
        if let Some(raw) = raw {
            data = numbers(kind, raw)?;
        }
        if let Some(index) = data.iter().position(|x| !x.is_finite()) {
            return Err(OnnxError::not_finite(&name, index, data[index]));
        }
        Ok((name, Tensor::new(shape, data)?))
    }

    /// Becomes zeros of a shape, in the same memory where that suffices. Each will cost so many multiplications.
    ///
    /// # Errors
    /// If the budget does not suffice.
    pub(super) fn become_zeros(
        &mut self,
        shape: &[usize],
        work_each: usize,
        budget: &mut Budget,
    ) -> Result<(), OnnxError> {
        self.become_empty(shape, work_each, budget)?;
        self.data.resize(shape.iter().product(), 0.0);
        Ok(())
    }

    /// Takes a shape whose numbers the caller appends.
    ///
    /// # Errors
    /// As [`Tensor::become_zeros`].
    pub(super) fn become_empty(
        &mut self,
        shape: &[usize],
        work_each: usize,
        budget: &mut Budget,
    ) -> Result<(), OnnxError> {
        budget.take(shape, work_each)?;
        self.shape.clear();
        self.shape.extend_from_slice(shape);
        self.data.clear();
        Ok(())
    }
}

/// Little-endian numbers of a kind of ONNX.
fn numbers(kind: i64, raw: &[u8]) -> Result<Vec<f32>, OnnxError> {
    let four = || raw.as_chunks::<4>().0.iter();
    let eight = || raw.as_chunks::<8>().0.iter();
    Ok(match kind {
        1 => four().map(|x| f32::from_le_bytes(*x)).collect(),
        6 => four().map(|x| i32::from_le_bytes(*x) as f32).collect(),
        7 => eight().map(|x| i64::from_le_bytes(*x) as f32).collect(),
        11 => eight().map(|x| f64::from_le_bytes(*x) as f32).collect(),
        2 | 9 => raw.iter().map(|&x| f32::from(x)).collect(),
        _ => {
            return Err(OnnxError::Damaged(
                "numbers that are neither float32, float64, int32, int64 nor bytes",
            ));
        }
    })
}
