//! Any bytes for the reader `request`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("request", bytes));
