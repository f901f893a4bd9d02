//! Any bytes for the reader `card`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("card", bytes));
