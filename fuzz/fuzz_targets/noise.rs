//! Any bytes for the reader `noise`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("noise", bytes));
