//! Any bytes for the reader `rsl_rl`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("rsl_rl", bytes));
