//! The nouns: environments, anomalies, policies, episodes, detectors, estimates, and the names of the laws they obey.
//!
//! Nothing in here performs I/O, reads a clock, starts a thread or keeps a global. Randomness enters only as
//! [`Rng`], and everything that an outside crate may add (an environment, an anomaly, a detector) is a trait here, an
//! [`Entry`] in a [`Catalogue`], and a subject of the laws that the crate `offnominal-laws` checks.

pub mod alarm;
pub mod anomaly;
pub mod anomaly_spec;
pub mod archive;
pub mod catalogue;
pub mod channel;
mod defaults;
pub mod detector;
pub mod divergence;
pub mod env;
pub mod env_layer;
pub mod episode;
pub mod estimate;
pub mod evidence;
pub mod failure_search;
pub mod fit_progress;
pub mod frame;
pub mod image_detector;
pub mod law;
pub mod limits;
pub mod noisy;
pub mod outside;
pub mod partial;
pub mod policy;
pub mod randomised;
pub mod reference;
pub mod rng;
pub mod run;
pub mod samples;
pub mod schedule;
pub mod seed;
pub mod spec;
pub mod suggest;
pub mod transition;
pub mod vec3;

pub use catalogue::{Catalogue, Entry};
pub use rng::Rng;
pub use seed::Seed;

/// Everything an environment, an anomaly, a policy or a detector needs to be written.
pub mod prelude {
    pub use crate::anomaly::{Anomaly, Channels, Chosen};
    pub use crate::anomaly_spec::AnomalySpec;
    pub use crate::archive::{ArchiveError, Reader, Writer};
    pub use crate::catalogue::{BuildError, Catalogue, Entry};
    pub use crate::detector::{Detector, FitError, Nominal, Scorer, Signals};
    pub use crate::divergence::Divergence;
    pub use crate::entry;
    pub use crate::env::{Env, Status, Step};
    pub use crate::episode::{End, Episode};
    pub use crate::estimate::Estimate;
    pub use crate::evidence::Evidence;
    pub use crate::failure_search::{FailureSearch, Places};
    pub use crate::fit_progress::FitProgress;
    pub use crate::frame::{Camera, Frame};
    pub use crate::image_detector::{FrameTransition, Heat, ImageDetector, ImageScorer, Video};
    pub use crate::law::Law;
    pub use crate::partial::{Gaps, Missing, Partial, PartialScore};
    pub use crate::policy::{Policy, Seat};
    pub use crate::rng::Rng;
    pub use crate::run::Trial;
    pub use crate::samples::{PolicySamples, Predictions, SamplesError};
    pub use crate::schedule::{Extent, Onset, Schedule};
    pub use crate::seed::Seed;
    pub use crate::spec::{Channel, EnvSpec, Image, Parameter, ParameterError};
    pub use crate::spec_and_fork;
    pub use crate::transition::Transition;
    pub use crate::with_defaults;
}

/// What the README shows is code that runs.
#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
