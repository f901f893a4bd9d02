//! Any bytes for the reader `distribution`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("distribution", bytes));
