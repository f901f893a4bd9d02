//! A graph that is put together here, of what our own networks consist of.

use super::budget::Use;
use super::convolution::Convolution;
use super::does::Does;
use super::graph::{Graph, Node, Plan};
use super::node::Written;
use super::ops::{Of, Op};
use super::tensor::Tensor;
use super::window::Window;

/// A value of a graph that is put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Id(Place);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Constant(usize),
    Value(usize),
}

/// How a square window that keeps the size goes over an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    /// Pixels from place to place.
    pub stride: usize,
    /// Pixels from tap to tap.
    pub dilation: usize,
}

impl Default for Stride {
    fn default() -> Stride {
        Stride { stride: 1, dilation: 1 }
    }
}

/// A graph in the making.
#[derive(Debug, Clone)]
pub struct Builder {
    constants: Vec<Tensor>,
    axes: Vec<Option<usize>>,
    nodes: Vec<(Does, Vec<Id>)>,
}

impl Builder {
    /// Of images `[images, planes, rows, columns]`, where 0 is a length that is open; and the images.
    pub fn new(shape: &[usize]) -> (Builder, Id) {
        let axes = shape.iter().map(|&n| (n > 0).then_some(n)).collect();
        (Builder { constants: vec![], axes, nodes: vec![] }, Id(Place::Value(0)))
    }

    fn constant(&mut self, shape: &[usize], data: &[f32]) -> Id {
        assert_eq!(shape.iter().product::<usize>(), data.len(), "shape of weights");
        self.constants.push(Tensor { shape: shape.to_vec(), data: data.to_vec(), ..Tensor::default() });
        Id(Place::Constant(self.constants.len() - 1))
    }

    fn node(&mut self, does: Does, inputs: Vec<Id>) -> Id {
        self.nodes.push((does, inputs));
        Id(Place::Value(self.nodes.len()))
    }

    /// A convolution by square weights `[out, in, side, side]` that keeps the size but for its stride; without what is
    /// negative if it is rectified.
    ///
    /// # Panics
    /// If there are not as many weights.
    pub fn convolution(
        &mut self,
        x: Id,
        shape: [usize; 4],
        weights: &[f32],
        bias: Option<&[f32]>,
        Stride { stride, dilation }: Stride,
        is_rectified: bool,
    ) -> Id {
        let mut inputs = vec![x, self.constant(&shape, weights)];
        inputs.extend(bias.map(|bias| self.constant(&[shape[0]], bias)));
        let window = Window::around(shape[3], stride, dilation);
        self.node(Does::Convolution(Convolution { window, is_transposed: false, is_rectified }), inputs)
    }

    /// The positive part of a sum.
    pub fn rectified_sum(&mut self, a: Id, b: Id) -> Id {
        use super::arithmetic::pairs;
        let sum = Does::Combine(|y, x| pairs(y, x, |a, b| if a + b < 0.0 { 0.0 } else { a + b }));
        self.node(sum, vec![a, b])
    }

    /// Planes one after the other.
    pub fn joined(&mut self, all: Vec<Id>) -> Id {
        self.node(Does::Concat(1), all)
    }

    /// Means over a grid of so many bins a side.
    pub fn bins(&mut self, x: Id, n: usize) -> Id {
        self.node(Does::Bins(n), vec![x])
    }

    /// In the size of another value, bilinearly.
    pub fn resized(&mut self, x: Id, like: Id) -> Id {
        self.node(Does::ResizeLike, vec![x, like])
    }

    /// Units dropped with this probability, if any are dropped.
    pub fn dropped(&mut self, x: Id, probability: f64) -> Id {
        self.node(Does::Drop(probability), vec![x])
    }

    /// The graph with these outputs.
    pub fn build(self, outputs: &[Id], for_what: Use) -> Graph {
        let n = self.constants.len();
        let place = |id: Id| match id.0 {
            Place::Constant(i) => i,
            Place::Value(i) => n + i,
        };
        let written = Written::default();
        let node = |(i, (does, inputs)): (usize, (Does, Vec<Id>))| {
            let inputs = inputs.into_iter().map(|id| Some(place(id))).collect();
            Node::new(Op { does, of: Of::Reals }, &written, inputs, n + i + 1)
        };
        let nodes = self.nodes.into_iter().enumerate().map(node).collect();
        let shape = self.axes.iter().map(|n| n.unwrap_or(1)).collect();
        let outputs = outputs.iter().map(|&id| place(id)).collect();
        let plan = Plan { nodes, constants: self.constants, axes: self.axes, outputs, ..Plan::default() };
        Graph::new(plan, Tensor { shape, ..Tensor::default() }, for_what)
    }
}
