//! Any bytes for the reader `manifest`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("manifest", bytes));
