//! The work of an audit, stage by stage; each keeps what is finished in its own folder.
//!
//! | file           | content                                                         | calls              |
//! |----------------|-----------------------------------------------------------------|--------------------|
//! | [`strengths`]  | how strong each fault must be to cost the policy its score      | `calibrate`        |
//! | [`benchmark`]  | which detector notices which fault                              | `bench`            |
//! | [`monitor`]    | the monitor to run, with its promise                            | `fit`              |
//! | [`failures`]   | how often the policy fails, and from where                      | `risk`             |

pub mod benchmark;
pub mod failures;
pub mod monitor;
pub mod strengths;
