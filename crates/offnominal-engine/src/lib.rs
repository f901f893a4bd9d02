//! What every command stands on: what there is by name, who plays, and how the work runs.
//!
//! | file              | content                                                          |
//! |-------------------|------------------------------------------------------------------|
//! | [`context`]       | seed, threads, progress, stop                                    |
//! | [`catalogues`]    | environments, anomalies, detectors: built in, and brought along  |
//! | [`policies`]      | policies by name                                                 |
//! | [`data`]          | files that are read at run time, not embedded                    |
//! | [`strengths`]     | calibrated magnitudes                                            |
//! | [`noise`]         | nominal noise of sensors and actuators, by level                 |
//! | [`subject`]       | an environment and the policy that acts in it                    |
//! | [`scenario`]      | what is drawn for each episode, and which episodes fail          |
//! | [`judged`]        | an environment whose episodes fail by a criterion of the user    |
//! | [`collect`]       | episodes by the hundred                                          |
//! | [`evaluation`]    | returns and success rates                                        |
//! | [`train`]         | training with its files                                          |
//! | [`frames`]        | what a camera sees of an episode                                 |
//! | [`render`]        | images and a video of an episode, as files                       |
//! | [`sheet`]         | many frames in one picture, with their names                     |
//! | [`images`]        | image detectors by name                                          |
//! | [`memory`]        | how much of it there is                                          |
//! | [`monitor_file`]  | a fitted detector with its threshold                             |
//! | [`fit`]           | a monitor's file from nominal episodes                           |
//! | [`score`]         | what a monitor says of recorded episodes                         |
//! | [`import`]        | policies of other programs                                       |
//! | [`ensemble`]      | one policy of several                                            |
//! | [`export`]        | datasets as other programs read them                             |
//! | [`anomaly_request`] | an anomaly as commands describe it                             |
//! | [`alike`]         | whether episodes are copies of one                               |
//! | [`remarks`]       | what is said once, from where no context is at hand              |
//! | [`doctor`]        | what works on this machine                                       |
//! | [`request`]       | what requests have in common                                     |

pub mod alike;
pub mod anomaly_request;
pub mod catalogues;
pub mod collect;
pub mod data;
pub mod device;
pub mod diverged;
pub mod doctor;
pub mod ensemble;
pub mod evaluation;
pub mod export;
pub mod faults;
pub mod fit;
pub mod frames;
pub mod images;
pub mod import;
pub mod judged;
pub mod memory;
pub mod monitor_file;
pub mod noise;
pub mod policies;
pub mod provenance;
pub mod recalibrate;
pub mod render;
pub mod request;
pub mod scenario;
pub mod score;
pub mod sheet;
mod shipped_worlds;
pub mod show;
pub mod strengths;
pub mod subject;
pub mod train;
mod twins;

// How work runs is needed below too, where nothing plays.
pub use offnominal_work::{
    context, detector_choice, parallel, per_time, progress, remarks, rule_choice, steps, stop,
};
