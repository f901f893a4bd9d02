//! Any bytes for the reader `cell`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("cell", bytes));
