//! Any bytes for the reader `evidence`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("evidence", bytes));
