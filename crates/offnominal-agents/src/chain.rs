//! Layers that are read one after another from the tensors of a file.

use crate::network::{Activation, Kind, Layer};
use crate::pytorch::FileError;
use crate::pytorch::tensors::{Tensor, Tensors};

/// More layers than anybody's policy has.
pub(crate) const MOST_LAYERS: usize = 100;

/// Layers with their numbers.
#[derive(Default)]
pub(crate) struct Chain {
    pub(crate) layers: Vec<Layer>,
    pub(crate) params: Vec<Vec<f32>>,
}

impl Chain {
    fn push(
        &mut self,
        name: &str,
        kind: Kind,
        activation: Activation,
        params: Vec<f32>,
    ) -> Result<(), FileError> {
        let before = self.layers.last().map_or(kind.inputs(), |layer| layer.kind.outputs());
        if kind.inputs() != before || before.is_none() {
            return Err(misfit(name, format!("{kind:?} after {} units", before.unwrap_or(0))));
        }
        if !params.iter().all(|x| x.is_finite()) {
            return Err(misfit(name, "numbers that are not finite"));
        }
        self.layers.push(Layer { kind, activation });
        self.params.push(params);
        Ok(())
    }

    /// The dense layer of that name.
    pub(crate) fn dense(
        &mut self,
        tensors: &mut Tensors<'_>,
        name: &str,
        activation: Activation,
    ) -> Result<(), FileError> {
        let (weight, bias) =
            (tensors.read(&format!("{name}.weight"))?, tensors.read(&format!("{name}.bias"))?);
        let (Some(weight), Some(bias)) = (weight, bias) else {
            return Err(misfit(name, "one of them"));
        };
        self.of_weights(name, &weight, &bias.values, activation)
    }

    /// A dense layer of weights `[outputs, inputs]` and biases.
    pub(crate) fn of_weights(
        &mut self,
        name: &str,
        weight: &Tensor,
        bias: &[f32],
        activation: Activation,
    ) -> Result<(), FileError> {
        let &[outputs, inputs] = &weight.shape[..] else {
            return Err(misfit(name, format!("shape {:?}", weight.shape)));
        };
        if bias.len() != outputs || outputs == 0 || inputs == 0 {
            return Err(misfit(name, format!("{:?} and {}", weight.shape, bias.len())));
        }
        let params = [&transposed(&weight.values, inputs)[..], bias].concat();
        self.push(name, Kind::Dense { inputs, outputs }, activation, params)
    }

    /// The dense layers `<prefix>0`, `<prefix>2`, … of a `torch.nn.Sequential`, each with the function but the last, which
    /// has `last`; how many there are.
    pub(crate) fn sequence(
        &mut self,
        tensors: &mut Tensors<'_>,
        prefix: &str,
        activation: Activation,
        last: Activation,
    ) -> Result<usize, FileError> {
        let mut n = 0;
        while tensors.contains(&format!("{prefix}{}.weight", 2 * n)) {
            if n == MOST_LAYERS {
                return Err(FileError::unsupported(prefix, format!("at most {MOST_LAYERS} layers"), "more"));
            }
            self.dense(tensors, &format!("{prefix}{}", 2 * n), activation)?;
            n += 1;
        }
        self.expect_no_others(tensors, prefix, n)?;
        if let Some(layer) = self.layers.last_mut().filter(|_| n > 0) {
            layer.activation = last;
        }
        Ok(n)
    }

    /// A `Sequential` with something else among its layers, such as a normalisation, is not understood.
    fn expect_no_others(&self, tensors: &Tensors<'_>, prefix: &str, n: usize) -> Result<(), FileError> {
        let is_layer = |name: &str| {
            let place =
                name.strip_prefix(prefix).and_then(|rest| rest.split('.').next()?.parse::<usize>().ok());
            place.is_some_and(|place| place % 2 == 0 && place < 2 * n)
        };
        match tensors.names().find(|name| name.starts_with(prefix) && !is_layer(name)) {
            Some(other) => {
                Err(FileError::unsupported(prefix, "dense layers with a function between each two", other))
            }
            None => Ok(()),
        }
    }

    /// A square convolution without padding of that name, on an image of rows and columns.
    pub(crate) fn convolution(
        &mut self,
        tensors: &mut Tensors<'_>,
        name: &str,
        [height, columns]: [usize; 2],
        [kernel, stride]: [usize; 2],
    ) -> Result<[usize; 2], FileError> {
        let (weight, bias) =
            (tensors.read(&format!("{name}.weight"))?, tensors.read(&format!("{name}.bias"))?);
        let (Some(weight), Some(bias)) = (weight, bias) else {
            return Err(misfit(name, "one of them"));
        };
        let found = format!("{:?} and {:?} on {height} × {columns} pixels", weight.shape, bias.shape);
        let &[filters, planes, rows, wide] = &weight.shape[..] else { return Err(misfit(name, found)) };
        let kind = Kind::Convolution { planes, height, columns, filters, kernel, stride };
        let fits = bias.shape == [filters] && [rows, wide] == [kernel; 2] && filters > 0 && planes > 0;
        let Some((down, across)) = kind.places().filter(|_| fits) else { return Err(misfit(name, found)) };
        let params = [&transposed(&weight.values, planes * kernel * kernel)[..], &bias.values].concat();
        self.push(name, kind, Activation::Relu, params)?;
        Ok([down, across])
    }

    /// The layers of `torch.nn.LSTM` of that name; how many there are.
    pub(crate) fn memory(&mut self, tensors: &mut Tensors<'_>, name: &str) -> Result<usize, FileError> {
        let mut n = 0;
        while tensors.contains(&format!("{name}.weight_ih_l{n}")) && n < MOST_LAYERS {
            let mut part = |part: &str| {
                let name = format!("{name}.{part}_l{n}");
                tensors.read(&name)?.ok_or_else(|| misfit(&name, "none"))
            };
            let (of_input, of_hidden) = (part("weight_ih")?, part("weight_hh")?);
            let (bias, other) = (part("bias_ih")?, part("bias_hh")?);
            let (&[gates, inputs], &[again, units]) = (&of_input.shape[..], &of_hidden.shape[..]) else {
                return Err(misfit(name, format!("{:?} and {:?}", of_input.shape, of_hidden.shape)));
            };
            let fits = units > 0 && inputs > 0 && Some(gates) == units.checked_mul(4) && again == gates;
            if !fits || bias.shape != [gates] || other.shape != [gates] {
                return Err(misfit(name, format!("{:?} and {:?}", of_input.shape, of_hidden.shape)));
            }
            let sum: Vec<f32> = bias.values.iter().zip(&other.values).map(|(a, b)| a + b).collect();
            let rows =
                [transposed(&of_input.values, inputs), transposed(&of_hidden.values, units), sum].concat();
            self.push(name, Kind::Lstm { inputs, units }, Activation::Identity, rows)?;
            n += 1;
        }
        Ok(n)
    }
}

fn misfit(name: &str, found: impl ToString) -> FileError {
    FileError::unsupported(name, "weights and biases that fit together", found)
}

/// `[outputs, inputs]` as `[inputs, outputs]`.
pub(crate) fn transposed(values: &[f32], inputs: usize) -> Vec<f32> {
    (0..inputs).flat_map(|i| values.iter().skip(i).step_by(inputs).copied()).collect()
}
