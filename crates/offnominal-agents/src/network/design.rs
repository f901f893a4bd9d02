//! The parts of a policy of layers, as a file describes them, and whether they fit together.

use super::{Activation, NetworkError};
use offnominal_core::limits::{GRAPH_WORK, LAYERS, OBSERVATION, WEIGHTS};
use offnominal_core::spec::EnvSpec;
use serde::{Deserialize, Serialize};

/// Most frames in a stack.
const MOST_FRAMES: usize = 1_000;

/// The parts of a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// What an observation goes through first.
    pub input: Input,
    /// The layers, in order.
    pub layers: Vec<Layer>,
    /// How the last outputs become an action.
    pub output: Output,
}

/// What an observation goes through before the first layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Numbers of one observation.
    pub width: usize,
    /// Frames that the layers see at once, the oldest first; zeros stand for those before the episode.
    pub stack: usize,
    /// What is normalised.
    pub normalised: Normalised,
    /// Where normalised numbers are cut, if they are.
    pub clip: Option<f32>,
    /// What the numbers are.
    pub encoding: Encoding,
}

/// What is normalised, if anything is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Normalised {
    /// Nothing.
    No,
    /// Each frame before it is stacked.
    Frames,
    /// The stack of frames.
    Stack,
}

/// What the numbers of an observation are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Numbers as they are.
    Numbers,
    /// Grey levels, which are divided by 255.
    Grey,
    /// Integers, each below its number of values: a 1 among zeros stands for each.
    OneHot(Vec<u32>),
}

/// A layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// What it computes.
    pub kind: Kind,
    /// The function of each of its outputs.
    #[serde(rename = "curve")]
    pub activation: Activation,
}

/// What a layer computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Kind {
    /// x W + b.
    Dense {
        /// Numbers in.
        inputs: usize,
        /// Numbers out.
        outputs: usize,
    },
    /// Square filters that move over an image of planes, rows and columns, without padding.
    Convolution {
        /// Planes of the image.
        planes: usize,
        /// Its rows.
        height: usize,
        /// Its columns.
        columns: usize,
        /// Planes that come out.
        filters: usize,
        /// Rows and columns of a filter.
        kernel: usize,
        /// Pixels between its places.
        stride: usize,
    },
    /// A long short-term memory (Hochreiter and Schmidhuber 1997), with the gates in PyTorch's order i, f, g, o.
    Lstm {
        /// Numbers in.
        inputs: usize,
        /// Numbers out, and of each part of the state.
        units: usize,
    },
}

/// How the last outputs y become an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// low + (high − low)(tanh y + 1)/2
    Squashed,
    /// y cut at the bounds
    Bounded,
    /// For each choice the one of the largest y
    Choices(Vec<u32>),
    /// 1 where y is positive, else 0
    Signs,
}

impl Input {
    /// Single frames, each normalised if it is said and then cut at a limit if there is one.
    pub(crate) fn of_frames(
        width: usize,
        is_normalised: bool,
        clip: Option<f32>,
        encoding: Encoding,
    ) -> Input {
        let normalised = if is_normalised { Normalised::Frames } else { Normalised::No };
        Input { width, stack: 1, normalised, clip, encoding }
    }

    /// Numbers that the first layer reads; `None` if there are too many.
    pub(super) fn outputs(&self) -> Option<usize> {
        let one = match &self.encoding {
            Encoding::OneHot(sizes) => {
                sizes.iter().try_fold(0_usize, |n, &size| n.checked_add(size as usize))?
            }
            Encoding::Numbers | Encoding::Grey => self.width,
        };
        one.checked_mul(self.stack)
    }
}

impl Kind {
    /// Numbers in; `None` if there are too many, as in the others here.
    pub(crate) fn inputs(&self) -> Option<usize> {
        match *self {
            Kind::Dense { inputs, .. } | Kind::Lstm { inputs, .. } => Some(inputs),
            Kind::Convolution { planes, height, columns, .. } => {
                planes.checked_mul(height)?.checked_mul(columns)
            }
        }
    }

    /// Numbers out.
    pub fn outputs(&self) -> Option<usize> {
        match *self {
            Kind::Dense { outputs, .. } => Some(outputs),
            Kind::Lstm { units, .. } => Some(units),
            Kind::Convolution { filters, .. } => {
                let (rows, columns) = self.places()?;
                filters.checked_mul(rows)?.checked_mul(columns)
            }
        }
    }

    /// Rows and columns of the places of a filter.
    pub(crate) fn places(&self) -> Option<(usize, usize)> {
        let Kind::Convolution { height, columns, kernel, stride, .. } = *self else { return Some((1, 1)) };
        let along = |length: usize| Some(length.checked_sub(kernel.max(1))?.checked_div(stride)? + 1);
        Some((along(height)?, along(columns)?))
    }

    /// Name and shape of each of its tensors, in the order of its numbers.
    pub fn shapes(&self) -> [(&'static str, Vec<usize>); 2] {
        let (rows, columns) = match *self {
            Kind::Dense { inputs, outputs } => (inputs, outputs),
            Kind::Lstm { inputs, units } => (inputs.saturating_add(units), units.saturating_mul(4)),
            Kind::Convolution { planes, filters, kernel, .. } => {
                (planes.saturating_mul(kernel).saturating_mul(kernel), filters)
            }
        };
        [("weight", vec![rows, columns]), ("bias", vec![columns])]
    }

    /// Numbers of its tensors.
    pub(super) fn numbers(&self) -> usize {
        let count = |shape: &[usize]| shape.iter().fold(1_usize, |n, &length| n.saturating_mul(length));
        self.shapes().iter().fold(0, |n, (_, shape)| n.saturating_add(count(shape)))
    }

    /// Multiplications of one pass.
    fn work(&self) -> usize {
        let (rows, columns) = self.places().unwrap_or((0, 0));
        self.numbers().saturating_mul(rows).saturating_mul(columns)
    }
}

impl Design {
    /// Whether the parts fit one another, and none of them asks for too much.
    ///
    /// # Errors
    /// Which does not.
    pub(super) fn check(&self) -> Result<(), NetworkError> {
        let n = self.layers.len();
        require((1..=LAYERS).contains(&n), "layers", format!("1 to {LAYERS}"), n)?;
        let stack = self.input.stack;
        require((1..=MOST_FRAMES).contains(&stack), "stacked frames", format!("1 to {MOST_FRAMES}"), stack)?;
        let is_positive = self.input.clip.is_none_or(|clip| clip > 0.0);
        require(is_positive, "clip of the input", "a positive number", format!("{:?}", self.input.clip))?;
        if let Encoding::OneHot(sizes) = &self.input.encoding {
            require(!sizes.contains(&0), "integers of an observation", "1 value or more", 0)?;
        }
        let odd = self
            .layers
            .iter()
            .find(|l| matches!(l.activation, Activation::Cut(limit) if limit.is_nan() || limit < 0.0));
        require(odd.is_none(), "limit of a layer", "0 or more", format!("{:?}", odd.map(|l| l.activation)))?;
        let total = |count: fn(&Kind) -> usize| {
            self.layers.iter().fold(0_usize, |n, layer| n.saturating_add(count(&layer.kind)))
        };
        let (numbers, work) = (total(Kind::numbers), total(Kind::work));
        require(numbers <= WEIGHTS, "weights", format!("at most {WEIGHTS}"), numbers)?;
        require(work <= GRAPH_WORK, "multiplications of an action", format!("at most {GRAPH_WORK}"), work)?;
        self.check_chain()
    }

    /// Whether each layer reads what the one before writes.
    fn check_chain(&self) -> Result<(), NetworkError> {
        let mut before = self.input.outputs().filter(|n| (1..=OBSERVATION).contains(n));
        for (i, layer) in self.layers.iter().enumerate() {
            let (what, expected) = match (i, before) {
                (_, None) => ("numbers that come to the layers".into(), format!("1 to {OBSERVATION}")),
                (0, Some(n)) => ("inputs of the first layer".into(), format!("{n}, as an observation has")),
                (_, Some(n)) => {
                    (format!("layer {i}, {:?}", layer.kind), format!("{n} inputs, as come to it"))
                }
            };
            let found = layer.kind.inputs();
            require(before.is_some() && found == before, &what, expected, words(found))?;
            before = layer.kind.outputs().filter(|n| (1..=OBSERVATION).contains(n));
            let (what, expected) =
                (format!("outputs of layer {i}, {:?}", layer.kind), format!("1 to {OBSERVATION}"));
            require(before.is_some(), &what, expected, words(layer.kind.outputs()))?;
        }
        Ok(())
    }

    /// Whether each layer has as many finite numbers as it needs.
    ///
    /// # Errors
    /// Which has not.
    pub(super) fn check_numbers(&self, params: &[Vec<f32>]) -> Result<(), NetworkError> {
        require(params.len() == self.layers.len(), "layers with numbers", self.layers.len(), params.len())?;
        for (i, (layer, numbers)) in self.layers.iter().zip(params).enumerate() {
            let (what, expected) = (format!("numbers of layer {i}, {:?}", layer.kind), layer.kind.numbers());
            require(numbers.len() == expected, &what, expected, numbers.len())?;
            let odd = numbers.iter().position(|x| !x.is_finite());
            require(
                odd.is_none(),
                &what,
                "finite ones",
                format!("another one at index {}", odd.unwrap_or(0)),
            )?;
        }
        Ok(())
    }

    /// Numbers that come out of the last layer.
    pub(super) fn outputs(&self) -> usize {
        self.layers.last().and_then(|layer| layer.kind.outputs()).unwrap_or(0)
    }

    /// Whether an environment has the observations that the input reads, and as many actions as come out.
    ///
    /// # Errors
    /// What differs.
    pub(super) fn check_environment(&self, spec: &EnvSpec) -> Result<(), NetworkError> {
        let expected = match &self.output {
            Output::Choices(sizes) => sizes.iter().fold(0_usize, |n, &size| n.saturating_add(size as usize)),
            Output::Squashed | Output::Bounded | Output::Signs => spec.act_width(),
        };
        let what = format!("outputs of the network for {}", spec.id);
        require(self.outputs() == expected, &what, expected, self.outputs())?;
        let what = format!("observation channels of {}", spec.id);
        require(self.input.width == spec.obs_width(), &what, spec.obs_width(), self.input.width)?;
        if let Encoding::OneHot(sizes) = &self.input.encoding {
            let what = format!("integers in an observation of {}", spec.id);
            require(sizes.len() == spec.obs_width(), &what, spec.obs_width(), sizes.len())?;
        }
        Ok(())
    }
}

fn words(count: Option<usize>) -> String {
    count.map_or("too many".into(), |n| n.to_string())
}

pub(super) fn require(
    holds: bool,
    what: &str,
    expected: impl ToString,
    found: impl ToString,
) -> Result<(), NetworkError> {
    if holds { Ok(()) } else { Err(NetworkError::unfit(what, expected, found)) }
}
