//! The `offnominal` binary as a library: its command line, for programs that add to the catalogues.

pub mod cli;

pub use offnominal_engine::catalogues::{Extras, OwnPolicy};
