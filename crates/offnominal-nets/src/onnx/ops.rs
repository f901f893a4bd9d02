//! The operators: those of multi-layer and convolutional networks, their activations, and what exporters put between.
//!
//! What an operator's specification allows and is not computed here is refused by the operator's name: further inputs,
//! attributes that are not listed, and types.

use super::OnnxError;
use super::arithmetic::MISSING;
use super::budget::Budget;
use super::convolution::Kept;
use super::does::Does;
use super::kind::Kind;
use super::node::{Inputs, Written, is_own};
use super::tensor::Tensor;

/// Which types of numbers an operator is computed of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
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

const TRANSPOSED: &[&str] =
    &["auto_pad", "dilations", "group", "kernel_shape", "output_padding", "output_shape", "pads", "strides"];

const RESIZE: &[&str] = &[
    "antialias",
    "axes",
    "coordinate_transformation_mode",
    "cubic_coeff_a",
    "exclude_outside",
    "extrapolation_value",
    "keep_aspect_ratio_policy",
    "mode",
    "nearest_mode",
];

const KNOWN: &[Known] = &[
    ("Abs", Of::Numbers, 1, 1, &[]),
    ("Add", Of::Numbers, 2, 2, &[]),
    ("ArgMax", Of::Numbers, 1, 1, &["axis", "keepdims", "select_last_index"]),
    (
        "AveragePool",
        Of::Reals,
        1,
        1,
        &["auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads", "strides"],
    ),
    ("BatchNormalization", Of::Reals, 5, 5, &["epsilon", "momentum", "spatial", "training_mode"]),
    ("Cast", Of::All, 1, 1, &["to"]),
    ("Ceil", Of::Reals, 1, 1, &[]),
    ("Clip", Of::Reals, 1, 3, &["min", "max"]),
    ("Concat", Of::All, 1, ANY, &["axis"]),
    ("Constant", Of::All, 0, 0, &["value", "value_float", "value_floats", "value_int", "value_ints"]),
    ("Conv", Of::Reals, 2, 3, WINDOW),
    ("ConstantOfShape", Of::All, 1, 1, &["value"]),
    ("ConvTranspose", Of::Reals, 2, 3, TRANSPOSED),
    ("Div", Of::Numbers, 2, 2, &[]),
    ("Dropout", Of::Reals, 1, 2, &["ratio", "seed"]),
    ("Elu", Of::Reals, 1, 1, &["alpha"]),
    ("Exp", Of::Reals, 1, 1, &[]),
    ("Expand", Of::All, 2, 2, &[]),
    ("Flatten", Of::All, 1, 1, &["axis"]),
    ("Floor", Of::Reals, 1, 1, &[]),
    ("Gather", Of::All, 2, 2, &["axis"]),
    ("Gemm", Of::Reals, 2, 3, &["alpha", "beta", "transA", "transB"]),
    ("GlobalAveragePool", Of::Reals, 1, 1, &[]),
    ("HardSigmoid", Of::Reals, 1, 1, &["alpha", "beta"]),
    ("HardSwish", Of::Reals, 1, 1, &[]),
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
    ("MaxUnpool", Of::Reals, 2, 3, &["kernel_shape", "pads", "strides"]),
    ("Min", Of::Numbers, 1, ANY, &[]),
    ("Mul", Of::Numbers, 2, 2, &[]),
    ("Neg", Of::Numbers, 1, 1, &[]),
    ("PRelu", Of::Reals, 2, 2, &[]),
    ("Pad", Of::All, 1, 4, &["mode", "pads", "value"]),
    ("Pow", Of::Reals, 2, 2, &[]),
    ("ReduceMean", Of::Reals, 1, 2, &["axes", "keepdims", "noop_with_empty_axes"]),
    ("Relu", Of::Reals, 1, 1, &[]),
    ("Reshape", Of::All, 2, 2, &["allowzero"]),
    ("Resize", Of::Reals, 2, 4, RESIZE),
    ("Shape", Of::All, 1, 1, &["start", "end"]),
    ("Sigmoid", Of::Reals, 1, 1, &[]),
    ("Slice", Of::All, 1, 5, &["axes", "ends", "starts"]),
    ("Softmax", Of::Reals, 1, 1, &["axis"]),
    ("Softplus", Of::Reals, 1, 1, &[]),
    ("Sqrt", Of::Reals, 1, 1, &[]),
    ("Squeeze", Of::All, 1, 2, &["axes"]),
    ("Sub", Of::Numbers, 2, 2, &[]),
    ("Tanh", Of::Reals, 1, 1, &[]),
    ("Transpose", Of::All, 1, 1, &["perm"]),
    ("Unsqueeze", Of::All, 1, 2, &["axes"]),
    ("Upsample", Of::Reals, 1, 2, &["mode", "scales"]),
];

/// An operator with its attributes.
#[derive(Debug, Clone)]
pub(super) struct Op {
    pub(super) does: Does,
    pub(super) of: Of,
}

const OTHER_TYPES: OnnxError = OnnxError::Damaged("inputs of types of which it is not computed");

impl Op {
    /// The operator of a node, and that of its second value, if that is computed here.
    ///
    /// # Errors
    /// If it, or this use of it, is not known.
    pub(super) fn read(node: &Written) -> Result<(Op, Option<Op>), OnnxError> {
        let known = KNOWN.iter().find(|known| known.0 == node.operator && is_own(&node.domain));
        let Some(&(_, of, fewest, most, attributes)) = known else {
            let found = [node.domain.as_str(), &node.operator].join(" ");
            return Err(
                node.unsupported("an operator of feed-forward or convolutional networks", found.trim())
            );
        };
        if let Some(other) = node.attributes.keys().filter(|name| !attributes.contains(&name.as_str())).min()
        {
            return Err(node.unsupported("attributes that are computed here", other));
        }
        let given = node.inputs.len();
        let is_full = match node.operator.as_str() {
            "Resize" => !node.inputs.iter().take(1).any(String::is_empty),
            _ => node.inputs.iter().take(if most == ANY { ANY } else { fewest }).all(|name| !name.is_empty()),
        };
        if given < fewest || given > most || !is_full {
            let found = format!("{:?}", node.inputs);
            return Err(node.unsupported("as many inputs as are computed here", found));
        }
        let does = Does::read(node)?;
        let further = does.of_second().map(|does| Op { does, of });
        Ok((Op { does, of }, further))
    }

    /// The same, of whose value nothing is negative.
    pub(super) fn rectified(self) -> Op {
        Op { does: self.does.rectified(), ..self }
    }

    /// Whether its value depends on nothing but shapes.
    pub(super) fn is_shape(&self) -> bool {
        matches!(self.does, Does::Shape(..))
    }

    /// From which input on they decide the shape of its value.
    pub(super) fn shaped_by(&self) -> usize {
        match self.does {
            Does::ConstantOfShape(_) => 0,
            Does::Reshape
            | Does::Squeeze(_)
            | Does::Unsqueeze(_)
            | Does::Slice(_)
            | Does::Pad(_)
            | Does::Expand
            | Does::Resize(_)
            | Does::Mean { .. } => 1,
            Does::MaxUnpool(_) => 2,
            _ => ANY,
        }
    }

    /// Computes the operator's value.
    ///
    /// # Errors
    /// If shapes or types do not fit, or the budget does not suffice.
    pub(super) fn run(
        &self,
        inputs: Inputs<'_>,
        out: &mut Tensor,
        kept: Kept<'_>,
        budget: &mut Budget,
    ) -> Result<(), OnnxError> {
        out.kind = self.kind(inputs)?;
        self.does.compute(inputs, out, kept, budget)?;
        let kind = out.kind;
        if kind != Kind::Float {
            let is_cut = matches!(self.does, Does::Divide);
            let round = |x| if is_cut { kind.cast(x) } else { kind.rounded(x) };
            out.data.iter_mut().for_each(|x| *x = round(*x));
        }
        Ok(())
    }

    /// The type of the operator's value.
    fn kind(&self, inputs: Inputs<'_>) -> Result<Kind, OnnxError> {
        if let Does::Constant(value) | Does::ConstantOfShape(value) = &self.does {
            return Ok(value.kind);
        }
        let kind = inputs.get(0).ok_or(MISSING)?.kind;
        let is_computed = match self.of {
            Of::All => true,
            Of::Numbers => kind.is_real() || matches!(kind, Kind::Signed(_)),
            Of::Reals => kind.is_real(),
        };
        // What says a shape, a place or an exponent is of its own type.
        let are_apart = self.shaped_by() != ANY
            || matches!(self.does, Does::Power | Does::Copy | Does::Gather(_) | Does::MaxUnpool(_));
        if !is_computed || !(are_apart || inputs.all().all(|value| value.kind == kind)) {
            return Err(OTHER_TYPES);
        }
        Ok(match self.does {
            Does::Cast(to) => to,
            Does::ArgMax { .. } | Does::Shape(..) | Does::MaxPlaces(_) => Kind::Signed(64),
            _ => kind,
        })
    }
}
