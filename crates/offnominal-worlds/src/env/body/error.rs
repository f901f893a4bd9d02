//! Why a body cannot be.

use offnominal_core::spec::ParameterError;
use offnominal_mujoco::MujocoError;

/// Why a body cannot be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// A limb would have no length.
    #[error("{limb} of {body}: expected at least {least} m between its ends, found {found:.4} m; {why}")]
    NoRoom {
        /// The body.
        body: &'static str,
        /// The limb.
        limb: &'static str,
        /// The shortest limb that is made, in m.
        least: f64,
        /// Its length, in m.
        found: f64,
        /// How the numbers make that length.
        why: &'static str,
    },
    /// The model does not have the size that was asked for.
    #[error("{what} of {limb} was not applied: expected {expected}, found {found} in the model")]
    NotApplied {
        /// The limb.
        limb: &'static str,
        /// What was measured.
        what: &'static str,
        /// What was asked for.
        expected: f64,
        /// What the model has.
        found: f64,
    },
    /// A parameter does not exist or is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// MuJoCo cannot make the model, or is missing.
    #[error(transparent)]
    Mujoco(#[from] MujocoError),
}
