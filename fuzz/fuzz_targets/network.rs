//! Any bytes for the reader `network`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("network", bytes));
