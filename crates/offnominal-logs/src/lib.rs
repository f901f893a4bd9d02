//! Recordings of any origin: read, mapped to channels, cut into episodes, and watched.
//!
//! | module | what |
//! |---|---|
//! | [`record`] | what every format is read as |
//! | [`formats`] | the formats, one file each |
//! | [`frame`] | data frames of other libraries |
//! | [`source`] | a file, a folder or a frame |
//! | [`inspect`] | what is in logs, and a proposed mapping |
//! | [`mapping`] | which column is what |
//! | [`chosen`] | the columns of a mapping, row by row |
//! | [`gather`] | the same, all rows |
//! | [`suspects`] | numbers in place of missing values |
//! | [`episodes`] | episodes at one clock |
//! | [`recordings`] | all logs as detectors take them |
//! | [`events`] | labels from a file of intervals |
//! | [`exchangeability`] | whether the recordings of two parts are alike |
//! | [`fit`] | a monitor out of recordings |
//! | [`recalibrate`] | a monitor whose threshold follows later recordings |
//! | [`live`] | ticks of the clock out of a stream |
//! | [`watch`] | verdicts on a stream |
//! | [`score`] | alarms in other recordings, and their page |
//! | [`splits`] | detectors judged on labelled splits, as Anomaly-Gym publishes them |
//! | [`demo`] | recordings of a car, from the first command to an alarm |

#[cfg(not(target_family = "wasm"))]
pub mod demo;
pub mod episodes;
#[cfg(not(target_family = "wasm"))]
pub mod events;
pub mod exchangeability;
pub mod fit;
pub mod formats;
pub mod frame;
pub mod gather;
pub mod inspect;
pub mod live;
#[cfg(not(target_family = "wasm"))]
pub mod recalibrate;
pub mod recordings;
pub mod score;
pub mod source;
#[cfg(not(target_family = "wasm"))]
pub mod splits;
pub mod suspects;
pub mod until;
#[cfg(not(target_family = "wasm"))]
pub mod watch;

pub use offnominal_topics::{chosen, mapping, record};
