//! The `offnominal` binary: parses the command line and turns the outcome into an exit code.
//!
//! 0 — done; 1 — evaluated and not acceptable; 2 — error.

use offnominal::cli::{self, Outcome};
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NotAcceptable) => ExitCode::from(1),
        Err(error) if cli::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("offnominal: {error:#}");
            ExitCode::from(2)
        }
    }
}
