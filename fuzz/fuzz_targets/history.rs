//! Any bytes for the reader `history`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("history", bytes));
