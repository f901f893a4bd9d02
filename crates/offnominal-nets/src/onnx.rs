//! Networks as graphs of operators: those of ONNX files, and those that a [`Builder`] puts together.
//!
//! A file is read and computed here, in 32-bit numbers, without a run-time of somebody else's. The operators are those
//! of feed-forward and convolutional networks and what exporters put between them (listed in `ops.rs`), and whoever needs
//! another one is told its name.
//!
//! Weights must be finite. What a file may hold and compute is limited ([`limits`](offnominal_core::limits)) before
//! anything is allocated.
//!
//! ```
//! use offnominal_nets::onnx::{Builder, Stride, Use};
//!
//! let (mut graph, image) = Builder::new(&[1, 1, 2, 2]);
//! let doubled = graph.convolution(image, [1, 1, 1, 1], &[2.0], Some(&[0.5]), Stride::default(), true);
//! let mut graph = graph.build(&[doubled], Use::Image);
//! graph.run(&[1.0, -2.0, 3.0, 4.0]).unwrap();
//! assert_eq!(graph.output(0).data, [2.5, 0.0, 6.5, 8.5]);
//! ```

mod arithmetic;
mod budget;
mod build;
mod convolution;
mod does;
mod graph;
mod index;
mod kind;
mod message;
mod node;
mod ops;
mod pool;
mod read;
mod reduce;
mod resize;
mod shapes;
mod tensor;
mod window;

pub use arithmetic::clip;
pub use budget::{Use, len};
pub use build::{Builder, Id, Stride};
pub use graph::Graph;
pub use kind::Kind;
pub use read::files;
pub use resize::bilinear;
pub use tensor::Tensor;

use std::collections::BTreeMap;

/// The contents of files in which weights lie, by the names under which the network's file refers to them.
pub type Beside = BTreeMap<String, Vec<u8>>;

/// Why a file is not a network that can be computed here, or not one for an environment.
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
    /// It asks for more memory or time than it may have.
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
    /// Its input has another shape or type than what is fed.
    #[error("input: expected {expected}, found {found}")]
    Input {
        /// What can be fed.
        expected: String,
        /// As the file declares it.
        found: String,
    },
    /// There is no value or node of that name.
    #[error("expected the name of a value or node of the network, found {found:?}")]
    Name {
        /// The name.
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

#[cfg(test)]
mod tests;
