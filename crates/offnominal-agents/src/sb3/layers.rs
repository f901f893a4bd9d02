//! From the tensors of a policy to a chain of dense layers in our order.

use super::Sb3Error;
use super::tensors::{Tensor, Tensors};
use offnominal_nets::{Activation, Mlp};

/// More layers than anybody's policy has.
const MOST_LAYERS: usize = 100;

/// Most actions of a policy whose output is cut: the cut takes twice their square of weights.
const MOST_CUT: usize = 4096;

/// A chain of dense layers, rectified but for the last.
pub(super) struct Layers {
    /// Each layer's weights `[inputs, outputs]`, biases, and number of inputs.
    layers: Vec<(Vec<f32>, Vec<f32>, usize)>,
}

impl Layers {
    /// The layers `<prefix>0`, `<prefix>2`, … of a `torch.nn.Sequential`; none if there is no such tensor.
    pub(super) fn sequence(tensors: &mut Tensors<'_>, prefix: &str) -> Result<Layers, Sb3Error> {
        let mut found = Layers { layers: vec![] };
        while tensors.contains(&format!("{prefix}{}.weight", 2 * found.layers.len())) {
            if found.layers.len() == MOST_LAYERS {
                return Err(Sb3Error::unsupported(prefix, format!("at most {MOST_LAYERS} layers"), "more"));
            }
            found.add(tensors, &format!("{prefix}{}", 2 * found.layers.len()))?;
        }
        Ok(found)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Numbers that the first layer reads.
    pub(super) fn inputs(&self) -> usize {
        self.layers.first().map_or(0, |(_, _, inputs)| *inputs)
    }

    /// Appends the layer of that name.
    pub(super) fn add(&mut self, tensors: &mut Tensors<'_>, name: &str) -> Result<(), Sb3Error> {
        let mut part = |part: &str| tensors.read(&format!("{name}.{part}"));
        let (weight, bias) = (part("weight")?, part("bias")?);
        let (Some(weight), Some(bias)) = (weight, bias) else {
            return Err(misfit(name, "one of them".into()));
        };
        self.append(name, &weight, bias)
    }

    /// Appends a layer of these weights `[outputs, inputs]` and biases.
    fn append(&mut self, name: &str, weight: &Tensor, bias: Tensor) -> Result<(), Sb3Error> {
        let wrong = |found| misfit(name, found);
        let &[outputs, inputs] = &weight.shape[..] else {
            return Err(wrong(format!("shape {:?}", weight.shape)));
        };
        let before = self.layers.last().map_or(inputs, |(_, bias, _)| bias.len());
        if bias.shape != [outputs] || inputs != before || inputs == 0 || outputs == 0 {
            return Err(wrong(format!("{:?} and {:?} after {before} units", weight.shape, bias.shape)));
        }
        if !weight.values.iter().chain(&bias.values).all(|v| v.is_finite()) {
            return Err(wrong("numbers that are not finite".into()));
        }
        self.layers.push((transposed(&weight.values, inputs), bias.values, inputs));
        Ok(())
    }

    /// Cuts the output at ±`limit`, by two more layers that are exact: y ↦ max(0, y + l) − max(0, y − l) − l.
    pub(super) fn clamp(&mut self, limit: f32) -> Result<(), Sb3Error> {
        let Some((weights, bias, inputs)) = self.layers.pop() else { return Ok(()) };
        let n = bias.len();
        if n > MOST_CUT {
            return Err(Sb3Error::unsupported("actor.mu.0", format!("at most {MOST_CUT} actions"), n));
        }
        let wide = weights.chunks_exact(n).flat_map(|row| [row, row].concat()).collect();
        let shifted = bias.iter().map(|b| b + limit).chain(bias.iter().map(|b| b - limit)).collect();
        self.layers.push((wide, shifted, inputs));
        let mut back = vec![0.0; 2 * n * n];
        for i in 0..n {
            (back[i * n + i], back[(n + i) * n + i]) = (1.0, -1.0);
        }
        self.layers.push((back, vec![-limit; n], 2 * n));
        Ok(())
    }

    /// The network and its parameters.
    pub(super) fn network(self) -> (Mlp, Vec<f32>) {
        let inputs = self.layers.iter().map(|(_, _, inputs)| *inputs);
        let last = self.layers.last().map_or(0, |(_, bias, _)| bias.len());
        let sizes: Vec<usize> = inputs.chain([last]).collect();
        let params =
            self.layers.into_iter().flat_map(|(weights, bias, _)| [weights, bias].concat()).collect();
        (Mlp::new(&sizes, Activation::Relu), params)
    }
}

fn misfit(name: &str, found: String) -> Sb3Error {
    Sb3Error::unsupported(name, "weights and biases that fit together", found)
}

/// `[outputs, inputs]` as `[inputs, outputs]`.
fn transposed(values: &[f32], inputs: usize) -> Vec<f32> {
    (0..inputs).flat_map(|i| values.iter().skip(i).step_by(inputs).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_output_is_exact() {
        let tensor = |shape: &[usize], values: &[f32]| Tensor { shape: shape.into(), values: values.into() };
        let mut layers = Layers { layers: vec![] };
        layers.append("mu.0", &tensor(&[2, 1], &[1.0, -3.0]), tensor(&[2], &[0.25, 0.0])).unwrap();
        layers.clamp(2.0).unwrap();
        let (net, params) = layers.network();
        let mut work = net.workspace(1);
        for (x, want) in [(0.5, [0.75, -1.5]), (4.0, [2.0, -2.0]), (-1.0, [-0.75, 2.0])] {
            net.forward(&params, &[x], &mut work);
            assert_eq!(work.output(), want);
        }
    }
}
