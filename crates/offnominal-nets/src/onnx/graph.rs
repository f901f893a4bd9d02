//! A graph: values, and nodes that make values of values.
//!
//! What is the same in every run is shared by all copies of a graph; a copy has its own values.

use super::OnnxError;
use super::budget::{Budget, Use, len};
use super::convolution::Ready;
use super::node::{Inputs, Written};
use super::ops::Op;
use super::tensor::Tensor;
use offnominal_core::Rng;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A graph with the values of its last run, so that the next one needs no memory.
#[derive(Debug, Clone)]
pub struct Graph {
    plan: Arc<Plan>,
    for_what: Use,
    /// The values that are no constants; the first one is the input.
    values: Vec<Tensor>,
    /// What each node keeps from run to run.
    kept: Vec<Option<Arc<Ready>>>,
    budget: Budget,
}

/// What is the same in every run.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    pub(super) nodes: Vec<Node>,
    pub(super) constants: Vec<Tensor>,
    /// The input's axes, of which some may be open.
    pub(super) axes: Vec<Option<usize>>,
    /// Constants come first, then the input, then what nodes make.
    pub(super) outputs: Vec<usize>,
    pub(super) names: HashMap<String, usize>,
}

/// A node: an operator on values.
#[derive(Debug, Clone)]
pub(super) struct Node {
    op: Op,
    operator: String,
    name: String,
    inputs: Vec<Option<usize>>,
    output: usize,
    /// Values that no later node reads.
    last: Vec<usize>,
    /// What the first run prepared, for all copies.
    ready: OnceLock<Arc<Ready>>,
}

impl Graph {
    /// A graph that is computed for something, with its input as declared.
    pub(super) fn new(plan: Plan, input: Tensor, for_what: Use) -> Graph {
        let made = plan.nodes.iter().map(|node| node.output + 1 - plan.constants.len()).max().unwrap_or(0);
        let mut values = vec![Tensor::default(); made.max(1)];
        values[0] = input;
        let kept = vec![None; plan.nodes.len()];
        let mut graph = Graph { plan: Arc::new(plan), for_what, values, kept, budget: Budget::of(for_what) };
        graph.find_last();
        graph
    }

    /// Finds after which node each value is read no more.
    fn find_last(&mut self) {
        let plan = Arc::make_mut(&mut self.plan);
        let mut is_read: Vec<bool> = vec![false; plan.constants.len() + self.values.len()];
        plan.outputs.iter().for_each(|&id| is_read[id] = true);
        for node in plan.nodes.iter_mut().rev() {
            let mut last: Vec<usize> = node.inputs.iter().flatten().copied().chain([node.output]).collect();
            last.sort_unstable();
            last.dedup();
            // The input is fed before every run.
            last.retain(|&id| id > plan.constants.len() && !std::mem::replace(&mut is_read[id], true));
            node.last = last;
        }
    }

    /// The input as it is declared or was fed last, without its numbers if it was not.
    pub fn input(&self) -> &Tensor {
        &self.values[0]
    }

    /// The input's axes, of which some may be open.
    pub fn axes(&self) -> &[Option<usize>] {
        &self.plan.axes
    }

    /// Gives lengths to all axes of the input.
    ///
    /// # Errors
    /// If they are not those that are declared.
    pub fn reshape(&mut self, shape: &[usize]) -> Result<(), OnnxError> {
        let axes = &self.plan.axes;
        let fits =
            axes.len() == shape.len() && axes.iter().zip(shape).all(|(a, n)| a.is_none_or(|a| a == *n));
        if !fits {
            let [expected, found] = [format!("{axes:?}"), format!("{shape:?}")];
            return Err(OnnxError::Input { expected, found });
        }
        self.values[0].shape = shape.to_vec();
        Ok(())
    }

    /// The same graph with a further output, by the name of a value, or of a node for its first value.
    ///
    /// # Errors
    /// If there is none; the error names the nearest ones.
    pub fn with_output(mut self, name: &str) -> Result<Graph, OnnxError> {
        let plan = Arc::make_mut(&mut self.plan);
        let of_node = || plan.nodes.iter().find(|node| node.name == name).map(|node| node.output);
        let found = plan.names.get(name).copied().or_else(of_node);
        plan.outputs.push(found.ok_or_else(|| OnnxError::Name { found: name.into() })?);
        self.find_last();
        Ok(self)
    }

    /// The names of all values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.plan.names.keys().map(String::as_str)
    }

    /// An output of the last run.
    pub fn output(&self, i: usize) -> &Tensor {
        Inputs::new(&self.plan.constants, &self.values, &[]).value(self.plan.outputs[i])
    }

    /// How many outputs there are.
    pub fn n_outputs(&self) -> usize {
        self.plan.outputs.len()
    }

    /// Whether the first output is the value of that operator.
    pub fn ends_with(&self, operator: &str) -> bool {
        self.plan.nodes.iter().any(|n| n.output == self.plan.outputs[0] && n.operator == operator)
    }

    /// The random numbers from which dropped units are drawn in the next runs; without, none is dropped.
    pub fn draw_from(&mut self, rng: Option<Rng>) {
        self.budget.rng = rng;
    }

    /// Computes the outputs for an input; the first of them.
    ///
    /// # Errors
    /// If shapes do not fit, or it needs more memory or time than it may; if it succeeds once, it does always.
    pub fn run(&mut self, input: &[f32]) -> Result<&Tensor, OnnxError> {
        let Graph { plan, values, kept, budget, for_what } = self;
        let given = &mut values[0];
        if input.len() != len_of(&given.shape) {
            let [expected, found] = [len_of(&given.shape), input.len()].map(|n| format!("{n} numbers"));
            return Err(OnnxError::Input { expected, found });
        }
        given.data.clear();
        given.data.extend(input.iter().map(|&x| given.kind.rounded(x)));
        budget.renew(given.data.len());
        let (n, constants) = (plan.constants.len(), &plan.constants);
        for (node, kept) in plan.nodes.iter().zip(kept) {
            let mut out = std::mem::take(&mut values[node.output - n]);
            let inputs = Inputs::new(constants, values, &node.inputs);
            let done = node.op.run(inputs, &mut out, (kept, &node.ready), budget);
            done.map_err(|error| node.named(error, inputs))?;
            values[node.output - n] = out;
            if *for_what == Use::Image {
                node.last.iter().for_each(|&id| budget.give_back(&mut values[id - n].data));
            }
        }
        Ok(self.output(0))
    }
}

fn len_of(shape: &[usize]) -> usize {
    len(shape).unwrap_or(usize::MAX)
}

impl Node {
    pub(super) fn new(op: Op, written: &Written, inputs: Vec<Option<usize>>, output: usize) -> Node {
        let (operator, name) = (written.operator.clone(), written.name.clone());
        Node { op, operator, name, inputs, output, last: vec![], ready: OnceLock::new() }
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
