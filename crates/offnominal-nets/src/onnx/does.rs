//! What operators do.

use super::OnnxError;
use super::arithmetic::{MISSING, Pairs, clip, combine, each, gemm, map, matmul, pairs};
use super::budget::Budget;
use super::convolution::{Convolution, Kept, convolve};
use super::index::{Cut, Padding, constant_of_shape, expand, gather, pad, shape_of, slice};
use super::kind::Kind;
use super::node::{Inputs, Written};
use super::pool::{average_pool, bins, max_places, max_pool, max_unpool};
use super::reduce::{Along, arg_max, drop_units, mean, normalise, softmax};
use super::resize::{Resize, like};
use super::shapes::{concat, copy, flatten, reshape, squeeze, transpose, unsqueeze};
use super::tensor::Tensor;
use super::window::Window;

/// What an operator does.
#[derive(Debug, Clone)]
pub(super) enum Does {
    /// Its value.
    Constant(Tensor),
    /// A shape full of one number.
    ConstantOfShape(Tensor),
    /// The same numbers.
    Copy,
    /// The same numbers as another type.
    Cast(Kind),
    /// A function of each number.
    Map(fn(&[f32], &mut Vec<f32>)),
    /// A function of each number, with two parameters.
    Bent(fn(&[f32], &mut Vec<f32>, [f32; 2]), [f32; 2]),
    /// A function of two numbers, one value after the other, of values that are stretched to one shape.
    Combine(Pairs),
    /// The quotient, which is cut towards zero where numbers are whole.
    Divide,
    /// The same, whose second number may be of another type.
    Power,
    /// Between bounds, which are attributes or further inputs.
    Clip(f32, f32),
    /// α A B + β C, each perhaps transposed.
    Gemm { alpha: f32, beta: f32, transposed: [bool; 2] },
    /// A B.
    MatMul,
    /// A convolution in two directions, or a transposed one.
    Convolution(Convolution),
    /// Normalises each plane by what training saw.
    Normalise(f32),
    /// The largest in a window.
    MaxPool(Window),
    /// Where the largest in a window is.
    MaxPlaces(Window),
    /// Numbers put where they were the largest.
    MaxUnpool(Window),
    /// The mean of a window, with or without the zeros around the image.
    AveragePool(Window, bool),
    /// The mean over some axes, or over all pixels.
    Mean { axes: Vec<i64>, is_kept: bool, is_of_pixels: bool, is_none_all: bool },
    /// Means over a grid of so many bins a side, which overlap where the sizes do not divide.
    Bins(usize),
    /// Another size.
    Resize(Resize),
    /// The size of the second value.
    ResizeLike,
    /// Drops units with this probability, if any are dropped.
    Drop(f64),
    /// Rows from an axis on become one.
    Flatten(i64),
    /// Another shape.
    Reshape,
    /// Axes of length 1 go.
    Squeeze(Vec<i64>),
    /// Axes of length 1 come.
    Unsqueeze(Vec<i64>),
    /// The axes in another order.
    Transpose(Vec<i64>),
    /// One after the other along an axis.
    Concat(i64),
    /// The lengths of the axes from one to another.
    Shape(i64, i64),
    /// Rows by their numbers.
    Gather(i64),
    /// Some of the numbers along axes.
    Slice(Option<Cut>),
    /// More numbers around.
    Pad(Padding),
    /// The same numbers again.
    Expand,
    /// Shares along an axis.
    Softmax(Along),
    /// The number of the largest along an axis.
    ArgMax { axis: i64, is_kept: bool, is_last: bool },
}

impl Does {
    /// What a second value is made by.
    pub(super) fn of_second(&self) -> Option<Does> {
        if let Does::MaxPool(window) = self { Some(Does::MaxPlaces(window.clone())) } else { None }
    }

    /// The same, of whose value nothing is negative; of convolutions.
    pub(super) fn rectified(self) -> Does {
        match self {
            Does::Convolution(convolution) => {
                Does::Convolution(Convolution { is_rectified: true, ..convolution })
            }
            other => other,
        }
    }

    pub(super) fn compute(
        &self,
        inputs: Inputs<'_>,
        out: &mut Tensor,
        kept: Kept<'_>,
        budget: &mut Budget,
    ) -> Result<(), OnnxError> {
        let first = || inputs.get(0).ok_or(MISSING);
        let second = || inputs.get(1).ok_or(MISSING);
        match self {
            Does::Constant(value) => copy(value, out, budget),
            Does::ConstantOfShape(value) => constant_of_shape(first()?, value, out, budget),
            Does::Copy => copy(first()?, out, budget),
            Does::Cast(to) => map(first()?, out, budget, |x, y| each(x, y, |x| to.cast(x))),
            Does::Map(f) => map(first()?, out, budget, f),
            Does::Bent(f, by) => map(first()?, out, budget, |x, y| f(x, y, *by)),
            Does::Combine(f) => combine(inputs, out, budget, *f),
            Does::Divide => combine(inputs, out, budget, |y, x| pairs(y, x, |a, b| a / b)),
            Does::Power => combine(inputs, out, budget, |y, x| pairs(y, x, f32::powf)),
            Does::Clip(low, high) => {
                let bound = |i: usize, otherwise: f32| match inputs.get(i).map(|bound| &bound.data[..]) {
                    None => Ok(otherwise),
                    Some(&[bound]) => Ok(bound),
                    Some(_) => Err(OnnxError::Damaged("a bound that is not one number")),
                };
                let (low, high) = (bound(1, *low)?, bound(2, *high)?);
                map(first()?, out, budget, |x, y| each(x, y, |x| clip(x, low, high)))
            }
            Does::Gemm { alpha, beta, transposed } => {
                gemm(first()?, second()?, inputs.get(2), (*alpha, *beta), *transposed, out, budget)
            }
            Does::MatMul => matmul(first()?, second()?, out, budget),
            Does::Convolution(convolution) => convolve(inputs, convolution, out, kept, budget),
            Does::Normalise(epsilon) => normalise(inputs, *epsilon, out, budget),
            Does::MaxPool(window) => max_pool(first()?, window, out, budget),
            Does::MaxPlaces(window) => max_places(first()?, window, out, budget),
            Does::MaxUnpool(window) => max_unpool(inputs, window, out, budget),
            Does::AveragePool(window, is_padded) => average_pool(first()?, window, *is_padded, out, budget),
            Does::Mean { axes, is_kept, is_of_pixels, is_none_all } => {
                let of = (axes.as_slice(), inputs.get(1));
                mean(first()?, of, [*is_kept, *is_of_pixels, *is_none_all], out, budget)
            }
            Does::Bins(n) => bins(first()?, *n, out, budget),
            Does::Resize(resize) => resize.run(inputs, out, budget),
            Does::ResizeLike => like(first()?, second()?, out, budget),
            Does::Drop(probability) => drop_units(first()?, *probability, out, budget),
            Does::Flatten(axis) => flatten(first()?, *axis, out, budget),
            Does::Reshape => reshape(first()?, second()?, out, budget),
            Does::Squeeze(axes) => squeeze(first()?, axes, inputs.get(1), out, budget),
            Does::Unsqueeze(axes) => unsqueeze(first()?, axes, inputs.get(1), out, budget),
            Does::Transpose(order) => transpose(first()?, order, out, budget),
            Does::Concat(axis) => concat(inputs, *axis, out, budget),
            Does::Shape(from, to) => shape_of(first()?, (*from, *to), out, budget),
            Does::Gather(axis) => gather(first()?, second()?, *axis, out, budget),
            Does::Slice(cut) => slice(inputs, cut.as_ref(), out, budget),
            Does::Pad(padding) => pad(inputs, padding, out, budget),
            Does::Expand => expand(first()?, second()?, out, budget),
            Does::Softmax(along) => softmax(first()?, *along, out, budget),
            Does::ArgMax { axis, is_kept, is_last } => {
                arg_max(first()?, *axis, [*is_kept, *is_last], out, budget)
            }
        }
    }

    /// What the operator of a node does.
    pub(super) fn read(node: &Written) -> Result<Does, OnnxError> {
        if let Some(does) = simple(&node.operator) {
            return Ok(does);
        }
        let window = || Window::read(node);
        Ok(match node.operator.as_str() {
            "Constant" => Does::Constant(constant(node)?),
            "ConstantOfShape" => Does::ConstantOfShape(filling(node)?),
            "Cast" => {
                let to = Kind::numbered(node.number("to", 0));
                Does::Cast(to.map_err(|found| node.unsupported("a type of numbers", found))?)
            }
            "LeakyRelu" => Does::Bent(
                |x, y, [a, _]| each(x, y, |x| if x < 0.0 { a * x } else { x }),
                [node.float("alpha", 0.01), 0.0],
            ),
            "Elu" => Does::Bent(
                |x, y, [a, _]| each(x, y, |x| if x < 0.0 { a * x.exp_m1() } else { x }),
                [node.float("alpha", 1.0), 0.0],
            ),
            "HardSigmoid" => Does::Bent(
                |x, y, [a, b]| each(x, y, |x| clip(a * x + b, 0.0, 1.0)),
                [node.float("alpha", 0.2), node.float("beta", 0.5)],
            ),
            "Clip" => Does::Clip(node.float("min", f32::MIN), node.float("max", f32::MAX)),
            "Gemm" => Does::Gemm {
                alpha: node.float("alpha", 1.0),
                beta: node.float("beta", 1.0),
                transposed: ["transA", "transB"].map(|name| node.number(name, 0) != 0),
            },
            "Conv" | "ConvTranspose" => Does::Convolution(Convolution {
                window: window()?,
                is_transposed: node.operator == "ConvTranspose",
                is_rectified: false,
            }),
            "MaxPool" if node.number("storage_order", 0) == 0 || node.outputs.len() < 2 => {
                Does::MaxPool(window()?)
            }
            "MaxUnpool" => Does::MaxUnpool(window()?),
            "AveragePool" => Does::AveragePool(window()?, node.number("count_include_pad", 0) != 0),
            "BatchNormalization"
                if node.number("training_mode", 0) == 0 && node.number("spatial", 1) == 1 =>
            {
                Does::Normalise(node.float("epsilon", 1e-5))
            }
            "GlobalAveragePool" => {
                Does::Mean { axes: vec![], is_kept: true, is_of_pixels: true, is_none_all: true }
            }
            "ReduceMean" => Does::Mean {
                axes: node.numbers("axes"),
                is_kept: node.number("keepdims", 1) != 0,
                is_of_pixels: false,
                is_none_all: node.number("noop_with_empty_axes", 0) == 0,
            },
            "Resize" | "Upsample" => Does::Resize(Resize::read(node)?),
            "Flatten" => Does::Flatten(node.number("axis", 1)),
            "Reshape" if node.number("allowzero", 0) == 0 => Does::Reshape,
            "Squeeze" => Does::Squeeze(node.numbers("axes")),
            "Unsqueeze" => Does::Unsqueeze(node.numbers("axes")),
            "Transpose" => Does::Transpose(node.numbers("perm")),
            "Concat" => Does::Concat(node.number("axis", 0)),
            "Shape" => Does::Shape(node.number("start", 0), node.number("end", i64::MAX)),
            "Gather" => Does::Gather(node.number("axis", 0)),
            "Slice" => Does::Slice(Cut::read(node)),
            "Pad" => Does::Pad(Padding::read(node)?),
            // Before version 13 the axes from the given one on were one.
            "Softmax" if node.opset < 13 => Does::Softmax(Along::From(node.number("axis", 1))),
            "Softmax" => Does::Softmax(Along::Axis(node.number("axis", -1))),
            "ArgMax" => Does::ArgMax {
                axis: node.number("axis", 0),
                is_kept: node.number("keepdims", 1) != 0,
                is_last: node.number("select_last_index", 0) != 0,
            },
            _ => return Err(node.unsupported("attributes that are computed here", "others")),
        })
    }
}

/// The operators without attributes that matter here.
fn simple(operator: &str) -> Option<Does> {
    Some(match operator {
        // A network is not in training; what would say so is a third input, which is refused.
        "Identity" | "Dropout" => Does::Copy,
        "Relu" => Does::Map(|x, y| each(x, y, |x| if x < 0.0 { 0.0 } else { x })),
        "Tanh" => Does::Map(|x, y| each(x, y, f32::tanh)),
        "Sigmoid" => Does::Map(|x, y| each(x, y, |x| 1.0 / (1.0 + (-x).exp()))),
        "Softplus" => Does::Map(|x, y| each(x, y, |x| x.max(0.0) + (-x.abs()).exp().ln_1p())),
        "HardSwish" => Does::Map(|x, y| each(x, y, |x| x * clip(x / 6.0 + 0.5, 0.0, 1.0))),
        "Exp" => Does::Map(|x, y| each(x, y, f32::exp)),
        "Log" => Does::Map(|x, y| each(x, y, f32::ln)),
        "Sqrt" => Does::Map(|x, y| each(x, y, f32::sqrt)),
        "Abs" => Does::Map(|x, y| each(x, y, f32::abs)),
        "Neg" => Does::Map(|x, y| each(x, y, |x| -x)),
        "Floor" => Does::Map(|x, y| each(x, y, f32::floor)),
        "Ceil" => Does::Map(|x, y| each(x, y, f32::ceil)),
        "Add" => Does::Combine(|y, x| pairs(y, x, |a, b| a + b)),
        "Sub" => Does::Combine(|y, x| pairs(y, x, |a, b| a - b)),
        "Mul" => Does::Combine(|y, x| pairs(y, x, |a, b| a * b)),
        "Div" => Does::Divide,
        "Pow" => Does::Power,
        "PRelu" => Does::Combine(|y, x| pairs(y, x, |a, slope| if a < 0.0 { slope * a } else { a })),
        // What is not a number stays that.
        "Max" => Does::Combine(|y, x| pairs(y, x, |a, b| if a > b || a.is_nan() { a } else { b })),
        "Min" => Does::Combine(|y, x| pairs(y, x, |a, b| if a < b || a.is_nan() { a } else { b })),
        "MatMul" => Does::MatMul,
        "Expand" => Does::Expand,
        _ => return None,
    })
}

/// The number with which a shape is filled.
fn filling(node: &Written) -> Result<Tensor, OnnxError> {
    match node.attributes.get("value").map(|value| value.tensor.clone()) {
        None => Tensor::new(Kind::Float, vec![1], vec![0.0]),
        Some(Some(one)) if one.data.len() == 1 => Ok(one),
        _ => Err(node.unsupported("one number", "others")),
    }
}

fn constant(node: &Written) -> Result<Tensor, OnnxError> {
    let given: Vec<&str> = node.attributes.keys().map(String::as_str).collect();
    let [name] = given[..] else { return Err(node.unsupported("one constant", format!("{given:?}"))) };
    let found = &node.attributes[name];
    let of_whole = |shape| {
        let data: Vec<f32> = found.whole.iter().map(|&n| n as f32).collect();
        match found.whole.iter().position(|&n| !Kind::Signed(64).has(n as f64)) {
            Some(index) => Err(OnnxError::not_finite(&node.name, index, found.whole[index] as f64)),
            None => Tensor::new(Kind::Signed(64), shape, data),
        }
    };
    match name {
        "value_float" => Tensor::new(Kind::Float, vec![], vec![found.float]),
        "value_floats" => Tensor::new(Kind::Float, vec![found.floats.len()], found.floats.clone()),
        "value_int" => of_whole(vec![]),
        "value_ints" => of_whole(vec![found.whole.len()]),
        _ => found.tensor.clone().ok_or_else(|| node.unsupported("a constant of numbers", "none")),
    }
}
