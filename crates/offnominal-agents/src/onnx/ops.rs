//! The operators: those of multi-layer and convolutional networks, their activations, and what exporters put between.

use super::OnnxError;
use super::arithmetic::{clip, combine, gemm, map, matmul, softmax};
use super::budget::Budget;
use super::convolution::{Window, convolve, pool};
use super::node::{Inputs, Written};
use super::shapes::{concat, copy, flatten, reshape, squeeze, transpose, unsqueeze};
use super::tensor::Tensor;
use crate::actor::choose;

/// An operator with its attributes.
#[derive(Clone)]
pub(super) enum Op {
    /// Its value.
    Constant(Tensor),
    /// The same numbers.
    Copy,
    /// A function of each number.
    Map(fn(f32) -> f32),
    /// A function of each number, with a slope.
    Sloped(fn(f32, f32) -> f32, f32),
    /// A function of two numbers, of values that are stretched to one shape.
    Combine(fn(f32, f32) -> f32),
    /// Between bounds, which are attributes or further inputs.
    Clip(f32, f32),
    /// α A B + β C, each perhaps transposed.
    Gemm { alpha: f32, beta: f32, transposed: [bool; 2] },
    /// A B.
    MatMul,
    /// A convolution in two directions.
    Conv(Window),
    /// The largest in a window.
    MaxPool(Window),
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
    /// Shares along the last axis.
    Softmax,
    /// The number of the largest.
    ArgMax,
}

impl Op {
    /// The operator of a node.
    ///
    /// # Errors
    /// If it, or this use of it, is not known.
    pub(super) fn read(node: &Written) -> Result<Op, OnnxError> {
        if let Some(op) = simple(&node.operator) {
            return Ok(op);
        }
        Ok(match node.operator.as_str() {
            "Constant" => Op::Constant(constant(node)?),
            "LeakyRelu" => Op::Sloped(|x, a| if x < 0.0 { a * x } else { x }, node.float("alpha", 0.01)),
            "Elu" => Op::Sloped(|x, a| if x < 0.0 { a * x.exp_m1() } else { x }, node.float("alpha", 1.0)),
            "Clip" => Op::Clip(node.float("min", f32::MIN), node.float("max", f32::MAX)),
            "Gemm" => Op::Gemm {
                alpha: node.float("alpha", 1.0),
                beta: node.float("beta", 1.0),
                transposed: ["transA", "transB"].map(|name| node.number(name, 0) != 0),
            },
            "Conv" => Op::Conv(Window::read(node, &[])?),
            "MaxPool" => Op::MaxPool(Window::read(node, &node.numbers("kernel_shape"))?),
            "Flatten" => Op::Flatten(node.number("axis", 1)),
            "Squeeze" => Op::Squeeze(node.numbers("axes")),
            "Unsqueeze" => Op::Unsqueeze(node.numbers("axes")),
            "Transpose" => Op::Transpose(node.numbers("perm")),
            "Concat" => Op::Concat(node.number("axis", 0)),
            "Softmax" if [-1, 1].contains(&node.number("axis", -1)) => Op::Softmax,
            other => return Err(node.unsupported("an operator of feed-forward policies", other)),
        })
    }

    /// Computes the operator's value.
    ///
    /// # Errors
    /// If shapes do not fit, or the budget does not suffice.
    pub(super) fn run(
        &self,
        inputs: Inputs<'_>,
        out: &mut Tensor,
        budget: &mut Budget,
    ) -> Result<(), OnnxError> {
        let first = || inputs.get(0).ok_or(MISSING);
        let second = || inputs.get(1).ok_or(MISSING);
        match self {
            Op::Constant(value) => copy(value, out, budget)?,
            Op::Copy => copy(first()?, out, budget)?,
            Op::Map(f) => map(first()?, out, budget, f)?,
            Op::Sloped(f, slope) => map(first()?, out, budget, |x| f(x, *slope))?,
            Op::Combine(f) => combine(first()?, second()?, out, budget, *f)?,
            Op::Clip(low, high) => {
                let bound = |i| inputs.get(i).and_then(|t| t.data.first()).copied();
                let (low, high) = (bound(1).unwrap_or(*low), bound(2).unwrap_or(*high));
                map(first()?, out, budget, |x| clip(x, low, high))?;
            }
            Op::Gemm { alpha, beta, transposed } => {
                gemm(first()?, second()?, inputs.get(2), (*alpha, *beta), *transposed, out, budget)?;
            }
            Op::MatMul => matmul(first()?, second()?, out, budget)?,
            Op::Conv(window) => convolve(first()?, second()?, inputs.get(2), window, out, budget)?,
            Op::MaxPool(window) => pool(first()?, window, out, budget)?,
            Op::Flatten(axis) => flatten(first()?, *axis, out, budget)?,
            Op::Reshape => reshape(first()?, second()?, out, budget)?,
            Op::Squeeze(axes) => squeeze(first()?, axes, inputs.get(1), out, budget)?,
            Op::Unsqueeze(axes) => unsqueeze(first()?, axes, inputs.get(1), out, budget)?,
            Op::Transpose(order) => transpose(first()?, order, out, budget)?,
            Op::Concat(axis) => concat(inputs, *axis, out, budget)?,
            Op::Softmax => softmax(first()?, out, budget)?,
            Op::ArgMax => {
                let from = first()?;
                out.become_zeros(&[1], from.data.len(), budget)?;
                out.data[0] = choose(&from.data);
            }
        }
        Ok(())
    }
}

const MISSING: OnnxError = OnnxError::Damaged("a node with too few inputs");

/// The operators without attributes that matter here.
fn simple(operator: &str) -> Option<Op> {
    Some(match operator {
        "Identity" | "Dropout" | "Cast" => Op::Copy,
        "Relu" => Op::Map(|x| if x < 0.0 { 0.0 } else { x }),
        "Tanh" => Op::Map(f32::tanh),
        "Sigmoid" => Op::Map(|x| 1.0 / (1.0 + (-x).exp())),
        "Softplus" => Op::Map(|x| x.max(0.0) + (-x.abs()).exp().ln_1p()),
        "Exp" => Op::Map(f32::exp),
        "Log" => Op::Map(f32::ln),
        "Sqrt" => Op::Map(f32::sqrt),
        "Abs" => Op::Map(f32::abs),
        "Neg" => Op::Map(|x| -x),
        "Add" => Op::Combine(|a, b| a + b),
        "Sub" => Op::Combine(|a, b| a - b),
        "Mul" => Op::Combine(|a, b| a * b),
        "Div" => Op::Combine(|a, b| a / b),
        "Pow" => Op::Combine(f32::powf),
        // What is not a number stays that.
        "Max" => Op::Combine(|a, b| if a > b || a.is_nan() { a } else { b }),
        "Min" => Op::Combine(|a, b| if a < b || a.is_nan() { a } else { b }),
        "MatMul" => Op::MatMul,
        "Reshape" => Op::Reshape,
        "ArgMax" => Op::ArgMax,
        _ => return None,
    })
}

fn constant(node: &Written) -> Result<Tensor, OnnxError> {
    if let Some(tensor) = node.attributes.get("value").and_then(|a| a.tensor.clone()) {
        return Ok(tensor);
    }
    if let Some(a) = node.attributes.get("value_float") {
        return Tensor::new(vec![], vec![a.float]);
    }
    let whole = ["value_int", "value_ints"].iter().find_map(|name| node.attributes.get(*name));
    let whole = whole.ok_or_else(|| node.unsupported("a constant of numbers", "none"))?;
    let data: Vec<f32> = whole.whole.iter().map(|&n| n as f32).collect();
    Tensor::new(vec![data.len()], data)
}
