//! The graph of an ONNX file: values, and nodes that make values of values.

use super::budget::{Budget, len};
use super::kind::Kind;
use super::message::{Message, Value};
use super::node::{Inputs, Written, is_own};
use super::ops::Op;
use super::tensor::{Tensor, file_of};
use super::{Beside, OnnxError};
use offnominal_core::limits::{GRAPH_NODES, GRAPH_NUMBERS};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// The versions of ONNX's operators that are understood: since the seventh, values are stretched as they are here.
const OPSETS: RangeInclusive<i64> = 7..=28;

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
    operator: String,
    name: String,
    inputs: Vec<Option<usize>>,
    output: usize,
}

impl Graph {
    /// Reads a file.
    ///
    /// # Errors
    /// If it is damaged, or needs an operator that is not known.
    pub(super) fn read(bytes: &[u8], beside: &Beside) -> Result<Graph, OnnxError> {
        let (graph, opset) = model(bytes)?;
        let mut names = Names::default();
        let (mut written, mut inputs, mut outputs) = (vec![], vec![], vec![]);
        for field in graph.message()?.fields() {
            let (field, value) = field?;
            few("nodes", written.len())?;
            few("tensors", names.values.len() + inputs.len() + outputs.len())?;
            match field {
                1 => written.push(Written::read(value, opset, beside)?),
                5 => {
                    let (name, tensor) = Tensor::read(value.message()?, beside)?;
                    names.set(&name, tensor, true);
                }
                11 => inputs.push(declared(value)?),
                12 => outputs.push(declared(value)?.0),
                15 => return Err(OnnxError::Damaged("weights of which most are left out")),
                _ => {}
            }
        }
        // Old files list their weights among the inputs.
        inputs.retain(|(name, _)| !names.ids.contains_key(name));
        let [(input, declared)] = inputs.as_slice() else {
            return Err(OnnxError::Damaged("a graph whose inputs are not one observation"));
        };
        len(&declared.shape)?;
        names.set(input, declared.clone(), false);
        let nodes = written.iter().map(|w| Node::new(w, &mut names)).collect::<Result<Vec<_>, _>>()?;
        let output = outputs.first().ok_or(OnnxError::Damaged("a graph without an output"))?;
        let output = *names.ids.get(output).ok_or_else(|| names.missing(output))?;
        names.fit()?;
        Ok(Graph { nodes, input: names.ids[input], output, values: names.values })
    }

    /// The input as it is declared, without numbers.
    pub(super) fn input(&self) -> &Tensor {
        &self.values[self.input]
    }

    /// The output of the last run.
    #[cfg(test)]
    pub(super) fn output(&self) -> &Tensor {
        &self.values[self.output]
    }

    /// Computes the output for an input.
    ///
    /// # Errors
    /// If shapes do not fit, or it needs more memory or time than one action may; if it succeeds once, it does always.
    pub(super) fn run(&mut self, input: &[f32]) -> Result<&[f32], OnnxError> {
        let given = &mut self.values[self.input];
        given.data.clear();
        given.data.extend(input.iter().map(|&x| given.kind.rounded(x)));
        let mut budget = Budget::of_an_action();
        for node in &self.nodes {
            let mut out = std::mem::take(&mut self.values[node.output]);
            let inputs = Inputs::new(&self.values, &node.inputs);
            node.op.run(inputs, &mut out, &mut budget).map_err(|error| node.named(error, inputs))?;
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
    /// Further outputs of nodes, which are not computed, with what refuses them.
    missing: HashMap<String, OnnxError>,
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
    /// Why there is no value of that name.
    fn missing(&self, name: &str) -> OnnxError {
        let before = OnnxError::Damaged("a node before those that it needs");
        self.missing.get(name).cloned().unwrap_or(before)
    }

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
            (false, None) => Err(names.missing(name)),
        };
        let inputs = written.inputs.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let op = Op::read(written)?;
        let output = written.outputs.first().ok_or(OnnxError::Damaged("a node without an output"))?;
        for further in &written.outputs[1..] {
            let error = written.unsupported("the first output to be used", format!("the use of {further:?}"));
            names.missing.insert(further.clone(), error);
        }
        // Then the shapes of all values are those of the trial, whatever is observed.
        let is_constant = inputs.iter().flatten().all(|&id| names.constant[id]);
        if op.is_of_a_shape() && inputs.iter().skip(1).flatten().any(|&id| !names.constant[id]) {
            return Err(written.unsupported("a shape that is the same for all observations", "another one"));
        }
        let output = names.set(output, Tensor::default(), is_constant);
        Ok(Node { op, operator: written.operator.clone(), name: written.name.clone(), inputs, output })
    }

    /// An error of this operator, with its name and what it was given.
    fn named(&self, error: OnnxError, inputs: Inputs<'_>) -> OnnxError {
        let OnnxError::Damaged(why) = error else { return error };
        let given: Vec<String> = inputs.all().map(Tensor::words).collect();
        OnnxError::Unsupported {
            operator: self.operator.clone(),
            node: self.name.clone(),
            expected: "a use of it that is computed here",
            found: format!("{why}: {}", given.join(", ")),
        }
    }
}

/// The graph of a model and the version of ONNX's operators; its other fields must be sound.
fn model(bytes: &[u8]) -> Result<(Value<'_>, i64), OnnxError> {
    let (mut graph, mut opset) = (None, None);
    for field in Message::new(bytes).fields() {
        match field? {
            (7, value) => graph = graph.or(Some(value)),
            (8, value) => opset = version(value)?.or(opset),
            _ => {}
        }
    }
    let graph = graph.ok_or(OnnxError::Damaged("a file without a graph"))?;
    let opset = opset.ok_or(OnnxError::Damaged("a file without the version of ONNX's operators"))?;
    if OPSETS.contains(&opset) {
        return Ok((graph, opset));
    }
    Err(OnnxError::Version { from: *OPSETS.start(), to: *OPSETS.end(), found: opset })
}

/// The version of ONNX's own operators; none of others.
fn version(value: Value<'_>) -> Result<Option<i64>, OnnxError> {
    let (mut domain, mut version) = (String::new(), None);
    for field in value.message()?.fields() {
        match field? {
            (1, name) => domain = name.text()?,
            (2, number) => version = number.numbers()?.first().copied(),
            _ => {}
        }
    }
    Ok(version.filter(|_| is_own(&domain)))
}

/// The names of the files in which weights lie.
pub(super) fn files(bytes: &[u8]) -> Result<Vec<String>, OnnxError> {
    let mut files = vec![];
    let graph = model(bytes)?.0;
    for field in graph.message()?.fields() {
        let tensors = match field? {
            (5, tensor) => vec![tensor],
            (1, node) => {
                let attributes = within(node, 5)?.into_iter().map(|attribute| within(attribute, 5));
                attributes.collect::<Result<Vec<_>, _>>()?.concat()
            }
            _ => vec![],
        };
        for tensor in tensors {
            files.extend(file_of(tensor.message()?)?);
        }
        few("tensors", files.len())?;
    }
    files.sort();
    files.dedup();
    Ok(files)
}

/// The name of a declared value, its type and its shape; an axis without a length is 1.
fn declared(value: Value<'_>) -> Result<(String, Tensor), OnnxError> {
    let (mut name, mut found) = (String::new(), Tensor::default());
    for field in value.message()?.fields() {
        match field? {
            (1, text) => name = text.text()?,
            (2, kind) => found = Tensor { kind: number_type(kind, &name)?, shape: axes(kind)?, data: vec![] },
            _ => {}
        }
    }
    Ok((name, found))
}

/// Type → tensor type (1) → type of its numbers (1); floats where it is left open.
fn number_type(kind: Value<'_>, name: &str) -> Result<Kind, OnnxError> {
    let Some(&tensor) = within(kind, 1)?.first() else { return Ok(Kind::Float) };
    let Some(&number) = within(tensor, 1)?.first() else { return Ok(Kind::Float) };
    let number = number.numbers()?.first().copied().unwrap_or(0);
    Kind::numbered(number).map_err(|found| OnnxError::Type { name: name.into(), found })
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
