//! Any bytes for the reader `cleanrl`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("cleanrl", bytes));
