//! Any bytes for the reader `journal`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("journal", bytes));
