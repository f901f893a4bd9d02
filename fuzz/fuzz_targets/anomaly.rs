//! Any bytes for the reader `anomaly`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("anomaly", bytes));
