//! Any bytes for the reader `results`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("results", bytes));
