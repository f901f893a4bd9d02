//! Any bytes for the reader `metrics_csv`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("metrics_csv", bytes));
