//! Any bytes for the reader `openpi`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("openpi", bytes));
