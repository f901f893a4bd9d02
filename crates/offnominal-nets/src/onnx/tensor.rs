//! Numbers with a type and a shape. All are kept as floats of 32 bits; what those do not hold is refused.

use super::budget::{Budget, len};
use super::kind::Kind;
use super::message::{Message, Value};
use super::{Beside, OnnxError};

/// Numbers in order of their last index first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tensor {
    /// Their type in the file.
    pub kind: Kind,
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// The numbers.
    pub data: Vec<f32>,
}

/// The fields of a `TensorProto`.
#[derive(Default)]
struct Stored<'a> {
    name: String,
    shape: Vec<usize>,
    kind: i64,
    /// Fields with numbers, and the numbers.
    fields: Vec<(u64, Value<'a>)>,
    raw: Option<&'a [u8]>,
    is_outside: bool,
    outside: Vec<(String, String)>,
}

/// Fields of numbers by type, and of text.
const FIELDS: [u64; 6] = [4, 5, 6, 7, 10, 11];

impl Tensor {
    /// Numbers of a type with their shape.
    ///
    /// # Errors
    /// If there are not as many as the shape says, or too many.
    pub(super) fn new(kind: Kind, shape: Vec<usize>, data: Vec<f32>) -> Result<Tensor, OnnxError> {
        if len(&shape)? == data.len() {
            return Ok(Tensor { kind, shape, data });
        }
        Err(OnnxError::Damaged("a tensor whose shape and numbers disagree"))
    }

    /// Reads a `TensorProto`, and its name. Numbers that lie in another file are taken from what was read beside it.
    ///
    /// # Errors
    /// If it is damaged, of a type that is not read, or holds a number that 32 bits do not.
    pub(super) fn read(message: Message<'_>, beside: &Beside) -> Result<(String, Tensor), OnnxError> {
        let stored = Stored::read(message)?;
        let untyped = |found: String| OnnxError::Type { name: stored.name.clone(), found };
        let kind = Kind::numbered(stored.kind).map_err(untyped)?;
        let most = len(&stored.shape)?;
        let raw = if stored.is_outside { Some(stored.outside(beside)?) } else { stored.raw };
        let mut data = Vec::new();
        let mut put = |x: f64| match kind.has(x) {
            true if data.len() < most => {
                data.push(x as f32);
                Ok(())
            }
            true => Err(OnnxError::Damaged("a tensor whose shape and numbers disagree")),
            false => Err(OnnxError::not_finite(&stored.name, data.len(), x)),
        };
        match raw {
            Some(raw) if stored.fields.is_empty() && raw.len() % kind.bytes() == 0 => {
                raw.chunks(kind.bytes()).try_for_each(|number| put(kind.decoded(number)))?;
            }
            Some(_) => return Err(OnnxError::Damaged("a tensor whose type and bytes disagree")),
            None => {
                for (field, value) in &stored.fields {
                    if *field != kind.field() {
                        return Err(untyped(format!("{}, whose numbers are of another type", kind.name())));
                    }
                    match field {
                        4 => value.floats()?.into_iter().try_for_each(|x| put(f64::from(x)))?,
                        10 => value.doubles()?.into_iter().try_for_each(&mut put)?,
                        _ => value.numbers()?.into_iter().try_for_each(|n| put(kind.entry(n)))?,
                    }
                }
            }
        }
        let shape = stored.shape;
        Ok((stored.name, Tensor::new(kind, shape, data)?))
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

    /// Takes a shape whose numbers the caller overwrites, all of them.
    ///
    /// # Errors
    /// As [`Tensor::become_zeros`].
    pub(super) fn become_any(
        &mut self,
        shape: &[usize],
        work_each: usize,
        budget: &mut Budget,
    ) -> Result<(), OnnxError> {
        self.take(shape, work_each, budget)?;
        self.data.resize(shape.iter().product(), 0.0);
        Ok(())
    }

    fn take(&mut self, shape: &[usize], work_each: usize, budget: &mut Budget) -> Result<(), OnnxError> {
        budget.take(shape, work_each)?;
        let numbers = shape.iter().product();
        if self.data.capacity() < numbers {
            self.data = budget.memory(numbers);
        }
        self.shape.clear();
        self.shape.extend_from_slice(shape);
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
        self.take(shape, work_each, budget)?;
        self.data.clear();
        Ok(())
    }

    /// Type and shape, in words.
    pub fn words(&self) -> String {
        format!("{} {:?}", self.kind.name(), self.shape)
    }
}

impl<'a> Stored<'a> {
    fn read(message: Message<'a>) -> Result<Stored<'a>, OnnxError> {
        let mut found = Stored { kind: 1, ..Stored::default() };
        for field in message.fields() {
            let (field, value) = field?;
            match field {
                1 => {
                    let lengths = value.numbers()?;
                    found.shape.extend(lengths.into_iter().map(|n| usize::try_from(n).unwrap_or(usize::MAX)));
                }
                2 => found.kind = value.numbers()?.first().copied().unwrap_or(0),
                3 => return Err(OnnxError::Damaged("a tensor in segments")),
                8 => found.name = value.text()?,
                9 => found.raw = Some(value.bytes()?),
                13 => found.outside.push(pair(value)?),
                14 => found.is_outside = value.numbers()?.first() == Some(&1),
                _ if FIELDS.contains(&field) => found.fields.push((field, value)),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Its bytes in the other file.
    fn outside<'b>(&self, beside: &'b Beside) -> Result<&'b [u8], OnnxError> {
        let said = |key: &str| self.outside.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        let damaged = OnnxError::Damaged("weights in another file whose place makes no sense");
        let file = said("location").ok_or(damaged.clone())?;
        let bytes = beside.get(file).ok_or_else(|| OnnxError::Elsewhere { file: file.clone() })?;
        let number = |key: &str| said(key).map(|text| text.parse::<usize>().map_err(|_| damaged.clone()));
        let from = number("offset").transpose()?.unwrap_or(0);
        let length = number("length").transpose()?.unwrap_or(bytes.len().saturating_sub(from));
        from.checked_add(length).and_then(|end| bytes.get(from..end)).ok_or(damaged)
    }
}

/// A key and its value.
fn pair(value: Value<'_>) -> Result<(String, String), OnnxError> {
    let mut pair = (String::new(), String::new());
    for field in value.message()?.fields() {
        match field? {
            (1, key) => pair.0 = key.text()?,
            (2, text) => pair.1 = text.text()?,
            _ => {}
        }
    }
    Ok(pair)
}

/// The file in which a `TensorProto` has its numbers, if it is another one.
///
/// # Errors
/// If it is damaged.
pub(super) fn file_of(message: Message<'_>) -> Result<Option<String>, OnnxError> {
    let stored = Stored::read(message)?;
    let file = stored.outside.into_iter().find(|(key, _)| key == "location").map(|(_, file)| file);
    Ok(file.filter(|_| stored.is_outside))
}
