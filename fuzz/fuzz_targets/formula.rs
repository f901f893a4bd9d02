//! Any bytes for the reader `formula`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("formula", bytes));
