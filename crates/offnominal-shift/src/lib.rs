//! Predicts a lower return without reading any reward: internal models of how states and commands evolve.
//!
//! | file         | content                                                              |
//! |--------------|----------------------------------------------------------------------|
//! | `layers`     | encoders, aggregator and predictions                                  |
//! | `contrast`   | the loss                                                              |
//! | [`model`]    | the share of true positives                                           |
//! | [`learn`]    | from runs to a model: contrastive loss, schedule, validation          |
//! | `checkpoint` | models, finished or not, as named tensors                             |
//! | [`stream`]   | what a run looks like to a model                                      |
//!
//! Reference: Mann et al., "Out-of-distribution generalization of internal models is correlated with reward" (2021),
//! section 2 and A.2, after wav2vec (Schneider et al., 2019).

mod checkpoint;
mod contrast;
mod error;
mod layers;
pub mod learn;
pub mod model;
pub mod stream;
#[cfg(test)]
mod testing;

pub use error::ShiftError;
pub use learn::{Learning, ModelRecipe, learn};
pub use model::{InternalModel, TruePositives};
pub use stream::{Inputs, Stream};
