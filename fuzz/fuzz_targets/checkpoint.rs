//! Any bytes for the reader `checkpoint`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("checkpoint", bytes));
