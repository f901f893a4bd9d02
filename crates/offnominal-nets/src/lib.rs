//! Small dense networks, and convolutions over images and along sequences, with explicit backward passes.
//!
//! A network is two things: an [`Mlp`] or a [`Net`] with a convolutional encoder, which knows the shapes, and a flat
//! `&[f32]` of parameters, which knows the numbers. Nothing here owns parameters, so ensembles, target networks and
//! optimisers are plain slices. Batches are
//! row-major slices; a [`Workspace`] holds every buffer, so that nothing is allocated after it was made.
//!
//! Networks of others, in files of ONNX, and convolutional ones are graphs of operators ([`onnx`]).
//!
//! The matrix products are our own, on portable vector types (the crate `pulp`): each output is
//! one chain of fused multiply-adds in a fixed order. Hence a row has the same bits alone or in any batch, on any
//! number of lanes: a detector fitted on batches scores streams exactly alike.
//!
//! ```
//! use offnominal_core::Rng;
//! use offnominal_nets::{Activation, Init, Mlp};
//!
//! let net = Mlp::new(&[3, 16, 2], Activation::Relu);
//! let mut params = vec![0.0; net.n_params()];
//! net.init(&mut params, Init::Uniform, &mut Rng::new(1));
//! let mut work = net.workspace(8);
//! let batch = net.forward(&params, &[0.1; 8 * 3], &mut work).to_vec();
//! let row = net.forward(&params, &[0.1; 3], &mut work);
//! assert_eq!(batch[..2], *row);
//! ```

pub mod activation;
pub mod adam;
pub mod conv;
mod dropconnect;
mod filters;
pub mod init;
pub mod loss;
mod math;
mod matmul;
mod mlp;
mod net;
pub mod onnx;
mod passes;
pub mod planes;
pub mod recurrent;
pub mod sequence;
pub mod standardiser;
pub mod tensors;
pub mod vision;
mod workspace;

pub use activation::Activation;
pub use adam::{Adam, AdamState};
pub use conv::{ConvNet, ConvWorkspace, Filters};
pub use init::Init;
pub use math::{exp, sigmoid, simd, softplus, tanh};
pub use mlp::{Gradients, Mlp};
pub use net::{Net, NetWorkspace};
pub use passes::Passes;
pub use recurrent::{CellKind, Recurrent, RecurrentWork};
pub use sequence::{SequenceLayer, SequenceNet, SequenceWorkspace};
pub use standardiser::Standardiser;
pub use tensors::{TensorError, Tensors};
pub use workspace::Workspace;

/// What the README shows is code that runs.
#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
