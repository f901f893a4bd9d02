//! Laws of estimates, and parity with other libraries.

mod laws;
mod regression;
