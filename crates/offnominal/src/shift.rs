//! How far a policy bends when its body changes, and whether one can tell beforehand without any reward.
//!
//! The protocol of PyBullet-M (Mann et al., 2021): policies trained on one body play on bodies whose limbs are longer,
//! shorter, wider or thinner. What their returns do is set against how different the bodies are, and against what an
//! internal model and detectors, which never see a reward, make of the same steps.
//!
//! A cell is one policy on one body. It is a pure function of what it says, whose digest is its name; a finished one is
//! not run again. Cells of a world share its instruments: the internal models and the detectors that were fitted at home.

mod agents;
mod analysis;
mod bodies;
mod cell;
mod chart;
mod figures;
mod instruments;
mod page;
mod plan;
mod play;
mod published;
mod row;
mod search;
mod table;

pub use agents::{Agent, find as agents, list as shipped_agents, shipped};
pub use analysis::{Answer, against_toplines, answers, answers_csv};
pub use bodies::{Body, Draw, bodies_csv, limbs};
pub use cell::{Progress, draws, run, toplines};
pub use page::{Content, page, summary};
pub use plan::{Plan, Setting};
pub use row::{Row, from_csv, to_csv};
pub use search::chances;
