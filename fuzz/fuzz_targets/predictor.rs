//! Any bytes for the reader `predictor`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("predictor", bytes));
