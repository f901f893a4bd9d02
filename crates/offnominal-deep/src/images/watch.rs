//! A fitted network that watches one episode at a time.

use super::frames::{Commands, Scaling, Shrink};
use super::network::{Error, Network, NetworkRecipe, Prediction, Step, View};
use crate::pass::{Mode, Pass};
use crate::weights::{Weights, numbers, tensor};
use burn_tensor::Tensor;
use offnominal_core::prelude::*;
use offnominal_nets::Tensors;

/// Fields of a heat map along each side, at most.
const GRID: usize = 16;

/// A monitor that can be kept as a file.
pub trait TrainedMonitor: ImageScorer {
    /// Everything that [`super::load`] needs.
    fn to_tensors(&self) -> Tensors;

    /// Rows and columns of the images that it watches.
    fn size(&self) -> [usize; 2];

    /// Numbers per action.
    fn act_width(&self) -> usize;

    /// How many numbers were learned.
    fn n_learned(&self) -> usize;
}

/// A fitted network of a recipe.
#[derive(Debug, Clone)]
pub struct Watch<R: NetworkRecipe> {
    pub(super) recipe: R,
    pub(super) weights: Weights,
    pub(super) scaling: Scaling,
    pub(super) commands: Commands,
    network: R::Network,
    view: View,
    /// Rows and columns of the videos' images.
    size: [usize; 2],
    shrink: Shrink,
    memory: Option<<R::Network as Network>::Memory>,
    /// Sum of the errors in each field of the grid.
    heat: Vec<f32>,
    /// In the videos' size.
    expected: Vec<u8>,
}

impl<R: NetworkRecipe> Watch<R> {
    pub(super) fn new(
        recipe: R,
        network: R::Network,
        weights: Weights,
        scaling: Scaling,
        commands: Commands,
        view: View,
        size: [usize; 2],
    ) -> Watch<R> {
        let shrink = Shrink::new(size, view.sides());
        let (heat, expected, memory) = (Vec::new(), Vec::new(), None);
        Watch { recipe, weights, scaling, commands, network, view, size, shrink, memory, heat, expected }
    }

    fn image(&self, rgb: &[u8]) -> Tensor<4> {
        let [rows, columns] = self.size;
        assert_eq!(rgb.len(), 3 * rows * columns, "expected an image of {columns} x {rows} pixels");
        let mut out = Vec::with_capacity(self.view.len());
        self.scaling.put(&self.shrink.apply(rgb), &mut out);
        tensor(out, [1, 3, self.view.rows, self.view.columns], self.weights.device())
    }

    fn command(&self, action: &[f32]) -> Tensor<2> {
        assert_eq!(action.len(), self.view.act_width, "expected another number of actions");
        let mut out = Vec::with_capacity(action.len());
        self.commands.put(action, &mut out);
        tensor(out, [1, action.len()], self.weights.device())
    }

    /// The mean error of a pixel, in parts of white; on the way the errors of each field of the grid.
    fn compare(&mut self, expected: &[f32], seen: &[f32]) -> f64 {
        let (unit, View { rows, columns, .. }) = (self.scaling.unit, self.view);
        let [high, wide] = grid(self.view);
        self.heat.clear();
        self.heat.resize(high * wide, 0.0);
        for (i, (a, b)) in expected.iter().zip(seen).enumerate() {
            let difference = (a - b) * unit;
            let error = match R::Network::ERROR {
                Error::Squared => difference * difference,
                Error::Absolute => difference.abs(),
            };
            let (row, column) = (i / columns % rows, i % columns);
            self.heat[row * high / rows * wide + column * wide / columns] += error;
        }
        self.heat.iter().map(|&e| f64::from(e)).sum::<f64>() / expected.len() as f64
    }
}

/// Rows and columns of the heat map.
fn grid(view: View) -> [usize; 2] {
    view.sides().map(|side| side.min(GRID))
}

impl<R: NetworkRecipe> ImageScorer for Watch<R> {
    fn reset(&mut self) {
        self.memory = None;
    }

    fn score(&mut self, transition: FrameTransition<'_>) -> f64 {
        let step = Step {
            before: self.image(transition.frame),
            action: self.command(transition.action),
            after: self.image(transition.next_frame),
        };
        let mut pass = Pass::new(&self.weights, Mode::Eval);
        let (Prediction { expected, seen }, memory) = self.network.see(self.memory.take(), step, &mut pass);
        self.memory = Some(memory);
        let (expected, seen) = (numbers(expected), numbers(seen));
        self.shrink.undo(&self.scaling.image(&expected), self.size, &mut self.expected);
        let score = self.compare(&expected, &seen);
        // An image so strange that the numbers overflow is the strangest there is.
        if score.is_finite() { score } else { f64::MAX }
    }

    fn heat(&self) -> Option<Heat> {
        let [rows, columns] = grid(self.view);
        (!self.heat.is_empty()).then(|| Heat::new(rows, columns, self.heat.clone()))
    }

    fn expected(&self) -> Option<&[u8]> {
        (!self.expected.is_empty()).then_some(&self.expected)
    }
}

impl<R: NetworkRecipe> TrainedMonitor for Watch<R> {
    fn to_tensors(&self) -> Tensors {
        self.tensors()
    }

    fn size(&self) -> [usize; 2] {
        self.size
    }

    fn act_width(&self) -> usize {
        self.view.act_width
    }

    fn n_learned(&self) -> usize {
        self.weights.n_learned()
    }
}
