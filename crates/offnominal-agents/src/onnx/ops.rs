//! The operators: those of multi-layer and convolutional networks, their activations, and what exporters put between.
//!
//! What an operator's specification allows and is not computed here is refused by the operator's name: further inputs,
//! attributes that are not listed, and types.

use super::OnnxError;
use super::arithmetic::{clip, combine, gemm, map, matmul};
use super::budget::Budget;
use super::convolution::{Window, convolve, pool};
use super::kind::Kind;
use super::node::{Inputs, Written, is_own};
use super::reduce::{Along, arg_max, softmax};
use super::shapes::{concat, copy, flatten, reshape, squeeze, transpose, unsqueeze};
use super::tensor::Tensor;

/// Which types of numbers an operator is computed of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Any.
    All,
    /// Those with a sign.
    Numbers,
    /// Those with a point.
    Reals,
}

/// An operator that is known: its name, what it is computed of, its fewest and most inputs, and its attributes.
type Known = (&'static str, Of, usize, usize, &'static [&'static str]);

/// No bound on the number of inputs.
const ANY: usize = usize::MAX;

/// Attributes of a window that goes over an image.
const WINDOW: &[&str] = &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"];

const KNOWN: &[Known] = &[
    ("Abs", Of::Numbers, 1, 1, &[]),
    ("Add", Of::Numbers, 2, 2, &[]),
    ("ArgMax", Of::Numbers, 1, 1, &["axis", "keepdims", "select_last_index"]),
    ("Cast", Of::All, 1, 1, &["to"]),
    ("Clip", Of::Reals, 1, 3, &["min", "max"]),
    ("Concat", Of::All, 1, ANY, &["axis"]),
    ("Constant", Of::All, 0, 0, &["value", "value_float", "value_floats", "value_int", "value_ints"]),
    ("Conv", Of::Reals, 2, 3, WINDOW),
    ("Div", Of::Reals, 2, 2, &[]),
    ("Dropout", Of::Reals, 1, 2, &["ratio", "seed"]),
    ("Elu", Of::Reals, 1, 1, &["alpha"]),
    ("Exp", Of::Reals, 1, 1, &[]),
    ("Flatten", Of::All, 1, 1, &["axis"]),
    ("Gemm", Of::Reals, 2, 3, &["alpha", "beta", "transA", "transB"]),
    ("Identity", Of::All, 1, 1, &[]),
    ("LeakyRelu", Of::Reals, 1, 1, &["alpha"]),
    ("Log", Of::Reals, 1, 1, &[]),
    ("MatMul", Of::Reals, 2, 2, &[]),
    ("Max", Of::Numbers, 1, ANY, &[]),
    (
        "MaxPool",
        Of::Reals,
        1,
        1,
        &["auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides", "storage_order"],
    ),
    ("Min", Of::Numbers, 1, ANY, &[]),
    ("Mul", Of::Numbers, 2, 2, &[]),
    ("Neg", Of::Numbers, 1, 1, &[]),
    ("Pow", Of::Reals, 2, 2, &[]),
    ("Relu", Of::Reals, 1, 1, &[]),
    ("Reshape", Of::All, 2, 2, &["allowzero"]),
    ("Sigmoid", Of::Reals, 1, 1, &[]),
    ("Softmax", Of::Reals, 1, 1, &["axis"]),
    ("Softplus", Of::Reals, 1, 1, &[]),
    ("Sqrt", Of::Reals, 1, 1, &[]),
    ("Squeeze", Of::All, 1, 2, &["axes"]),
    ("Sub", Of::Numbers, 2, 2, &[]),
    ("Tanh", Of::Reals, 1, 1, &[]),
    ("Transpose", Of::All, 1, 1, &["perm"]),
    ("Unsqueeze", Of::All, 1, 2, &["axes"]),
];

/// An operator with its attributes.
#[derive(Clone)]
pub(super) struct Op {
    does: Does,
    of: Of,
}

/// What an operator does.
#[derive(Clone)]
enum Does {
    /// Its value.
    Constant(Tensor),
    /// The same numbers.
    Copy,
    /// The same numbers as another type.
    Cast(Kind),
    /// A function of each number.
    Map(fn(f32) -> f32),
    /// A function of each number, with a slope.
    Sloped(fn(f32, f32) -> f32, f32),
    /// A function of two numbers, one value after the other, of values that are stretched to one shape.
    Combine(fn(f32, f32) -> f32),
    /// The same, whose second number may be of another type.
    Power,
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
    /// Shares along an axis.
    Softmax(Along),
    /// The number of the largest along an axis.
    ArgMax { axis: i64, is_kept: bool, is_last: bool },
}

const MISSING: OnnxError = OnnxError::Damaged("too few inputs");
const OTHER_TYPES: OnnxError = OnnxError::Damaged("inputs of types of which it is not computed");

impl Op {
    /// The operator of a node.
    ///
    /// # Errors
    /// If it, or this use of it, is not known.
    pub(super) fn read(node: &Written) -> Result<Op, OnnxError> {
        let known = KNOWN.iter().find(|known| known.0 == node.operator && is_own(&node.domain));
        let Some(&(_, of, fewest, most, attributes)) = known else {
            let found = [node.domain.as_str(), &node.operator].join(" ");
            return Err(node.unsupported("an operator of feed-forward policies", found.trim()));
        };
        if let Some(other) = node.attributes.keys().filter(|name| !attributes.contains(&name.as_str())).min()
        {
            return Err(node.unsupported("attributes that are computed here", other));
        }
        let given = node.inputs.len();
        let is_full =
            node.inputs.iter().take(if most == ANY { ANY } else { fewest }).all(|name| !name.is_empty());
        if given < fewest || given > most || !is_full {
            let found = format!("{:?}", node.inputs);
            return Err(node.unsupported("as many inputs as are computed here", found));
        }
        Ok(Op { does: does(node)?, of })
    }

    /// Whether its further inputs decide the shape of its value.
    pub(super) fn is_of_a_shape(&self) -> bool {
        matches!(self.does, Does::Reshape | Does::Squeeze(_) | Does::Unsqueeze(_))
    }

    /// Computes the operator's value.
    ///
    /// # Errors
    /// If shapes or types do not fit, or the budget does not suffice.
    pub(super) fn run(
        &self,
        inputs: Inputs<'_>,
        out: &mut Tensor,
        budget: &mut Budget,
    ) -> Result<(), OnnxError> {
        out.kind = self.kind(inputs)?;
        self.compute(inputs, out, budget)?;
        if out.kind != Kind::Float {
            let kind = out.kind;
            out.data.iter_mut().for_each(|x| *x = kind.rounded(*x));
        }
        Ok(())
    }

    /// The type of the operator's value.
    fn kind(&self, inputs: Inputs<'_>) -> Result<Kind, OnnxError> {
        if let Does::Constant(value) = &self.does {
            return Ok(value.kind);
        }
        let kind = inputs.get(0).ok_or(MISSING)?.kind;
        let is_computed = match self.of {
            Of::All => true,
            Of::Numbers => kind.is_real() || matches!(kind, Kind::Signed(_)),
            Of::Reals => kind.is_real(),
        };
        // What says a shape or an exponent is of its own type.
        let are_alike = self.is_of_a_shape() || matches!(self.does, Does::Power | Does::Copy);
        if !is_computed || !(are_alike || inputs.all().all(|value| value.kind == kind)) {
            return Err(OTHER_TYPES);
        }
        Ok(match self.does {
            Does::Cast(to) => to,
            Does::ArgMax { .. } => Kind::Signed(64),
            _ => kind,
        })
    }

    fn compute(&self, inputs: Inputs<'_>, out: &mut Tensor, budget: &mut Budget) -> Result<(), OnnxError> {
        let first = || inputs.get(0).ok_or(MISSING);
        let second = || inputs.get(1).ok_or(MISSING);
        match &self.does {
            Does::Constant(value) => copy(value, out, budget)?,
            Does::Copy => copy(first()?, out, budget)?,
            Does::Cast(to) => map(first()?, out, budget, |x| to.cast(x))?,
            Does::Map(f) => map(first()?, out, budget, f)?,
            Does::Sloped(f, slope) => map(first()?, out, budget, |x| f(x, *slope))?,
            Does::Combine(f) => combine(inputs, out, budget, *f)?,
            Does::Power => combine(inputs, out, budget, f32::powf)?,
            Does::Clip(low, high) => {
                let bound = |i: usize, otherwise: f32| match inputs.get(i).map(|bound| &bound.data[..]) {
                    None => Ok(otherwise),
                    Some(&[bound]) => Ok(bound),
                    Some(_) => Err(OnnxError::Damaged("a bound that is not one number")),
                };
                let (low, high) = (bound(1, *low)?, bound(2, *high)?);
                map(first()?, out, budget, |x| clip(x, low, high))?;
            }
            Does::Gemm { alpha, beta, transposed } => {
                gemm(first()?, second()?, inputs.get(2), (*alpha, *beta), *transposed, out, budget)?;
            }
            Does::MatMul => matmul(first()?, second()?, out, budget)?,
            Does::Conv(window) => convolve(first()?, second()?, inputs.get(2), window, out, budget)?,
            Does::MaxPool(window) => pool(first()?, window, out, budget)?,
            Does::Flatten(axis) => flatten(first()?, *axis, out, budget)?,
            Does::Reshape => reshape(first()?, second()?, out, budget)?,
            Does::Squeeze(axes) => squeeze(first()?, axes, inputs.get(1), out, budget)?,
            Does::Unsqueeze(axes) => unsqueeze(first()?, axes, inputs.get(1), out, budget)?,
            Does::Transpose(order) => transpose(first()?, order, out, budget)?,
            Does::Concat(axis) => concat(inputs, *axis, out, budget)?,
            Does::Softmax(along) => softmax(first()?, *along, out, budget)?,
            Does::ArgMax { axis, is_kept, is_last } => {
                arg_max(first()?, *axis, [*is_kept, *is_last], out, budget)?;
            }
        }
        Ok(())
    }
}

/// What the operator of a node does.
fn does(node: &Written) -> Result<Does, OnnxError> {
    if let Some(does) = simple(&node.operator) {
        return Ok(does);
    }
    Ok(match node.operator.as_str() {
        "Constant" => Does::Constant(constant(node)?),
        "Cast" => {
            let to = Kind::numbered(node.number("to", 0));
            Does::Cast(to.map_err(|found| node.unsupported("a type of numbers", found))?)
        }
        "LeakyRelu" => Does::Sloped(|x, a| if x < 0.0 { a * x } else { x }, node.float("alpha", 0.01)),
        "Elu" => Does::Sloped(|x, a| if x < 0.0 { a * x.exp_m1() } else { x }, node.float("alpha", 1.0)),
        "Clip" => Does::Clip(node.float("min", f32::MIN), node.float("max", f32::MAX)),
        "Gemm" => Does::Gemm {
            alpha: node.float("alpha", 1.0),
            beta: node.float("beta", 1.0),
            transposed: ["transA", "transB"].map(|name| node.number(name, 0) != 0),
        },
        "Conv" => Does::Conv(Window::read(node, &[])?),
        "MaxPool" => Does::MaxPool(Window::read(node, &node.numbers("kernel_shape"))?),
        "Flatten" => Does::Flatten(node.number("axis", 1)),
        "Reshape" if node.number("allowzero", 0) == 0 => Does::Reshape,
        "Squeeze" => Does::Squeeze(node.numbers("axes")),
        "Unsqueeze" => Does::Unsqueeze(node.numbers("axes")),
        "Transpose" => Does::Transpose(node.numbers("perm")),
        "Concat" => Does::Concat(node.number("axis", 0)),
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

/// The operators without attributes that matter here.
fn simple(operator: &str) -> Option<Does> {
    Some(match operator {
        // A policy is not in training; what would say so is a third input, which is refused.
        "Identity" | "Dropout" => Does::Copy,
        "Relu" => Does::Map(|x| if x < 0.0 { 0.0 } else { x }),
        "Tanh" => Does::Map(f32::tanh),
        "Sigmoid" => Does::Map(|x| 1.0 / (1.0 + (-x).exp())),
        "Softplus" => Does::Map(|x| x.max(0.0) + (-x.abs()).exp().ln_1p()),
        "Exp" => Does::Map(f32::exp),
        "Log" => Does::Map(f32::ln),
        "Sqrt" => Does::Map(f32::sqrt),
        "Abs" => Does::Map(f32::abs),
        "Neg" => Does::Map(|x| -x),
        "Add" => Does::Combine(|a, b| a + b),
        "Sub" => Does::Combine(|a, b| a - b),
        "Mul" => Does::Combine(|a, b| a * b),
        "Div" => Does::Combine(|a, b| a / b),
        "Pow" => Does::Power,
        // What is not a number stays that.
        "Max" => Does::Combine(|a, b| if a > b || a.is_nan() { a } else { b }),
        "Min" => Does::Combine(|a, b| if a < b || a.is_nan() { a } else { b }),
        "MatMul" => Does::MatMul,
        _ => return None,
    })
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
