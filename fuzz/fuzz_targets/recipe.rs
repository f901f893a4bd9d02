//! Any bytes for the reader `recipe`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("recipe", bytes));
