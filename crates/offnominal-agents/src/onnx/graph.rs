//! The graph of an ONNX file: values, and nodes that make values of values.

use super::OnnxError;
use super::budget::{Budget, len};
use super::message::{Message, Value};
use super::node::{Inputs, Written};
use super::ops::Op;
use super::tensor::Tensor;
use offnominal_core::limits::{GRAPH_NODES, GRAPH_NUMBERS};
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

impl Graph {
    /// Reads a file.
    ///
    /// # Errors
    /// If it is damaged, or needs an operator that is not known.
    pub(super) fn read(bytes: &[u8]) -> Result<Graph, OnnxError> {
        let graph = graph(bytes)?;
        let mut names = Names::default();
        let (mut written, mut inputs, mut outputs) = (vec![], vec![], vec![]);
        for field in graph.message()?.fields() {
            let (field, value) = field?;
            few("nodes", written.len())?;
            few("tensors", names.values.len() + inputs.len() + outputs.len())?;
            match field {
                1 => written.push(Written::read(value)?),
                5 => {
                    let (name, tensor) = Tensor::read(value.message()?)?;
                    names.set(&name, tensor, true);
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
        len(shape)?;
        names.set(input, Tensor { shape: shape.clone(), data: vec![] }, false);
        let nodes = written.iter().map(|w| Node::new(w, &mut names)).collect::<Result<Vec<_>, _>>()?;
        let output = outputs.first().and_then(|name| names.ids.get(name));
        let output = *output.ok_or(OnnxError::Damaged("a graph without an output"))?;
        names.fit()?;
        Ok(Graph { nodes, input: names.ids[input], output, values: names.values })
    }

    /// Checks how many numbers the input is.
    ///
    /// # Errors
    /// If they are others than expected.
    pub(super) fn expect_input(&self, expected: usize) -> Result<(), OnnxError> {
        let found = len(&self.values[self.input].shape)?;
        (found == expected).then_some(()).ok_or(OnnxError::Shape { what: "input", expected, found })
    }

    /// Computes the output for an input.
    ///
    /// # Errors
    /// If shapes do not fit, or it needs more memory or time than one action may; if it succeeds once, it does always.
    pub(super) fn run(&mut self, input: &[f32]) -> Result<&[f32], OnnxError> {
        let given = &mut self.values[self.input].data;
        given.clear();
        given.extend_from_slice(input);
        let mut budget = Budget::of_an_action();
        for node in &self.nodes {
            let mut out = std::mem::take(&mut self.values[node.output]);
            let inputs = Inputs::new(&self.values, &node.inputs);
            node.op.run(inputs, &mut out, &mut budget)?;
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
    /// Whether each value is the same for every observation.
    constant: Vec<bool>,
}

impl Names {
    fn set(&mut self, name: &str, tensor: Tensor, is_constant: bool) -> usize {
        self.values.push(tensor);
        self.constant.push(is_constant);
        self.ids.insert(name.into(), self.values.len() - 1);
        self.values.len() - 1
    }
}

impl Names {
    /// Requires that all weights together are not too many.
    fn fit(&self) -> Result<(), OnnxError> {
        let found = self.values.iter().map(|value| value.data.len()).sum();
        let error = OnnxError::TooLarge { what: "weights", most: GRAPH_NUMBERS, found };
        (found <= GRAPH_NUMBERS).then_some(()).ok_or(error)
    }
}

/// Requires that there are not too many things in a graph.
fn few(what: &'static str, found: usize) -> Result<(), OnnxError> {
    let error = OnnxError::TooLarge { what, most: GRAPH_NODES, found };
    (found <= GRAPH_NODES).then_some(()).ok_or(error)
}

impl Node {
    fn new(written: &Written, names: &mut Names) -> Result<Node, OnnxError> {
        let find = |name: &String| match (name.is_empty(), names.ids.get(name)) {
            (true, _) => Ok(None),
            (false, Some(&id)) => Ok(Some(id)),
            (false, None) => Err(OnnxError::Damaged("a node before those that it needs")),
        };
        let inputs = written.inputs.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let op = Op::read(written)?;
        if inputs.first().is_none_or(Option::is_none) && !matches!(op, Op::Constant(_)) {
            return Err(OnnxError::Damaged("a node without an input"));
        }
        let output = written.outputs.first().ok_or(OnnxError::Damaged("a node without an output"))?;
        // Then the shapes of all values are those of the trial, whatever is observed.
        let is_constant = inputs.iter().flatten().all(|&id| names.constant[id]);
        let of_a_shape = matches!(op, Op::Reshape | Op::Squeeze(_) | Op::Unsqueeze(_));
        if of_a_shape && inputs.iter().skip(1).flatten().any(|&id| !names.constant[id]) {
            return Err(written.unsupported("a shape that is the same for all observations", "another one"));
        }
        Ok(Node { op, inputs, output: names.set(output, Tensor::default(), is_constant) })
    }
}

/// The graph of the model, whose other fields must be sound.
fn graph(bytes: &[u8]) -> Result<Value<'_>, OnnxError> {
    let mut graph = None;
    for field in Message::new(bytes).fields() {
        let (field, value) = field?;
        graph = graph.or((field == 7).then_some(value));
    }
    graph.ok_or(OnnxError::Damaged("a file without a graph"))
}

/// The name of a declared value and its shape; an axis without a length is 1.
fn declared(value: Value<'_>) -> Result<(String, Vec<usize>), OnnxError> {
    let mut name = String::new();
    let mut shape = vec![];
    for field in value.message()?.fields() {
        let (field, value) = field?;
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
                let length = length.and_then(|n| usize::try_from(*n.first()?).ok());
                axes.push(length.filter(|&n| n > 0).unwrap_or(1));
            }
        }
    }
    Ok(axes)
}

fn within<'a>(value: Value<'a>, wanted: u64) -> Result<Vec<Value<'a>>, OnnxError> {
    let fields = value.message()?.fields().filter(|f| !matches!(f, Ok((field, _)) if *field != wanted));
    fields.map(|field| field.map(|(_, value)| value)).collect()
}
