//! Data augmentation: a learner learns from observations as a disturbance would show them.
//!
//! Episodes are played as they are; what changes is what is made of them. So a policy learns to do under the disturbance what
//! is right without it, and a demonstrator is asked about what it can read.
//!
//! Reference: Laskin et al., "Reinforcement Learning with Augmented Data", NeurIPS 2020.

use offnominal_core::Rng;

/// What changes the observations of a batch. It remembers nothing from one transition to the next, so that a run can be
/// resumed without it.
pub trait Augmentation: Send {
    /// Changes an observation and the one after it, as one disturbance that goes on would have; or neither.
    fn augment(&mut self, obs: &mut [f32], next_obs: &mut [f32], rng: &mut Rng);
}
