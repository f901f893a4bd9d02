//! How much return a policy loses when its body changes, and whether this gap can be predicted without any reward.
//! [`run`] takes a [`Request`] and gives a [`Report`].
//!
//! The protocol of PyBullet-M (Mann et al., 2021): policies trained on one body play on bodies whose limbs are longer,
//! shorter, wider or thinner. What their returns do is set against how different the bodies are, and against what an
//! internal model and detectors, which never see a reward, make of the same steps.
//!
//! A cell is one policy on one body. It is a pure function of its specification, whose digest is its name; a finished
//! one is not run again. Cells of an environment share its predictors: internal models and detectors, fitted on the
//! nominal body.
//!
//! | file         | content of the internal models                                        |
//! |--------------|-----------------------------------------------------------------------|
//! | `layers`     | encoders, aggregator and predictions                                  |
//! | `contrast`   | the loss                                                              |
//! | [`model`]    | the share of true positives                                           |
//! | [`mod@learn`] | from runs to a model: contrastive loss, schedule, validation          |
//! | `checkpoint` | models, finished or not, as named tensors                             |
//! | [`stream`]   | what a run looks like to a model                                      |
//!
//! References: Mann et al., "Out-of-distribution generalization of internal models is correlated with reward" (2021),
//! section 2 and A.2, after wav2vec (Schneider et al., 2019).

mod analysis;
mod bodies;
mod cell;
mod chart;
mod checkpoint;
mod contrast;
mod error;
mod figures;
mod layers;
pub mod learn;
pub mod model;
mod page;
mod plan;
mod play;
mod predictors;
mod row;
mod run;
mod search;
pub mod stream;
mod table;
#[cfg(test)]
mod testing;

pub use analysis::AnswerRow;
pub use error::ShiftError;
pub use learn::{Learning, ModelRecipe, learn};
pub use model::{InternalModel, TruePositives};
pub use row::Number;
pub use run::{Report, Request, run};
pub use stream::{Inputs, Stream};
