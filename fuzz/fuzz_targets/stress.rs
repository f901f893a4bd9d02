//! Any bytes for the reader `stress`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("stress", bytes));
