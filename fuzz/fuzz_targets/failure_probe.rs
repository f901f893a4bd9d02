//! Any bytes for the reader `failure_probe`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("failure_probe", bytes));
