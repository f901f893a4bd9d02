//! Any bytes for the reader `hosted`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("hosted", bytes));
