//! Convolutions on burn's tape: what they were made of is kept, and gradients are the other sweeps.

use super::tensor::{Shape, channels};
use crate::flex::Taped;
use burn_dispatch::backends::Flex;
use burn_dispatch::backends::autodiff::NodeId;
use burn_dispatch::backends::autodiff::checkpoint::base::Checkpointer;
use burn_dispatch::backends::autodiff::checkpoint::strategy::NoCheckpointing;
use burn_dispatch::backends::autodiff::grads::Gradients;
use burn_dispatch::backends::autodiff::ops::{Backward, Ops, OpsKind};
use burn_dispatch::backends::flex::FlexTensor;

/// A convolution, or a transposed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the input of a convolution to its output.
    Forward(Shape),
    /// The other way.
    Backward(Shape),
}

impl Way {
    /// Rows and columns of what comes out.
    pub fn outputs(self) -> [usize; 2] {
        match self {
            Way::Forward(shape) => shape.outputs,
            Way::Backward(shape) => shape.axes.map(|axis| axis.size),
        }
    }

    /// What comes out.
    pub fn apply(self, x: &FlexTensor, kernel: &FlexTensor, bias: Option<&FlexTensor>) -> FlexTensor {
        match self {
            Way::Forward(shape) => shape.output(x, kernel, bias),
            Way::Backward(shape) => shape.input(x, kernel, bias),
        }
    }

    /// The gradient of x.
    fn input(self, dy: &FlexTensor, kernel: &FlexTensor) -> FlexTensor {
        match self {
            Way::Forward(shape) => shape.input(dy, kernel, None),
            Way::Backward(shape) => shape.output(dy, kernel, None),
        }
    }

    /// The gradient of the kernel.
    fn kernel(self, x: &FlexTensor, dy: &FlexTensor) -> FlexTensor {
        match self {
            Way::Forward(shape) => shape.kernel(x, dy),
            Way::Backward(shape) => shape.kernel(dy, x),
        }
    }
}

/// The step back, with the nodes of x and of the kernel.
type State = (NodeId, NodeId, Way);

#[derive(Debug)]
struct Bare;

#[derive(Debug)]
struct Biased;

impl Backward<Flex, 2> for Bare {
    type State = State;

    fn backward(self, ops: Ops<State, 2>, gradients: &mut Gradients, kept: &mut Checkpointer) {
        let dy = gradients.consume::<Flex>(&ops.node);
        let [x, kernel] = ops.parents.map(|parent| parent.map(|node| node.id));
        back(ops.state, [x, kernel], &dy, gradients, kept);
    }
}

impl Backward<Flex, 3> for Biased {
    type State = State;

    fn backward(self, ops: Ops<State, 3>, gradients: &mut Gradients, kept: &mut Checkpointer) {
        let dy = gradients.consume::<Flex>(&ops.node);
        let [x, kernel, bias] = ops.parents.map(|parent| parent.map(|node| node.id));
        back(ops.state, [x, kernel], &dy, gradients, kept);
        if let Some(bias) = bias {
            gradients.register::<Flex>(bias, channels(&dy));
        }
    }
}

/// The gradients that are wanted.
fn back(
    (x, kernel, way): State,
    wanted: [Option<NodeId>; 2],
    dy: &FlexTensor,
    gradients: &mut Gradients,
    kept: &mut Checkpointer,
) {
    let x: FlexTensor = kept.retrieve_node_output(x);
    let kernel: FlexTensor = kept.retrieve_node_output(kernel);
    if let Some(id) = wanted[0] {
        gradients.register::<Flex>(id, way.input(dy, &kernel));
    }
    if let Some(id) = wanted[1] {
        gradients.register::<Flex>(id, way.kernel(&x, dy));
    }
}

/// Convolves, and records how.
pub fn apply(way: Way, x: Taped, kernel: Taped, bias: Option<Taped>) -> Taped {
    let y = way.apply(x.primitive(), kernel.primitive(), bias.as_ref().map(Taped::primitive));
    // The two types differ in the number of nodes.
    match bias {
        None => {
            let step = Bare.prepare::<NoCheckpointing>([x.node(), kernel.node()]);
            match step.compute_bound().stateful() {
                OpsKind::UnTracked(step) => step.finish(y),
                OpsKind::Tracked(mut step) => {
                    let state = (step.checkpoint(&x), step.checkpoint(&kernel), way);
                    step.finish(state, y)
                }
            }
        }
        Some(bias) => {
            let step = Biased.prepare::<NoCheckpointing>([x.node(), kernel.node(), bias.node()]);
            match step.compute_bound().stateful() {
                OpsKind::UnTracked(step) => step.finish(y),
                OpsKind::Tracked(mut step) => {
                    let state = (step.checkpoint(&x), step.checkpoint(&kernel), way);
                    step.finish(state, y)
                }
            }
        }
    }
}
