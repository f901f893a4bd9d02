//! The audit of one policy in one environment: would a monitor notice a fault, and how often does the policy fail?
//!
//! It calls what the commands `evaluate`, `calibrate`, `bench`, `fit` and `risk` call, with numbers of episodes that fit a
//! budget of time, and brings what they find onto one page.
//!
//! | file            | content                                                              |
//! |-----------------|----------------------------------------------------------------------|
//! | [`request`]     | what is asked for                                                    |
//! | [`run`](mod@run) | the audit from beginning to end                                     |
//! | [`probe`]       | a first look: what an episode costs, and whether it can be repeated  |
//! | [`depth`]       | how much of everything, in four steps                                |
//! | [`counts`]      | numbers of episodes that can differ from those of a depth            |
//! | [`depth_choice`] | a depth with counts in place of its own                              |
//! | [`needs`]       | how many of them a requirement needs                                 |
//! | [`plan`]        | what fits the budget and counts what is needed, and what it leaves out |
//! | [`stages`]      | the work: strengths, benchmark, monitor, failures                    |
//! | [`findings`]    | what the benchmark says of faults and detectors                      |
//! | [`advice`]      | what to do about it                                                  |
//! | [`document`]    | the result: `audit.json`                                             |
//! | [`requirement`] | what must hold, and whether it does                                  |
//! | [`badge`]       | the result in one line, as SVG and JSON                              |
//! | `page`          | the result as a page                                                 |
//!
//! Results that somebody else is to trust, of an audit or of a command that it calls:
//!
//! | file            | content                                                              |
//! |-----------------|----------------------------------------------------------------------|
//! | [`mod@evidence`] | results and inputs as one signed file                               |
//! | [`mod@verify`]  | its digests and signature, and parts of it played once more          |

pub mod advice;
pub mod badge;
pub mod counts;
pub mod depth;
pub mod depth_choice;
pub mod document;
pub mod evidence;
pub mod findings;
pub mod needs;
mod page;
pub mod plan;
pub mod probe;
pub mod request;
pub mod requirement;
pub mod run;
pub mod stages;
pub mod verify;

pub use request::Request;
pub use run::{Audited, run};
