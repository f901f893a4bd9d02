//! Any bytes for the reader `picture`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("picture", bytes));
