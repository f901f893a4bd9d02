//! What acts: learners and policies.
