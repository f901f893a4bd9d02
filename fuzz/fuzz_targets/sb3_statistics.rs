//! Any bytes for the reader `sb3_statistics`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("sb3_statistics", bytes));
