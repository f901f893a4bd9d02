//! What foresees a drop of the return without seeing any reward: internal models of how states and commands go on.
//!
//! | file         | content                                                              |
//! |--------------|----------------------------------------------------------------------|
//! | [`temporal`] | convolutions in time, as dense layers on stacked rows                 |
//! | `layers`     | encoders, aggregator and predictions                                  |
//! | `contrast`   | the loss                                                              |
//! | [`model`]    | the share of true positives                                           |
//! | [`learn`]    | from runs to a model: contrastive loss, schedule, validation          |
//! | `kept`       | models, finished or not, as named numbers                             |
//! | [`stream`]   | what a run looks like to a model                                      |
//!
//! Reference: Mann et al., "Out-of-distribution generalization of internal models is correlated with reward" (2021),
//! section 2 and A.2, after wav2vec (Schneider et al., 2019).

mod contrast;
mod error;
mod kept;
mod layers;
pub mod learn;
pub mod model;
pub mod stream;
pub mod temporal;
#[cfg(test)]
mod testing;

pub use error::ShiftError;
pub use learn::{Learning, Recipe, learn};
pub use model::{InternalModel, Sees, TruePositives};
pub use stream::Stream;
