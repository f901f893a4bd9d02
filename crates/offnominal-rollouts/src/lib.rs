//! Rollouts of generative policies: who notices a failing one, once the clock is taken out.
//!
//! A rollout is one recorded episode of a policy with a task, an outcome and signals of each step. There is no twin, so
//! detectors are compared at the same task and step among the rollouts that still run.
//!
//! | module | what |
//! |---|---|
//! | [`read`] | rollouts out of JSON lines, Parquet and array files |
//! | [`rollout`] | what they are read as |
//! | [`chunk`] | signals of action chunks |
//! | [`split`] | what is learned from, what sets thresholds, what is judged |
//! | [`detector`] | signals, and what learns from outcomes |
//! | [`signals`](mod@signals) | signals as a log of their own, from which `fit` makes a monitor |
//! | [`judge`](mod@judge) | areas, leads and alarms with intervals, and their page |

pub mod chunk;
pub mod detector;
pub mod judge;
pub mod read;
pub mod rollout;
pub mod signals;
pub mod split;
