//! Layers without places: dense ones, and those that remember.
//!
//! Names and layouts are PyTorch's, so that a reference implementation reads the same files.

use crate::pass::Pass;
use crate::weights::{First, Key, Plan};
use burn_tensor::Tensor;
use burn_tensor::activation::{relu, sigmoid, tanh};

/// y = W x + b.
#[derive(Debug, Clone)]
pub struct Dense {
    weight: Key,
    bias: Key,
}

impl Dense {
    /// For units that are cut at zero (He et al., ICCV 2015).
    pub fn new(plan: &mut Plan, name: &str, sizes: [usize; 2]) -> Dense {
        Dense::with_gain(plan, name, sizes, 2.0_f64.sqrt())
    }

    /// First weights have a deviation of the gain over the root of the number of inputs.
    pub fn with_gain(plan: &mut Plan, name: &str, [from, to]: [usize; 2], gain: f64) -> Dense {
        let first = First::Normal(gain / (from as f64).sqrt());
        let weight = plan.learned(format!("{name}.weight"), &[to, from], first);
        Dense { weight, bias: plan.learned(format!("{name}.bias"), &[to], First::Zeros) }
    }

    /// Of a batch, one row each.
    pub fn forward(&self, x: Tensor<2>, pass: &Pass) -> Tensor<2> {
        x.matmul(pass.matrix(self.weight).transpose()) + pass.vector(self.bias).unsqueeze()
    }
}

/// Dense layers with cut units between them.
#[derive(Debug, Clone)]
pub struct Mlp(Vec<Dense>);

impl Mlp {
    /// Through these sizes, the input's first.
    pub fn new(plan: &mut Plan, name: &str, sizes: &[usize]) -> Mlp {
        let layer =
            |(i, pair): (usize, &[usize])| Dense::new(plan, &format!("{name}.{i}"), [pair[0], pair[1]]);
        Mlp(sizes.windows(2).enumerate().map(layer).collect())
    }

    /// Of a batch; the last layer's output is as it is.
    pub fn forward(&self, x: Tensor<2>, pass: &Pass) -> Tensor<2> {
        let (last, rest) = self.0.split_last().expect("at least one layer");
        let x = rest.iter().fold(x, |x, layer| relu(layer.forward(x, pass)));
        last.forward(x, pass)
    }
}

/// What every gate reads: the input and the memory.
#[derive(Debug, Clone)]
struct Gates {
    input: Dense,
    memory: Dense,
}

impl Gates {
    fn new(plan: &mut Plan, name: &str, [from, size]: [usize; 2], n: usize) -> Gates {
        let input = Dense::with_gain(plan, &format!("{name}.input"), [from, n * size], 1.0);
        Gates { input, memory: Dense::with_gain(plan, &format!("{name}.memory"), [size, n * size], 1.0) }
    }
}

/// Long short-term memory (Hochreiter and Schmidhuber, 1997), whose forget gates begin open.
#[derive(Debug, Clone)]
pub struct Lstm(Gates);

/// Output and cell of an [`Lstm`].
pub type LstmMemory = (Tensor<2>, Tensor<2>);

impl Lstm {
    /// From inputs to so many units.
    pub fn new(plan: &mut Plan, name: &str, sizes: [usize; 2]) -> Lstm {
        Lstm(Gates::new(plan, name, sizes, 4))
    }

    /// One step.
    pub fn forward(&self, x: Tensor<2>, (h, c): LstmMemory, pass: &Pass) -> LstmMemory {
        let gates = self.0.input.forward(x, pass) + self.0.memory.forward(h, pass);
        let [i, f, g, o]: [Tensor<2>; 4] = gates.chunk(4, 1).try_into().expect("four gates");
        let c = sigmoid(f + 1.0) * c + sigmoid(i) * tanh(g);
        (sigmoid(o) * tanh(c.clone()), c)
    }
}

/// A gated recurrent unit (Cho et al., EMNLP 2014).
#[derive(Debug, Clone)]
pub struct Gru(Gates);

impl Gru {
    /// From inputs to so many units.
    pub fn new(plan: &mut Plan, name: &str, sizes: [usize; 2]) -> Gru {
        Gru(Gates::new(plan, name, sizes, 3))
    }

    /// One step.
    pub fn forward(&self, x: Tensor<2>, h: Tensor<2>, pass: &Pass) -> Tensor<2> {
        let chunks = |x: Tensor<2>| -> [Tensor<2>; 3] { x.chunk(3, 1).try_into().expect("three gates") };
        let [reset, update, new] = chunks(self.0.input.forward(x, pass));
        let [reset_h, update_h, new_h] = chunks(self.0.memory.forward(h.clone(), pass));
        let (reset, update) = (sigmoid(reset + reset_h), sigmoid(update + update_h));
        let new = tanh(new + reset * new_h);
        new.clone() + update * (h - new)
    }
}
