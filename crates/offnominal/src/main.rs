//! The `offnominal` binary: everything that is built in, and nothing else.

use offnominal::Extras;
use std::process::ExitCode;

fn main() -> ExitCode {
    offnominal::cli::main_with(Extras::default())
}
