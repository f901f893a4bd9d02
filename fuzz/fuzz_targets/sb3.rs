//! Any bytes for the reader `sb3`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("sb3", bytes));
