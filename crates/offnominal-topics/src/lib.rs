//! Topics, columns and rows: what a log is read as, and what a robot's process is told while it runs.
//!
//! | module | what |
//! |---|---|
//! | [`record`] | topics, columns and rows |
//! | [`budget`] | what one input may take, and what was lost of it |
//! | [`nested`] | columns out of nested messages |
//! | [`ros_schema`] | definitions of messages of ROS 2 |
//! | [`cdr`] | messages of ROS 2 by their definition |
//! | [`mapping`] | which column is what |
//! | [`chosen`] | the columns of a mapping, row by row |
//! | [`units`] | units, and whether two differ |
//! | [`words`] | words in place of numbers |
//! | [`dates`] | dates and times of day |
//! | [`clock`] | when the ticks are |
//! | [`live`] | ticks of the clock out of rows as they come |

pub mod budget;
pub mod cdr;
pub mod chosen;
pub mod clock;
pub mod dates;
pub mod live;
pub mod mapping;
pub mod nested;
pub mod record;
pub mod ros_schema;
pub mod units;
pub mod words;
