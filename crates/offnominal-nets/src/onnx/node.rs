//! A node as the file has it, and what an operator reads.

use super::message::Value;
use super::tensor::Tensor;
use super::{Beside, OnnxError};
use std::collections::HashMap;

/// What a node reads: the i-th value, where there is one.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    constants: &'a [Tensor],
    values: &'a [Tensor],
    ids: &'a [Option<usize>],
}

impl<'a> Inputs<'a> {
    pub(super) fn new(constants: &'a [Tensor], values: &'a [Tensor], ids: &'a [Option<usize>]) -> Inputs<'a> {
        Inputs { constants, values, ids }
    }

    /// A value by its place: constants come first.
    pub(super) fn value(self, id: usize) -> &'a Tensor {
        self.constants.get(id).unwrap_or_else(|| &self.values[id - self.constants.len()])
    }

    /// Whether the i-th value is the same in every run.
    pub(super) fn is_constant(self, i: usize) -> bool {
        self.ids.get(i).copied().flatten().is_some_and(|id| id < self.constants.len())
    }

    /// The i-th value.
    pub(super) fn get(self, i: usize) -> Option<&'a Tensor> {
        self.ids.get(i).copied().flatten().map(|id| self.value(id))
    }

    /// All of them.
    pub(super) fn all(self) -> impl Iterator<Item = &'a Tensor> {
        (0..self.ids.len()).filter_map(move |i| self.get(i))
    }
}

/// A node as the file has it.
#[derive(Default)]
pub(super) struct Written {
    pub(super) operator: String,
    pub(super) name: String,
    /// Whose operator it is; empty if ONNX's own.
    pub(super) domain: String,
    /// The version of ONNX's operators.
    pub(super) opset: i64,
    pub(super) attributes: HashMap<String, Attribute>,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
}

/// The value of an attribute, in whichever of its fields it is.
#[derive(Default)]
pub(super) struct Attribute {
    pub(super) float: f32,
    pub(super) floats: Vec<f32>,
    pub(super) whole: Vec<i64>,
    pub(super) text: String,
    pub(super) tensor: Option<Tensor>,
}

/// Whether a domain is that of ONNX's own operators.
pub(super) fn is_own(domain: &str) -> bool {
    ["", "ai.onnx"].contains(&domain)
}

impl Written {
    pub(super) fn read(value: Value<'_>, opset: i64, beside: &Beside) -> Result<Written, OnnxError> {
        let (mut operator, mut name, mut domain) = (String::new(), String::new(), String::new());
        let (mut inputs, mut outputs, mut attributes) = (vec![], vec![], HashMap::new());
        for field in value.message()?.fields() {
            let (field, value) = field?;
            match field {
                1 => inputs.push(value.text()?),
                2 => outputs.push(value.text()?),
                3 => name = value.text()?,
                4 => operator = value.text()?,
                5 => {
                    let (name, attribute) = Attribute::read(value, beside)?;
                    attributes.insert(name, attribute);
                }
                7 => domain = value.text()?,
                _ => {}
            }
        }
        Ok(Written { operator, name, domain, opset, attributes, inputs, outputs })
    }

    /// The whole number of an attribute, or what is meant without it.
    pub(super) fn number(&self, name: &str, otherwise: i64) -> i64 {
        self.attributes.get(name).and_then(|a| a.whole.first().copied()).unwrap_or(otherwise)
    }

    /// The float of an attribute, or what is meant without it.
    pub(super) fn float(&self, name: &str, otherwise: f32) -> f32 {
        self.attributes.get(name).map_or(otherwise, |a| a.float)
    }

    /// The whole numbers of an attribute; none without it.
    pub(super) fn numbers(&self, name: &str) -> Vec<i64> {
        self.attributes.get(name).map_or(vec![], |a| a.whole.clone())
    }

    /// The text of an attribute; empty without it.
    pub(super) fn text(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", |a| &a.text)
    }

    /// That the operator is used in a way that is not known here.
    pub(super) fn unsupported(&self, expected: &'static str, found: impl ToString) -> OnnxError {
        let (operator, node) = (self.operator.clone(), self.name.clone());
        OnnxError::Unsupported { operator, node, expected, found: found.to_string() }
    }
}

impl Attribute {
    fn read(value: Value<'_>, beside: &Beside) -> Result<(String, Attribute), OnnxError> {
        let (mut name, mut found) = (String::new(), Attribute::default());
        for field in value.message()?.fields() {
            let (field, value) = field?;
            match field {
                1 => name = value.text()?,
                2 => found.float = value.floats()?.first().copied().unwrap_or(0.0),
                3 | 8 => found.whole.extend(value.numbers()?),
                4 => found.text = value.text()?,
                5 => found.tensor = Some(Tensor::read(value.message()?, beside)?.1),
                7 => found.floats.extend(value.floats()?),
                21 => return Err(OnnxError::Damaged("an attribute that stands for another one")),
                _ => {}
            }
        }
        if let Some(x) = found.floats.iter().chain([&found.float]).find(|x| !x.is_finite()) {
            return Err(OnnxError::not_finite(&name, 0, f64::from(*x)));
        }
        Ok((name, found))
    }
}
