//! Any bytes for the reader `dataset`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("dataset", bytes));
