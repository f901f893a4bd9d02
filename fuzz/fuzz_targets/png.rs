//! Any bytes for the reader `png`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("png", bytes));
