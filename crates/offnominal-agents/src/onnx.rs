//! Policies of other libraries as ONNX files: what PyTorch, JAX and scikit-learn export of a feed-forward network.
//!
//! The file is read and computed here, in 32-bit numbers, without a run-time of somebody else's: policies need two
//! dozen of the operators (listed in `ops.rs`), and whoever needs another one is told its name.
//!
//! | number  | meaning                                                                                             |
//! |---------|-----------------------------------------------------------------------------------------------------|
//! | input   | the observation: `[1, o]`, `[o]`, or the shape of the image, its planes first or last; an axis without a    |
//! |         | length is 1                                                                                         |
//! | output  | the first one: the action in the environment's own units, clipped to its bounds; or for a choice its number, |
//! |         | or a value for each choice, of which the largest is taken                                            |
//!
//! Weights must be finite. An output that is not, is an action that is not a number, which ends the episode.
//! What a file may hold and compute is limited ([`limits`](offnominal_core::limits)) before anything is allocated.

mod arithmetic;
mod budget;
mod convolution;
mod graph;
mod kind;
mod layout;
mod message;
mod node;
mod ops;
mod reduce;
mod shapes;
mod tensor;

use crate::actor::{choices, choose};
use arithmetic::clip;
use graph::Graph;
use layout::Layout;
use offnominal_core::prelude::*;
use offnominal_core::spec::EnvSpec;
use std::collections::BTreeMap;

/// The contents of files in which weights lie, by the names under which the network's file refers to them.
pub type Beside = BTreeMap<String, Vec<u8>>;

/// Why a file is not a policy for an environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OnnxError {
    /// It is no ONNX file, or a damaged one.
    #[error("expected an ONNX file, found {0}")]
    Damaged(&'static str),
    /// Its operators are of a version that is not known here.
    #[error("version of ONNX's operators: expected {from} to {to}, found {found}")]
    Version {
        /// The oldest that is understood.
        from: i64,
        /// The newest.
        to: i64,
        /// That of the file.
        found: i64,
    },
    /// It needs an operator, or a use of one, that is not known here.
    #[error("operator {operator} ({node:?}): expected {expected}, found {found}")]
    Unsupported {
        /// Its name in ONNX.
        operator: String,
        /// The node in the file.
        node: String,
        /// What is understood.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// It asks for more memory or time than a policy may have.
    #[error("{what}: expected at most {most}, found {found}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// The most that is accepted.
        most: usize,
        /// What was asked for, with what was used before.
        found: usize,
    },
    /// Weights are of a type that is not read.
    #[error("weights {name:?}: expected float16, float32, float64, whole numbers or bool, found {found}")]
    Type {
        /// The tensor.
        name: String,
        /// Its type, in words.
        found: String,
    },
    /// Weights are in another file.
    #[error("expected all weights, found some in the file {file:?}, which is not beside it")]
    Elsewhere {
        /// Its name.
        file: String,
    },
    /// A weight is infinite, not a number, none of its type, or a whole number beyond 2²⁴.
    #[error(
        "weights {name:?}: expected finite numbers, found {found} at index {index}, which 32 bits do not hold as such"
    )]
    NotFinite {
        /// The tensor or the attribute.
        name: String,
        /// Place in the flat tensor.
        index: usize,
        /// The number, in words.
        found: String,
    },
    /// Its input has another shape or type than the observation.
    #[error("input: expected {expected}, found {found}")]
    Input {
        /// What can be fed.
        expected: String,
        /// As the file declares it.
        found: String,
    },
    /// It has other inputs or outputs than the environment has observations and actions.
    #[error("{what}: expected {expected} numbers, found {found}")]
    Shape {
        /// Input or output.
        what: &'static str,
        /// As the environment has it.
        expected: usize,
        /// As the file has it.
        found: usize,
    },
}

impl OnnxError {
    fn not_finite(name: &str, index: usize, found: f64) -> OnnxError {
        OnnxError::NotFinite { name: name.into(), index, found: found.to_string() }
    }
}

/// A network from an ONNX file, as a policy.
#[derive(Clone)]
pub struct Onnx {
    graph: Graph,
    layout: Layout,
    /// The observation in the order of the input.
    fed: Vec<f32>,
    bounds: Vec<(f32, f32)>,
    /// How many choices there are, if the action is one of them.
    choices: Option<usize>,
}

impl Onnx {
    /// Reads a file that has all of its weights, and tries it with zeros.
    ///
    /// # Errors
    /// If it is damaged, needs something that is not known here, or has other numbers than the environment.
    pub fn from_bytes(bytes: &[u8], spec: &EnvSpec) -> Result<Onnx, OnnxError> {
        Onnx::with_files(bytes, &Beside::new(), spec)
    }

    /// The names of the files in which it has weights.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn files(bytes: &[u8]) -> Result<Vec<String>, OnnxError> {
        graph::files(bytes)
    }

    /// Reads a file, some of whose weights are in others.
    ///
    /// # Errors
    /// As above, or if one of the others is not there.
    pub fn with_files(bytes: &[u8], beside: &Beside, spec: &EnvSpec) -> Result<Onnx, OnnxError> {
        let (mut graph, width) = (Graph::read(bytes, beside)?, spec.obs_width());
        let layout = Layout::of(graph.input(), spec)?;
        let fed = vec![0.0; width];
        let found = graph.run(&fed)?.len();
        let choices = choices(&spec.action);
        let expected = choices.filter(|_| found != 1).unwrap_or(spec.act_width());
        if found != expected {
            return Err(OnnxError::Shape { what: "output", expected, found });
        }
        let bounds = spec.action.iter().map(|c| (c.low as f32, c.high as f32)).collect();
        Ok(Onnx { graph, layout, fed, bounds, choices })
    }
}

impl Policy for Onnx {
    fn act(&mut self, obs: &[f32], action: &mut [f32], _: &mut Rng) {
        // Shapes are those of the trial, so there is an output.
        self.layout.feed(obs, &mut self.fed);
        let found = self.graph.run(&self.fed).unwrap_or_default();
        if self.choices.is_some() && found.len() > 1 {
            action[0] = choose(found);
            return;
        }
        action.fill(f32::NAN);
        for ((x, &found), &(low, high)) in action.iter_mut().zip(found).zip(&self.bounds) {
            *x = clip(found, low, high);
        }
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
