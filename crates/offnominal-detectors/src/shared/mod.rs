//! What several detectors need: standardisation, neighbour search, trees, dynamics models and their
//! training, and the inside of a policy.

pub(crate) mod channels;
pub(crate) mod cholesky;
pub(crate) mod dynamics;
pub(crate) mod eigen;
pub(crate) mod features;
pub(crate) mod forest;
pub(crate) mod gap_filter;
pub(crate) mod gaussian;
pub(crate) mod inner;
pub(crate) mod kernel;
pub(crate) mod learn;
pub(crate) mod marginal;
pub(crate) mod moments;
pub(crate) mod nearest;
pub(crate) mod normal_scores;
pub(crate) mod one_step;
pub(crate) mod open_loop;
pub(crate) mod prelude;
pub(crate) mod principal;
pub(crate) mod quantiles;
pub(crate) mod ranges;
pub(crate) mod recipe;
pub(crate) mod residual;
pub(crate) mod ridge;
pub(crate) mod samples;
pub(crate) mod saved;
pub(crate) mod scale;
pub(crate) mod sequences;
pub(crate) mod smo;
pub(crate) mod spread;
pub(crate) mod surprise;
pub(crate) mod training;
pub(crate) mod views;
pub(crate) mod whiten;
pub(crate) mod window;
