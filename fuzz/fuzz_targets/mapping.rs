//! Any bytes for the reader `mapping`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("mapping", bytes));
