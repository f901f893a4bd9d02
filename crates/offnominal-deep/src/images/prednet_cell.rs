//! The layers of PredNet: each predicts the one below, and hands up what it did not expect.

use crate::layer::{Conv, Kernel};
use crate::pass::Pass;
use crate::weights::Plan;
use burn_tensor::Tensor;
use burn_tensor::activation::{relu, sigmoid, tanh};
use burn_tensor::module::max_pool2d;
use burn_tensor::ops::MaxPoolOptions;

/// What a layer remembers.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Output of its memory.
    output: Tensor<4>,
    /// State of its memory.
    state: Tensor<4>,
    /// What it did not expect: too little, then too much.
    error: Tensor<4>,
}

/// One layer.
#[derive(Debug, Clone)]
struct Level {
    /// Gates of its memory, which reads its error, its output, and the layer above.
    gates: Conv,
    /// What it expects.
    guess: Conv,
    /// What it sees of the error of the layer below; the lowest sees the image.
    seen: Option<Conv>,
    channels: usize,
}

/// All layers, the lowest first.
#[derive(Debug, Clone)]
pub struct Tower(Vec<Level>);

impl Tower {
    /// With so many channels for each layer.
    pub fn new(plan: &mut Plan, channels: &[usize]) -> Tower {
        let square = Kernel::of(3);
        let mut levels = Vec::new();
        for (i, &n) in channels.iter().enumerate() {
            let above = channels.get(i + 1).copied().unwrap_or(0);
            let read = 2 * n + n + above;
            levels.push(Level {
                gates: Conv::new(plan, &format!("level.{i}.gates"), [read, 4 * n], square),
                guess: Conv::new(plan, &format!("level.{i}.guess"), [n, n], square),
                seen: (i > 0)
                    .then(|| Conv::new(plan, &format!("level.{i}.seen"), [2 * channels[i - 1], n], square)),
                channels: n,
            });
        }
        Tower(levels)
    }

    /// What the layers remember before an episode, for so many images of these sides.
    pub fn empty(&self, n: usize, sides: [usize; 2], pass: &Pass) -> Vec<Cell> {
        let cell = |(i, level): (usize, &Level)| {
            let [rows, columns] = sides.map(|side| side >> i);
            let zeros = |channels: usize| Tensor::zeros([n, channels, rows, columns], pass.device());
            Cell {
                output: zeros(level.channels),
                state: zeros(level.channels),
                error: zeros(2 * level.channels),
            }
        };
        self.0.iter().enumerate().map(cell).collect()
    }

    /// Moves every memory on, from the top down, and returns the image that comes next.
    pub fn expect(&self, cells: &mut [Cell], pass: &Pass) -> Tensor<4> {
        for i in (0..cells.len()).rev() {
            let above = cells.get(i + 1).map(|cell| double(cell.output.clone()));
            let cell = &cells[i];
            let read: Vec<_> = [cell.error.clone(), cell.output.clone()].into_iter().chain(above).collect();
            let gates = self.0[i].gates.forward(Tensor::cat(read, 1), pass);
            let [input, forget, output, new]: [Tensor<4>; 4] =
                gates.chunk(4, 1).try_into().expect("four gates");
            let state = sigmoid(forget + 1.0) * cell.state.clone() + sigmoid(input) * tanh(new);
            cells[i].output = sigmoid(output) * tanh(state.clone());
            cells[i].state = state;
        }
        self.guess(cells, 0, pass)
    }

    /// What a layer expects; of the image not more than white.
    fn guess(&self, cells: &[Cell], i: usize, pass: &Pass) -> Tensor<4> {
        let guess = relu(self.0[i].guess.forward(cells[i].output.clone(), pass));
        // min(x, 1) = 1 − relu(1 − x).
        if i == 0 { relu(guess.neg() + 1.0).neg() + 1.0 } else { guess }
    }

    /// Takes in the image that came, from the bottom up; `expected` is what [`Tower::expect`] returned.
    pub fn take(&self, cells: &mut [Cell], expected: Tensor<4>, image: Tensor<4>, pass: &Pass) {
        let (mut guess, mut seen) = (expected, image);
        for i in 0..cells.len() {
            if let Some(conv) = &self.0[i].seen {
                let below = relu(conv.forward(cells[i - 1].error.clone(), pass));
                seen = max_pool2d(below, MaxPoolOptions::new([2; 2]).with_stride([2; 2]));
                guess = self.guess(cells, i, pass);
            }
            let parts = vec![relu(seen.clone() - guess.clone()), relu(guess.clone() - seen.clone())];
            cells[i].error = Tensor::cat(parts, 1);
        }
    }

    /// Numbers that a step keeps, for images of these sides.
    pub fn floats(&self, sides: [usize; 2]) -> usize {
        // The input of the gates (3 and what is above), the gates and what they are made of (12), guess and error (6).
        let level = |(i, level): (usize, &Level)| ((sides[0] * sides[1]) >> (2 * i)) * 24 * level.channels;
        self.0.iter().enumerate().map(level).sum()
    }
}

/// Twice as many rows and columns.
fn double(x: Tensor<4>) -> Tensor<4> {
    let [n, channels, rows, columns] = x.dims();
    let wide: Tensor<3> = x.reshape([n * channels * rows, columns, 1]).repeat_dim(2, 2);
    let high: Tensor<3> = wide.reshape([n * channels * rows, 1, 2 * columns]).repeat_dim(1, 2);
    high.reshape([n, channels, 2 * rows, 2 * columns])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::weights::{numbers, tensor};

    #[test]
    fn doubling_repeats_rows_and_columns() {
        let x = tensor(vec![1.0, 2.0, 3.0, 4.0], [1, 1, 2, 2], &device::cpu());
        let want = [1., 1., 2., 2., 1., 1., 2., 2., 3., 3., 4., 4., 3., 3., 4., 4.];
        assert_eq!(numbers(double(x)), want);
    }
}
