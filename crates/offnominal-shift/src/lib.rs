//! How far a policy bends when its body changes, and whether one can tell beforehand without any reward.
//!
//! The protocol of PyBullet-M (Mann et al., 2021): policies trained on one body play on bodies whose limbs are longer,
//! shorter, wider or thinner. What their returns do is set against how different the bodies are, and against what an
//! internal model and detectors, which never see a reward, make of the same steps.
//!
//! A cell is one policy on one body. It is a pure function of what it says, whose digest is its name; a finished one is
//! not run again. Cells of a world share its instruments: the internal models and the detectors that were fitted at home.
//!
//! | file         | content of the internal models                                        |
//! |--------------|-----------------------------------------------------------------------|
//! | [`temporal`] | convolutions in time, as dense layers on stacked rows                 |
//! | `layers`     | encoders, aggregator and predictions                                  |
//! | `contrast`   | the loss                                                              |
//! | [`model`]    | the share of true positives                                           |
//! | [`learn`]    | from runs to a model: contrastive loss, schedule, validation          |
//! | `kept`       | models, finished or not, as named numbers                             |
//! | [`stream`]   | what a run looks like to a model                                      |
//!
//! References: Mann et al., "Out-of-distribution generalization of internal models is correlated with reward" (2021),
//! section 2 and A.2, after wav2vec (Schneider et al., 2019).

mod analysis;
mod bodies;
mod cell;
mod chart;
mod contrast;
mod error;
mod figures;
mod instruments;
mod kept;
mod layers;
pub mod learn;
pub mod model;
mod page;
mod plan;
mod play;
mod published;
mod row;
mod search;
pub mod stream;
mod table;
pub mod temporal;
#[cfg(test)]
mod testing;

pub use analysis::{Answer, against_toplines, answers, answers_csv};
pub use bodies::{Body, Draw, bodies_csv};
pub use cell::{Progress, draws, run, toplines};
pub use error::ShiftError;
pub use learn::{Learning, Recipe, learn};
pub use model::{InternalModel, Sees, TruePositives};
pub use page::{Content, page, summary};
pub use plan::{Plan, Setting};
pub use row::{Row, from_csv, to_csv};
pub use search::chances;
pub use stream::Stream;
