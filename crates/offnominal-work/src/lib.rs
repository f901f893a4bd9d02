//! How work runs, and the work that needs no environment: a monitor out of episodes.
//!
//! Nothing here plays, opens a socket or starts a process, so it also runs where there is none of them: in a browser.
//!
//! | file                | content                                                     |
//! |---------------------|-------------------------------------------------------------|
//! | [`cli`]             | a request as flags, as JSON, and as the line that is recorded |
//! | [`context`]         | seed, threads, progress, stop                               |
//! | [`progress`]        | how work tells how far it is                                |
//! | [`parallel`]        | work on all cores, with results in order                    |
//! | [`stop`]            | whether the work of this thread was asked to stop           |
//! | [`remarks`]         | what is said once, from where no context is at hand         |
//! | [`detectors`]       | detectors by name: built in, and brought along              |
//! | [`detector_choice`] | a detector as a configuration file names it                 |
//! | [`rule_choice`]     | how a threshold is to be set, as a request says it          |
//! | [`monitor_file`]    | a fitted detector with its threshold                        |
//! | `reach`             | whether anything can be above a threshold                   |
//! | [`steps`]           | what a monitor says of every step, as a table               |
//! | [`fitting`]         | what is fitted and how its threshold is set, as arguments   |
//! | [`fitted`]          | what is said of it, and what is fitted if nothing is said   |

pub mod cli;
pub mod context;
pub mod detector_choice;
pub mod detectors;
pub mod fitted;
pub mod fitting;
pub mod monitor_file;
pub mod parallel;
pub mod per_time;
pub mod progress;
mod reach;
pub mod remarks;
pub mod rule_choice;
pub mod steps;
pub mod stop;
