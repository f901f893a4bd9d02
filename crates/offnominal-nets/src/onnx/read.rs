//! A file of ONNX as a graph.

use super::budget::{Use, len};
use super::graph::{Graph, Node, Plan};
use super::kind::Kind;
use super::message::{Message, Value};
use super::node::{Written, is_own};
use super::ops::Op;
use super::tensor::{Tensor, file_of};
use super::{Beside, OnnxError};
use offnominal_core::limits::{GRAPH_NODES, GRAPH_NUMBERS};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// The versions of ONNX's operators that are understood: since the seventh, values are stretched as they are here.
const OPSETS: RangeInclusive<i64> = 7..=28;

impl Graph {
    /// Reads a file. An axis of the input without a length is 1 until it has another one.
    ///
    /// # Errors
    /// If it is damaged, or needs an operator that is not known.
    pub fn read(bytes: &[u8], beside: &Beside, for_what: Use) -> Result<Graph, OnnxError> {
        let (graph, opset) = model(bytes)?;
        let mut names = Names::default();
        let (mut written, mut inputs, mut outputs) = (vec![], vec![], vec![]);
        for field in graph.message()?.fields() {
            let (field, value) = field?;
            few("nodes", written.len())?;
            few("tensors", names.plan.constants.len() + inputs.len() + outputs.len())?;
            match field {
                1 => written.push(Written::read(value, opset, beside)?),
                5 => {
                    let (name, tensor) = Tensor::read(value.message()?, beside)?;
                    names.weights(&name, tensor);
                }
                11 => inputs.push(declared(value)?),
                12 => outputs.push(declared(value)?.name),
                15 => return Err(OnnxError::Damaged("weights of which most are left out")),
                _ => {}
            }
        }
        // Old files list their weights among the inputs.
        inputs.retain(|input| !names.plan.names.contains_key(&input.name));
        let [input] = inputs.as_slice() else {
            return Err(OnnxError::Damaged("a graph whose inputs are not one"));
        };
        let shape: Vec<usize> = input.axes.iter().map(|length| length.unwrap_or(1)).collect();
        len(&shape)?;
        names.fit()?;
        names.value(&input.name, false);
        let fused = fused(&written, &outputs);
        for (i, node) in written.iter().enumerate() {
            names.node(node, fused[i])?;
        }
        let output = outputs.first().ok_or(OnnxError::Damaged("a graph without an output"))?;
        let mut plan = names.plan;
        plan.outputs = vec![plan.names.get(output).copied().ok_or_else(|| missing(&names.missing, output))?];
        plan.axes.clone_from(&input.axes);
        Ok(Graph::new(plan, Tensor { kind: input.kind, shape, data: vec![] }, for_what))
    }
}

/// Values by their names.
#[derive(Default)]
struct Names {
    plan: Plan,
    /// Whether each value is the same whatever is fed.
    constant: Vec<bool>,
    /// Further outputs of nodes, which are not computed, with what refuses them.
    missing: HashMap<String, OnnxError>,
}

/// Whether a node is computed by the one before it, or computes the one after it: a convolution that is then rectified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fused {
    No,
    Rectified,
    Done,
}

/// Convolutions whose value nothing reads but a rectifier.
fn fused(written: &[Written], outputs: &[String]) -> Vec<Fused> {
    let mut readers: HashMap<&str, usize> = HashMap::new();
    let read = written.iter().flat_map(|node| &node.inputs).chain(outputs);
    read.for_each(|name| *readers.entry(name).or_default() += 1);
    let mut convolutions: HashMap<&str, usize> = HashMap::new();
    let mut fused = vec![Fused::No; written.len()];
    for (i, node) in written.iter().enumerate() {
        match (node.operator.as_str(), node.inputs.first(), node.outputs.first()) {
            ("Conv" | "ConvTranspose", _, Some(name)) if readers.get(name.as_str()) == Some(&1) => {
                convolutions.insert(name, i);
            }
            ("Relu", Some(name), _) => {
                if let Some(before) = convolutions.remove(name.as_str()) {
                    (fused[before], fused[i]) = (Fused::Rectified, Fused::Done);
                }
            }
            _ => {}
        }
    }
    fused
}

impl Names {
    fn weights(&mut self, name: &str, tensor: Tensor) {
        self.plan.constants.push(tensor);
        self.value(name, true);
    }

    /// Another value; its place.
    fn value(&mut self, name: &str, is_constant: bool) -> usize {
        self.constant.push(is_constant);
        self.plan.names.insert(name.into(), self.constant.len() - 1);
        self.constant.len() - 1
    }

    /// Requires that all weights together are not too many.
    fn fit(&self) -> Result<(), OnnxError> {
        let found = self.plan.constants.iter().map(|value| value.data.len()).sum();
        let error = OnnxError::TooLarge { what: "weights", most: GRAPH_NUMBERS, found };
        (found <= GRAPH_NUMBERS).then_some(()).ok_or(error)
    }

    /// The next node.
    fn node(&mut self, written: &Written, fused: Fused) -> Result<(), OnnxError> {
        let find = |name: &String| match (name.is_empty(), self.plan.names.get(name)) {
            (true, _) => Ok(None),
            (false, Some(&id)) => Ok(Some(id)),
            (false, None) => Err(missing(&self.missing, name)),
        };
        let inputs = written.inputs.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let (op, further) = Op::read(written)?;
        let output = written.outputs.first().ok_or(OnnxError::Damaged("a node without an output"))?;
        // Then the shapes of all values are the same in every run, whatever is fed.
        let is_constant = op.is_shape() || inputs.iter().flatten().all(|&id| self.constant[id]);
        let mut decide = inputs.iter().skip(op.shaped_by()).flatten();
        if decide.any(|&id| !self.constant[id]) {
            return Err(written.unsupported("a shape that is the same for all inputs", "another one"));
        }
        if fused == Fused::Done {
            // It was computed with the node before.
            let of = inputs.first().copied().flatten().ok_or(OnnxError::Damaged("too few inputs"))?;
            self.plan.names.insert(output.clone(), of);
            return Ok(());
        }
        let op = if fused == Fused::Rectified { op.rectified() } else { op };
        let id = self.value(output, is_constant);
        self.plan.nodes.push(Node::new(op, written, inputs.clone(), id));
        for (i, name) in written.outputs.iter().enumerate().skip(1) {
            match &further {
                Some(op) if i == 1 => {
                    let id = self.value(name, false);
                    self.plan.nodes.push(Node::new(op.clone(), written, inputs.clone(), id));
                }
                _ => {
                    let found = format!("the use of {name:?}");
                    let error = written.unsupported("the first output to be used", found);
                    self.missing.insert(name.clone(), error);
                }
            }
        }
        Ok(())
    }
}

/// Why there is no value of that name.
fn missing(missing: &HashMap<String, OnnxError>, name: &str) -> OnnxError {
    let before = OnnxError::Damaged("a node before those that it needs");
    missing.get(name).cloned().unwrap_or(before)
}

/// Requires that there are not too many things in a graph.
fn few(what: &'static str, found: usize) -> Result<(), OnnxError> {
    let error = OnnxError::TooLarge { what, most: GRAPH_NODES, found };
    (found <= GRAPH_NODES).then_some(()).ok_or(error)
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
///
/// # Errors
/// If the file is damaged.
pub fn files(bytes: &[u8]) -> Result<Vec<String>, OnnxError> {
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

/// A value as it is declared.
#[derive(Default)]
struct Declared {
    name: String,
    kind: Kind,
    /// Lengths of its axes, of which some may be open.
    axes: Vec<Option<usize>>,
}

fn declared(value: Value<'_>) -> Result<Declared, OnnxError> {
    let mut found = Declared::default();
    for field in value.message()?.fields() {
        match field? {
            (1, text) => found.name = text.text()?,
            (2, kind) => (found.kind, found.axes) = (number_type(kind, &found.name)?, axes(kind)?),
            _ => {}
        }
    }
    Ok(found)
}

/// Type → tensor type (1) → type of its numbers (1); floats where it is left open.
fn number_type(kind: Value<'_>, name: &str) -> Result<Kind, OnnxError> {
    let Some(&tensor) = within(kind, 1)?.first() else { return Ok(Kind::Float) };
    let Some(&number) = within(tensor, 1)?.first() else { return Ok(Kind::Float) };
    let number = number.numbers()?.first().copied().unwrap_or(0);
    Kind::numbered(number).map_err(|found| OnnxError::Type { name: name.into(), found })
}

/// Type → tensor type (1) → shape (2) → axes (1) → length (1).
fn axes(kind: Value<'_>) -> Result<Vec<Option<usize>>, OnnxError> {
    let mut axes = vec![];
    for tensor in within(kind, 1)? {
        for shape in within(tensor, 2)? {
            for axis in within(shape, 1)? {
                let length = within(axis, 1)?.first().map(|v| v.numbers()).transpose()?;
                let length = length.and_then(|n| usize::try_from(*n.first()?).ok());
                axes.push(length.filter(|&n| n > 0));
            }
        }
    }
    Ok(axes)
}

fn within<'a>(value: Value<'a>, wanted: u64) -> Result<Vec<Value<'a>>, OnnxError> {
    let fields = value.message()?.fields().filter(|f| !matches!(f, Ok((field, _)) if *field != wanted));
    fields.map(|field| field.map(|(_, value)| value)).collect()
}
