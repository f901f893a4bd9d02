//! Tests of the public interface.

mod play_ahead;
mod randomised;
