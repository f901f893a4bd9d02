//! The graph of an ONNX file: values, and nodes that make values of values.

use super::OnnxError;
use super::message::{Message, Value};
use super::ops::Op;
use super::tensor::{Tensor, len};
use std::collections::HashMap;

/// A graph with the values of its last run, so that the next one needs no memory.
#[derive(Clone)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    values: Vec<Tensor>,
    input: usize,
    output: usize,
}

/// A node: an operator on values.
#[derive(Clone)]
struct Node {
    op: Op,
    inputs: Vec<Option<usize>>,
    output: usize,
}

/// What a node reads: the i-th value, where there is one.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    values: &'a [Tensor],
    ids: &'a [Option<usize>],
}

impl<'a> Inputs<'a> {
    /// The i-th value.
    pub(super) fn get(self, i: usize) -> Option<&'a Tensor> {
        self.ids.get(i).copied().flatten().map(|id| &self.values[id])
    }

    /// All of them.
    pub(super) fn all(self) -> impl Iterator<Item = &'a Tensor> {
        (0..self.ids.len()).filter_map(move |i| self.get(i))
    }
}

/// A node as the file has it.
pub(super) struct Written {
    pub(super) operator: String,
    pub(super) name: String,
    pub(super) attributes: HashMap<String, Attribute>,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

/// The value of an attribute, in whichever of its fields it is.
#[derive(Default)]
pub(super) struct Attribute {
    pub(super) float: f32,
    pub(super) whole: Vec<i64>,
    pub(super) tensor: Option<Tensor>,
}

impl Graph {
    /// Reads a file.
    ///
    /// # Errors
    /// If it is damaged, or needs an operator that is not known.
    pub(super) fn read(bytes: &[u8]) -> Result<Graph, OnnxError> {
        let model = Message::new(bytes).fields()?;
        let graph = model
            .iter()
            .find(|(field, _)| *field == 7)
            .ok_or(OnnxError::Damaged("a file without a graph"))?;
        let mut names = Names::default();
        let (mut written, mut inputs, mut outputs) = (vec![], vec![], vec![]);
        for (field, value) in graph.1.message()?.fields()? {
            match field {
                1 => written.push(Written::read(value)?),
                5 => {
                    let (name, tensor) = Tensor::read(value.message()?)?;
                    names.set(&name, tensor);
                }
                11 => inputs.push(declared(value)?),
                12 => outputs.push(declared(value)?.0),
                _ => {}
            }
        }
        // Old files list their weights among the inputs.
        inputs.retain(|(name, _)| !names.ids.contains_key(name));
        let [(input, shape)] = inputs.as_slice() else {
            return Err(OnnxError::Damaged("a graph whose inputs are not one observation"));
        };
        names.set(input, Tensor { shape: shape.clone(), data: vec![] });
        let nodes = written.into_iter().map(|w| w.node(&mut names)).collect::<Result<Vec<_>, _>>()?;
        let output = outputs.first().and_then(|name| names.ids.get(name));
        let output = *output.ok_or(OnnxError::Damaged("a graph without an output"))?;
        Ok(Graph { nodes, input: names.ids[input], output, values: names.values })
    }

    /// Checks how many numbers the input is.
    ///
    /// # Errors
    /// If they are others than expected.
    pub(super) fn expect_input(&self, expected: usize) -> Result<(), OnnxError> {
        let found = len(&self.values[self.input].shape).unwrap_or(usize::MAX);
        (found == expected).then_some(()).ok_or(OnnxError::Shape { what: "input", expected, found })
    }

    /// Computes the output for an input.
    ///
    /// # Errors
    /// If shapes do not fit; if they fit once, they fit always.
    pub(super) fn run(&mut self, input: &[f32]) -> Result<&[f32], OnnxError> {
        let given = &mut self.values[self.input].data;
        given.clear();
        given.extend_from_slice(input);
        for node in &self.nodes {
            let mut out = std::mem::take(&mut self.values[node.output]);
            let inputs = Inputs { values: &self.values, ids: &node.inputs };
            node.op.run(inputs, &mut out)?;
            self.values[node.output] = out;
        }
        Ok(&self.values[self.output].data)
    }
}

/// Values by their names.
#[derive(Default)]
struct Names {
    ids: HashMap<String, usize>,
    values: Vec<Tensor>,
}

impl Names {
    fn set(&mut self, name: &str, tensor: Tensor) -> usize {
        self.values.push(tensor);
        self.ids.insert(name.into(), self.values.len() - 1);
        self.values.len() - 1
    }
}

impl Written {
    fn read(value: Value<'_>) -> Result<Written, OnnxError> {
        let (mut operator, mut name) = (String::new(), String::new());
        let (mut inputs, mut outputs, mut attributes) = (vec![], vec![], HashMap::new());
        for (field, value) in value.message()?.fields()? {
            match field {
                1 => inputs.push(value.text()?),
                2 => outputs.push(value.text()?),
                3 => name = value.text()?,
                4 => operator = value.text()?,
                5 => {
                    let (name, attribute) = Attribute::read(value)?;
                    attributes.insert(name, attribute);
                }
                _ => {}
            }
        }
        Ok(Written { operator, name, attributes, inputs, outputs })
    }

    fn node(self, names: &mut Names) -> Result<Node, OnnxError> {
        let find = |name: &String| match (name.is_empty(), names.ids.get(name)) {
            (true, _) => Ok(None),
            (false, Some(&id)) => Ok(Some(id)),
            (false, None) => Err(OnnxError::Damaged("a node before those that it needs")),
        };
        let inputs = self.inputs.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let op = Op::read(&self)?;
        if inputs.first().is_none_or(Option::is_none) && !matches!(op, Op::Constant(_)) {
            return Err(OnnxError::Damaged("a node without an input"));
        }
        let output = self.outputs.first().ok_or(OnnxError::Damaged("a node without an output"))?;
        Ok(Node { op, inputs, output: names.set(output, Tensor::default()) })
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

    /// That the operator is used in a way that is not known here.
    pub(super) fn unsupported(&self, expected: &'static str, found: impl ToString) -> OnnxError {
        let (operator, node) = (self.operator.clone(), self.name.clone());
        OnnxError::Unsupported { operator, node, expected, found: found.to_string() }
    }
}

impl Attribute {
    fn read(value: Value<'_>) -> Result<(String, Attribute), OnnxError> {
        let (mut name, mut found) = (String::new(), Attribute::default());
        for (field, value) in value.message()?.fields()? {
            match field {
                1 => name = value.text()?,
                2 => found.float = value.floats()?[0],
                3 | 8 => found.whole.extend(value.numbers()?),
                5 => found.tensor = Some(Tensor::read(value.message()?)?.1),
                _ => {}
            }
        }
        Ok((name, found))
    }
}

/// The name of a declared value and its shape; an axis without a length is 1.
fn declared(value: Value<'_>) -> Result<(String, Vec<usize>), OnnxError> {
    let mut name = String::new();
    let mut shape = vec![];
    for (field, value) in value.message()?.fields()? {
        match field {
            1 => name = value.text()?,
            2 => shape = axes(value)?,
            _ => {}
        }
    }
    Ok((name, shape))
}

/// Type → tensor type (1) → shape (2) → axes (1) → length (1).
fn axes(kind: Value<'_>) -> Result<Vec<usize>, OnnxError> {
    let mut axes = vec![];
    for tensor in within(kind, 1)? {
        for shape in within(tensor, 2)? {
            for axis in within(shape, 1)? {
                let length = within(axis, 1)?.first().map(|v| v.numbers()).transpose()?;
                axes.push(length.and_then(|n| usize::try_from(n[0]).ok()).filter(|&n| n > 0).unwrap_or(1));
            }
        }
    }
    Ok(axes)
}

fn within<'a>(value: Value<'a>, wanted: u64) -> Result<Vec<Value<'a>>, OnnxError> {
    let fields = value.message()?.fields()?;
    Ok(fields.into_iter().filter(|(field, _)| *field == wanted).map(|(_, value)| value).collect())
}
