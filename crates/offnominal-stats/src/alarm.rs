//! What an alarm looks at, and what it promises.
//!
//! | file          | content                                                                                      |
//! |---------------|----------------------------------------------------------------------------------------------|
//! | [`shape`]     | location and scale of nominal scores at each step of an episode                              |
//! | [`statistic`] | what is compared with a limit: the score itself, or what has accumulated since the beginning |
//! | [`blocks`]    | evidence block by block, for a stream without episodes                                       |
//! | [`jumper`]    | a test martingale that stays wealthy while nothing happens                                   |
//! | [`coverage`]  | realised false alarms of every rule over random splits of nominal episodes                   |
//!
//! Scores within an episode depend on one another, so conformal p-values of single steps are not independent and their
//! product is no martingale. An alarm is exact nevertheless: any statistic may be accumulated if
//! its limit is a conformal quantile of the statistic's maximum over whole episodes: then only episodes need to be
//! exchangeable, not steps ([`crate::threshold`]).

pub mod blocks;
pub mod coverage;
pub mod jumper;
mod kept;
mod realised;
pub mod shape;
pub mod statistic;
