//! Any bytes for the reader `outcomes_json`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("outcomes_json", bytes));
