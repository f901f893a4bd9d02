//! Any bytes for the reader `campaign`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("campaign", bytes));
