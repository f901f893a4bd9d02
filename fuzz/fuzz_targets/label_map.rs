//! Any bytes for the reader `label_map`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("label_map", bytes));
